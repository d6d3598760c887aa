// What `exec` says at the end on stderr: a box of at most 12 lines where it went badly, a line of figures where it went well.
import { energyText, outcomeText } from '../../text/job.ts'
import type { Fault } from '../../model/fault.ts'
import type { Outcome, Run } from '../../model/job.ts'
import { bytesText } from '../../text/bytes.ts'
import { exactSpan } from '../../text/span.ts'
import { plain } from '../plain.ts'

export type Verdict = {
  readonly name: string
  readonly outcome: Outcome
  readonly reason: string
  readonly durationMs: number
  readonly fault?: Fault | undefined
  /** As the agent counted; absent where none runs. */
  readonly run?: Run | undefined
}

const MAX_LINES = 12
const WIDTH = 76

function wrapped(text: string, most: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of plain(text).split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  if (line !== '') lines.push(line)
  const cut = lines.slice(0, most).map((one) => (one.length > WIDTH ? `${one.slice(0, WIDTH - 1)}…` : one))
  return lines.length > most ? [...cut.slice(0, -1), `${(cut.at(-1) ?? '').slice(0, WIDTH - 2)} …`] : cut
}

function figures({ durationMs, run }: Verdict): string {
  const { gpu_seconds: seconds, energy_joules: joules, gpu_memory_peak_bytes: gpuMemory, gpus = [] } = run ?? {}
  return [
    exactSpan(durationMs),
    ...(seconds === undefined || gpus.length === 0 ? [] : [`${((seconds.active + seconds.idle) / 3_600).toFixed(2)} GPU hours`]),
    ...(gpuMemory === undefined ? [] : [`${bytesText(gpuMemory)} GPU memory at most`]),
    ...(joules === undefined ? [] : [energyText(joules)]),
  ].join(', ')
}

/** `frame`: the deepest of the user's own code, where the text names one. */
export function verdictText(verdict: Verdict): string {
  const { name, outcome, reason, fault } = verdict
  if (outcome === 'completed') return `warpwatch: ${plain(name)} completed: ${figures(verdict)}\n`
  const frame = Object.entries(fault?.facts ?? {}).find(([fact]) => fact === 'frame' || fact === 'source_line')?.[1]
  const [first] = fault?.remedies ?? []
  const body = [
    ...wrapped(`${name}: ${outcomeText(outcome)} after ${figures(verdict)}`, 1),
    ...wrapped(`${reason}.`, 2),
    ...(fault === undefined ? [] : wrapped(fault.verdict, 3)),
    ...(typeof frame === 'string' && fault?.verdict.includes(frame) !== true ? wrapped(`At ${frame}`, 1) : []),
    ...(first === undefined ? [] : wrapped(`→ ${first.text}`, 2)),
    ...(first?.command === undefined ? [] : wrapped(`  ${first.command}`, 1)),
  ].slice(0, MAX_LINES - 2)
  const line = (text: string): string => `│ ${text.padEnd(WIDTH)} │\n`
  return `┌─ warpwatch ${'─'.repeat(WIDTH - 10)}┐\n${body.map(line).join('')}└${'─'.repeat(WIDTH + 2)}┘\n`
}
