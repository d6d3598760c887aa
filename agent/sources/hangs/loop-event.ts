// What is said of a job whose process computes in a loop that does not end.
import type { Loop } from '../../hang/notice/loop.ts'
import { remediesOfLoop } from '../../hang/remedies.ts'
import { LOOP_CAUSE, type HangEvent } from '../../model/event.ts'

export function loopEvent(event: HangEvent, { pid, rank, at: { file, line, function: called } }: Loop): HangEvent {
  const ranks = event.ranks.some((row) => row.culprit === true)
    ? event.ranks
    : event.ranks.map((row) => (row.rank === rank ? { ...row, culprit: true as const } : row))
  return {
    ...event,
    cause: LOOP_CAUSE,
    confidence: 'likely',
    text: `Process ${pid} computes on the CPU at ${file}:${line} in ${called}: the same loop in every look, and it reads, writes and allocates nothing.`,
    culprits: [rank],
    stands_at: [`rank ${rank}: ${file}:${line} ${called}`],
    call_sites: [],
    ranks,
    remedies: remediesOfLoop,
  }
}
