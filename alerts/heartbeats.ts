// Where heartbeats go: to the URL of a dead-man switch, and as an alert that always fires to the notifiers that were asked for it.
import type { ProxyFor } from '../agent/lib/proxy.ts'
import type { NotificationFigures, Reach } from '../agent/model/notification.ts'
import type { Log } from '../agent/model/source.ts'
import type { BuiltNotifier } from './build.ts'
import { send } from './delivery/request.ts'
import { judgeByStatus } from './delivery/attempt.ts'
import { createHeartbeat } from './heartbeat.ts'
import { hostOf } from './notifiers/common.ts'
import type { OutgoingRequest } from './notifiers/definition.ts'

export type HeartbeatsOptions = {
  readonly alerts: { readonly heartbeat_url: string; readonly heartbeat_interval: number }
  readonly reach: Reach
  readonly proxyFor: ProxyFor
  readonly host: string
  readonly notifiers: readonly BuiltNotifier[]
  readonly ready: () => boolean
  readonly log: Log
}
export type Heartbeats = { readonly maintain: (t: number) => void; readonly figures: () => NotificationFigures['heartbeat'] }

/** A receiver that takes longer than this notices the heartbeat's absence soon enough. */
const TIMEOUT_MS = 10_000

export function createHeartbeats({ alerts, reach, proxyFor, host, notifiers, ready, log }: HeartbeatsOptions): Heartbeats {
  const deliver = async (request: OutgoingRequest, options: { readonly timeoutMs: number; readonly caFile?: string }): Promise<string | undefined> => {
    const sent = await send(request, { ...options, proxyFor })
    if ('failed' in sent) return sent.failed
    const verdict = judgeByStatus(sent.answer)
    return verdict.result === 'delivered' ? undefined : verdict.why
  }
  const { heartbeat_url: url, heartbeat_interval: intervalMs } = alerts
  const toSwitch = (t: number): OutgoingRequest => ({
    method: 'POST',
    url,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ version: 1, event: 'heartbeat', host, t, interval_ms: intervalMs }),
  })
  const own =
    url === '' ? undefined : createHeartbeat({ to: hostOf(url), intervalMs, ready, log, send: (t) => deliver(toSwitch(t), { timeoutMs: TIMEOUT_MS }) })
  const others = notifiers.flatMap(({ notifier, options: { timeout_ms: timeoutMs, ca_file: caFile } }) => {
    const { heartbeat, refreshMs = intervalMs, host: to } = notifier
    if (heartbeat === undefined) return []
    const beat = (t: number): Promise<string | undefined> => deliver(heartbeat({ t, host, ...reach }), { timeoutMs, ...(caFile === '' ? {} : { caFile }) })
    return [createHeartbeat({ to, intervalMs: refreshMs, ready, log, send: beat })]
  })
  const all = [...(own === undefined ? [] : [own]), ...others]
  return {
    maintain: (t) => all.forEach((heartbeat) => heartbeat.maintain(t)),
    figures: () =>
      all.length === 0
        ? undefined
        : all
            .map((heartbeat) => heartbeat.figures())
            .reduce((sum, { delivered, failed }) => ({ delivered: sum.delivered + delivered, failed: sum.failed + failed }), { delivered: 0, failed: 0 }),
  }
}
