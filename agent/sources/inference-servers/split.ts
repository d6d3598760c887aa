// What the log of a server says of its memory, read when it is ready and again when other processes hold memory for it.
import type { IdentifyProcess, ProcessIdentity } from '../../model/identity.ts'
import type { Family } from '../../servers/family.ts'
import { joined, MEMORY_PARTS, type FigureSource, type MemoryPart, type ServerFigures } from '../../servers/model.ts'
import type { ReadLogHead } from './log-head.ts'

export type Split = {
  /** What is known now; reads again when it must. */
  readonly of: (t: number, pid: number, engines: readonly number[]) => Promise<ServerFigures>
}

/** A log that says nothing yet is read again; its engine may write late. */
const AGAIN_MS = 60_000
const READINGS = 3

function added(all: readonly ServerFigures[]): ServerFigures {
  const memory: { [Part in MemoryPart]?: { bytes: number; source: FigureSource } } = {}
  for (const part of MEMORY_PARTS)
    for (const figure of all.flatMap((one) => one.memory?.[part] ?? []))
      memory[part] = { bytes: (memory[part]?.bytes ?? 0) + figure.bytes, source: figure.source }
  // What several models have in common is not known.
  return all.length === 1 ? (all[0] ?? {}) : { memory }
}

export function createSplit({ log, modelPerEngine }: Pick<Family, 'log' | 'modelPerEngine'>, identify: IdentifyProcess, readHead: ReadLogHead): Split {
  let known: ServerFigures = {}
  let [readFor, readAt, readings] = ['', -Infinity, 0]
  const read = async (who: readonly ProcessIdentity[]): Promise<ServerFigures> => {
    const said: ServerFigures[] = []
    for (const [at, one] of who.entries()) {
      const text = await readHead(one, who[at + 1]?.startTicks)
      if (text !== undefined && log !== undefined) said.push(log(text))
    }
    return joined(added(said))
  }
  return {
    async of(t, pid, engines) {
      if (log === undefined) return {}
      const identityOf = (one: number): ProcessIdentity[] => [identify(one) ?? []].flat()
      const holders = engines.flatMap(identityOf).toSorted((a, b) => a.startTicks - b.startTicks)
      const who = modelPerEngine === true ? holders : identityOf(pid)
      const key = holders.map(({ pid: holder, startTicks }) => `${holder} ${startTicks}`).join(', ')
      if (key !== readFor) [known, readFor, readAt, readings] = [{}, key, -Infinity, 0]
      const isComplete = Object.keys(known.memory ?? {}).length > 0
      if (who.length === 0 || isComplete || readings >= READINGS || t - readAt < AGAIN_MS) return known
      readAt = t
      readings++
      known = await read(who)
      return known
    },
  }
}
