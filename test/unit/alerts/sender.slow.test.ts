// Delivery against real receivers that refuse, break, ask for time and come back; the clock jumps.
import { expect, onTestFinished, test } from 'vitest'
import type { Outbox } from '../../../agent/store/outbox.ts'
import { createOutbox } from '../../../agent/store/outbox.ts'
import type { OutboxPlan } from '../../../agent/store/outbox/waiting.ts'
import type { DeliveryOptions } from '../../../alerts/delivery/attempt.ts'
import { createDelivery, type Delivery } from '../../../alerts/delivery/delivery.ts'
import type { Notifier } from '../../../alerts/notifiers/definition.ts'
import {
  asOutgoing,
  bodyOf,
  DAY,
  deliveryOptions,
  folder,
  HOUR,
  incident,
  jumpingClock,
  kept,
  MINUTE,
  plainNotifier,
  resolved,
  said,
  T,
  type JumpingClock,
} from '../../setup/alert-scene.ts'
import { OK, startReceiver, type Receiver } from '../../setup/receiver.ts'

type Scene = {
  readonly at: Receiver
  readonly outbox: Outbox
  readonly delivery: Delivery
  readonly clock: JumpingClock
  readonly lines: readonly string[]
  readonly fires: (id: string, more?: Partial<OutboxPlan>) => void
  readonly ends: (id: string) => void
  readonly run: (ms: number) => Promise<void>
}
type Wishes = { readonly options?: Partial<DeliveryOptions>; readonly notifier?: Partial<Notifier>; readonly directory?: string; readonly at?: Receiver }
async function scene({ options, notifier, directory = folder(), at: given }: Wishes = {}): Promise<Scene> {
  const at = given ?? (await startReceiver())
  if (given === undefined) onTestFinished(at.close)
  const clock = jumpingClock()
  const { lines, log } = kept()
  const outbox = createOutbox({ directory, log, now: clock.now })
  const notifiers = [{ name: 'ops', type: 'plain', notifier: plainNotifier(`${at.url}/hook/s3cret`, notifier), options: deliveryOptions(options) }]
  const delivery = createDelivery({
    outbox,
    notifiers,
    host: 'gpu-01',
    reach: { base_url: 'http://gpu-01:9839', local_url: 'http://127.0.0.1:9839' },
    log,
    clock,
    random: () => 0.5,
  })
  const put = (event: OutboxPlan['event'], id: string, more: Partial<OutboxPlan> = {}): void => {
    const about = event === 'firing' ? incident(id) : resolved(id, clock.now())
    const reason = event === 'firing' ? 'new' : 'resolved'
    outbox.put(asOutgoing(about), [{ notifier: 'ops', group: 'g', event, reason, dueAt: clock.now(), ...more }], clock.now())
    delivery.wake('ops')
  }
  delivery.start()
  return {
    at,
    outbox,
    delivery,
    clock,
    lines,
    fires: (id, more) => put('firing', id, more),
    ends: (id) => put('resolved', id),
    run: async (ms) => clock.runUntil(clock.now() + ms, delivery.settled),
  }
}
const row = ({ delivery }: Scene) => delivery.rows()[0]

test('tells at once what happens, and who is told is said without the URL', async () => {
  const it = await scene()
  it.fires('a')
  await it.run(0)
  it.ends('a')
  await it.run(0)
  expect(said(it.at.taken)).toEqual(['a+', 'a-'])
  expect(row(it)).toEqual({
    name: 'ops',
    type: 'plain',
    host: new URL(it.at.url).host,
    status: 'ok',
    waiting: 0,
    delivered: 2,
    failed_tries: 0,
    expired: 0,
    set_aside: 0,
    last_delivered_at: T,
  })
  expect(it.lines).toEqual([])
})

test('tries again with growing pauses and the same key, says so once, and keeps the order', async () => {
  const it = await scene()
  it.at.answerWith(() => ({ status: 503 }))
  it.fires('a')
  await it.run(10 * MINUTE)
  it.ends('a')
  it.fires('b')
  const before = it.at.requests.length
  expect(before).toBeGreaterThan(4)
  expect(before).toBeLessThan(20)
  expect(new Set(it.at.requests.map(({ key }) => key)).size).toBeLessThanOrEqual(3)
  expect(row(it)).toMatchObject({
    status: 'failing',
    waiting: 3,
    oldest_waiting_at: T,
    failed_tries: before,
    last_error: { text: 'the receiver answered with status 503' },
  })
  it.at.answerWith(() => OK)
  await it.run(10 * MINUTE)
  expect(said(it.at.taken).filter((text) => text.startsWith('a'))).toEqual(['a+', 'a-'])
  expect(said(it.at.taken)).toContain('b+')
  expect(row(it)).toMatchObject({ status: 'ok', waiting: 0 })
  expect(it.lines).toHaveLength(2)
  expect(it.lines.join('\n')).not.toMatch(/s3cret|hook/)
})

test('honours Retry-After, also while new things happen', async () => {
  const it = await scene()
  it.at.answerWith((_, nth) => (nth === 1 ? { status: 429, headers: { 'retry-after': '120' } } : OK))
  it.fires('a')
  await it.run(0)
  expect(row(it)).toMatchObject({ status: 'retrying', next_try_at: T + 120_000 })
  it.fires('b')
  await it.run(119_000)
  expect(it.at.requests).toHaveLength(1)
  await it.run(1_000)
  expect(said(it.at.taken)).toEqual(['a+', 'b+'])
  it.at.answerWith((_, nth) => (nth === 4 ? { status: 503, headers: { 'retry-after': new Date(T + 9 * DAY).toUTCString() } } : OK))
  it.fires('c')
  await it.run(0)
  expect(row(it)?.next_try_at).toBe(it.clock.now() + HOUR)
})

test('one message that the receiver cannot stand is set aside, and holds the others up for a minute at most', async () => {
  const it = await scene({ notifier: { most: 1 } })
  it.at.answerWith(({ body }) => (body.includes('poison') ? { status: 500 } : OK))
  it.fires('poison')
  it.fires('a')
  it.ends('poison')
  it.ends('a')
  await it.run(2 * MINUTE)
  expect(said(it.at.taken)).toEqual(['a+', 'a-'])
  expect(row(it)).toMatchObject({ set_aside: 2, waiting: 0, status: 'ok' })
  expect(it.lines.filter((text) => text.includes('set aside'))).toHaveLength(2)
  // Mended: it comes with its key, but not its beginning after its end.
  it.at.answerWith(() => OK)
  expect(it.delivery.retryAside('ops')).toBe(2)
  expect(it.delivery.retryAside('nobody')).toBeUndefined()
  await it.run(MINUTE)
  expect(said(it.at.taken)).toEqual(['a+', 'a-', 'poison+', 'poison-'])
  const poison = it.at.requests.filter(({ body }) => body.includes('poison') && body.includes('firing'))
  expect(new Set(poison.map(({ key }) => key)).size).toBe(1)
})

test('nothing is set aside while the receiver as a whole is down, however long', async () => {
  const it = await scene({ notifier: { most: 1 } })
  it.at.answerWith(() => ({ status: 500 }))
  for (const id of ['a', 'b', 'c', 'd', 'e']) it.fires(id)
  await it.run(DAY)
  expect(row(it)).toMatchObject({ set_aside: 0, waiting: 5 })
  it.at.answerWith(() => OK)
  await it.run(10 * MINUTE)
  expect(said(it.at.taken).toSorted()).toEqual(['a+', 'b+', 'c+', 'd+', 'e+'])
  expect(row(it)).toMatchObject({ set_aside: 0, delivered: 5 })
})

test('of a message that is refused only the part that cannot be taken is set aside', async () => {
  const it = await scene()
  it.at.answerWith(({ body }) => (body.includes('poison') ? { status: 400 } : OK))
  for (let n = 0; n < 20; n++) it.fires(n === 13 ? 'poison' : `i${n}`)
  await it.run(0)
  expect(said(it.at.taken)).toHaveLength(19)
  expect(row(it)).toMatchObject({ set_aside: 1, waiting: 0 })
  expect(it.at.requests.length).toBeLessThan(20)
})

test('a receiver that refuses everything is not asked for each part', async () => {
  const it = await scene()
  it.at.answerWith(() => ({ status: 404 }))
  for (let n = 0; n < 500; n++) it.fires(`i${n}`)
  await it.run(MINUTE)
  expect(it.at.requests.length).toBeLessThan(30)
  expect(row(it)).toMatchObject({ status: 'failing', waiting: 0 })
  it.at.answerWith(() => OK)
  it.delivery.retryAside('ops')
  await it.run(MINUTE)
  expect(new Set(said(it.at.taken)).size).toBe(500)
})

test('what cannot be put into words is set aside; the rest goes on', async () => {
  const plain = plainNotifier('http://127.0.0.1:1')
  const it = await scene()
  const broken: Notifier = {
    ...plain,
    request(message, threads) {
      if (message.items.some(({ incident: { id } }) => id === 'poison')) throw new Error('template: expected a number')
      return { ...plain.request(message, threads), url: it.at.url }
    },
  }
  const { outbox, clock } = it
  const other = createDelivery({
    outbox,
    notifiers: [{ name: 'ops', type: 'plain', notifier: broken, options: deliveryOptions() }],
    host: 'gpu-01',
    reach: { local_url: 'http://127.0.0.1:9839' },
    log: kept().log,
    clock,
  })
  await it.delivery.stop()
  for (const id of ['a', 'poison', 'b']) it.fires(id)
  other.start()
  await clock.runUntil(T, other.settled)
  expect(said(it.at.taken).toSorted()).toEqual(['a+', 'b+'])
  expect(other.rows()[0]?.last_error?.text).toBe('template: expected a number')
})

test('with no budget left, waits, and then tells all groups in one message', async () => {
  const it = await scene({ options: { max_messages_per_minute: 20 } })
  for (let n = 0; n < 30; n++) {
    it.fires(`i${n}`, { group: `g${n}` })
    await it.run(0)
  }
  expect(it.at.taken).toHaveLength(5)
  await it.run(MINUTE)
  expect(it.at.taken).toHaveLength(6)
  expect(said(it.at.taken)).toHaveLength(30)
})

test('what is too old is given up, logged once, and told with the next message that arrives', async () => {
  const it = await scene({ options: { expire_ms: HOUR } })
  it.at.answerWith(() => ({ status: 503 }))
  for (const id of ['a', 'b', 'c']) {
    it.fires(id)
    await it.run(20 * MINUTE)
  }
  await it.run(90 * MINUTE)
  expect(row(it)).toMatchObject({ expired: 3, waiting: 0 })
  expect(it.lines.filter((text) => text.includes('dropped'))).toHaveLength(1)
  it.at.answerWith(() => OK)
  it.fires('d')
  await it.run(HOUR)
  expect(it.at.taken.map(bodyOf)).toEqual([
    { count: 1, items: [{ id: 'd', event: 'firing', reason: 'new' }], expired: { count: 3, from: T, to: T + 40 * MINUTE } },
  ])
})

test('what was on its way when the agent ended comes again with the same key', async () => {
  const directory = folder()
  const it = await scene({ directory })
  it.at.answerWith(() => 'hang')
  it.fires('a')
  const running = it.run(0)
  await it.at.until(() => it.at.requests.length === 1)
  const stopping = it.delivery.stop()
  // The two seconds that it is given.
  await it.clock.runUntil(T + 2_000, async () => {})
  await Promise.all([stopping, running])
  it.outbox.close()
  it.at.answerWith(() => OK)
  const again = await scene({ directory, at: it.at })
  await again.run(0)
  expect(it.at.requests.map(({ key }) => key)).toEqual([it.at.requests[0]?.key, it.at.requests[0]?.key])
  expect(said(it.at.taken)).toEqual(['a+'])
})

test('a receiver that keeps a state is told all that fires again, nothing piles up, and what is over is not told', async () => {
  const it = await scene({ notifier: { refreshMs: MINUTE, most: 2 }, options: { max_messages_per_minute: 1 } })
  for (const id of ['a', 'b', 'c']) it.fires(id, { group: id })
  await it.run(0)
  expect(said(it.at.taken)).toEqual(['a+', 'b+', 'c+'])
  it.delivery.refresh('ops', [incident('a'), incident('b'), incident('c')].map(asOutgoing))
  it.ends('a')
  await it.run(0)
  expect(said(it.at.taken.slice(2))).toEqual(['a-', 'b+', 'c+'])
  it.at.answerWith(() => ({ status: 500 }))
  const before = it.at.requests.length
  for (let n = 0; n < 60; n++) {
    it.delivery.refresh('ops', [incident('b'), incident('c')].map(asOutgoing))
    await it.run(MINUTE)
  }
  expect(it.at.requests.length - before).toBeLessThan(60)
  expect(row(it)).toMatchObject({ waiting: 0, expired: 0 })
})
