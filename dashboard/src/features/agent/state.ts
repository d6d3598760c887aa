// The agent's own health: asked for while its page is open, each time the agent has said something new of itself.
import { effect, signal } from '@preact/signals'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import type { NotifierRow } from '../../../../agent/model/notification.ts'
import { ApiError, getJson, getText, storedToken } from '../../parts/connection/api.ts'
import { parseSeries } from '../../parts/connection/messages.ts'
import { agentNow, connection, drawing, timeline } from '../../parts/live/state.ts'
import { WINDOW_S } from '../../parts/live/timeline.ts'
import { COST_METRICS, COST_POINTS, type Lane, recordCost, recordedSince } from './cost-lanes.ts'
import { type Figures, parseFigures } from './figures.ts'
import { parseNotifiers } from './notifier-state.ts'
import { type GapEntry, parseGaps, parseGroups, type SourceRow, sourceRows } from './source-rows.ts'
import { agentGapsTotal } from '../../text/metric-names.ts'

/** The agent speaks of itself each five seconds (sources/agent-self.ts); its whole page of metrics comes with it. */
const PAUSE_MS = 10_000
/** How far back the newest gap of each reason is looked for, in steps of a minute. */
export const GAPS_SPAN_MS = 6 * 3_600_000
const GAPS_PAUSE_MS = 60_000

export type Health = {
  readonly figures: Figures
  readonly sources: readonly SourceRow[]
  readonly gaps: readonly GapEntry[]
  readonly notifiers: readonly NotifierRow[]
}
export type Known =
  { readonly state: 'asking' } | { readonly state: 'there'; readonly health: Health; readonly at: number } | { readonly state: 'failed'; readonly why: string }

export const known = signal<Known>({ state: 'asking' })
export const version = signal<string | undefined>(undefined)
/** The counters of gaps over the last hours; undefined where there is no history. */
export const gapsPast = signal<readonly SeriesRow[] | undefined>(undefined)
/** The newest of what the agent costs, and since when that is recorded, if for less than its charts show; what is not known is not there. */
export const cost = signal<Readonly<Partial<Record<Lane | 'since', number>>>>({})

const series = async (metric: string, spanMs: number, points: number): Promise<readonly SeriesRow[]> => {
  const to = Math.round(agentNow.peek())
  return parseSeries(await getJson(`api/v1/series?metric=${metric}&from=${to - spanMs}&to=${to}&points=${points}`, storedToken()))
}

async function askHealth(): Promise<Health> {
  const token = storedToken()
  const [page, groups, gaps, notifiers] = await Promise.all([
    getText('metrics', token),
    getJson('api/v1/sources', token),
    getJson('api/v1/gaps', token),
    getJson('api/v1/notifiers', token),
  ])
  const figures = parseFigures(page)
  const gapRows = parseGaps(gaps)
  return { figures, gaps: gapRows, sources: sourceRows(parseGroups(groups), gapRows, figures), notifiers: parseNotifiers(notifiers) }
}

async function askCost(): Promise<void> {
  const found: Partial<Record<Lane | 'since', number>> = {}
  for (const lane of ['cpu', 'memory', 'busy'] as const) {
    const rows = await series(COST_METRICS[lane], WINDOW_S * 1000, COST_POINTS)
    const value = recordCost(timeline, lane, rows)
    if (value !== undefined) found[lane] = value
    const since = recordedSince(rows)
    if (since !== undefined) found.since = since
  }
  cost.value = found
  drawing.value++
}

async function askVersion(): Promise<void> {
  const reported: unknown = await getJson('api/v1/openapi.json', storedToken())
  const info: unknown = typeof reported === 'object' && reported !== null && 'info' in reported ? reported.info : undefined
  if (typeof info === 'object' && info !== null && 'version' in info && typeof info.version === 'string') version.value = info.version
}

/** What has no history, or is refused, is not there: the page says so where it would stand. */
const quietly = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => console.debug(error))

let again: (() => void) | undefined
/** Asks at once: something was done that changes the answer. */
export const refresh = (): void => again?.()

/** Follows the agent's health until the returned function is called. */
export function watchHealth(): () => void {
  let over = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let round = 0
  let gapsAt = Number.NEGATIVE_INFINITY
  const ask = async (): Promise<void> => {
    const own = ++round
    clearTimeout(timer)
    const answer = await askHealth()
      .then((health): Known => ({ state: 'there', health, at: agentNow.peek() }))
      .catch((error: unknown): Known => ({ state: 'failed', why: error instanceof ApiError ? error.failure.message : 'the agent does not answer' }))
    if (over || own !== round) return
    // What was told stays when the agent goes away: the verdict says that it is old.
    if (answer.state === 'there' || known.peek().state !== 'there') known.value = answer
    if (answer.state === 'there') {
      void quietly(askCost())
      if (version.peek() === undefined) void quietly(askVersion())
      if (performance.now() - gapsAt > GAPS_PAUSE_MS) {
        gapsAt = performance.now()
        void quietly(series(agentGapsTotal, GAPS_SPAN_MS, 360).then((rows) => (gapsPast.value = rows)))
      }
    }
    timer = setTimeout(() => document.visibilityState === 'visible' && void ask(), PAUSE_MS)
  }
  const seen = (): void => {
    if (document.visibilityState === 'visible' && connection.peek().state === 'live') void ask()
  }
  document.addEventListener('visibilitychange', seen)
  again = () => void ask()
  const stop = effect(() => {
    if (connection.value.state === 'live') void ask()
    else clearTimeout(timer)
  })
  return () => {
    over = true
    again = undefined
    clearTimeout(timer)
    stop()
    document.removeEventListener('visibilitychange', seen)
  }
}
