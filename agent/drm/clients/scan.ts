// Which descriptors of which processes are open graphics cards. All processes are looked through seldom, the descriptors found are read more often.
import { isFailure, type Files } from '../files.ts'
import { parseFdinfo, type Fdinfo } from './fdinfo.ts'

/** The links of a process are followed when it has other descriptors than before, which costs about 20 µs for each of them (bench/fdinfo.ts). */
const LOOK_MS = 10_000
/** And of all processes: a number may stand for another file by now. */
const LOOK_ALL_MS = 60_000
/** amdgpu up to Linux 6.12 walks all buffers of a client under a lock for each read. */
const READ_MS = 2_000
/** With more clients than this they are read more seldom: each costs some 30 µs. */
const FEW_CLIENTS = 32
const READ_MANY_MS = 5_000
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

/** What was seen of a process: the numbers of its descriptors, and those of cards. */
type Seen = { readonly numbers: string; readonly cards: readonly Descriptor[]; readonly isHidden: boolean }
/** `key`: the client that was read from it. */
type Descriptor = { readonly pid: number; readonly path: string; key?: string }

const isCard = (target: string | undefined): boolean => target?.startsWith('/dev/dri/') === true || target?.startsWith('/dev/accel/') === true
const isNumber = (name: string): boolean => {
  for (let at = 0; at < name.length; at++) if (name.charCodeAt(at) < 0x30 || name.charCodeAt(at) > 0x39) return false
  return name !== ''
}

export function createScanner(files: Files, proc: string): (nowMs: number) => Scan {
  let known = new Map<string, Seen>()
  let found: Descriptor[] = []
  let hidden = 0
  let clients = 0
  let [lookedMs, lookedAllMs] = [-Infinity, -Infinity]
  let last: Scan = { open: [], hidden: 0, readMs: -Infinity }

  /** A process always has descriptors or is a kernel thread, whose command line is empty. */
  const isHidden = (name: string): boolean => {
    const command = files.text(`${proc}/${name}/cmdline`)
    return !isFailure(command) && command !== ''
  }

  const lookAt = (name: string, before: Seen | undefined): Seen => {
    // Whose descriptors are hidden keeps them so, and a kernel thread has none.
    if (before?.numbers === '' && before.cards.length === 0) return before
    const pid = Number(name)
    const descriptors = files.names(`${proc}/${name}/fd`)
    const numbers = descriptors.join(' ')
    if (before !== undefined && numbers !== '' && before.numbers === numbers) return before
    if (descriptors.length > 0) {
      const cards = descriptors.flatMap((fd) => (isCard(files.link(`${proc}/${name}/fd/${fd}`)) ? [{ pid, path: `${proc}/${name}/fdinfo/${fd}` }] : []))
      return { numbers, cards, isHidden: false }
    }
    const infos = files.list(`${proc}/${name}/fdinfo`).slice(0, MOST_UNLINKED)
    return { numbers, cards: infos.map((fd) => ({ pid, path: `${proc}/${name}/fdinfo/${fd}` })), isHidden: infos.length === 0 && isHidden(name) }
  }

  const look = (isAll: boolean): void => {
    const now = new Map<string, Seen>()
    found = []
    hidden = 0
    for (const name of files.names(proc)) {
      if (!isNumber(name) || now.size >= MOST_PROCESSES || found.length >= MOST_DESCRIPTORS) continue
      const seen = lookAt(name, isAll ? undefined : known.get(name))
      now.set(name, seen)
      for (const card of seen.cards) found.push(card)
      if (seen.isHidden) hidden++
    }
    known = now
  }

  return (nowMs) => {
    if (nowMs - last.readMs < (clients > FEW_CLIENTS ? READ_MANY_MS : READ_MS) - 50) return last
    if (nowMs - lookedMs >= LOOK_MS - 50) {
      const isAll = nowMs - lookedAllMs >= LOOK_ALL_MS - 50
      lookedMs = nowMs
      if (isAll) lookedAllMs = nowMs
      look(isAll)
    }
    const open: OpenCard[] = []
    const cards: Descriptor[] = []
    const read = new Map<string, Fdinfo>()
    for (const entry of found) {
      // A descriptor that was handed on says what the one that it came from says.
      let info = entry.key === undefined ? undefined : read.get(entry.key)
      if (info === undefined) {
        const text = files.text(entry.path)
        info = isFailure(text) ? undefined : parseFdinfo(text)
        if (info === undefined) continue
        entry.key = `${info.slot} ${info.client}`
        read.set(entry.key, info)
      }
      cards.push(entry)
      open.push({ ...info, pid: entry.pid })
    }
    // Others are closed, or were none.
    found = cards
    clients = read.size
    return (last = { open, hidden, readMs: nowMs })
  }
}
