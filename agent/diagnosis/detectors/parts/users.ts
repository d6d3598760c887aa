// Who uses a GPU, as text: the jobs that a fault of the GPU slows down or kills.
import { andList } from '../../../text/grammar.ts'
import type { Track, Tracks } from './tracks.ts'
import { processText } from './who.ts'

const NAMED = 3

const largestFirst = (a: Track, b: Track): number => (b.nvml?.bytes ?? 0) - (a.nvml?.bytes ?? 0) || a.pid - b.pid

/** `process python (7) of container a`, and of several together `processes python (7, 8, 9 and 2 more) of container b`. */
function together(users: readonly Track[]): string {
  const [first] = users
  if (first === undefined) return ''
  if (users.length === 1) return processText(first)
  const pids = users.slice(0, NAMED).map(({ pid }) => pid)
  const names = new Set(users.map(({ process }) => process))
  return `processes ${names.size === 1 && first.process !== undefined ? `${first.process} ` : ''}(${pids.join(', ')}${users.length > NAMED ? ` and ${users.length - NAMED} more` : ''})${first.container === undefined ? '' : ` of container ${first.container}`}`
}

/** Those with the most memory first, a container's together; empty when no process uses it, or when its processes are not known. */
export function usersOf(tracks: Tracks, uuid: string): readonly string[] {
  const users = [...tracks.onGpu(uuid)].sort(largestFirst)
  const groups = [...Map.groupBy(users, ({ container, pid }) => container ?? pid).values()]
  const named = groups.slice(0, NAMED).map(together)
  const rest = groups.slice(NAMED).reduce((sum, group) => sum + group.length, 0)
  return rest === 0 ? named : [...named, `${rest} more`]
}

/** ` Affected: process python (7) of container trainer.`, or nothing. */
export function concerns(users: readonly string[]): string {
  return users.length === 0 ? '' : ` Affected: ${andList(users)}.`
}
