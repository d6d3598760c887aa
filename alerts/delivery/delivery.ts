// Delivery to all notifiers: a sender for each, which work side by side and do not wait for each other.
import type { NotifierRow, OutgoingIncident, Reach } from '../../agent/model/notification.ts'
import type { ProxyFor } from '../../agent/lib/proxy.ts'
import type { Log } from '../../agent/model/source.ts'
import type { Outbox } from '../../agent/store/outbox.ts'
import { systemClock, type Clock } from './clock.ts'
import { createSender, type DeliveredNotifier } from './sender.ts'

export type { DeliveredNotifier } from './sender.ts'

export type DeliveryParts = {
  readonly outbox: Outbox
  readonly notifiers: readonly DeliveredNotifier[]
  readonly host: string
  readonly reach: Reach
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
  readonly log: Log
  readonly clock?: Clock
  readonly random?: () => number
}
export type Delivery = {
  /** After what was missed has been announced. */
  readonly start: () => void
  readonly wake: (notifier?: string) => void
  /** Notifiers that are told all that fires again and again, with how often. */
  readonly refreshed: ReadonlyMap<string, number>
  readonly refresh: (notifier: string, incidents: readonly OutgoingIncident[]) => void
  readonly rows: () => readonly NotifierRow[]
  /** How many messages are tried again; undefined: there is no such notifier. */
  readonly retryAside: (name: string) => number | undefined
  /** Resolves when nothing is on its way. */
  readonly settled: () => Promise<void>
  readonly stop: () => Promise<void>
}

export function createDelivery({ notifiers, clock = systemClock, random = Math.random, ...parts }: DeliveryParts): Delivery {
  const { outbox } = parts
  const senders = new Map(notifiers.map((one) => [one.name, createSender({ ...one, ...parts, clock, random })]))
  const all = async (act: 'settled' | 'stop'): Promise<void> => void (await Promise.all([...senders.values()].map(async (sender) => sender[act]())))
  return {
    start() {
      outbox.keepOnly([...senders.keys()])
      for (const sender of senders.values()) sender.start()
    },
    wake(notifier) {
      if (notifier !== undefined) senders.get(notifier)?.wake()
      else for (const sender of senders.values()) sender.wake()
    },
    refreshed: new Map(notifiers.flatMap(({ name, notifier: { refreshMs } }) => (refreshMs === undefined ? [] : [[name, refreshMs] as const]))),
    refresh: (notifier, incidents) => senders.get(notifier)?.refresh(incidents),
    rows: () => [...senders.values()].map((sender) => sender.row()),
    retryAside: (name) => senders.get(name)?.retryAside(),
    settled: async () => all('settled'),
    stop: async () => all('stop'),
  }
}
