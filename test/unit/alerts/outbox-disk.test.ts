// The outbox without its disk: in memory with all that it had, back on disk when it can be used again, and never twice.
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { createOutbox, type Outbox } from '../../../agent/store/outbox.ts'
import { asOutgoing, folder, incident, kept, resolved, T } from '../../setup/alert-scene.ts'

const fires = (outbox: Outbox, id: string): void =>
  outbox.put(asOutgoing(incident(id)), [{ notifier: 'ops', group: 'g', event: 'firing', reason: 'new', dueAt: T }], T)
const ends = (outbox: Outbox, id: string): void =>
  outbox.put(asOutgoing(resolved(id, T)), [{ notifier: 'ops', group: 'g', event: 'resolved', reason: 'resolved', dueAt: T }], T)
const form = (outbox: Outbox, key: string): boolean => outbox.form({ notifier: 'ops', key, now: T, most: 100, anyGroup: true })
const ids = (outbox: Outbox, key: string): readonly string[] | undefined => outbox.load(key)?.items.map(({ incident: { id } }) => id)

/** Someone else writes into the database, so that we cannot. */
function locked(directory: string): () => void {
  const db = new Sqlite(join(directory, 'outbox.db'))
  db.exec('BEGIN IMMEDIATE')
  onTestFinished(() => void db.close())
  return () => void db.close()
}

test('a disk that cannot be written: goes on in memory with all that waits, and nothing of it twice when the disk is back', () => {
  const directory = folder()
  const { lines, log } = kept()
  const outbox = createOutbox({ directory, log, now: () => T })
  for (const id of ['a', 'b']) fires(outbox, id)
  form(outbox, 'k1')
  fires(outbox, 'c')
  const unlock = locked(directory)
  outbox.delivered('ops', 'k1', T, 'thread')
  expect(outbox.degraded()).toContain('SQLITE_BUSY')
  ends(outbox, 'a')
  outbox.maintain(T + 20_000)
  expect(outbox.degraded()).toBeDefined()
  expect(lines.filter((text) => text.includes('in memory only'))).toHaveLength(1)
  expect(form(outbox, 'k2')).toBe(true)
  expect(ids(outbox, 'k2')).toEqual(['c', 'a'])
  unlock()
  outbox.maintain(T + 40_000)
  expect(outbox.degraded()).toBeUndefined()
  expect(lines.at(-1)).toContain('again')
  outbox.close()
  const again = createOutbox({ directory, log, now: () => T })
  expect(again.open('ops')).toEqual(['k2'])
  expect(ids(again, 'k2')).toEqual(['c', 'a'])
  expect(again.load('k2')?.threads).toEqual(new Map([['a', 'thread']]))
  expect(again.lastNotification('ops', 'a')).toEqual({ event: 'resolved', severity: 'critical', at: T })
  again.delivered('ops', 'k2', T, undefined)
  expect(form(again, 'k3')).toBe(false)
  expect(again.figures('ops')).toMatchObject({ delivered: 2, waiting: 0 })
})

test('a file that cannot be used at the start: what comes is kept, and put to what stands there; nothing is told twice', () => {
  const directory = folder()
  const log = kept().log
  const before = createOutbox({ directory, log, now: () => T })
  for (const id of ['a', 'b']) fires(before, id)
  before.close()
  const version = (number: number): void => {
    const db = new Sqlite(join(directory, 'outbox.db'))
    db.pragma(`user_version = ${number}`)
    db.close()
  }
  // Written by a newer Warpwatch: neither it nor what is there can be used.
  version(99)
  const outbox = createOutbox({ directory, log, now: () => T })
  expect(outbox.degraded()).toBeDefined()
  expect(outbox.lastNotification('ops', 'a')).toBeUndefined()
  fires(outbox, 'a')
  form(outbox, 'k1')
  outbox.delivered('ops', 'k1', T, undefined)
  fires(outbox, 'c')
  version(1)
  outbox.maintain(T + 20_000)
  expect(outbox.degraded()).toBeUndefined()
  expect(form(outbox, 'k2')).toBe(true)
  expect(ids(outbox, 'k2')).toEqual(['b', 'c'])
  outbox.close()
})

test('a broken file is set aside, a new one begins at once, and nobody is told again what they know', () => {
  const directory = folder()
  writeFileSync(join(directory, 'outbox.db'), 'x'.repeat(10_000))
  const { lines, log } = kept()
  const outbox = createOutbox({ directory, log, now: () => T })
  expect(outbox.degraded()).toBeUndefined()
  expect(readdirSync(directory).filter((file) => file.startsWith('outbox.db.broken-'))).toHaveLength(1)
  expect(lines.join('\n')).toContain('set aside')
  fires(outbox, 'a')
  outbox.close()
  const again = createOutbox({ directory, log, now: () => T })
  expect(again.lastNotification('ops', 'a')).toBeDefined()
})

test('a folder that cannot be made: works in memory, within bounds, and writes when it can', () => {
  const directory = folder()
  const blocked = join(directory, 'data')
  writeFileSync(blocked, 'not a directory')
  const { lines, log } = kept()
  const outbox = createOutbox({ directory: blocked, log, now: () => T })
  for (let n = 0; n < 3_000; n++) fires(outbox, `i${n}`)
  const { waiting, expired } = outbox.figures('ops')
  expect(waiting).toBeLessThanOrEqual(2_000)
  expect(waiting + expired).toBe(3_000)
  rmSync(blocked)
  outbox.maintain(T + 20_000)
  expect(lines.at(-1)).toContain('again')
  outbox.close()
  expect(readdirSync(blocked)).toContain('outbox.db')
  const again = createOutbox({ directory: blocked, log, now: () => T })
  expect(again.figures('ops')).toMatchObject({ waiting, expired })
})

test('a folder that is removed while it is in use: what waited stands in the new file, what was told stays told', () => {
  const directory = join(folder(), 'data')
  const { lines, log } = kept()
  const outbox = createOutbox({ directory, log, now: () => T })
  fires(outbox, 'a')
  form(outbox, 'k1')
  outbox.delivered('ops', 'k1', T, 'thread')
  fires(outbox, 'b')
  outbox.maintain(T + 1_000)
  rmSync(directory, { recursive: true })
  outbox.maintain(T + 2_000)
  expect(outbox.degraded()).toBeUndefined()
  expect(lines.join('\n')).toContain('was removed while it was in use')
  outbox.close()
  const again = createOutbox({ directory, log, now: () => T })
  expect(again.lastNotification('ops', 'a')).toBeDefined()
  expect(form(again, 'k2')).toBe(true)
  expect(ids(again, 'k2')).toEqual(['b'])
  again.close()
})

test('a file that is replaced by that of another time, while its log still lies there: both are told, none is taken for the other', () => {
  const [directory, other] = [folder(), folder()]
  const { log } = kept()
  const older = createOutbox({ directory: other, log, now: () => T })
  fires(older, 'old')
  older.close()
  const outbox = createOutbox({ directory, log, now: () => T })
  fires(outbox, 'new')
  outbox.maintain(T + 1_000)
  renameSync(join(other, 'outbox.db'), join(directory, 'outbox.db'))
  outbox.maintain(T + 2_000)
  expect(outbox.degraded()).toBeUndefined()
  outbox.close()
  const db = new Sqlite(join(directory, 'outbox.db'), { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.prepare('SELECT incident FROM items ORDER BY incident').pluck().all()).toEqual(['new', 'old'])
  db.close()
})

test('another program’s database is set aside, not written into', () => {
  const directory = folder()
  const db = new Sqlite(join(directory, 'outbox.db'))
  db.exec('CREATE TABLE theirs (a)')
  db.close()
  const outbox = createOutbox({ directory, log: kept().log, now: () => T })
  expect(outbox.degraded()).toBeUndefined()
  outbox.close()
  const [aside = ''] = readdirSync(directory).filter((file) => file.startsWith('outbox.db.broken-'))
  const found = new Sqlite(join(directory, aside), { readonly: true })
  expect(found.prepare('SELECT name FROM sqlite_master').pluck().all()).toEqual(['theirs'])
  found.close()
})
