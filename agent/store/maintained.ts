// Incidents as they are told: with what people said of them, and told again when a silence begins or ends.
import { summaryOf, type Incident, type IncidentFigures, type IncidentsView, type IncidentSummary } from '../model/incident.ts'
import type { NewSilence, Silence, Word } from '../model/maintenance.ts'
import type { MaintenanceStore } from './maintenance.ts'
import { covers } from './maintenance/match.ts'

export type MaintainedOptions = {
  readonly incidents: IncidentsView
  readonly maintenance: MaintenanceStore
  readonly figures: () => IncidentFigures
  /** Tells everybody who listens. */
  readonly tell: (incident: IncidentSummary) => void
  /** Takes the word of an operator into the pipeline, as an event at this time. */
  readonly setHealthy: (incident: string, said: Word, t: number) => void
  readonly now?: () => number
}
export type Maintained = {
  readonly view: IncidentsView
  /** What fires, as readers of the stream are told it. */
  readonly firing: () => readonly IncidentSummary[]
  readonly figures: () => IncidentFigures
  /** An incident that the judges tell of. */
  readonly changed: (incident: Incident) => void
  readonly silences: () => readonly Silence[]
  readonly silence: (wanted: NewSilence) => Silence | undefined
  readonly unsilence: (id: string) => boolean
  readonly acknowledge: (incident: string, said: Word) => void
  /** False: it does not fire. */
  readonly resolve: (incident: string, said: Word) => boolean
  /** Once a second. */
  readonly maintain: (now: number) => void
}

export function createMaintained({ incidents, maintenance, figures, tell, setHealthy, now = Date.now }: MaintainedOptions): Maintained {
  const firing = (): readonly IncidentSummary[] => {
    const t = now()
    return figures().firing.map((incident) => maintenance.decorate(incident, t))
  }
  const retell = (silences: readonly Silence[]): void => {
    if (silences.length === 0) return
    for (const incident of firing()) if (silences.some((silence) => covers(silence, incident))) tell(incident)
  }
  return {
    view: {
      list(filter) {
        const t = now()
        return incidents.list(filter).map((incident) => maintenance.decorate(incident, t))
      },
      get(id) {
        const incident = incidents.get(id)
        return incident === undefined ? undefined : maintenance.decorate(incident, now())
      },
    },
    firing,
    figures: () => ({ ...figures(), silenced: firing().filter(({ silenced }) => silenced !== undefined).length }),
    changed: (incident) => tell(maintenance.decorate(summaryOf(incident), now())),
    silences: () => maintenance.silences(now()),
    silence(wanted) {
      const made = maintenance.silence(wanted, now())
      if (made !== undefined) retell([made])
      return made
    },
    unsilence(id) {
      const gone = maintenance.remove(id)
      if (gone === undefined) return false
      retell([gone])
      return true
    },
    acknowledge(id, said) {
      const t = now()
      maintenance.acknowledge(id, { at: t, ...said })
      const incident = incidents.get(id)
      if (incident !== undefined) tell(maintenance.decorate(summaryOf(incident), t))
    },
    resolve(id, said) {
      if (!figures().firing.some((incident) => incident.id === id)) return false
      setHealthy(id, said, now())
      return true
    },
    maintain: (t) => retell(maintenance.maintain(t)),
  }
}
