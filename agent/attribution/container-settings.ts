// The settings of containers that matter to a fault, by id: filled by the containers source, asked when something goes wrong.
import type { ContainerSettings } from '../model/incident.ts'

export type ContainerSettingsBook = {
  readonly set: (id: string, settings: ContainerSettings) => void
  /** By the full id or its first 12 hex. */
  readonly get: (id: string) => ContainerSettings | undefined
}

/** Kept after the end of a container: its crash is what is asked about. */
const CAPACITY = 2_000

export function createContainerSettingsBook(): ContainerSettingsBook {
  const book = new Map<string, ContainerSettings>()
  return {
    set(id, settings) {
      const key = id.slice(0, 12)
      book.delete(key)
      book.set(key, settings)
      const oldest = book.size > CAPACITY ? book.keys().next().value : undefined
      if (oldest !== undefined) book.delete(oldest)
    },
    get: (id) => book.get(id.slice(0, 12)),
  }
}
