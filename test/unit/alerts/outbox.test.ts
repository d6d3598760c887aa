// The outbox: what waits and what was told survive together, go out in order, take each other's place, and are never lost silently.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { NotificationReason } from '../../../agent/model/notification.ts'
import { createOutbox, type Outbox, type OutboxOptions } from '../../../agent/store/outbox.ts'
import type { OutboxPlan } from '../../../agent/store/outbox/waiting.ts'
import { asOutgoing, DAY, folder, HOUR, incident, kept, resolved, T } from '../../setup/alert-scene.ts'

const open = (directory = folder(), more: Partial<OutboxOptions> = {}): Outbox => createOutbox({ directory, log: kept().log, now: () => T, ...more })
const plan = (more: Partial<OutboxPlan> = {}): OutboxPlan => ({ notifier: 'ops', group: 'g', event: 'firing', reason: 'new', dueAt: T, ...more })
const over = (more: Partial<OutboxPlan> = {}): OutboxPlan => plan({ event: 'resolved', reason: 'resolved', ...more })
const fires = (outbox: Outbox, id: string, more: Partial<OutboxPlan> = {}, t = T): void => outbox.put(asOutgoing(incident(id)), [plan(more)], t)
const ends = (outbox: Outbox, id: string, more: Partial<OutboxPlan> = {}, t = T): void => outbox.put(asOutgoing(resolved(id, t)), [over(more)], t)
/** Forms a message and says what is in it. */
function formed(outbox: Outbox, key: string, { now = T, most = 500, anyGroup = false } = {}): readonly string[] | undefined {
  if (!outbox.form({ notifier: 'ops', key, now, most, anyGroup })) return undefined
  return outbox.load(key)?.items.map(({ event, reason, incident: { id } }) => `${id} ${event} ${reason}`)
}

test('what waits, messages on their way and what was told are there after a restart', () => {
  const directory = folder()
  const outbox = open(directory)
  fires(outbox, 'a')
  expect(formed(outbox, 'k1')).toEqual(['a firing new'])
  fires(outbox, 'b', {}, T + 5)
  outbox.close()
  const again = open(directory)
  expect(again.open('ops')).toEqual(['k1'])
  expect(again.load('k1')).toEqual({
    key: 'k1',
    at: T,
    items: [{ event: 'firing', reason: 'new', incident: asOutgoing(incident('a')) }],
    threads: new Map(),
  })
  expect(again.lastNotification('ops', 'b')).toEqual({ event: 'firing', severity: 'critical', at: T + 5 })
  again.delivered('ops', 'k1', T + 10, 'thread-1')
  again.close()
  const third = open(directory)
  expect(third.open('ops')).toEqual([])
  expect(formed(third, 'k2')).toEqual(['b firing new'])
  expect(third.figures('ops')).toMatchObject({ delivered: 1, last_delivered_at: T + 10, waiting: 1 })
  ends(third, 'a')
  third.delivered('ops', 'k2', T, undefined)
  formed(third, 'k3')
  expect(third.load('k3')?.threads).toEqual(new Map([['a', 'thread-1']]))
})

test('the text of an incident is kept once for all notifiers, and goes with the last', () => {
  const directory = folder()
  const outbox = open(directory)
  outbox.put(asOutgoing(incident('a')), [plan(), plan({ notifier: 'mail' })], T)
  const db = new Sqlite(join(directory, 'outbox.db'))
  const texts = (): unknown => db.prepare('SELECT count(*) FROM payloads').pluck().get()
  expect(texts()).toBe(1)
  formed(outbox, 'k1')
  // What is on its way stays as it is.
  outbox.freshen({ ...asOutgoing(incident('a')), count: 7 })
  expect(outbox.load('k1')?.items[0]?.incident.count).toBe(1)
  outbox.delivered('ops', 'k1', T, undefined)
  expect(texts()).toBe(1)
  outbox.form({ notifier: 'mail', key: 'k2', now: T, most: 9, anyGroup: false })
  expect(outbox.load('k2')?.items[0]?.incident.count).toBe(7)
  outbox.delivered('mail', 'k2', T, undefined)
  expect(texts()).toBe(0)
  db.close()
})

test.each<[string, NotificationReason, NotificationReason, NotificationReason]>([
  ['a repeat takes the place of a repeat', 'repeat', 'repeat', 'repeat'],
  ['what nobody heard of stays new', 'new', 'repeat', 'new'],
  ['and so it is when it grew worse', 'new', 'worse', 'new'],
  ['worse than what they heard stays worse', 'worse', 'repeat', 'worse'],
  ['a repeat that grew worse is worse', 'repeat', 'worse', 'worse'],
])('%s', (_, first, second, becomes) => {
  const outbox = open()
  fires(outbox, 'a', { reason: first })
  outbox.put({ ...asOutgoing(incident('a')), count: 2 }, [plan({ reason: second, dueAt: T + 5_000 })], T + 1_000)
  expect(formed(outbox, 'k1', { now: T + 1_000 })).toEqual([`a firing ${becomes}`])
  expect(outbox.load('k1')?.items[0]?.incident.count).toBe(2)
})

test('an incident that comes and goes again and again before anybody could be told waits twice at most', () => {
  const outbox = open()
  for (let n = 0; n < 20; n++) {
    fires(outbox, 'a')
    ends(outbox, 'a')
    ends(outbox, 'a')
  }
  expect(formed(outbox, 'k1')).toEqual(['a firing new', 'a resolved resolved'])
})

test('a group waits for what comes within its first wait, and for nothing that is held longer', () => {
  const outbox = open()
  fires(outbox, 'a', { dueAt: T + 200 }, T)
  fires(outbox, 'b', { dueAt: T + 350 }, T + 150)
  fires(outbox, 'c', { dueAt: T + 9 * HOUR, reason: 'held' }, T + 160)
  fires(outbox, 'd', { group: 'other', dueAt: T + 300 }, T + 100)
  expect(outbox.nextDue('ops', T)).toBe(T + 200)
  expect(formed(outbox, 'k0', { now: T + 199 })).toBeUndefined()
  expect(formed(outbox, 'k1', { now: T + 200 })).toEqual(['a firing new', 'b firing new'])
  expect(formed(outbox, 'k2', { now: T + 300 })).toEqual(['d firing new'])
  expect(outbox.nextDue('ops', T)).toBe(T + 9 * HOUR)
  expect(formed(outbox, 'k3', { now: T + 9 * HOUR })).toEqual(['c firing held'])
})

test('with no budget left, what is due of all groups goes together', () => {
  const outbox = open()
  for (const id of ['a', 'b', 'c']) fires(outbox, id, { group: id })
  expect(formed(outbox, 'k1', { anyGroup: true, most: 2 })).toEqual(['a firing new', 'b firing new'])
  expect(formed(outbox, 'k2', { anyGroup: true, most: 2 })).toEqual(['c firing new'])
})

test('the end of an incident brings its beginning along, and never goes ahead of it', () => {
  const outbox = open()
  fires(outbox, 'a', { dueAt: T + 30_000 })
  ends(outbox, 'a', { dueAt: T + 200 })
  expect(formed(outbox, 'k1', { now: T + 200 })).toEqual(['a firing new', 'a resolved resolved'])
  // In another group, or while the beginning is on its way, the end waits.
  fires(outbox, 'b', { group: 'x' })
  ends(outbox, 'b', { group: 'y' })
  expect(formed(outbox, 'k2')).toEqual(['b firing new'])
  expect(outbox.nextDue('ops', T)).toBeUndefined()
  expect(formed(outbox, 'k3', { anyGroup: true })).toBeUndefined()
  outbox.delivered('ops', 'k2', T, undefined)
  expect(formed(outbox, 'k3')).toEqual(['b resolved resolved'])
})

test('a clock that was set back holds up nothing but quiet hours', () => {
  const outbox = open()
  fires(outbox, 'a', { dueAt: T + HOUR + 200 }, T + HOUR)
  fires(outbox, 'b', { dueAt: T + 2 * HOUR, reason: 'held', group: 'h' }, T + HOUR)
  expect(formed(outbox, 'k1', { now: T })).toEqual(['a firing new'])
  expect(formed(outbox, 'k2', { now: T })).toBeUndefined()
})

test('half of a message that was refused goes ahead, the rest waits again', () => {
  const outbox = open()
  for (const id of ['a', 'b', 'c']) fires(outbox, id)
  formed(outbox, 'k1')
  outbox.halve('k1', 'k2')
  expect(outbox.open('ops')).toEqual(['k2'])
  expect(outbox.load('k2')?.items.map(({ incident: { id } }) => id)).toEqual(['a', 'b'])
  expect(formed(outbox, 'k3')).toEqual(['c firing new'])
})

test('what was set aside comes back with its key, but nothing of which newer was heard', () => {
  const outbox = open()
  fires(outbox, 'a')
  formed(outbox, 'k1')
  outbox.setAside('k1', T, 'refused')
  fires(outbox, 'b')
  formed(outbox, 'k2')
  outbox.setAside('k2', T, 'refused')
  expect(outbox.figures('ops')).toMatchObject({ aside: 2, waiting: 0 })
  ends(outbox, 'a')
  formed(outbox, 'k3')
  outbox.delivered('ops', 'k3', T, undefined)
  expect(outbox.retryAside('ops', T)).toBe(1)
  expect(outbox.open('ops')).toEqual(['k2'])
  expect(outbox.load('k2')?.items.map(({ incident: { id } }) => id)).toEqual(['b'])
  expect(outbox.figures('ops')).toMatchObject({ aside: 0, waiting: 1 })
})

test('what is too old is given up, counted, told with the next message, and sent again where it was never heard', () => {
  const outbox = open()
  fires(outbox, 'a')
  formed(outbox, 'k1')
  fires(outbox, 'b', {}, T + 1_000)
  fires(outbox, 'held', { dueAt: T + 9 * HOUR, reason: 'held' })
  expect(outbox.expire('ops', T)).toBe(0)
  expect(outbox.expire('ops', T + HOUR)).toBe(2)
  expect(outbox.lastNotification('ops', 'a')).toBeUndefined()
  expect(outbox.lastNotification('ops', 'held')).toBeDefined()
  expect(outbox.figures('ops')).toMatchObject({ expired: 2, waiting: 1 })
  fires(outbox, 'c', {}, T + DAY)
  formed(outbox, 'k2', { now: T + DAY })
  expect(outbox.load('k2')?.expired).toEqual({ count: 2, from: T, to: T + 1_000 })
  // A message that does not arrive either hands it on.
  outbox.setAside('k2', T + DAY, 'refused')
  fires(outbox, 'd', {}, T + DAY)
  formed(outbox, 'k3', { now: T + DAY })
  expect(outbox.load('k3')?.expired).toEqual({ count: 2, from: T, to: T + 1_000 })
  outbox.delivered('ops', 'k3', T + DAY, undefined)
  fires(outbox, 'e', {}, T + DAY)
  formed(outbox, 'k4', { now: T + DAY })
  expect(outbox.load('k4')?.expired).toBeUndefined()
})

test('beyond the bound repeats go first, then what is over, then the oldest; all of it is counted', () => {
  const { lines, log } = kept()
  const outbox = open(folder(), { most: 100, log })
  fires(outbox, 'old')
  for (let n = 0; n < 10; n++) fires(outbox, `repeat-${n}`, { reason: 'repeat' })
  for (let n = 0; n < 10; n++) {
    fires(outbox, `over-${n}`)
    ends(outbox, `over-${n}`)
  }
  for (let n = 0; n < 69; n++) fires(outbox, `new-${n}`)
  expect(outbox.figures('ops')).toMatchObject({ waiting: 100, expired: 0 })
  for (let n = 0; n < 12; n++) fires(outbox, `more-${n}`)
  const left = formed(outbox, 'k1') ?? []
  expect(left.filter((text) => text.includes('repeat'))).toEqual([])
  expect(left.filter((text) => text.startsWith('over')).length).toBeLessThan(20)
  expect(left).toContain('old firing new')
  expect(left.filter((text) => text.startsWith('more'))).toHaveLength(12)
  const { waiting, expired } = outbox.figures('ops')
  expect(waiting + expired).toBe(112)
  expect(waiting).toBeLessThanOrEqual(100)
  expect(outbox.load('k1')?.expired?.count).toBe(expired)
  expect(lines.join('\n')).toContain('dropped')
})

test('forgets what is long over, and notifiers that are not configured any more', () => {
  const directory = folder()
  const { lines, log } = kept()
  const outbox = open(directory, { log })
  for (const id of ['over', 'waits', 'fires']) fires(outbox, id)
  ends(outbox, 'over')
  formed(outbox, 'k1')
  outbox.delivered('ops', 'k1', T, undefined)
  ends(outbox, 'waits')
  fires(outbox, 'gone', { notifier: 'former' })
  outbox.maintain(T + 8 * DAY)
  expect(outbox.lastNotification('ops', 'over')).toBeUndefined()
  expect(outbox.lastNotification('ops', 'waits')).toBeDefined()
  expect(outbox.lastNotification('ops', 'fires')).toBeDefined()
  outbox.keepOnly(['ops'])
  expect(lines.join('\n')).toContain('former is not configured any more: 1 ')
  outbox.close()
  const again = open(directory)
  expect(again.notifiedFiring()).toEqual(new Set(['fires']))
  expect(again.lastNotification('ops', 'over')).toBeUndefined()
  expect(readFileSync(join(directory, 'outbox.db')).includes('http')).toBe(false)
})
