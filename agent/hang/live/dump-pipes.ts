// Asks ranks for their Flight Recorder dumps through the named pipe that their job has set up for it: any byte makes PyTorch write a dump, and the
// training goes on. Nothing is written where the rank itself does not hold such a pipe open.
import { closeSync, constants, openSync, readdirSync, readlinkSync, statSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { messageOf } from '../../text/error.ts'
import type { Evidence, RankEvidence } from '../model.ts'
import { environmentOf } from './process.ts'

/** Of NCCL's backend, and of that for Intel GPUs. */
const NAMES = ['TORCH_NCCL_DEBUG_INFO_PIPE_FILE', 'TORCH_FR_DEBUG_INFO_PIPE_FILE']
const MOST_DESCRIPTORS = 4_096

/** How the job calls the pipe of a rank; undefined where it has set none up. */
export function pipeName(environment: ReadonlyMap<string, string>, rank: number): string | undefined {
  const prefix = NAMES.map((name) => environment.get(name)).find((value) => value !== undefined && value !== '')
  return prefix === undefined ? undefined : `${prefix}${rank}.pipe`
}

/** The pipe by the descriptor with which the rank reads it: a path could lead out of its container. */
function pipeOf(pid: number, name: string): string | undefined {
  for (const descriptor of readdirSync(`/proc/${pid}/fd`).slice(0, MOST_DESCRIPTORS)) {
    const path = `/proc/${pid}/fd/${descriptor}`
    try {
      if (basename(readlinkSync(path)) === basename(name) && statSync(path).isFIFO()) return path
    } catch {
      // Closed meanwhile.
    }
  }
  return undefined
}

/** To write a dump with its call sites PyTorch needs the GIL: where C code keeps it, the thread that watches over time-outs could wait for it, too. */
const keepsGil = (me: RankEvidence | undefined): boolean => me?.threads.some(({ holdsGil }) => holdsGil === true) === true

/** Returns the ranks that were asked, with their pids. */
export function askForDumps(ranks: ReadonlyMap<number, number>, evidence: Evidence): ReadonlyMap<number, number> {
  const asked = new Map<number, number>()
  for (const [rank, pid] of ranks) {
    const me = evidence.ranks.get(rank)
    if (me?.alive === false || (me?.ops ?? []).length > 0 || keepsGil(me)) continue
    const name = pipeName(environmentOf(pid), rank)
    try {
      const path = name === undefined ? undefined : pipeOf(pid, name)
      if (path === undefined) continue
      const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
      try {
        writeSync(descriptor, '1')
      } finally {
        closeSync(descriptor)
      }
      asked.set(rank, pid)
    } catch (error) {
      evidence.problems.push(`${name ?? ''}: ${messageOf(error).split('\n')[0] ?? ''}`)
    }
  }
  return asked
}
