// What the processes say that a server starts for each of its models, all of them together.
import { figures, type ServerFigures } from '../../servers/model.ts'
import type { Asker } from './asker.ts'
import type { FoundChild } from './discover.ts'

type Child = { readonly pid: number; readonly ask: Asker; readonly close: () => void }
export type Children = {
  /** Those that are there now; the same is asked on. */
  readonly set: (found: readonly FoundChild[]) => void
  readonly ask: (t: number, bytesOf: (pid: number) => number) => Promise<{ readonly figures: ServerFigures; readonly problems: readonly string[] }>
  readonly close: () => void
}

/** One after the other within a round. */
const MAX_CHILDREN = 8

const sum = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : values.reduce((all, value) => all + value, 0))

export function createChildren(make: (found: FoundChild) => Omit<Child, 'pid'>): Children {
  let children = new Map<string, Child>()
  return {
    set(found) {
      const next = new Map<string, Child>()
      for (const one of found.slice(0, MAX_CHILDREN)) {
        const key = `${one.pid} ${one.reach.url}`
        next.set(key, children.get(key) ?? { pid: one.pid, ...make(one) })
      }
      for (const [key, { close }] of children) if (!next.has(key)) close()
      children = next
    },
    async ask(t, bytesOf) {
      const said: ServerFigures[] = []
      const problems: string[] = []
      for (const { pid, ask } of children.values()) {
        const answer = await ask(t, bytesOf(pid))
        said.push(answer.figures)
        if (answer.problem !== undefined) problems.push(answer.problem)
      }
      const usages = said.flatMap(({ kvUsage }) => kvUsage ?? [])
      // What one of them did not say, all together have not said.
      const isWhole = (values: readonly number[]): readonly number[] => (values.length === said.length ? values : [])
      return {
        figures: figures({
          running: sum(isWhole(said.flatMap(({ running }) => running ?? []))),
          kvUsage: usages.length === 0 ? undefined : Math.max(...usages),
          kvCapacityTokens: sum(isWhole(said.flatMap(({ kvCapacityTokens }) => kvCapacityTokens ?? []))),
        }),
        problems,
      }
    },
    close() {
      for (const { close } of children.values()) close()
    },
  }
}
