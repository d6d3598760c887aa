// A database that is broken is set aside beside earlier ones; one that is removed, replaced or emptied while it is open is started over with what is known.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { setAside, watchFile } from '../../../agent/store/database-file.ts'
import { createIncidentStore } from '../../../agent/store/incidents.ts'
import { createMaintenanceStore } from '../../../agent/store/maintenance.ts'
import { createOutbox } from '../../../agent/store/outbox.ts'
import { asOutgoing, incident, kept } from '../../setup/alert-scene.ts'
import { INCIDENT } from '../http/incident-fixture.ts'
import { collectLog, feed, gpu, open, points, temporaryDirectory } from './history-harness.ts'

const T = 1_763_596_800_000
const idOf = (n: number): string => n.toString(16).padStart(16, '0')

test('a broken file never takes the place of an earlier one, and its log goes with it', () => {
  const file = join(temporaryDirectory(), 'history.db')
  const names = ['first', 'second', 'third'].map((text) => {
    writeFileSync(file, text)
    writeFileSync(`${file}-wal`, `log of the ${text}`)
    return setAside(file, T)
  })
  expect(new Set(names).size).toBe(3)
  expect(names.map((name) => readFileSync(name, 'utf8'))).toEqual(['first', 'second', 'third'])
  expect(names.map((name) => readFileSync(`${name}-wal`, 'utf8'))).toEqual(['log of the first', 'log of the second', 'log of the third'])
  expect(existsSync(`${file}-wal`)).toBe(false)
})

test('a file that is as it was is nothing to tell of; its log is removed only where it is still ours', () => {
  const file = join(temporaryDirectory(), 'a.db')
  writeFileSync(file, 'x')
  writeFileSync(`${file}-wal`, 'ours')
  const watch = watchFile(file)
  watch.check()
  writeFileSync(file, 'xy')
  watch.check()
  writeFileSync(`${file}.new`, 'another')
  renameSync(`${file}.new`, file)
  expect(() => watch.check()).toThrow('was replaced while it was in use')
  watch.clean()
  expect(existsSync(`${file}-wal`)).toBe(false)
  writeFileSync(`${file}-wal`, 'theirs')
  watch.clean()
  expect(existsSync(`${file}-wal`)).toBe(true)
  truncateSync(file)
  expect(() => watchFile(file).check()).not.toThrow()
  rmSync(file)
  expect(() => watch.check()).toThrow('was removed while it was in use')
})

/** What may be done to a file that is open. */
const ABUSES = {
  'its folder is removed': (directory: string) => rmSync(directory, { recursive: true }),
  'it is replaced by text': (directory: string, file: string) => {
    writeFileSync(join(directory, 'new'), 'this is no database '.repeat(1_000))
    renameSync(join(directory, 'new'), join(directory, file))
  },
  'it is replaced by the database of another program': (directory: string, file: string) => {
    const db = new Sqlite(join(directory, 'new'))
    db.exec('CREATE TABLE theirs (a)')
    db.close()
    renameSync(join(directory, 'new'), join(directory, file))
  },
  'it is emptied': (directory: string, file: string) => truncateSync(join(directory, file)),
}
describe.each(Object.entries(ABUSES))('while the agent runs, %s', (_, abuse) => {
  test('incidents: those of before and after are there', () => {
    const directory = join(temporaryDirectory(), 'data')
    const { lines, log } = kept()
    const store = createIncidentStore({ directory, log })
    for (let n = 0; n < 50; n++) store.save({ ...INCIDENT, id: idOf(n) })
    store.maintain(T)
    abuse(directory, 'incidents.db')
    store.maintain(T + 1_000)
    expect(lines.join('\n')).toContain('while it was in use')
    expect(store.degraded()).toBeUndefined()
    store.save({ ...INCIDENT, id: idOf(50) })
    store.close()
    const again = createIncidentStore({ directory, log })
    expect(again.list({ limit: 1_000 })).toHaveLength(51)
    expect(again.get(idOf(7))).toEqual({ ...INCIDENT, id: idOf(7) })
    again.close()
  })

  test('silences and acknowledgements: the same', () => {
    const directory = join(temporaryDirectory(), 'data')
    const store = createMaintenanceStore({ directory, log: kept().log })
    const silences = [store.silence({ gpu: '0', until: T + 9_000_000, reason: 'r' }, T)]
    store.maintain(T)
    abuse(directory, 'maintenance.db')
    store.maintain(T + 1_000)
    store.maintain(T + 20_000)
    silences.push(store.silence({ gpu: '1', until: T + 9_000_000, reason: 'r' }, T + 2_000))
    store.close()
    const again = createMaintenanceStore({ directory, log: kept().log })
    expect(again.silences(T + 3_000)).toEqual(silences.toReversed())
    again.close()
  })

  test('notifications: what waits is on disk again at once', () => {
    const directory = join(temporaryDirectory(), 'data')
    const outbox = createOutbox({ directory, log: kept().log, now: () => T })
    const plan = { notifier: 'ops', group: 'g', event: 'firing', reason: 'new', dueAt: T } as const
    outbox.put(asOutgoing(incident('a')), [plan], T)
    outbox.maintain(T)
    abuse(directory, 'outbox.db')
    outbox.maintain(T + 1_000)
    expect(outbox.degraded()).toBeUndefined()
    outbox.close()
    const again = createOutbox({ directory, log: kept().log, now: () => T })
    expect(again.awaited('a')).toBe(true)
    again.close()
  })

  test('cursors: the same', () => {
    const directory = join(temporaryDirectory(), 'data')
    const store = createCursorStore({ directory, log: kept().log })
    store.set('a', '1')
    store.flush()
    abuse(directory, 'cursors.db')
    store.set('b', '2')
    store.flush()
    store.close()
    const again = createCursorStore({ directory, log: kept().log })
    expect([again.get('a'), again.get('b')]).toEqual(['1', '2'])
    again.close()
  })

  test('history: the last minutes are in the new one', () => {
    const directory = join(temporaryDirectory(), 'data')
    const { lines, log } = collectLog()
    const history = open(directory, { log })
    feed(history, 0, 200, (second) => [[gpu(0), second]])
    abuse(directory, 'history.db')
    feed(history, 200, 220, (second) => [[gpu(0), second]])
    expect(lines.error.join('\n')).toContain('while it was in use')
    expect(history.stats().degraded).toBeUndefined()
    history.close()
    expect(points(open(directory), 0, 220).size).toBe(220)
  })
})

test('the history of a backup that is put back while the agent runs goes on with the last minutes', () => {
  const [directory, backup] = [temporaryDirectory(), temporaryDirectory()]
  const first = open(directory)
  feed(first, 0, 1_000, () => [[gpu(0), 1]])
  first.close()
  cpSync(directory, backup, { recursive: true })
  const history = open(directory)
  feed(history, 2_000, 2_100, () => [[gpu(0), 2]])
  renameSync(join(backup, 'history.db'), join(directory, 'history.db'))
  feed(history, 2_100, 2_110, () => [[gpu(0), 2]])
  history.close()
  const db = new Sqlite(join(directory, 'history.db'), { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  db.close()
  const again = open(directory)
  expect(points(again, 0, 600).size).toBe(601)
  expect(points(again, 2_000, 2_110).size).toBe(110)
})

test('a lock file that is no database is set aside', () => {
  const directory = join(temporaryDirectory(), 'data')
  mkdirSync(directory)
  writeFileSync(join(directory, 'lock.db'), 'no database '.repeat(1_000))
  const { lines, log } = collectLog()
  const history = open(directory, { log })
  expect(history.stats().degraded).toBeUndefined()
  expect(lines.error.join('\n')).toContain('set aside')
  expect(readdirSync(directory).filter((name) => name.startsWith('lock.db.broken-'))).toHaveLength(1)
})
