// Judges the events of a recording: the same incidents as the agent would have had, on each run the same.
import { createDiagnosis } from '../diagnosis/diagnosis.ts'
import { subjectText } from '../diagnosis/incidents/report.ts'
import { createLogJudge } from '../diagnosis/live-judge.ts'
import { logScanner } from '../diagnosis/log-scanner.ts'
import type { Event } from '../model/event.ts'
import type { Incident } from '../model/incident.ts'

export type ReplayJudge = {
  readonly add: (event: Event) => void
  /** In the order in which they began; pending ones are left out. */
  readonly incidents: () => readonly Incident[]
}

export function createReplayJudge(hostname: string): ReplayJudge {
  const found = new Map<string, Incident>()
  const diagnosis = createDiagnosis({ judge: createLogJudge(logScanner()).judge, hostname, onChange: (incident) => void found.set(incident.id, incident) })
  return {
    add: diagnosis.ingest,
    incidents() {
      diagnosis.flush()
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
