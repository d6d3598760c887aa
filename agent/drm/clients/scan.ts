// Which descriptors of which processes are open graphics cards. All processes are looked through rarely, the descriptors found are read more often.
import { isFailure, type Files } from '../files.ts'
import { parseFdinfo, type Fdinfo } from './fdinfo.ts'
import type { Sleepers } from './sleepers.ts'

/** The links of a process are followed when it has other descriptors than before, which costs about 10 µs for each of them (bench/fdinfo.ts). */
const LOOK_MS = 10_000
/** And again after this time, since a number may stand for another file by now; twice as long each time that it has the same descriptors. */
const [LOOK_AGAIN_MS, LOOK_AGAIN_MOST_MS] = [60_000, 240_000]
/** amdgpu up to Linux 6.12 walks all buffers of a client under a lock for each read. */
const READ_MS = 2_000
/** With more clients than this they are read more rarely: each costs some 30 µs. */
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
  /** Slots of sleeping cards of whose clients some were never read. */
  readonly unasked: ReadonlySet<string>
  /** Monotonic milliseconds of the reads. */
  readonly readMs: number
}

/** What was seen of a process: how many descriptors, their numbers, and those of cards; and when they are read again although nothing changed. */
type Seen = {
  readonly count: number
  readonly numbers: string
  readonly cards: readonly Descriptor[]
  readonly isHidden: boolean
  readonly untilMs: number
  readonly forMs: number
}
/** `key`: the client that was read from it. */
type Descriptor = { readonly pid: number; readonly path: string; readonly node: string; key?: string; last?: Fdinfo }

const isCard = (target: string): boolean => target.startsWith('/dev/dri/') || target.startsWith('/dev/accel/')
const isNumber = (name: string): boolean => {
  for (let at = 0; at < name.length; at++) if (name.charCodeAt(at) < 0x30 || name.charCodeAt(at) > 0x39) return false
  return name !== ''
}

const awake: Sleepers = () => undefined

export function createScanner(files: Files, proc: string, sleepers: Sleepers = awake): (nowMs: number) => Scan {
  let known = new Map<string, Seen>()
  let found: Descriptor[] = []
  let hidden = 0
  let clients = 0
  let lookedMs = -Infinity
  let last: Scan = { open: [], hidden: 0, unasked: new Set(), readMs: -Infinity }

  /** A process always has descriptors or is a kernel thread, whose command line is empty. */
  const isHidden = (name: string): boolean => {
    const command = files.text(`${proc}/${name}/cmdline`)
    return !isFailure(command) && command !== ''
  }

  const lookAt = (name: string, seen: Seen | undefined, nowMs: number): Seen => {
    const due = seen === undefined || nowMs >= seen.untilMs
    const before = due ? undefined : seen
    // Whose descriptors are hidden keeps them so, and a kernel thread has none.
    if (before?.numbers === '' && before.cards.length === 0) return before
    const pid = Number(name)
    const count = files.count(`${proc}/${name}/fd`)
    if (before !== undefined && count > 0 && before.count === count) return before
    const descriptors = files.names(`${proc}/${name}/fd`)
    const numbers = descriptors.join(' ')
    if (before !== undefined && numbers !== '' && before.numbers === numbers) return before
    const forMs = seen !== undefined && seen.numbers === numbers ? Math.min(seen.forMs * 2, LOOK_AGAIN_MOST_MS) : LOOK_AGAIN_MS
    const base = { count, numbers, forMs, untilMs: nowMs + forMs - 50 }
    if (descriptors.length > 0) {
      const cards = descriptors.flatMap((fd) => {
        const node = files.link(`${proc}/${name}/fd/${fd}`)
        return node !== undefined && isCard(node) ? [{ pid, path: `${proc}/${name}/fdinfo/${fd}`, node }] : []
      })
      return { ...base, cards, isHidden: false }
    }
    const infos = files.list(`${proc}/${name}/fdinfo`).slice(0, MOST_UNLINKED)
    return { ...base, cards: infos.map((fd) => ({ pid, path: `${proc}/${name}/fdinfo/${fd}`, node: '' })), isHidden: infos.length === 0 && isHidden(name) }
  }

  const look = (nowMs: number): void => {
    const now = new Map<string, Seen>()
    const before = new Map(found.flatMap(({ path, last: info }) => (info === undefined ? [] : [[path, info] as const])))
    found = []
    hidden = 0
    for (const name of files.names(proc)) {
      if (!isNumber(name) || now.size >= MOST_PROCESSES || found.length >= MOST_DESCRIPTORS) continue
      const seen = lookAt(name, known.get(name), nowMs)
      now.set(name, seen)
      for (const card of seen.cards) {
        const info = card.last ?? before.get(card.path)
        if (info !== undefined) card.last = info
        found.push(card)
      }
      if (seen.isHidden) hidden++
    }
    known = now
  }

  return (nowMs) => {
    if (nowMs - last.readMs < (clients > FEW_CLIENTS ? READ_MANY_MS : READ_MS) - 50) return last
    if (nowMs - lookedMs >= LOOK_MS - 50) {
      lookedMs = nowMs
      look(nowMs)
    }
    const open: OpenCard[] = []
    const cards: Descriptor[] = []
    const read = new Map<string, Fdinfo>()
    const unasked = new Set<string>()
    const asleep = new Map<string, string | undefined>()
    for (const entry of found) {
      if (!asleep.has(entry.node)) asleep.set(entry.node, sleepers(entry.node))
      const slot = asleep.get(entry.node)
      if (slot !== undefined) {
        // What it held when it was awake: it does nothing since.
        cards.push(entry)
        if (entry.last === undefined) unasked.add(slot)
        else open.push({ ...entry.last, pid: entry.pid })
        continue
      }
      // A descriptor that was handed on says what the one that it came from says.
      let info = entry.key === undefined ? undefined : read.get(entry.key)
      if (info === undefined) {
        const text = files.text(entry.path)
        info = isFailure(text) ? undefined : parseFdinfo(text)
        if (info === undefined) continue
        entry.key = `${info.slot} ${info.client}`
        read.set(entry.key, info)
      }
      entry.last = info
      cards.push(entry)
      open.push({ ...info, pid: entry.pid })
    }
    // Others are closed, or were none.
    found = cards
    clients = read.size
    return (last = { open, hidden, unasked, readMs: nowMs })
  }
}
