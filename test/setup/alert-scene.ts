// What tests of alerts share: a clock that jumps, incidents, a notifier that speaks plainly, and an outbox in a folder of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Incident } from '../../agent/model/incident.ts'
import type { NotificationEvent, NotificationReason, OutgoingIncident } from '../../agent/model/notification.ts'
import type { Log } from '../../agent/model/source.ts'
import type { DeliveryOptions } from '../../alerts/delivery/attempt.ts'
import type { Clock } from '../../alerts/delivery/clock.ts'
import type { Notifier } from '../../alerts/notifiers/definition.ts'
import type { Received } from './receiver.ts'

/** 2026-11-22, 03:00 UTC. */
export const T = 1_795_316_400_000
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export type JumpingClock = Clock & {
  readonly set: (t: number) => void
  /** Goes from one timer to the next until `t`, and each time waits until `idle` says that nothing is on its way. */
  readonly runUntil: (t: number, idle: () => Promise<void>) => Promise<void>
}
export function jumpingClock(t = T): JumpingClock {
  let now = t
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    set: (to) => void (now = to),
    async runUntil(until, idle) {
      for (;;) {
        await idle()
        const [next] = [...timers].toSorted((a, b) => a.at - b.at)
        if (next === undefined || next.at > until) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.run()
      }
      now = Math.max(now, until)
    },
  }
}

export function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-alerts-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
export function kept(): { readonly lines: string[]; readonly log: Log } {
  const lines: string[] = []
  const add = (text: string): void => void lines.push(text)
  return { lines, log: { info: add, warn: add, error: add } }
}

export const incident = (id: string, more: Partial<Incident> = {}): Incident => ({
  id,
  kind: 'cuda_oom',
  severity: 'critical',
  status: 'firing',
  title: `Out of GPU memory ${id}`,
  verdict: 'It asked for more than there was.',
  subject: { gpu: { index: 0, uuid: 'GPU-0' }, container: { name: 'trainer' } },
  facts: {},
  remedies: [],
  started_at: T,
  fired_at: T,
  last_seen_at: T,
  count: 1,
  consequences: [],
  evidence: { log_lines: [], series: [], processes: [] },
  ...more,
})
export const resolved = (id: string, at: number, more: Partial<Incident> = {}): Incident => incident(id, { ...more, status: 'resolved', resolved_at: at })
export const asOutgoing = ({ evidence, ...incident }: Incident): OutgoingIncident => ({ ...incident, evidence: { log_lines: evidence.log_lines } })

export type PlainItem = { readonly id: string; readonly event: NotificationEvent; readonly reason: NotificationReason }
type PlainBody = {
  readonly count: number
  readonly items: readonly PlainItem[]
  readonly expired?: { readonly count: number; readonly from: number; readonly to: number }
}
/** Says in JSON who is notified of what. */
export const plainNotifier = (url: string, more: Partial<Notifier> = {}): Notifier => ({
  most: 500,
  host: new URL(url).host,
  request: ({ key, items, count, expired }) => ({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ count, items: items.map(({ event, reason, incident: { id } }) => ({ id, event, reason })), expired }),
  }),
  ...more,
})
export const bodyOf = ({ body }: Received): PlainBody => JSON.parse(body)
/** `a+` fires, `a-` is over: in the order in which they came. */
export const said = (received: readonly Received[]): readonly string[] =>
  received.flatMap((one) => bodyOf(one).items.map(({ id, event }) => `${id}${event === 'firing' ? '+' : '-'}`))

export const deliveryOptions = (more: Partial<DeliveryOptions> = {}): DeliveryOptions => ({
  timeout_ms: 10_000,
  max_messages_per_minute: 0,
  expire_ms: 3 * DAY,
  ca_file: '',
  ...more,
})
