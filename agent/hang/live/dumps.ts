// Flight Recorder dumps that the ranks of a running job have written: found by what their environment says, copied at once since they
// go with the container, and read. Only dumps of this run count, written since the job does not move.
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bytesText } from '../../text/bytes.ts'
import { messageOf } from '../../text/error.ts'
import { readFileInto } from '../evidence/folder.ts'
import type { Evidence } from '../model.ts'
import { environmentOf, startedAt } from './process.ts'

const MOST_BYTES = 64 * 2 ** 20
const MOST_TOTAL_BYTES = 256 * 2 ** 20

/** In the words of the process: of 2.15 and of older releases, then the defaults of 2.9 and newer, 2.7, 2.6. */
export function dumpPlaces(environment: ReadonlyMap<string, string>, rank: number): readonly string[] {
  const said = ['TORCH_FR_DUMP_TEMP_FILE', 'TORCH_NCCL_DEBUG_INFO_TEMP_FILE'].flatMap((name) => environment.get(name) ?? [])
  if (said.length > 0) return said.map((prefix) => `${prefix}${rank}`)
  const cache = environment.get('XDG_CACHE_HOME') ?? (environment.has('HOME') ? `${environment.get('HOME') ?? ''}/.cache` : undefined)
  const folders = [...(cache === undefined ? [] : [`${cache}/torch`]), '/tmp']
  return folders.flatMap((folder) => ['comm_lib_trace_rank_', 'nccl_trace_rank_'].map((name) => `${folder}/${name}${rank}`))
}

const hostPath = (pid: number, place: string): string => (place.startsWith('/') ? `/proc/${pid}/root${place}` : `/proc/${pid}/cwd/${place}`)

/** The sizes of the dumps that ranks have written since then; equal in two looks where they are complete. */
export function dumpSizes(ranks: ReadonlyMap<number, number>, sinceMs: number): ReadonlyMap<number, number> {
  const sizes = new Map<number, number>()
  for (const [rank, pid] of ranks)
    for (const place of dumpPlaces(environmentOf(pid), rank)) {
      try {
        const found = lstatSync(hostPath(pid, place))
        if (!found.isFile() || found.size === 0 || found.mtimeMs < sinceMs) continue
        sizes.set(rank, found.size)
        break
      } catch {
        // Not there yet, or its process has ended.
      }
    }
  return sizes
}

function bytesOf(path: string, sinceMs: number): Buffer | string | undefined {
  let descriptor: number
  try {
    // A link could lead out of the container.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY)
  } catch {
    return undefined
  }
  try {
    const { size, mtimeMs, isFile } = ((stat) => ({ size: stat.size, mtimeMs: stat.mtimeMs, isFile: stat.isFile() }))(fstatSync(descriptor))
    if (!isFile || size === 0 || mtimeMs < sinceMs) return undefined
    if (size > MOST_BYTES) return `${bytesText(size)}, more than the ${bytesText(MOST_BYTES)} that are read of a dump: not read`
    const bytes = Buffer.alloc(size)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, size, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** `sinceMs`: older ones say nothing of this standstill. `copyTo`: a folder for the dumps; made when there is one. */
export function readDumps(ranks: ReadonlyMap<number, number>, sinceMs: number, copyTo: string | undefined, evidence: Evidence): void {
  let left = MOST_TOTAL_BYTES
  for (const [rank, pid] of ranks)
    for (const place of dumpPlaces(environmentOf(pid), rank)) {
      try {
        const bytes = bytesOf(hostPath(pid, place), Math.max(sinceMs, startedAt(pid) ?? 0))
        if (bytes === undefined) continue
        if (typeof bytes === 'string' || bytes.length > left) {
          evidence.problems.push(`${place}: ${typeof bytes === 'string' ? bytes : `not read, since ${bytesText(MOST_TOTAL_BYTES)} were read before it`}`)
          continue
        }
        left -= bytes.length
        if (copyTo !== undefined) {
          mkdirSync(copyTo, { recursive: true, mode: 0o700 })
          writeFileSync(join(copyTo, basename(place)), bytes, { mode: 0o600 })
        }
        readFileInto({ path: place, name: basename(place), bytes }, evidence)
        break
      } catch (error) {
        evidence.problems.push(`${place}: ${messageOf(error).split('\n')[0] ?? ''}`)
      }
    }
}
