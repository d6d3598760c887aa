// Which descriptors of which processes are open graphics cards. All processes are looked through seldom, the descriptors found are read more often.
import { isFailure, type Files } from '../files.ts'
import { parseFdinfo, type Fdinfo } from './fdinfo.ts'

/** Following the links of 500 descriptors costs about 10 ms (measured, Linux 6.1). */
const LOOK_ALL_MS = 10_000
/** amdgpu up to Linux 6.12 walks all buffers of a client under a lock for each read. */
const READ_MS = 2_000
const MOST_PROCESSES = 20_000
const MOST_DESCRIPTORS = 4_096
/** Without the links (a copy of /proc) each descriptor is read instead. */
const MOST_UNLINKED = 64

export type OpenCard = Fdinfo & { readonly pid: number }
export type Scan = {
  readonly open: readonly OpenCard[]
  /** Processes whose descriptors the agent may not see. */
  readonly hidden: number
  /** Monotonic milliseconds of the reads. */
  readonly readMs: number
}

export function createScanner(files: Files, proc: string): (nowMs: number) => Scan {
  let found: { readonly pid: number; readonly path: string }[] = []
  let hidden = 0
  let lookedMs = -Infinity
  let last: Scan = { open: [], hidden: 0, readMs: -Infinity }

  const look = (): void => {
    found = []
    hidden = 0
    let processes = 0
    for (const name of files.list(proc)) {
      if (!/^\d+$/.test(name) || ++processes > MOST_PROCESSES || found.length >= MOST_DESCRIPTORS) continue
      const pid = Number(name)
      const descriptors = files.list(`${proc}/${name}/fd`)
      if (descriptors.length > 0) {
        for (const fd of descriptors) {
          const target = files.link(`${proc}/${name}/fd/${fd}`)
          if (target?.startsWith('/dev/dri/') === true || target?.startsWith('/dev/accel/') === true) found.push({ pid, path: `${proc}/${name}/fdinfo/${fd}` })
        }
        continue
      }
      const infos = files.list(`${proc}/${name}/fdinfo`)
      for (const fd of infos.slice(0, MOST_UNLINKED)) found.push({ pid, path: `${proc}/${name}/fdinfo/${fd}` })
      // A kernel thread has an empty list too; without any command line it is one.
      if (infos.length === 0 && isHidden(name)) hidden++
    }
  }
  /** A process always has descriptors or is a kernel thread, whose command line is empty. */
  const isHidden = (name: string): boolean => {
    const command = files.text(`${proc}/${name}/cmdline`)
    return !isFailure(command) && command !== ''
  }

  return (nowMs) => {
    if (nowMs - last.readMs < READ_MS - 50) return last
    if (nowMs - lookedMs >= LOOK_ALL_MS - 50) {
      lookedMs = nowMs
      look()
    }
    const open: OpenCard[] = []
    const cards: typeof found = []
    for (const entry of found) {
      const text = files.text(entry.path)
      const info = isFailure(text) ? undefined : parseFdinfo(text)
      if (info === undefined) continue
      cards.push(entry)
      open.push({ ...info, pid: entry.pid })
    }
    // Others are closed, or were none.
    found = cards
    return (last = { open, hidden, readMs: nowMs })
  }
}
