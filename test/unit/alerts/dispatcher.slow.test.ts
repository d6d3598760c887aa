// From incidents to the outbox, with the real router: once, repeated as routes wish, and nothing missed over a restart or a silence.
import { expect, test } from 'vitest'
import { type Incident, summaryOf } from '../../../agent/model/incident.ts'
import { createOutbox } from '../../../agent/store/outbox.ts'
import { createDispatcher } from '../../../alerts/dispatcher.ts'
import type { OutgoingIncident } from '../../../agent/model/notification.ts'
import { createRouter } from '../../../alerts/routing/router.ts'
import type { Route } from '../../../alerts/routing/definition.ts'
import { asOutgoing, DAY, folder, HOUR, incident, kept, MINUTE, resolved, T } from '../../setup/alert-scene.ts'

const ROUTE: Route = { to: ['ops'], match: {}, groupBy: [], waitMs: 200, repeatMs: 4 * HOUR, quiet: [], resolved: true }

function scene({ directory = folder(), routes = [ROUTE], refreshMs }: { directory?: string; routes?: readonly Route[]; refreshMs?: number } = {}) {
  let now = T
  const store = new Map<string, Incident>()
  const outbox = createOutbox({ directory, log: kept().log, now: () => now })
  const woken: string[] = []
  const refreshed: OutgoingIncident[] = []
  const dispatcher = createDispatcher({
    router: createRouter(routes, [{ name: 'ops', ...(refreshMs === undefined ? {} : { refreshMs }) }]),
    outbox,
    delivery: {
      wake: (name) => void woken.push(name ?? ''),
      refreshed: new Map(refreshMs === undefined ? [] : [['ops', refreshMs]]),
      refresh: (_, incidents) => void refreshed.push(...incidents),
    },
    get: (id) => store.get(id),
    outgoing: asOutgoing,
    now: () => now,
  })
  return {
    store,
    outbox,
    dispatcher,
    woken,
    refreshed,
    now: () => now,
    happens(about: Incident) {
      store.set(about.id, about)
      dispatcher.changed(summaryOf(about))
    },
    /** In steps of ten seconds: the agent's are of one, but hours of them take long. */
    pass(ms: number) {
      for (const end = now + ms; now < end;) {
        now += 10_000
        dispatcher.maintain(now)
      }
    },
    /** Takes out what waits, as delivery does. */
    takes(): readonly string[] {
      const found: string[] = []
      for (let n = 0; outbox.form({ notifier: 'ops', key: `${now}-${n}`, now: now + MINUTE, most: 500, anyGroup: true }); n++) {
        const message = outbox.load(`${now}-${n}`)
        found.push(...(message?.items ?? []).map(({ reason, incident: { id, count, status } }) => `${id} ${reason} ${status} ${count}`))
        outbox.delivered('ops', `${now}-${n}`, now, undefined)
      }
      return found
    },
  }
}

test('tells once that it fires, that it grew worse, and that it is over; not what is pending', () => {
  const it = scene()
  it.happens(incident('a', { status: 'pending' }))
  expect(it.takes()).toEqual([])
  it.happens(incident('a', { severity: 'warning' }))
  for (let count = 2; count < 9; count++) it.happens(incident('a', { severity: 'warning', count }))
  expect(it.woken).toEqual(['ops'])
  expect(it.takes()).toEqual(['a new firing 1'])
  it.happens(incident('a'))
  expect(it.takes()).toEqual(['a worse firing 1'])
  it.happens(resolved('a', it.now()))
  it.happens(resolved('a', it.now()))
  expect(it.takes()).toEqual(['a resolved resolved 1'])
  it.pass(5 * HOUR)
  expect(it.takes()).toEqual([])
})

test('repeats what still fires, as it stands by then, and not what was acknowledged', () => {
  const it = scene()
  it.happens(incident('a'))
  it.happens(incident('b'))
  it.takes()
  it.happens(incident('a', { count: 5, remedies: [{ text: 'Take less.' }] }))
  it.happens(incident('b', { acknowledged: { at: T, by: 'kim' } }))
  it.pass(4 * HOUR - MINUTE)
  expect(it.takes()).toEqual([])
  it.pass(2 * MINUTE)
  expect(it.outbox.form({ notifier: 'ops', key: 'k', now: it.now(), most: 9, anyGroup: false })).toBe(true)
  expect(it.outbox.load('k')?.items).toEqual([
    { event: 'firing', reason: 'repeat', incident: asOutgoing(incident('a', { count: 5, remedies: [{ text: 'Take less.' }] })) },
  ])
  it.pass(3 * HOUR)
  expect(it.takes()).toEqual([])
})

test('after a start tells what the outbox does not know, what is over meanwhile, and forgets what nobody knows', () => {
  const directory = folder()
  const before = scene({ directory })
  for (const id of ['told', 'over', 'long-over', 'lost']) before.happens(incident(id))
  before.takes()
  before.outbox.close()
  const after = scene({ directory })
  for (const about of [incident('told'), incident('untold', { severity: 'warning' }), resolved('over', T), resolved('long-over', T), resolved('never-told', T)])
    after.store.set(about.id, about)
  after.dispatcher.recover(['told', 'untold', 'over', 'never-told'].flatMap((id) => summaryOf(after.store.get(id) ?? incident(id))))
  expect(after.takes()).toEqual(['untold new firing 1', 'over resolved resolved 1', 'long-over resolved resolved 1'])
  expect(after.outbox.notifiedFiring()).toEqual(new Set(['told', 'untold']))
})

test('says that it is over once a silence ends, though it was over while the silence held', () => {
  const it = scene()
  it.happens(incident('a'))
  it.takes()
  const silenced = { until: T + HOUR, id: 's' }
  it.happens(resolved('a', T, { silenced }))
  it.pass(10 * MINUTE)
  expect(it.takes()).toEqual([])
  // As the store of incidents tells it once nobody silences it.
  it.store.set('a', resolved('a', T))
  it.pass(10_000)
  expect(it.takes()).toEqual(['a resolved resolved 1'])
})

test('where the end is not to be told, nothing is kept for ever', () => {
  const it = scene({ routes: [{ ...ROUTE, resolved: false }] })
  it.happens(incident('a'))
  it.takes()
  it.happens(resolved('a', T))
  it.pass(MINUTE)
  expect(it.outbox.notifiedFiring().size).toBe(1)
  it.pass(8 * DAY)
  expect(it.takes()).toEqual([])
  expect(it.outbox.notifiedFiring().size).toBe(0)
})

test('what still waits to be sent tells the newest', () => {
  const it = scene({ routes: [{ ...ROUTE, waitMs: 10 * MINUTE }] })
  it.happens(incident('a'))
  it.pass(MINUTE)
  it.happens(incident('a', { count: 7 }))
  it.pass(9 * MINUTE)
  expect(it.takes()).toEqual(['a new firing 7'])
})

test('a receiver that keeps a state hears each minute what fires, in one go, and nothing else', () => {
  const it = scene({ refreshMs: MINUTE })
  for (let n = 0; n < 3; n++) it.happens(incident(`a${n}`))
  it.pass(20_000)
  it.happens(incident('late'))
  it.happens(resolved('a1', T))
  expect(it.takes()).toHaveLength(5)
  it.refreshed.length = 0
  it.pass(MINUTE)
  expect(it.refreshed.map(({ id }) => id).toSorted()).toEqual(['a0', 'a2', 'late'])
  it.pass(3 * MINUTE)
  expect(it.refreshed).toHaveLength(12)
  expect(it.takes()).toEqual([])
})
