// In which order a message tells its incidents.
import { expect, test } from 'vitest'
import type { Incident } from '../../../agent/model/incident.ts'
import type { MessageItem, NotificationEvent } from '../../../agent/model/notification.ts'
import { messageOf } from '../../../alerts/delivery/message.ts'
import { asOutgoing, incident, T } from '../../setup/alert-scene.ts'

const item = (id: string, more: Partial<Incident> = {}, event: NotificationEvent = 'firing'): MessageItem => ({
  event,
  reason: event === 'firing' ? 'new' : 'resolved',
  incident: asOutgoing(incident(id, more)),
})

test('the worst first, roots before what followed, what is said of one incident together and in its order', () => {
  const items = [
    item('info', { severity: 'info' }),
    item('follower', { part_of: { id: 'root', kind: 'xid' } }),
    item('grew', { severity: 'warning' }),
    item('root'),
    item('warning', { severity: 'warning' }),
    item('grew', { severity: 'critical' }, 'resolved'),
  ]
  const message = messageOf({ key: 'k', at: T, items, expired: { count: 1, from: T, to: T } }, 'gpu-01', {
    base_url: 'http://gpu-01',
    local_url: 'http://127.0.0.1:9839',
  })
  expect(message.items.map(({ event, incident: { id } }) => `${id} ${event}`)).toEqual([
    'grew firing',
    'grew resolved',
    'root firing',
    'follower firing',
    'warning firing',
    'info firing',
  ])
  expect(message).toMatchObject({ key: 'k', t: T, host: 'gpu-01', base_url: 'http://gpu-01', count: 5, expired: { count: 1 } })
})
