// The lines of a job's log as the page keeps them: what an answer adds, and where a moment stands among them. Pure.
import type { LogTailAnswer } from '../../../../../agent/model/log-tail.ts'

export type Line = { readonly id: number; readonly t: number; readonly text: string }
export type Tail = { readonly lines: readonly Line[]; readonly next: number; readonly missed: boolean }
export const NO_TAIL: Tail = { lines: [], next: 0, missed: false }
/** More than the agent keeps, so that the page has what it has seen. */
export const MOST_LINES = 500

const isLine = (value: unknown): value is { readonly t: number; readonly text: string } =>
  typeof value === 'object' && value !== null && 't' in value && typeof value.t === 'number' && 'text' in value && typeof value.text === 'string'

export function parseTail(value: unknown): LogTailAnswer {
  if (typeof value !== 'object' || value === null || !('lines' in value) || !Array.isArray(value.lines) || !('next' in value) || typeof value.next !== 'number')
    throw new Error(`a log must be lines and the number of the next, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return { lines: value.lines.filter(isLine), next: value.next, ...('missed' in value && value.missed === true && { missed: true }) }
}

/** A lower number than before comes from an agent that has restarted, which sends all lines it has. */
export function grown({ lines, next, missed }: Tail, answer: LogTailAnswer): Tail {
  const restarted = answer.next < next
  const before = restarted ? [] : lines
  const first = (lines.at(-1)?.id ?? 0) + 1
  const added = answer.lines.map(({ t, text }, i): Line => ({ id: first + i, t, text }))
  if (added.length === 0 && !restarted) return answer.next === next ? { lines, next, missed } : { lines, next: answer.next, missed }
  return { lines: [...before, ...added].slice(-MOST_LINES), next: answer.next, missed: missed || answer.missed === true }
}

/** The first line of that second or later; undefined: all are of before, or it was so long ago that its lines are no longer kept. */
export function lineAt(lines: readonly Line[], second: number): Line | undefined {
  const [first] = lines
  if (first === undefined || first.t >= (second + 1) * 1000) return undefined
  return lines.find(({ t }) => t >= second * 1000) ?? lines.at(-1)
}
