// Judges the events of a recording: the same incidents as the agent would have had, on each run the same.
import { customThresholds } from '../../diagnosis/custom-thresholds.ts'
import { createDetection } from '../../diagnosis/detection.ts'
import type { DetectorDefinition } from '../../diagnosis/detectors/definition.ts'
import * as detectors from '../../diagnosis/detectors/index.ts'
import { createDiagnosis } from '../../diagnosis/diagnosis.ts'
import { subjectText } from '../../diagnosis/incidents/report.ts'
import { createLogJudge } from '../../diagnosis/live-judge.ts'
import { logScanner } from '../../diagnosis/log-scanner.ts'
import type { DetectorsConfig } from '../../model/detector-settings.ts'
import type { Event } from '../../model/event.ts'
import type { Forecast } from '../../model/finding.ts'
import type { Incident, IncidentSubject } from '../../model/incident.ts'

export type ReplayJudge = {
  readonly add: (event: Event) => void
  /** In the order in which they began; pending ones are left out. */
  readonly incidents: () => readonly Incident[]
  /** Each time that one began to speak, changed by more than a tenth, or fell silent. */
  readonly forecasts: () => readonly ForecastRow[]
}
/** As the contract gives it: absolute Unix ms, null = open end, both null = it fell silent. */
export type ForecastRow = { readonly t: number; readonly subject: IncidentSubject; readonly earliest_ms: number | null; readonly latest_ms: number | null }

export const forecastRow = ({ t, about: { uuid, pid, container }, earliestMs, latestMs }: Forecast): ForecastRow => ({
  t,
  subject: {
    ...(uuid === undefined ? {} : { gpu: { uuid } }),
    ...(pid === undefined ? {} : { process: { pid } }),
    ...(container === undefined ? {} : { container: { name: container } }),
  },
  earliest_ms: earliestMs,
  latest_ms: latestMs,
})

/** Without a configuration each detector judges by its defaults, so that a recording gives the same on every machine. */
export function createReplayJudge(hostname: string, { settings, custom }: DetectorsConfig = { settings: {}, custom: [] }): ReplayJudge {
  const found = new Map<string, Incident>()
  const forecasts: ForecastRow[] = []
  const definitions: readonly DetectorDefinition[] = [...Object.values(detectors), ...customThresholds(custom)]
  const detection = createDetection({ definitions, settings, onForecast: (forecast) => void forecasts.push(forecastRow(forecast)) })
  const diagnosis = createDiagnosis({ judge: createLogJudge(logScanner()).judge, detection, hostname })
  const keep = (changed: readonly Incident[]): void => {
    for (const incident of changed) found.set(incident.id, incident)
  }
  return {
    add: (event) => keep(diagnosis.ingest(event)),
    forecasts: () => forecasts,
    incidents() {
      keep(diagnosis.flush())
      return [...found.values()].sort((a, b) => a.started_at - b.started_at || (a.id < b.id ? -1 : 1))
    },
  }
}

/** One line for each, for a person. */
export function incidentLines(incidents: readonly Incident[]): readonly string[] {
  return incidents.map((incident) => {
    const { started_at: startedAt, severity, kind, status, count, title } = incident
    return `${new Date(startedAt).toISOString()}  ${severity.padEnd(8)} ${kind}${count > 1 ? ` ×${count}` : ''} (${status})  ${subjectText(incident)}: ${title}`
  })
}
