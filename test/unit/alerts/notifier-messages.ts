// Messages for the tests of notifiers: one incident with all that there can be, one with next to nothing, and many at once.
import { sampleIncident } from '../../../alerts/sample.ts'
import { outgoing } from '../../../alerts/messages/outgoing.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import type { Message, MessageItem, NotificationEvent } from '../../../agent/model/notification.ts'

export const T = Date.UTC(2026, 10, 22, 3, 0, 0)

/** Text as a log or a container's name may bring it. */
export const HOSTILE = '"}],"x":[{"y":"\\ </script> @everyone <!channel> <@U1> [a](http://evil.example) **b** `c` {{ host }} \u202e\u0007\n\u2028'

export const full = (change: Partial<Incident> = {}): Incident => ({
  ...sampleIncident({ kind: 'cuda_oom', t: T }),
  title: 'CUDA out of memory',
  verdict: 'The model asked for 2 GiB and the card was full.',
  remedies: [{ text: 'Take a smaller batch.', command: 'python train.py --batch 8' }, { text: 'Or another card.' }],
  ...change,
})
export const bare = (change: Partial<Incident> = {}): Incident => ({
  ...full({ id: 'b'.repeat(16), kind: 'disk_full', severity: 'warning', subject: { host: { name: 'gpu-node-07' } }, facts: {}, remedies: [] }),
  evidence: { log_lines: [], series: [], processes: [] },
  ...change,
})
export const hostile = (): Incident =>
  full({
    title: HOSTILE,
    verdict: HOSTILE,
    subject: { container: { name: HOSTILE, image: HOSTILE }, gpu: { index: 3, uuid: 'GPU-3', name: HOSTILE } },
    remedies: [{ text: HOSTILE, command: HOSTILE }],
    evidence: { log_lines: [{ t: T, stream: 'container', text: HOSTILE, matched: true }], series: [], processes: [] },
  })

export const item = (incident: Incident, event: NotificationEvent = 'firing'): MessageItem => ({
  event,
  reason: event === 'resolved' ? 'resolved' : 'new',
  incident: outgoing(event === 'resolved' ? { ...incident, status: 'resolved', resolved_at: T + 720_000, resolution: 'the process has ended' } : incident),
})
export const message = (...items: readonly MessageItem[]): Message => ({
  key: 'key-1',
  t: T + 5_000,
  host: 'gpu-node-07',
  base_url: 'http://gpu-node-07:9839',
  local_url: 'http://127.0.0.1:9839',
  items,
  count: new Set(items.map(({ incident }) => incident.id)).size,
})
export const storm = (many: number): Message =>
  message(
    ...Array.from({ length: many }, (_, i) =>
      item(
        full({
          id: `${i}`.padStart(16, '0'),
          kind: 'xid',
          title: `Xid 79 on GPU ${i % 8}`,
          subject: { gpu: { index: i % 8, uuid: `GPU-${i % 8}` } },
          facts: { xid: 79, gpu_index: i % 8 },
        }),
      ),
    ),
  )

/** As they are sent where alerts.base_url is not set and the agent listens on loopback. */
export const withoutLinks = ({ key, t, host, local_url, items, count }: Message): Message => ({ key, t, host, local_url, items, count })
