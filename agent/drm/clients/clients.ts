// Who uses a card: its clients, each counted once however many processes hold its descriptor, and how busy they kept its engines.
import type { Files, Roots } from '../files.ts'
import { createScanner, type OpenCard } from './scan.ts'
import type { Engine } from './fdinfo.ts'
import { createKfd, type Kfd } from './kfd.ts'
import { createSleepers } from './sleepers.ts'

export type Client = OpenCard
/** Share of the time in which each engine worked for all clients together, since the reading before; several engines of a kind count as one. */
export type EngineLoads = ReadonlyMap<string, number>
export type CardClients = {
  readonly clients: readonly Client[]
  readonly hidden: number
  /** Some were never asked, because the question would wake the card. */
  readonly unasked: boolean
  /** undefined before the second reading, and while nothing can be computed. */
  readonly loads: EngineLoads | undefined
}

export type Clients = {
  readonly of: (slot: string, nowMs: number) => CardClients
  readonly kfd: Kfd
}

/** Work of an engine between two readings of one client, as a share of the time; undefined: the counters do not tell. */
function loadOf(before: Engine, now: Engine, elapsedMs: number): number | undefined {
  const capacity = Math.max(1, now.capacity ?? 1)
  if (now.ns !== undefined && before.ns !== undefined) {
    // Counters of a driver may fall back for a moment, and a delta beyond the time is none.
    const share = Math.max(0, now.ns - before.ns) / 1e6 / elapsedMs / capacity
    return share <= 1.05 ? Math.min(1, share) : undefined
  }
  if (now.cycles === undefined || before.cycles === undefined) return undefined
  const all = (now.totalCycles ?? 0) - (before.totalCycles ?? 0)
  return all <= 0 ? undefined : Math.min(1, Math.max(0, now.cycles - before.cycles) / all / capacity)
}

export function createClients(files: Files, roots: Roots): Clients {
  const scan = createScanner(files, roots.proc, createSleepers(files, roots.sys))
  const kfd = createKfd(files, roots.sys)
  let seenMs = -Infinity
  let cards = new Map<string, CardClients>()
  let none: CardClients = { clients: [], hidden: 0, unasked: false, loads: undefined }
  let before = new Map<string, Client>()
  let beforeMs = -Infinity

  const read = (nowMs: number): void => {
    const { open, hidden, unasked, readMs } = scan(nowMs)
    if (readMs === seenMs) return
    seenMs = readMs
    const computing = kfd.pids()
    const unique = new Map<string, Client>()
    for (const entry of open) {
      const key = `${entry.slot} ${entry.client}`
      const known = unique.get(key)
      // A launcher opens the card and hands it on: it is rather the process that computes, else the younger one.
      const better = known === undefined || (computing.has(entry.pid) && !computing.has(known.pid)) || (!computing.has(known.pid) && entry.pid > known.pid)
      if (better) unique.set(key, entry)
    }
    const bySlot = new Map<string, Client[]>()
    for (const client of unique.values()) bySlot.set(client.slot, [...(bySlot.get(client.slot) ?? []), client])
    const elapsedMs = readMs - beforeMs
    cards = new Map()
    for (const [slot, clients] of bySlot) {
      const loads = new Map<string, number>()
      let compared = false
      for (const client of clients) {
        const old = before.get(`${slot} ${client.client}`)
        if (old === undefined) continue
        for (const [name, engine] of client.engines) {
          const load = loadOf(old.engines.get(name) ?? {}, engine, elapsedMs)
          if (load === undefined) continue
          compared = true
          loads.set(name, Math.min(1, (loads.get(name) ?? 0) + load))
        }
      }
      cards.set(slot, { clients, hidden, unasked: unasked.has(slot), loads: compared ? loads : undefined })
    }
    none = { clients: [], hidden, unasked: false, loads: undefined }
    for (const slot of unasked) if (!cards.has(slot)) cards.set(slot, { ...none, unasked: true })
    before = unique
    beforeMs = readMs
  }

  return {
    kfd,
    of(slot, nowMs) {
      read(nowMs)
      return cards.get(slot) ?? none
    },
  }
}
