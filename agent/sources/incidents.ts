// What the agent says of incidents on /metrics: what fires, how many there were of each kind, when the last was seen.
import { gpuSecondsLostTotal, incidentActive, incidentLastTimestampSeconds, incidentsSilenced, incidentsTotal } from '../metrics/incident.ts'
import type { MetricDef } from '../model/metric.ts'
import { xidLabels, type IncidentFigures } from '../model/incident.ts'
import { INCIDENT_KINDS, type IncidentKind } from '../model/kinds.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'
import { createForecastReadings, forecastMetrics } from './incidents/forecasts.ts'

const metrics: readonly MetricDef[] = [incidentActive, incidentsTotal, incidentLastTimestampSeconds, incidentsSilenced, gpuSecondsLostTotal, ...forecastMetrics]

/** A hundred counters that rarely move: reported when one does, and again every so often. */
const RENEW_MS = 10_000

export function createIncidentsSource(figures: () => IncidentFigures): Source {
  const totals = new Map<IncidentKind, Series>(INCIDENT_KINDS.map((kind) => [kind, makeSeries(incidentsTotal, { kind })]))
  const lasts = new Map<IncidentKind, Series>()
  const losses = new Map<string, Series>()
  const silencedSeries = makeSeries(incidentsSilenced, {})
  const forecastReadings = createForecastReadings()
  let active: { readonly of: IncidentFigures['firing']; readonly series: readonly Series[] } = { of: [], series: [] }

  const activeSeries = (firing: IncidentFigures['firing']): readonly Series[] => {
    if (active.of === firing) return active.series
    // Two incidents of one kind on one subject (two services that are down, say) are one series.
    const made = new Map<string, Series>()
    for (const { kind, severity, subject, facts } of firing) {
      const { gpu, container } = subject
      const series = makeSeries(incidentActive, {
        kind,
        severity,
        ...(gpu?.uuid === undefined ? {} : { uuid: gpu.uuid, ...(gpu.index === undefined ? {} : { gpu: String(gpu.index) }) }),
        ...(container === undefined ? {} : { container: container.name }),
        ...xidLabels(kind, facts),
      })
      made.set(series.key, series)
    }
    active = { of: firing, series: [...made.values()] }
    return active.series
  }
  const lastSeries = (kind: IncidentKind): Series => {
    let series = lasts.get(kind)
    if (series === undefined) lasts.set(kind, (series = makeSeries(incidentLastTimestampSeconds, { kind })))
    return series
  }
  const lostSeries = (kind: IncidentKind, gpu: string, uuid: string): Series => {
    let series = losses.get(`${kind} ${uuid}`)
    if (series === undefined) losses.set(`${kind} ${uuid}`, (series = makeSeries(gpuSecondsLostTotal, { kind, gpu, uuid })))
    return series
  }
  const each = (now: IncidentFigures, t: number, put: (series: Series, value: number) => void): void => {
    const { firing, totals: counts, lastSeen, lost, silenced } = now
    for (const series of activeSeries(firing)) put(series, 1)
    totals.forEach((series, kind) => put(series, counts.get(kind) ?? 0))
    lastSeen.forEach((seen, kind) => put(lastSeries(kind), seen / 1_000))
    for (const { kind, gpu, uuid, seconds } of lost) put(lostSeries(kind, gpu, uuid), seconds)
    if (silenced !== undefined) put(silencedSeries, silenced)
    for (const { series, value } of forecastReadings(now, t)) put(series, value)
  }
  return {
    id: 'incidents',
    metrics,
    start({ emit, every }) {
      let said: readonly Reading[] = []
      let saidAt = Number.NEGATIVE_INFINITY
      every(1_000, (t) => {
        const now = figures()
        let at = 0
        let isSame = Math.abs(t - saidAt) < RENEW_MS
        each(now, t, (series, value) => {
          const before = said[at++]
          if (before?.series !== series || before.value !== value) isSame = false
        })
        if (isSame && at === said.length) return
        const readings: Reading[] = []
        each(now, t, (series, value) => void readings.push({ series, value }))
        said = readings
        saidAt = t
        emit({ type: 'scrape', t, source: 'incidents', group: '', ttlMs: 2.5 * RENEW_MS, durationMs: 0, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const incidents = defineSource({
  id: 'incidents',
  metrics,
  needs: ['incidents'],
  create: ({ incidents: figures }) => createIncidentsSource(figures),
})
