// Statistics of each source: when it last reported, how long it took, what it could not read. Feeds the agent's own metrics and /readyz.
import type { Scrape } from '../model/event.ts'
import type { Event } from '../model/event.ts'
import type { Gap, GapReason } from '../model/reading.ts'

export type SourceState = {
  readonly source: string
  /** Unix ms of the newest scrape. */
  readonly t: number
  /** Unix ms of the newest scrape that brought a reading; undefined when none ever did. */
  readonly lastReadingAt: number | undefined
  /** Sum over the groups of the newest complete tick. */
  readonly durationMs: number
  /** Readings of the newest complete tick. */
  readonly readings: number
  readonly gapsByReason: ReadonlyMap<GapReason, number>
}

type Entry = {
  t: number
  lastReadingAt: number | undefined
  durationMs: number
  readings: number
  running: { durationMs: number; readings: number }
  readonly gapsByReason: Map<GapReason, number>
  readonly groups: Map<string, { gaps: readonly Gap[]; keys: ReadonlySet<string>; expiresAt: number }>
}

export type SourceStatistics = {
  readonly name: string
  readonly ingest: (event: Event) => void
  readonly sources: () => readonly SourceState[]
  readonly eventCounts: () => ReadonlyMap<string, number>
  /** Forgets groups that ended, so that churn of GPUs and containers costs no memory. */
  readonly expire: (now: number) => void
}

const gapKey = (gap: Gap): string => `${gap.metric}|${gap.reason}|${Object.values(gap.labels).join('|')}`

/** A gap counts once when it appears, not once per scrape: a GPU without a fan must not look like a stream of failures. */
export function createSourceStatistics(): SourceStatistics {
  const entries = new Map<string, Entry>()
  const eventCounts = new Map<string, number>()

  const entryOf = (source: string): Entry => {
    let entry = entries.get(source)
    if (entry === undefined) {
      entry = {
        t: 0,
        lastReadingAt: undefined,
        durationMs: 0,
        readings: 0,
        running: { durationMs: 0, readings: 0 },
        gapsByReason: new Map(),
        groups: new Map(),
      }
      entries.set(source, entry)
    }
    return entry
  }

  const countGaps = (entry: Entry, scrape: Scrape): void => {
    const known = entry.groups.get(scrape.group)
    const expiresAt = scrape.t + scrape.ttlMs
    if (known !== undefined && known.gaps === scrape.gaps) {
      known.expiresAt = expiresAt
      return
    }
    const keys = new Set(scrape.gaps.map(gapKey))
    for (const gap of scrape.gaps) {
      if (known === undefined || !known.keys.has(gapKey(gap))) entry.gapsByReason.set(gap.reason, (entry.gapsByReason.get(gap.reason) ?? 0) + 1)
    }
    entry.groups.set(scrape.group, { gaps: scrape.gaps, keys, expiresAt })
  }

  return {
    name: 'ledger', // the value of `consumer` in warpwatch_agent_consumer_failures_total, which stays
    ingest(event) {
      eventCounts.set(event.type, (eventCounts.get(event.type) ?? 0) + 1)
      if (event.type !== 'scrape') return
      const entry = entryOf(event.source)
      if (event.t !== entry.t) {
        entry.durationMs = entry.running.durationMs
        entry.readings = entry.running.readings
        entry.running = { durationMs: 0, readings: 0 }
        entry.t = event.t
      }
      entry.running.durationMs += event.durationMs
      entry.running.readings += event.readings.length
      if (event.readings.length > 0) entry.lastReadingAt = event.t
      countGaps(entry, event)
    },
    sources: () =>
      [...entries].map(([source, entry]) => ({
        source,
        t: entry.t,
        lastReadingAt: entry.lastReadingAt,
        // Before the second tick of a source the running figures are all there is.
        durationMs: entry.durationMs || entry.running.durationMs,
        readings: entry.readings || entry.running.readings,
        gapsByReason: entry.gapsByReason,
      })),
    eventCounts: () => eventCounts,
    expire(now) {
      for (const { groups } of entries.values())
        groups.forEach((group, name) => {
          if (group.expiresAt < now) groups.delete(name)
        })
    },
  }
}
