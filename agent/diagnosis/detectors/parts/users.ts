// Who uses a GPU, as text: the jobs that a fault of the GPU slows down or kills.
import { andList } from '../../../text/grammar.ts'
import type { Track, Tracks } from './tracks.ts'
import { processText } from './who.ts'

const NAMED = 3

const largestFirst = (a: Track, b: Track): number => (b.nvml?.bytes ?? 0) - (a.nvml?.bytes ?? 0) || a.pid - b.pid

/** Those with the most memory first; empty when no process uses it, or when its processes are not known. */
export function usersOf(tracks: Tracks, uuid: string): readonly string[] {
  const users = [...tracks.onGpu(uuid)].sort(largestFirst)
  const named = users.slice(0, NAMED).map(processText)
  return users.length <= NAMED ? named : [...named, `${users.length - NAMED} more`]
}

/** ` Affected: process python (7) of container trainer.`, or nothing. */
export function concerns(users: readonly string[]): string {
  return users.length === 0 ? '' : ` Affected: ${andList(users)}.`
}
