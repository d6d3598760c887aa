// Incidents as every consumer gets them: as the diagnosis keeps them, with the silence and the acknowledgement that hold now.
import { summaryOf, type Incident, type IncidentFigures, type IncidentsView, type IncidentSummary } from '../model/incident.ts'
import type { IncidentStore } from './incidents.ts'
import type { ActionResult } from '../model/action.ts'
import type { MaintenanceStore } from './maintenance.ts'

export type IncidentServiceOptions = {
  readonly store: IncidentStore
  readonly maintenance: Pick<MaintenanceStore, 'decorate'>
  /** What was done about an incident. */
  readonly actionsOf?: (incident: string) => readonly ActionResult[]
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

export function createIncidentService({ store, maintenance, actionsOf, figures, now = Date.now }: IncidentServiceOptions): IncidentService {
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
        if (incident === undefined) return undefined
        const done = actionsOf?.(id) ?? []
        return maintenance.decorate(done.length === 0 ? incident : { ...incident, actions: done }, now())
      },
    },
    firing,
    figures: () => ({ ...figures(), silenced: firing().filter(({ silenced }) => silenced !== undefined).length }),
  }
}
