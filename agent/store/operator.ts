// What people do about incidents: silence, acknowledge, mark as resolved. Incidents are published again when a silence begins or ends.
import { summaryOf, type IncidentSummary } from '../model/incident.ts'
import type { OperatorEvent } from '../model/event.ts'
import type { NewSilence, Silence, Word } from '../model/maintenance.ts'
import type { IncidentService } from './incident-service.ts'
import type { MaintenanceStore } from './maintenance.ts'
import { covers } from './maintenance/match.ts'

export type OperatorOptions = {
  readonly incidents: Pick<IncidentService, 'view' | 'firing'>
  readonly maintenance: MaintenanceStore
  /** Where what people do enters the pipeline; pipeline.ts is it. */
  readonly pipeline: { readonly ingest: (event: OperatorEvent) => void; readonly publish: (incidents: readonly IncidentSummary[]) => void }
  readonly now?: () => number
}
export type Operator = {
  readonly name: string
  readonly silences: () => readonly Silence[]
  /** undefined: there are too many already. */
  readonly silence: (wanted: NewSilence) => Silence | undefined
  /** False: there is none of that id. */
  readonly unsilence: (id: string) => boolean
  readonly acknowledge: (incident: string, said: Word) => void
  /** False: it does not fire. */
  readonly resolve: (incident: string, said: Word) => boolean
  /** Once a second: ends the silences that have run out. */
  readonly tick: (now: number) => void
}

export function createOperator({ incidents, maintenance, pipeline, now = Date.now }: OperatorOptions): Operator {
  const publishMatching = (silences: readonly Silence[]): void => {
    if (silences.length > 0) pipeline.publish(incidents.firing().filter((incident) => silences.some((silence) => covers(silence, incident))))
  }
  return {
    name: 'operator',
    silences: () => maintenance.silences(now()),
    silence(wanted) {
      const made = maintenance.silence(wanted, now())
      if (made !== undefined) publishMatching([made])
      return made
    },
    unsilence(id) {
      const gone = maintenance.remove(id)
      if (gone === undefined) return false
      publishMatching([gone])
      return true
    },
    acknowledge(id, said) {
      maintenance.acknowledge(id, { at: now(), ...said })
      const incident = incidents.view.get(id)
      if (incident !== undefined) pipeline.publish([summaryOf(incident)])
    },
    resolve(id, said) {
      if (!incidents.firing().some((incident) => incident.id === id)) return false
      pipeline.ingest({ type: 'operator', t: now(), action: 'set_healthy', incident: id, ...said })
      return true
    },
    tick: (t) => publishMatching(maintenance.maintain(t)),
  }
}
