// What /metrics says of forecasts: seconds from now until memory runs out, at the earliest and at the latest; nothing while nothing is reported.
import { memoryExhaustionEarliestSeconds, memoryExhaustionLatestSeconds } from '../../metrics/incident.ts'
import type { Forecast } from '../../model/finding.ts'
import type { IncidentFigures } from '../../model/incident.ts'
import { type MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Series } from '../../model/series.ts'

export const forecastMetrics: readonly MetricDef[] = [memoryExhaustionEarliestSeconds, memoryExhaustionLatestSeconds]

type Pair = { readonly earliest: Series; readonly latest: Series }

/** A forecast knows its GPU by UUID; the index is that of its incident. */
function indexOf(uuid: string | undefined, firing: IncidentFigures['firing']): number | undefined {
  return firing.find(({ subject }) => subject.gpu?.uuid === uuid && subject.gpu?.index !== undefined)?.subject.gpu?.index
}

export function createForecastReadings(): (figures: Pick<IncidentFigures, 'forecasts' | 'firing'>, t: number) => readonly Reading[] {
  const known = new Map<string, Pair>()
  const pairOf = ({ key, about: { uuid, pid, container } }: Forecast, firing: IncidentFigures['firing']): Pair => {
    let pair = known.get(key)
    if (pair === undefined) {
      const index = indexOf(uuid, firing)
      const of = {
        ...(index === undefined ? {} : { gpu: String(index) }),
        ...(uuid === undefined ? {} : { uuid }),
        ...(pid === undefined ? {} : { pid: String(pid) }),
        ...(container === undefined ? {} : { container }),
      }
      pair = { earliest: makeSeries(memoryExhaustionEarliestSeconds, of), latest: makeSeries(memoryExhaustionLatestSeconds, of) }
      known.set(key, pair)
    }
    return pair
  }
  return ({ forecasts, firing }, t) => {
    if (forecasts.length === 0) {
      known.clear()
      return []
    }
    const readings: Reading[] = []
    for (const forecast of forecasts) {
      const { earliest, latest } = pairOf(forecast, firing)
      const { earliestMs, latestMs } = forecast
      if (earliestMs !== null) readings.push({ series: earliest, value: Math.max(0, (earliestMs - t) / 1_000) })
      if (latestMs !== null) readings.push({ series: latest, value: Math.max(0, (latestMs - t) / 1_000) })
    }
    return readings
  }
}
