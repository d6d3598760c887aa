// Asks the agent for the past and writes it into a timeline.
import { getJson } from './api.ts'
import { drawing } from '../live/state.ts'
import { recordHistory, type HistoryMetric } from '../live/lanes.ts'
import { parseSeries } from './messages.ts'
import { WINDOW_S, type Timeline } from '../live/timeline.ts'

export type Past = {
  readonly timeline: Timeline
  readonly metrics: readonly HistoryMetric[]
  /** How far back, in seconds. */
  readonly span: number
  readonly endMs: number
  /** Of this GPU alone. */
  readonly uuid?: string
  readonly token: string | undefined
  /** False: the answer comes too late to matter. */
  readonly wanted: () => boolean
}

/** Resolves to whether all of it came. */
export async function loadPast({ timeline, metrics, span, endMs, uuid, token, wanted }: Past): Promise<boolean> {
  const { step } = timeline
  timeline.advance(Math.round(endMs / 1000))
  const one = async (metric: HistoryMetric): Promise<boolean> => {
    // A step more at either end: the grid need not begin where the span does.
    const points = step === 1 && span === WINDOW_S ? (metric.points ?? WINDOW_S + 2) : Math.floor(span / step) + 2
    const only = uuid === undefined ? '' : `&uuid=${encodeURIComponent(uuid)}`
    try {
      const rows = parseSeries(
        await getJson(`api/v1/series?metric=${metric.metric}${metric.query ?? ''}${only}&from=${endMs - span * 1000}&to=${endMs}&points=${points}`, token),
      )
      if (!wanted()) return true
      recordHistory(timeline, metric, rows)
      drawing.value++
      return true
    } catch (error) {
      // The live figures need no history: the chart then begins here, and says so by its emptiness.
      console.warn(error)
      return false
    }
  }
  return (await Promise.all(metrics.map(one))).every(Boolean)
}
