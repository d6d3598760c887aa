// A KV cache that was reserved and never used for hours, while another process on the same GPU lacks that memory.
import { gib, GIB } from '../../text/bytes.ts'
import { percent } from '../../text/figures.ts'
import { roughSpan } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { aboutServer, serverRowsOf, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { flagsOf, neighboursOf, onGpus, serverText, setTo } from './parts/server-text.ts'
import { processText } from './parts/who.ts'

const HOUR_MS = 3_600_000
const LEAST_BYTES = GIB
/** What was used at most is left with so much above it. */
const MARGIN = 1.2
const KEEPS_SHARE = new Set(['vllm'])

/** The highest usage of each hour, oldest first. */
type Use = { hours: { readonly at: number; peak: number }[]; firstT: number; worked: boolean }

export const cacheReservedIdle = defineDetector({
  id: 'cache-reserved-idle',
  kinds: ['cache_reserved_idle'],
  title: 'A KV cache is reserved and unused while a neighbour lacks memory',
  severity: 'info',
  watches: SERVER_METRICS,
  everyMs: 5_000,
  options: {
    hours: { default: 2, min: 0.05, max: 168, help: 'For how long most of the cache must have been unused.' },
    usage_ratio: { default: 0.3, min: 0.01, max: 1, help: 'It is mostly unused when never more than this share of it was in use.' },
    starved_minutes: { default: 60, min: 1, max: 10_080, help: 'A neighbour lacks memory for so long after a request of it failed.' },
  },
  expression: { none: 'whether a neighbour on the card lacks memory is seen in its failed requests and in other servers, which no expression joins' },
  create(options, { present, tracks }) {
    const uses = new Map<string, Use>()
    const note = (row: ServerRow, t: number): Use => {
      let use = uses.get(row.key)
      if (use === undefined || t < use.firstT) uses.set(row.key, (use = { hours: [], firstT: t, worked: false }))
      const at = Math.floor(t / HOUR_MS)
      const peak = row.kvUsage ?? 0
      const last = use.hours.at(-1)
      if (last?.at === at) last.peak = Math.max(last.peak, peak)
      else use.hours = [...use.hours, { at, peak }].filter((hour) => at - hour.at <= options.hours)
      // A server that nobody has asked yet says nothing of what it needs.
      use.worked ||= peak > 0 || (row.running ?? 0) > 0
      return use
    }
    const peakOf = (use: Use): number => Math.max(...use.hours.map(({ peak }) => peak))
    /** Who lacks memory on one of its cards, in words. */
    const starving = (row: ServerRow, t: number): string | undefined => {
      for (const track of neighboursOf(tracks, row))
        if (track.oom !== undefined && t - track.oom.t <= options.starved_minutes * 60_000 && t >= track.oom.t) return `${processText(track)} ran out of memory`
      for (const other of serverRowsOf(present)) {
        if (other.key === row.key || !other.uuids.some((uuid) => row.uuids.includes(uuid))) continue
        if ((other.offloaded ?? 0) > 0.01) return `${percent(other.offloaded ?? 0)} of the model of ${other.name} is in host memory`
        if ((other.kvUsage ?? 0) >= 0.95 && (other.waiting ?? 0) > 0) return `requests of ${other.name} wait for space in its KV cache`
      }
      return undefined
    }
    const judge = createServerJudge(present, {
      kind: 'cache_reserved_idle',
      forMs: 0,
      clearMs: 0,
      sees(row, t) {
        // Without its cards nobody can say who else is on them.
        if (row.kvUsage === undefined || row.uuids.length === 0 || row.uuids.length < row.gpus.length) return undefined
        const use = note(row, t)
        if (peakOf(use) >= options.usage_ratio) return false
        const { kv_cache: cache } = row.memory
        if (cache === undefined || t - use.firstT < options.hours * HOUR_MS || !use.worked) return undefined
        return cache * (1 - peakOf(use) * MARGIN) >= LEAST_BYTES && starving(row, t) !== undefined
      },
      tell(row, sinceT, t) {
        const use = note(row, t)
        const peak = peakOf(use)
        const cache = row.memory.kv_cache ?? 0
        const unused = Math.max(0, cache * (1 - peak * MARGIN))
        const flag = flagsOf(row)?.share
        const totals = row.uuids.flatMap((uuid) => tracks.gpu(uuid)?.total ?? [])
        const total = totals.reduce((sum, one) => sum + one, 0)
        const share =
          row.memoryShare === undefined || total === 0 || !KEEPS_SHARE.has(row.server) ? undefined : Math.ceil((row.memoryShare - unused / total) * 100) / 100
        const set = share === undefined || flag === undefined || share <= 0 ? '' : ` (${setTo(flag, share)} instead of ${row.memoryShare})`
        const lacks = starving(row, t) ?? 'a neighbour lacks memory'
        return {
          kind: 'cache_reserved_idle',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'info',
          title: `${row.name}: ${gib(unused)} of its KV cache are reserved and never used`,
          verdict: `The ${serverText(row)} keeps ${gib(cache)} of ${onGpus(row)} for its KV cache, of which at most ${percent(peak)} were in use in ${roughSpan(t - use.firstT)}, while ${lacks}.`,
          facts: { server: row.name, since_ms: sinceT, kv_cache_bytes: cache, kv_cache_peak_ratio: peak, unused_bytes: Math.round(unused) },
          remedies: [
            { text: `Give the cache less at the next start${set}: ${gib(cache - unused)} hold what was used, with a fifth to spare.` },
            { text: 'If it must be able to serve more than it did, put the neighbour on another card.' },
          ],
        }
      },
      over: () => 'its cache is used, or nobody on its card lacks memory',
      forget: (key) => void uses.delete(key),
    })
    return { judge }
  },
})
