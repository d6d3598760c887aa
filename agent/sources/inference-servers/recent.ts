// What happened in the last minute, out of counters and histograms that only rise.
import type { Histogram } from '../../model/histogram.ts'
import type { ServerFigures } from '../../servers/model.ts'
import { quantileOf, QUANTILES, since } from '../../servers/quantiles.ts'

export type RecentFigures = {
  readonly promptRate?: number
  readonly generationRate?: number
  readonly prefixHitRatio?: number
  /** By quantile. */
  readonly timeToFirstToken: readonly (readonly [quantile: number, seconds: number])[]
  readonly interTokenLatency: readonly (readonly [quantile: number, seconds: number])[]
}

const WINDOW_MS = 60_000
/** Pages that are read once a minute need two readings. */
const LONGEST_MS = 130_000

const quantilesOf = (before: Histogram | undefined, now: Histogram | undefined): RecentFigures['timeToFirstToken'] => {
  const between = before === undefined || now === undefined ? undefined : since(before, now)
  if (between === undefined) return []
  return QUANTILES.flatMap((q) => {
    const seconds = quantileOf(between, q)
    return seconds === undefined ? [] : [[q, seconds] as const]
  })
}

/** What is compared later, and no more: a whole reading may hold the page that it was read from. */
type Counted = Pick<ServerFigures, 'promptTokens' | 'generationTokens' | 'prefixHits' | 'prefixQueries' | 'timeToFirstToken' | 'interTokenLatency'>
const countedOf = ({ promptTokens, generationTokens, prefixHits, prefixQueries, timeToFirstToken, interTokenLatency }: ServerFigures): Counted => ({
  ...(promptTokens === undefined ? {} : { promptTokens }),
  ...(generationTokens === undefined ? {} : { generationTokens }),
  ...(prefixHits === undefined ? {} : { prefixHits }),
  ...(prefixQueries === undefined ? {} : { prefixQueries }),
  ...(timeToFirstToken === undefined ? {} : { timeToFirstToken }),
  ...(interTokenLatency === undefined ? {} : { interTokenLatency }),
})

export function createRecent(): (t: number, fresh: ServerFigures) => RecentFigures {
  let kept: { readonly t: number; readonly figures: Counted }[] = []
  let newest: RecentFigures = { timeToFirstToken: [], interTokenLatency: [] }
  return (t, fresh) => {
    const { promptTokens, generationTokens } = fresh
    if (promptTokens === undefined && generationTokens === undefined && fresh.timeToFirstToken === undefined) {
      const last = kept.at(-1)
      return last === undefined || t - last.t > LONGEST_MS ? { timeToFirstToken: [], interTokenLatency: [] } : newest
    }
    // The oldest of the last minute, or the one before where there is none: nothing older is kept.
    const first = kept.findIndex((one) => t - one.t <= WINDOW_MS)
    kept = kept.slice(first < 0 ? -1 : first).filter((one) => t - one.t <= LONGEST_MS && one.t < t)
    const [before] = kept
    kept.push({ t, figures: countedOf(fresh) })
    if (before === undefined) return newest
    const seconds = (t - before.t) / 1_000
    const delta = (pick: (figures: Counted) => number | undefined): number | undefined => {
      const [was, is] = [pick(before.figures), pick(fresh)]
      return was === undefined || is === undefined || is < was ? undefined : is - was
    }
    const [prompt, generated] = [delta((one) => one.promptTokens), delta((one) => one.generationTokens)]
    const [hits, queries] = [delta((one) => one.prefixHits), delta((one) => one.prefixQueries)]
    newest = {
      ...(prompt === undefined ? {} : { promptRate: prompt / seconds }),
      ...(generated === undefined ? {} : { generationRate: generated / seconds }),
      ...(hits === undefined || queries === undefined || queries <= 0 ? {} : { prefixHitRatio: Math.min(1, hits / queries) }),
      timeToFirstToken: quantilesOf(before.figures.timeToFirstToken, fresh.timeToFirstToken),
      interTokenLatency: quantilesOf(before.figures.interTokenLatency, fresh.interTokenLatency),
    }
    return newest
  }
}
