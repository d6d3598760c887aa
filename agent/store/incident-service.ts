// Incidents as every consumer gets them: as the diagnosis keeps them, with the silence and the acknowledgement that hold now.
import { summaryOf, type Incident, type IncidentFigures, type IncidentsView, type IncidentSummary } from '../model/incident.ts'
import type { IncidentStore } from './incidents.ts'
import type { MaintenanceStore } from './maintenance.ts'

export type IncidentServiceOptions = {
  readonly store: IncidentStore
  readonly maintenance: Pick<MaintenanceStore, 'decorate'>
  /** What the diagnosis counts. */
  readonly figures: () => IncidentFigures
  readonly now?: () => number
}
export type IncidentService = {
  readonly name: string
  /** Writes an incident to disk before it is published; returns what is published. */
  readonly keep: (incident: Incident) => IncidentSummary
  readonly view: IncidentsView
  /** What fires, as readers of the stream get it. */
  readonly firing: () => readonly IncidentSummary[]
  readonly figures: () => IncidentFigures
}

export function createIncidentService({ store, maintenance, figures, now = Date.now }: IncidentServiceOptions): IncidentService {
  const firing = (): readonly IncidentSummary[] => {
    const t = now()
    return figures().firing.map((incident) => maintenance.decorate(incident, t))
  }
  return {
    name: 'incidents',
    keep(incident) {
      store.save(incident)
      return maintenance.decorate(summaryOf(incident), now())
    },
    view: {
      list(filter) {
        const t = now()
        return store.list(filter).map((incident) => maintenance.decorate(incident, t))
      },
      get(id) {
        const incident = store.get(id)
        return incident === undefined ? undefined : maintenance.decorate(incident, now())
      },
    },
    firing,
    figures: () => ({ ...figures(), silenced: firing().filter(({ silenced }) => silenced !== undefined).length }),
  }
}
