// Brings what waits for one notifier to its receiver: one message at a time, in order, again and again until it is delivered, refused or too old.
import { randomUUID } from 'node:crypto'
import { durationText } from '../../agent/text/duration.ts'
import type { Message, NotifierRow, OutgoingIncident, Reach, RunMessage, WasteMessage } from '../../agent/model/notification.ts'
import type { ProxyFor } from '../../agent/lib/proxy.ts'
import type { Log } from '../../agent/model/source.ts'
import type { Outbox } from '../../agent/store/outbox.ts'
import { stackOf } from '../../agent/text/error.ts'
import type { Notifier } from '../notifiers/definition.ts'
import { attempt, type Attempt, type DeliveryOptions } from './attempt.ts'
import { backoffMs, createBudget } from './backoff.ts'
import type { Clock } from './clock.ts'
import { anyMessageOf, messageOf } from './message.ts'
import { createPoisonMessages } from './poison-messages.ts'

export type DeliveredNotifier = { readonly name: string; readonly type: string; readonly notifier: Notifier; readonly options: DeliveryOptions }
export type SenderOptions = DeliveredNotifier & {
  readonly outbox: Outbox
  readonly host: string
  readonly reach: Reach
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
  readonly log: Log
  readonly clock: Clock
  readonly random: () => number
}
export type Sender = {
  readonly start: () => void
  /** Something new waits. */
  readonly wake: () => void
  /** What still fires, for receivers that keep a state: told when nothing else waits, and not again when that fails. */
  readonly refresh: (incidents: readonly OutgoingIncident[]) => void
  readonly row: () => NotifierRow
  readonly retryAside: () => number
  /** Resolves when nothing is on its way. */
  readonly settled: () => Promise<void>
  /** What is on its way may still arrive within two seconds; else it is sent again, with the same key, after the next start. */
  readonly stop: () => Promise<void>
}

const STOP_MS = 2_000
/** A wall clock that jumps forward is noticed within this. */
const LONGEST_SLEEP_MS = 60_000
/** A receiver that fails for so long needs someone to look after it. */
const FAILING_MS = 300_000
/** Halving a message of 500 finds the one that is refused within ten tries; a receiver that refuses everything is not asked more often. */
const MOST_REFUSALS = 10

export function createSender(options: SenderOptions): Sender {
  const { name, type, notifier, outbox, host, reach, log, clock, random, proxyFor } = options
  const { max_messages_per_minute: perMinute, expire_ms: expireMs } = options.options
  const limited = notifier.refreshMs === undefined
  const budget = createBudget(limited ? perMinute : 0)
  const poison = createPoisonMessages()
  const refreshes = new Map<string, OutgoingIncident>()
  let running = false
  let asleep: (() => void) | undefined
  let flight: Promise<void> | undefined
  let abort = new AbortController()
  /** Waits for a token: what is due by then goes together. */
  let crowded = false
  let failures = 0
  let failingSince: number | undefined
  let nextTryAt: number | undefined
  let lastError: { readonly at: number; readonly text: string } | undefined
  let refusals = 0
  let saidExpired = false

  const awake = (): void => {
    asleep?.()
    asleep = undefined
  }
  const sleep = (ms: number): void => {
    awake()
    asleep = clock.after(Math.max(0, Math.min(ms, LONGEST_SLEEP_MS)), step)
  }
  const giveUpOld = (now: number): void => {
    const count = outbox.expire(name, now - expireMs)
    if (count === 0 || saidExpired) return
    saidExpired = true
    log.error(`${name}: notifications that could not be delivered for ${durationText(expireMs)} are dropped, ${count} of them now; the next message says so`)
  }
  /** Puts the next message together when one is due and may go; else sleeps until then. */
  const formed = (now: number): string | undefined => {
    const due = outbox.nextDue(name, now)
    if (due === undefined) return undefined
    const wait = due > now ? due - now : budget.waitMs(now)
    if (wait > 0) {
      crowded ||= due <= now
      sleep(wait)
      return undefined
    }
    const key = randomUUID()
    if (!outbox.form({ notifier: name, key, now, most: notifier.most, anyGroup: crowded || !limited })) return undefined
    budget.take(now)
    crowded = false
    return key
  }
  const backOff = (afterMs: number | undefined, now: number): void => {
    failures += 1
    failingSince ??= now
    const ms = afterMs ?? backoffMs(failures, random)
    nextTryAt = now + ms
    awake()
    asleep = clock.after(ms, () => {
      nextTryAt = undefined
      step()
    })
  }
  const setAside = (key: string, why: string, now: number): void => {
    outbox.setAside(key, now, why)
    poison.forget(key)
    log.error(`${name}: ${notifier.host} does not take a message, so it is set aside: ${why}; once that is fixed: warpwatch alerts retry ${name}`)
  }
  const arrived = (): void => {
    if (failingSince !== undefined && refusals === 0) log.info(`${name}: ${notifier.host} takes messages again`)
    failures = 0
    refusals = 0
    failingSince = undefined
    saidExpired = false
  }
  const failed = ({ why, afterMs }: Extract<Attempt, { result: 'retry' }>, now: number): void => {
    outbox.failed(name)
    lastError = { at: now, text: why }
    if (failingSince === undefined) log.warn(`${name}: ${notifier.host}: ${why}; what waits is kept and tried again for ${durationText(expireMs)}`)
    backOff(afterMs, now)
  }
  const settle = (key: string, count: number, came: Attempt): void => {
    const now = clock.now()
    log.debug?.(`${name}: ${notifier.host}: message ${key} with ${count} ${came.result}${came.result === 'delivered' ? '' : `: ${came.why}`}`)
    if (came.result === 'delivered') {
      outbox.delivered(name, key, now, came.thread)
      poison.passed(key)
      arrived()
    } else if (came.result === 'retry') {
      if (came.struck === true && poison.strike(key)) {
        lastError = { at: now, text: came.why }
        outbox.failed(name)
        setAside(key, `${came.why}, while it takes others`, now)
      } else {
        if (came.struck !== true) poison.silent()
        failed(came, now)
      }
    } else {
      lastError = { at: now, text: came.why }
      failingSince ??= now
      refusals += 1
      // One part that the receiver cannot stand must not cost all the others.
      if (count > 1 && refusals <= MOST_REFUSALS) outbox.halve(key, randomUUID())
      else setAside(key, came.why, now)
    }
  }
  const tryOne = async (message: Message | RunMessage | WasteMessage, threads: ReadonlyMap<string, string>): Promise<Attempt> =>
    attempt({ notifier, options: options.options, message, threads, now: clock.now, signal: abort.signal, ...(proxyFor === undefined ? {} : { proxyFor }) })
  const fly = (act: () => Promise<void>): void => {
    awake()
    flight = act()
      .catch((error: unknown) => {
        log.error(`${name}: sending failed: ${stackOf(error)}`)
        backOff(undefined, clock.now())
      })
      .finally(() => {
        flight = undefined
        if (nextTryAt === undefined) step()
      })
  }
  const deliver = async (key: string): Promise<void> => {
    const stored = outbox.load(key)
    if (stored === undefined) return
    const { items, runs = [], waste = [], threads } = stored
    const came = await tryOne(anyMessageOf(stored, host, reach), threads)
    if (!abort.signal.aborted || came.result === 'delivered') settle(key, items.length + runs.length + waste.length, came)
  }
  const tellAgain = async (now: number): Promise<void> => {
    const incidents = [...refreshes.values()].slice(0, notifier.most)
    for (const { id } of incidents) refreshes.delete(id)
    const items = incidents
      .filter(({ id }) => outbox.lastNotification(name, id)?.event === 'firing')
      .map((incident) => ({ event: 'firing' as const, reason: 'repeat' as const, incident }))
    if (items.length === 0) return
    const came = await tryOne(messageOf({ key: randomUUID(), at: now, items }, host, reach), new Map())
    if (came.result === 'delivered') return arrived()
    refreshes.clear()
    if (!abort.signal.aborted) failed({ ...came, result: 'retry' }, clock.now())
  }
  /** One step further, when nothing is on its way and nothing has to be waited for. */
  const step = (): void => {
    if (!running || flight !== undefined || nextTryAt !== undefined) return
    awake()
    const now = clock.now()
    giveUpOld(now)
    const key = poison.choose(outbox.open(name), () => formed(now))
    if (key !== undefined) fly(async () => deliver(key))
    else if (refreshes.size > 0) fly(async () => tellAgain(now))
  }
  const settled = async (): Promise<void> => {
    if (flight === undefined) return
    await flight
    await settled()
  }
  const wake = (): void => {
    if (running && flight === undefined && nextTryAt === undefined) sleep(0)
  }

  return {
    start() {
      running = true
      nextTryAt = undefined
      abort = new AbortController()
      step()
    },
    wake,
    refresh(incidents) {
      for (const incident of incidents) refreshes.set(incident.id, incident)
      wake()
    },
    row() {
      const { waiting, aside, oldestDue, delivered, failed: failedTries, expired, last_delivered_at: lastDeliveredAt } = outbox.figures(name)
      const failing = refusals > 0 || (failingSince !== undefined && clock.now() - failingSince >= FAILING_MS)
      return {
        name,
        type,
        host: notifier.host,
        status: failing ? 'failing' : failingSince === undefined ? 'ok' : 'retrying',
        waiting,
        ...(oldestDue === undefined ? {} : { oldest_waiting_at: oldestDue }),
        delivered,
        failed_tries: failedTries,
        expired,
        set_aside: aside,
        ...(lastDeliveredAt === null ? {} : { last_delivered_at: lastDeliveredAt }),
        ...(lastError === undefined ? {} : { last_error: lastError }),
        ...(nextTryAt === undefined ? {} : { next_try_at: nextTryAt }),
      }
    },
    retryAside() {
      const count = outbox.retryAside(name, clock.now())
      // Whoever asks for it has mended something.
      nextTryAt = undefined
      wake()
      return count
    },
    settled,
    async stop() {
      running = false
      awake()
      if (flight === undefined) return
      const cancel = clock.after(STOP_MS, () => abort.abort())
      await flight
      cancel()
      awake()
    },
  }
}
