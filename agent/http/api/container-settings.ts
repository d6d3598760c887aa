// What a container was started with, as its engine told it: limits, shared memory, GPUs, the few variables that matter to a fault.
import type { Hono } from 'hono'
import type { ContainerSettings } from '../../model/incident.ts'
import type { Answers } from './incidents.ts'

export type ContainerSettingsOf = (id: string) => ContainerSettings | undefined

export function addContainerSettings(app: Hono, settingsOf: ContainerSettingsOf, { answer, refuse }: Answers): void {
  app.get('/api/v1/containers/:id/settings', (c) => {
    const id = c.req.param('id')
    const settings = /^[0-9a-f]{12,64}$/.test(id) ? settingsOf(id) : undefined
    if (settings !== undefined) return answer(c, settings)
    const message = `container ${JSON.stringify(id.slice(0, 100))}: expected the id of one whose engine has told its settings; /api/v1/containers lists the ids`
    return refuse(c, { code: 'not_found', message })
  })
}
