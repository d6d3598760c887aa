// What people said, on disk: whole after a restart, in memory while the disk is lost, and which incidents a silence covers.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Incident } from '../../../agent/model/incident.ts'
import type { BaselineEntry, SilenceScope } from '../../../agent/model/maintenance.ts'
import { createMaintenanceStore, MAX_SILENCES } from '../../../agent/store/maintenance.ts'
import { MAINTENANCE_FILE } from '../../../agent/store/maintenance/file.ts'
import { covers, silenceOf } from '../../../agent/store/maintenance/match.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

const T = INCIDENT.started_at
const { silenced: _silenced, acknowledged: _acknowledged, resolved_at: _over, ...rest } = INCIDENT
const FIRING: Incident = { ...rest, status: 'firing' }
const ACCEPTED: BaselineEntry = { kind: 'ecc_uncorrected', whose: 'GPU-1', severity: 'critical', facts: { ecc_uncorrected_volatile: 3 }, at: T }

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-maintenance-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
function open(directory: string) {
  const lines: string[] = []
  const add = (text: string): void => void lines.push(text)
  return { store: createMaintenanceStore({ directory, log: { info: add, warn: add, error: add } }), lines }
}

describe('a silence covers', () => {
  test.each<readonly [string, SilenceScope, boolean]>([
    ['the whole host', {}, true],
    ['its kind', { kind: 'cuda_oom' }, true],
    ['another kind', { kind: 'xid' }, false],
    ['its severity', { severity: 'critical' }, true],
    ['another severity', { severity: 'warning' }, false],
    ['its GPU by index', { gpu: '0' }, true],
    ['its GPU by UUID', { gpu: INCIDENT.subject.gpu?.uuid ?? '' }, true],
    ['another GPU', { gpu: '1' }, false],
    ['the beginning of an index', { gpu: '00' }, false],
    ['its container', { container: 'trainer' }, true],
    ['its container by id', { container: '0123456789ab' }, true],
    ['its container by whole id', { container: '0123456789ab'.padEnd(64, '0') }, true],
    ['the beginning of its name', { container: 'train' }, false],
    ['too little of an id', { container: '0123' }, false],
    ['all parts must fit', { kind: 'cuda_oom', container: 'other' }, false],
  ])('%s', (_, scope, expected) => expect(covers(scope, FIRING)).toBe(expected))

  test('no GPU that only a program numbered', () => {
    expect(covers({ gpu: '0' }, { ...FIRING, subject: { gpu: { index: 0 } } })).toBe(false)
    expect(covers({ gpu: '0' }, { ...FIRING, subject: { host: { name: 'h' } } })).toBe(false)
  })

  test('for as long as it lasts, the longest first, and nothing that was over before it', () => {
    const silence = (id: string, created: number, until: number) => ({ id, created_at: T + created, until: T + until, reason: 'r' })
    const all = [silence('a', 0, 100), silence('b', 10, 300), silence('c', 20, 200)]
    expect([50, 150, 299, 300].map((at) => silenceOf(FIRING, all, T + at)?.id)).toEqual(['b', 'b', 'b', undefined])
    const over = (at: number): Incident => ({ ...FIRING, status: 'resolved', resolved_at: T + at })
    expect([5, 15, -1].map((at) => silenceOf(over(at), all, T + 50)?.id)).toEqual(['a', 'b', undefined])
  })
})

describe('on disk', () => {
  test('all is there after a restart', () => {
    const directory = place()
    const { store } = open(directory)
    const made = store.silence({ gpu: '0', until: T + 1_000, reason: 'r', by: 'kim' }, T)
    const gone = store.silence({ gpu: '1', until: T + 9_000, reason: 'r' }, T)
    store.remove(gone?.id ?? '')
    store.acknowledge(FIRING.id, { at: T, by: 'kim' })
    store.keepBaseline([ACCEPTED])
    // Not closed: as after kill -9.
    const { store: again } = open(directory)
    expect(again.silences(T)).toEqual([made])
    expect(again.decorate(FIRING, T)).toEqual({ ...FIRING, silenced: { until: T + 1_000, id: made?.id }, acknowledged: { at: T, by: 'kim' } })
    expect(again.baseline()).toEqual([ACCEPTED])
    expect(again.maintain(T + 999)).toEqual([])
    expect(again.maintain(T + 1_000)).toEqual([made])
    expect(again.decorate({ ...FIRING, id: 'f'.repeat(16) }, T)).toEqual({ ...FIRING, id: 'f'.repeat(16) })
    store.close()
    again.close()
    const { store: third } = open(directory)
    expect(third.silences(T)).toEqual([])
    third.close()
  })

  test('goes on in memory without one, and writes when it is back', () => {
    const directory = join(place(), 'data')
    writeFileSync(directory, 'in the way')
    const { store, lines } = open(directory)
    const made = store.silence({ gpu: '0', until: T + 9_000_000, reason: 'r' }, T)
    expect(store.silences(T)).toEqual([made])
    expect(lines.filter((text) => text.includes('in memory only'))).toHaveLength(1)
    rmSync(directory)
    mkdirSync(directory)
    store.maintain(T + 60_000)
    expect(lines.at(-1)).toContain('again')
    store.close()
    const { store: again } = open(directory)
    expect(again.silences(T)).toEqual([made])
    again.close()
  })

  test('what could not be read at the start is still there once it can be', () => {
    const directory = place()
    const { store: before } = open(directory)
    const first = before.silence({ gpu: '0', until: T + 9_000_000, reason: 'first' }, T)
    before.close()
    const version = (number: number): void => {
      const db = new Sqlite(join(directory, MAINTENANCE_FILE))
      db.pragma(`user_version = ${number}`)
      db.close()
    }
    // Written by a newer Warpwatch.
    version(99)
    const { store } = open(directory)
    const second = store.silence({ gpu: '1', until: T + 9_000_000, reason: 'second' }, T + 1)
    expect(store.silences(T)).toEqual([second])
    version(1)
    store.maintain(T + 60_000)
    expect(store.silences(T)).toEqual([second, first])
    store.close()
    const { store: again } = open(directory)
    expect(again.silences(T)).toEqual([second, first])
    again.close()
  })

  test('a list that is no JSON is a broken file', () => {
    const directory = place()
    open(directory).store.close()
    const db = new Sqlite(join(directory, MAINTENANCE_FILE))
    db.exec("INSERT INTO lists VALUES ('silences', '[{')")
    db.close()
    const { store, lines } = open(directory)
    expect(store.silences(T)).toEqual([])
    expect(lines).toEqual([expect.stringMatching(/is broken \(silences: .*set aside/)])
    store.close()
  })

  test('a broken file is set aside', () => {
    const directory = place()
    writeFileSync(join(directory, MAINTENANCE_FILE), 'this is no database, and long enough to be looked at '.repeat(100))
    const { store, lines } = open(directory)
    const made = store.silence({ gpu: '0', until: T + 1_000, reason: 'r' }, T)
    store.close()
    expect(readdirSync(directory).filter((file) => file.startsWith(`${MAINTENANCE_FILE}.broken-`))).toHaveLength(1)
    expect(lines.join('\n')).toContain('set aside')
    const { store: again } = open(directory)
    expect(again.silences(T)).toEqual([made])
    again.close()
  })

  test('stays bounded', () => {
    const { store } = open(join(place(), 'in\0valid'))
    for (let n = 0; n < MAX_SILENCES; n++) store.silence({ gpu: String(n), until: T + 1_000, reason: 'r' }, T)
    expect(store.silence({ gpu: '0', until: T + 1_000, reason: 'r' }, T)).toBeUndefined()
    for (let n = 0; n < 3_000; n++) store.acknowledge(n.toString(16).padStart(16, '0'), { at: T })
    expect(store.decorate({ ...FIRING, id: '0'.padStart(16, '0') }, T).acknowledged).toBeUndefined()
    expect(store.decorate({ ...FIRING, id: (2_999).toString(16).padStart(16, '0') }, T).acknowledged).toEqual({ at: T })
    store.close()
  })
})
