// What the agent keeps on disk: history, incidents, what people said of them, and how far each log was read.
import type { Config } from '../config/schema.ts'
import type { TakesEvents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import { createCursorStore, type CursorStore } from '../store/cursors.ts'
import { secureDataDirectory } from '../store/data-directory.ts'
import { openHistory, type History } from '../store/history.ts'
import { createIncidentStore, type IncidentStore } from '../store/incidents.ts'
import { createMaintenanceStore, type MaintenanceStore } from '../store/maintenance.ts'

export type Stores = {
  /** undefined: switched off. */
  readonly history: History | undefined
  readonly incidents: IncidentStore
  readonly maintenance: MaintenanceStore
  readonly cursors: CursorStore
  /** Those that take events in. */
  readonly events: readonly TakesEvents[]
  /** Those that write and tidy up once a second. */
  readonly ticks: readonly TakesTicks[]
  /** The cursors are closed before, when no source reads any more. */
  readonly close: () => void
}

/** Throws when the history is in use by another agent or of a newer version; any other trouble with the disk costs only what is on it. */
export function openStores(config: Config, log: (part: string) => Log): Stores {
  const { data_dir: directory } = config
  secureDataDirectory(directory, log('store'))
  const incidents = createIncidentStore({ directory, log: log('incidents') })
  const maintenance = createMaintenanceStore({ directory, log: log('incidents') })
  const history = openHistory(config, log('history'))
  const cursors = createCursorStore({ directory, log: log('cursors') })
  return {
    history,
    incidents,
    maintenance,
    cursors,
    events: history === undefined ? [] : [history],
    ticks: [
      ...(history === undefined ? [] : [{ name: 'history', tick: history.maintain }]),
      { name: 'cursors', tick: cursors.maintain },
      { name: 'incidents', tick: incidents.maintain },
    ],
    close() {
      incidents.close()
      maintenance.close()
      history?.close()
    },
  }
}
