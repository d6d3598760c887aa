// Servers that may hold no GPU memory at all: those of a family that computes on the CPU without saying so are looked for by the name of their process.
import { readdirSync } from 'node:fs'
import { parseFamily } from '../../attribution/proc-files.ts'
import { readSmallFile } from '../../attribution/small-file.ts'
import { FAMILIES } from '../../servers/recognise.ts'

/** A process is begun under the name of the one that starts it: it is looked at in two rounds. */
const LOOKS = 2
/** In one round: a host may start thousands of processes a minute. */
const MAX_READS = 300

const tryRead = (path: string): string => {
  try {
    return readSmallFile(path)
  } catch {
    return ''
  }
}

function isServer(procRoot: string, pid: number): boolean {
  const comm = parseFamily(tryRead(`${procRoot}/${pid}/stat`))?.comm
  const family = FAMILIES.find(({ processName }) => processName !== undefined && processName === comm)
  return family !== undefined && family.command.test(tryRead(`${procRoot}/${pid}/cmdline`).replaceAll('\0', ' ').trim())
}

/** Pids of such servers now. Costs one listing of /proc a round, and a file of each process that is new. */
export function createServersByName(procRoot: string): () => readonly number[] {
  let known = new Map<number, number | true>()
  return () => {
    const now: typeof known = new Map()
    const found: number[] = []
    let reads = 0
    for (const name of readdirSync(procRoot)) {
      const pid = Number(name)
      if (!Number.isInteger(pid)) continue
      let looks = known.get(pid) ?? 0
      // Of one that was a server the pid may be another's by now.
      if (looks === true || (looks < LOOKS && reads < MAX_READS)) {
        reads++
        looks = isServer(procRoot, pid) ? true : looks === true ? LOOKS : looks + 1
      }
      now.set(pid, looks)
      if (looks === true) found.push(pid)
    }
    known = now
    return found.toSorted((a, b) => a - b)
  }
}
