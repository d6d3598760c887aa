// A store written by the released version still opens, with all that it holds. The folder `released` has each database as version 0.1.0 wrote it, as SQL.
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { createIncidentStore } from '../../../agent/store/incidents.ts'
import { createMaintenanceStore } from '../../../agent/store/maintenance.ts'
import { createOutbox } from '../../../agent/store/outbox.ts'
import { kept } from '../../setup/alert-scene.ts'
import { INCIDENT } from '../http/incident-fixture.ts'
import { open, points, temporaryDirectory } from './history-harness.ts'

/** When the files were written. */
const T = Date.UTC(2026, 10, 1)
const [A, B, C] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)]

/** A data directory with one database of the released version, readable for everybody as an operator may have left it. */
function released(name: string) {
  const directory = temporaryDirectory()
  const file = join(directory, name)
  const db = new Sqlite(file)
  db.exec(readFileSync(join(import.meta.dirname, 'released', name.replace('.db', '.sql')), 'utf8'))
  const version = Number(db.pragma('user_version', { simple: true }))
  db.close()
  chmodSync(file, 0o644)
  const { lines, log } = kept()
  const leftAsItWas = (): void => {
    expect(lines).toEqual([])
    expect(readdirSync(directory).filter((found) => found.includes('broken'))).toEqual([])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const now = new Sqlite(file, { readonly: true })
    // What has no version yet gets one; what has one keeps it.
    expect(now.pragma('user_version', { simple: true })).toBe(Math.max(1, version))
    expect(now.pragma('application_id', { simple: true })).not.toBe(0)
    now.close()
  }
  return { directory, log, leftAsItWas }
}
/** Twice: as the released version left it, then as this one did. */
const ROUNDS = [1, 2]

test('incidents', () => {
  const { directory, log, leftAsItWas } = released('incidents.db')
  for (const round of ROUNDS) {
    const store = createIncidentStore({ directory, log })
    expect(store.unresolved().map(({ id, title }) => [id, title])).toEqual([[A, 'GPU 0: Xid 79']])
    expect(store.get(B)).toMatchObject({ status: 'resolved', evidence: { logs: [], series: [], facts: [] } })
    expect(store.list({ limit: 10 })).toHaveLength(1 + round)
    store.save({ ...INCIDENT, id: C })
    store.close()
  }
  leftAsItWas()
})

test('silences, acknowledgements and what was declared healthy', () => {
  const { directory, log, leftAsItWas } = released('maintenance.db')
  for (const round of ROUNDS) {
    const store = createMaintenanceStore({ directory, log })
    expect(store.silences(T).map(({ reason }) => reason)).toEqual(['maintenance window', 'more'].slice(0, round))
    expect(store.decorate({ ...INCIDENT, id: A }, T).acknowledged).toEqual({ at: T, by: 'kim' })
    expect(store.baseline()).toEqual([{ kind: 'ecc_uncorrected', whose: 'GPU-1', severity: 'critical', facts: { ecc_uncorrected_volatile: 3 }, at: T }])
    store.silence({ gpu: '1', until: T + 1e12, reason: 'more' }, T - 1)
    store.close()
  }
  leftAsItWas()
})

test('cursors', () => {
  const { directory, log, leftAsItWas } = released('cursors.db')
  for (const round of ROUNDS) {
    const store = createCursorStore({ directory, log, now: () => T + 1_000 })
    expect(store.get('kernel')).toBe('{"boot":"b","seq":7}')
    expect(store.keys('')).toEqual(['kernel', 'more'].slice(0, round))
    store.set('more', '1')
    store.close()
  }
  leftAsItWas()
})

test('notifications: what waits, and what each notifier was told', () => {
  const { directory, log, leftAsItWas } = released('outbox.db')
  for (const round of ROUNDS) {
    const outbox = createOutbox({ directory, log, now: () => T })
    expect(outbox.figures('ops')).toMatchObject({ delivered: round, waiting: 2 - round })
    expect(outbox.lastNotification('ops', A)).toEqual({ event: 'firing', severity: 'critical', at: T })
    expect(outbox.form({ notifier: 'ops', key: `k${round + 1}`, now: T, most: 10, anyGroup: true })).toBe(round === 1)
    expect(outbox.load('k2')?.items.map(({ incident }) => incident.id)).toEqual(round === 1 ? [C] : undefined)
    outbox.delivered('ops', 'k2', T, undefined)
    outbox.close()
  }
  leftAsItWas()
})

test('history: a block and the journal', () => {
  const { directory, log, leftAsItWas } = released('history.db')
  const expected = new Map([...Array(10).keys(), 3600, 3601, 3602, 3603, 3604].map((second) => [second, 100 + (second % 10)]))
  for (const _ of ROUNDS) {
    const history = open(directory, { log })
    expect(new Map([...points(history, 0, 20), ...points(history, 3_590, 3_620)])).toEqual(expected)
    history.close()
  }
  leftAsItWas()
})
