// An inference server whose KV cache is full: requests wait for room, or lose theirs and are computed again.
import { inferencePreemptionsTotal, inferenceKvCacheUsageRatio, inferenceRequestsWaiting } from '../../metrics/inference.ts'
import type { Remedy } from '../../model/fault.ts'
import { gib, GIB } from '../../text/bytes.ts'
import { counted, grouped } from '../../text/grammar.ts'
import { percent } from '../../text/figures.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createRates } from './parts/rates.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { flagsOf, neighboursOf, neighboursText, onGpus, serverText, setTo } from './parts/server-text.ts'
import type { Track, Tracks } from './parts/tracks.ts'

const WINDOW_MS = 60_000
/** Left free on a card for what libraries take later. */
const MARGIN = GIB

/** What the server's cards have free beyond a margin, of the fullest card: engines of one model grow alike. */
function roomOf(tracks: Tracks, { uuids }: ServerRow): { readonly bytes: number; readonly total: number } | undefined {
  const cards = uuids.flatMap((uuid) => tracks.gpu(uuid) ?? [])
  const total = Math.min(...cards.flatMap((card) => card.total ?? []))
  return cards.length === 0 || !Number.isFinite(total) ? undefined : { bytes: Math.max(0, Math.min(...cards.map(({ free }) => free)) - MARGIN), total }
}

function remediesOf(row: ServerRow, tracks: Tracks, neighbours: readonly Track[]): readonly Remedy[] {
  const flags = flagsOf(row)
  const remedies: Remedy[] = []
  const room = roomOf(tracks, row)
  const { kv_cache: cache } = row.memory
  if (room !== undefined && room.bytes >= GIB / 2) {
    const cards = Math.max(1, row.uuids.length)
    const tokens = cache === undefined || row.kvTokens === undefined ? undefined : Math.floor((room.bytes * cards * row.kvTokens) / cache)
    const more = `${gib(room.bytes)} of each card are free beyond a margin of 1 GiB${tokens === undefined ? '' : `: room for some ${grouped(tokens)} tokens more`}`
    const share = row.memoryShare === undefined ? undefined : Math.floor((row.memoryShare + room.bytes / room.total) * 100) / 100
    const set = share === undefined || flags?.share === undefined || share > 0.98 ? '' : ` (${setTo(flags.share, share)} instead of ${row.memoryShare})`
    remedies.push({ text: `Give the cache more memory${set}: ${more}.` })
  } else if (neighbours.length > 0)
    remedies.push({ text: `Take others off its card, so that the cache can grow: ${neighboursText(neighbours)} hold memory there.` })
  if (flags?.cacheType !== undefined)
    remedies.push({ text: `Store the cache in 8 bits (${flags.cacheType}): twice the tokens in the same memory, at a small cost in precision.` })
  if (row.running !== undefined && row.running > 1) {
    const fewer = Math.max(1, Math.floor(row.running * 0.8))
    remedies.push({
      text: `Compute fewer requests at once${flags === undefined ? '' : ` (${setTo(flags.parallel, fewer)})`}: ${row.running} run now; what waits outside the cache is not computed twice.`,
    })
  }
  remedies.push({ text: `Limit how long a request may be${flags === undefined ? '' : ` (${flags.context})`}, or add another server.` })
  return remedies
}

export const kvCacheStarved = defineDetector({
  id: 'kv-cache-starved',
  kinds: ['kv_cache_starved'],
  title: 'The KV cache of an inference server is full',
  severity: 'warning',
  watches: SERVER_METRICS,
  everyMs: 5_000,
  options: {
    for_seconds: { default: 60, min: 0, max: 86_400, help: 'For how long the cache must be full while requests wait.' },
    usage_ratio: { default: 0.95, min: 0.1, max: 1, help: 'Share of the cache from which on it is full.' },
    preemptions: { default: 0.1, min: 0.001, max: 1_000, help: 'Requests a second that lose their place; from so many on it is starved.' },
  },
  expression: {
    promql: `(${inferenceKvCacheUsageRatio.name} >= 0.95 and ${inferenceRequestsWaiting.name} > 0) or rate(${inferencePreemptionsTotal.name}[1m]) > 0.1`,
    for: '1m',
  },
  create(options, { present, tracks }) {
    const rates = createRates(WINDOW_MS)
    const judge = createServerJudge(present, {
      kind: 'kv_cache_starved',
      forMs: options.for_seconds * 1_000,
      clearMs: 60_000,
      sees(row, t) {
        if (row.preemptions !== undefined) rates.note(t, row.key, row.preemptions)
        const rate = row.preemptions === undefined ? undefined : rates.of(t, row.key)
        // A full cache with nobody waiting is good use.
        const isFull = row.kvUsage === undefined || row.waiting === undefined ? undefined : row.kvUsage >= options.usage_ratio && row.waiting > 0
        return rate !== undefined && rate > options.preemptions ? true : isFull
      },
      tell(row, sinceT, t) {
        const neighbours = neighboursOf(tracks, row)
        const rate = row.preemptions === undefined ? undefined : rates.of(t, row.key)
        const { kv_cache: cache } = row.memory
        const size = [row.kvTokens === undefined ? [] : [`${grouped(row.kvTokens)} tokens`], cache === undefined ? [] : [gib(cache)]].flat().join(', ')
        const lost =
          rate === undefined || rate <= 0 ? '' : ` In the last minute ${counted(Math.round(rate * 60), 'request')} lost their place and are computed again.`
        const others = neighbours.length === 0 ? '' : ` On the same card ${neighboursText(neighbours)} hold memory.`
        const usage = row.kvUsage === undefined ? 'full' : `${percent(row.kvUsage)} full`
        return {
          kind: 'kv_cache_starved',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'warning',
          title: `${row.name}: the KV cache is ${usage}${row.waiting === undefined || row.waiting === 0 ? '' : ` and ${counted(row.waiting, 'request')} wait`}`,
          verdict: `The KV cache of the ${serverText(row)} on ${onGpus(row)}${size === '' ? '' : ` (${size})`} is ${usage}; ${counted(row.waiting ?? 0, 'request')} wait and ${row.running ?? 0} run, for ${spanText(Math.max(1_000, t - sinceT))}.${lost}${others}`,
          facts: {
            server: row.name,
            since_ms: sinceT,
            ...(row.kvUsage === undefined ? {} : { kv_cache_usage_ratio: row.kvUsage }),
            ...(row.kvTokens === undefined ? {} : { kv_cache_tokens: row.kvTokens }),
            ...(cache === undefined ? {} : { kv_cache_bytes: cache }),
            ...(row.waiting === undefined ? {} : { requests_waiting: row.waiting }),
            ...(row.running === undefined ? {} : { requests_running: row.running }),
            ...(rate === undefined ? {} : { preemptions_per_minute: Math.round(rate * 60) }),
          },
          remedies: remediesOf(row, tracks, neighbours),
        }
      },
      over: () => 'no request waits for space in the cache any more',
    })
    return { judge }
  },
})
