// Other notifiers and routes while the agent runs: what waits is kept, nobody is told twice, and whoever is new hears what fires.
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { isLoaded, settingsFor } from '../../../agent/cli/config/settings.ts'
import type { Config } from '../../../agent/config/schema.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createAlerts } from '../../../alerts/service.ts'
import { folder, incident, kept } from '../../setup/alert-scene.ts'
import { OK, startReceiver, type Receiver } from '../../setup/receiver.ts'

async function configOf(directory: string, notifiers: readonly unknown[], more: Readonly<Record<string, string>> = {}): Promise<Config> {
  const env = { WARPWATCH_DATA_DIR: directory, WARPWATCH_NOTIFIERS: JSON.stringify(notifiers), ...more }
  const loaded = await settingsFor({ flags: new Map(), positionals: [] }, { out: () => {}, err: () => {}, cwd: directory, env })
  if (!isLoaded(loaded)) throw new Error(JSON.stringify(loaded))
  return loaded.config
}
const webhook = (name: string, { url }: Receiver) => ({ name, type: 'webhook', url: `${url}/${name}` })
const one = z.looseObject({ incident: z.object({ id: z.string() }) })
const message = one.extend({ others: z.array(one).optional() })
/** Of all that was delivered, in order; what comes together is one message. */
const idsAt = (receiver: Receiver): readonly string[] =>
  receiver.taken.flatMap(({ body }) => {
    const { incident: first, others = [] } = message.parse(JSON.parse(body))
    return [first.id, ...others.map(({ incident: { id } }) => id)]
  })

async function scene(notifiers: (receiver: Receiver, other: Receiver) => readonly unknown[], env: Readonly<Record<string, string>> = {}) {
  const [receiver, other] = await Promise.all([startReceiver({ honoursKeys: true }), startReceiver({ honoursKeys: true })])
  const directory = folder()
  const { log, lines } = kept()
  const fires = new Map<string, Incident>()
  const alerts = await createAlerts({
    config: await configOf(directory, notifiers(receiver, other), env),
    url: 'http://127.0.0.1:9839',
    incident: (id) => fires.get(id),
    ready: () => true,
    firing: () => [...fires.values()],
    waste: (from, to) => ({ host: 'gpu-01', from, to, rows: [] }),
    log,
  })
  alerts.start([])
  onTestFinished(async () => {
    await alerts.stop()
    await Promise.all([receiver.close(), other.close()])
  })
  return {
    alerts,
    receiver,
    other,
    lines,
    fire: (id: string): void => {
      const found = { ...incident(id), started_at: Date.now(), fired_at: Date.now(), last_seen_at: Date.now() }
      fires.set(id, found)
      alerts.incident(found)
    },
    reload: async (next: readonly unknown[], more: Readonly<Record<string, string>> = env) => (await alerts.prepare(await configOf(directory, next, more)))(),
  }
}

test('what waits for a receiver that is down outlives a reload, and is delivered once', async () => {
  const { receiver, other, fire, reload } = await scene((at) => [webhook('ops', at)])
  receiver.answerWith(() => ({ status: 503 }))
  fire('a')
  await receiver.until(() => receiver.requests.length > 0)
  receiver.answerWith(() => OK)
  // The same name, with another option: its sender is made again and goes on with the message that was on its way, under its key.
  await reload([{ ...webhook('ops', receiver), timeout_ms: 5_000 }, webhook('new', other)])
  await Promise.all([receiver.until(() => receiver.taken.length > 0), other.until(() => other.taken.length > 0)])
  expect(idsAt(receiver)).toEqual(['a'])
  expect(new Set(receiver.requests.map(({ key }) => key)).size).toBe(1)
  // Whoever is new hears what fires; whoever was told is not told again.
  expect(idsAt(other)).toEqual(['a'])
  fire('b')
  await Promise.all([receiver.until(() => idsAt(receiver).length > 1), other.until(() => idsAt(other).length > 1)])
  expect([idsAt(receiver), idsAt(other)]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
})

test('other routes hold at once, and leave the senders as they are', async () => {
  const { alerts, receiver, other, fire, reload } = await scene((at, second) => [webhook('ops', at), webhook('lab', second)], {
    WARPWATCH_ROUTES: JSON.stringify([{ to: ['ops'] }]),
  })
  receiver.answerWith(() => ({ status: 503, headers: { 'retry-after': '3600' } }))
  fire('a')
  await receiver.until(() => receiver.requests.length > 0)
  await expect.poll(() => alerts.rows().find(({ name }) => name === 'ops')?.next_try_at).toBeDefined()
  const before = alerts.rows().find(({ name }) => name === 'ops')
  await reload([webhook('ops', receiver), webhook('lab', other)], { WARPWATCH_ROUTES: JSON.stringify([{ to: ['lab'] }]) })
  fire('b')
  await other.until(() => idsAt(other).length > 1)
  expect(idsAt(other).toSorted()).toEqual(['a', 'b'])
  // It asked for an hour; a reload is no reason to ask it again.
  expect(alerts.rows().find(({ name }) => name === 'ops')).toEqual(before)
  expect(receiver.requests).toHaveLength(1)
})

test('the last notifier can go, and one can come back', async () => {
  const { alerts, receiver, fire, reload } = await scene((at) => [webhook('ops', at)])
  await reload([])
  expect(alerts.rows()).toEqual([])
  fire('a')
  await reload([webhook('ops', receiver)])
  await receiver.until(() => receiver.taken.length > 0)
  expect(idsAt(receiver)).toEqual(['a'])
})
