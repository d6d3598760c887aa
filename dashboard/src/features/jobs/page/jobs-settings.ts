// What a job's containers were started with: asked for once when its page opens; what no engine told is absent.
import { signal } from '@preact/signals'
import type { ContainerSettings } from '../../../../../agent/model/incident.ts'
import { getJson } from '../../../parts/connection/api.ts'
import { storedToken } from '../../../parts/connection/token.ts'

export type Told = { readonly [name in keyof ContainerSettings]: unknown }
/** By container id; undefined while it is asked for or where nothing was told. */
export const told = signal<ReadonlyMap<string, Told>>(new Map())

export async function askSettings(id: string): Promise<void> {
  if (told.peek().has(id)) return
  try {
    const value = await getJson(`api/v1/containers/${encodeURIComponent(id)}/settings`, storedToken())
    if (typeof value === 'object' && value !== null) told.value = new Map(told.peek()).set(id, value)
  } catch {
    // No engine, or one that has not answered yet: what the readings know of limits is shown all the same.
  }
}
