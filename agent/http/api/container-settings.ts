// What a container was started with, as its engine reported it: limits, shared memory, GPUs, the few variables that matter to a fault.
import type { Hono } from 'hono'
import type { ContainerSettings } from '../../model/incident.ts'
import type { Answers } from './incidents.ts'

export type ContainerSettingsOf = (id: string) => ContainerSettings | undefined

/** `ids` are those of the containers that are there now: what no engine reported of one of them is empty, not unknown. */
export function addContainerSettings(app: Hono, settingsOf: ContainerSettingsOf, ids: () => readonly string[], { answer, refuse }: Answers): void {
  app.get('/api/v1/containers/:id/settings', (c) => {
    const id = c.req.param('id')
    const settings = /^[0-9a-f]{12,64}$/.test(id) ? settingsOf(id) : undefined
    if (settings !== undefined) return answer(c, settings)
    if (ids().some((known) => known === id.slice(0, 12))) return answer(c, {})
    const message = `container ${JSON.stringify(id.slice(0, 100))} is not known. List them: /api/v1/containers`
    return refuse(c, { code: 'not_found', message })
  })
}
