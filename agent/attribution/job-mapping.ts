// Which jobs have which GPU, from the files that a prolog and epilog of Slurm write for dcgm-exporter (--hpc-job-mapping-dir): one file a GPU, one job a line.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readSmallFile } from './small-file.ts'

/** By GPU index (`3`), or index and MIG instance (`3.7`): the names of the files. The same object as long as nothing changed. */
export type JobMappingReader = () => ReadonlyMap<string, readonly string[]>

const FILE = /^\d{1,4}(?:\.\d{1,4})?$/
const MOST_FILES = 512
const MOST_JOBS = 32
/** Longer than any job id of Slurm or PBS, array index and cluster name included. */
const MOST_CHARACTERS = 128
const READ_EVERY_MS = 2_000

function jobsOf(path: string): readonly string[] {
  try {
    const lines = readSmallFile(path).split('\n', MOST_JOBS + 1)
    return lines
      .map((line) => line.trim().slice(0, MOST_CHARACTERS))
      .filter((line) => line !== '')
      .slice(0, MOST_JOBS)
  } catch {
    return [] // the epilog removed it between the listing and now, or it is not readable
  }
}

/** A folder that is not there, or not yet, holds no jobs. */
export function createJobMapping(directory: string, now: () => number = () => performance.now()): JobMappingReader {
  let known: ReadonlyMap<string, readonly string[]> = new Map()
  let text = ''
  let readAt = Number.NEGATIVE_INFINITY
  const read = (): readonly (readonly [string, readonly string[]])[] => {
    try {
      const names = readdirSync(directory, { withFileTypes: true })
        .filter((entry) => entry.isFile() && FILE.test(entry.name))
        .map(({ name }) => name)
        .sort()
      return names
        .slice(0, MOST_FILES)
        .map((name) => [name, jobsOf(join(directory, name))] as const)
        .filter(([, jobs]) => jobs.length > 0)
    } catch {
      return []
    }
  }
  return () => {
    if (now() - readAt < READ_EVERY_MS) return known
    readAt = now()
    const found = read()
    const next = JSON.stringify(found)
    if (next !== text) {
      text = next
      known = new Map(found)
    }
    return known
  }
}
