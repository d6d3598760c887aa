// History and its disk: versions, broken files, a second agent, a disk that is full, read-only or gone, retention.
import { execFileSync } from 'node:child_process'
import { mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync, closeSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HistoryLockedError, NewerSchemaError, createHistory } from '../../../agent/store/history.ts'
import { encodeRaw, packBlock } from '../../../agent/store/history/block.ts'
import { HISTORY_SCHEMA } from '../../../agent/store/history/schema.ts'
import { prepareSchema } from '../../../agent/store/schema.ts'
import { START, collectLog, feed, gpu, open, points, power, temporaryDirectory } from './history-harness.ts'

const HOUR = 3_600_000

describe('versions', () => {
  test('a database of version 1 is brought up to date and answers', () => {
    const directory = temporaryDirectory()
    const file = join(directory, 'history.db')
    const db = new Sqlite(file)
    prepareSchema(db, file, HISTORY_SCHEMA, 1)
    db.exec(`INSERT INTO metrics VALUES (1, '${power.name}'); INSERT INTO series VALUES (4, 1, '${gpu(0).key}', '{"gpu":"0","uuid":"GPU-0"}')`)
    const segment = encodeRaw(Float64Array.from([5, 6, Number.NaN, 8]), 4)
    const block = packBlock([{ id: 4, bytes: segment?.bytes ?? new Uint8Array() }])
    db.prepare('INSERT INTO raw (metric_id, t0, t1, samples, data) VALUES (1, ?, ?, 3, ?)').run(START / 1000, START / 1000 + 4, block)
    db.close()
    const history = open(directory)
    feed(history, 10, 11, () => [[gpu(0), 9]])
    expect(points(history, 0, 20)).toEqual(
      new Map([
        [0, 5],
        [1, 6],
        [3, 8],
        [10, 9],
      ]),
    )
    history.close()
    const after = new Sqlite(file)
    expect(after.pragma('user_version', { simple: true })).toBe(HISTORY_SCHEMA.steps.length)
    expect(after.prepare('SELECT count(*) FROM series').pluck().get()).toBe(1)
    after.close()
  })

  test('a database of a newer version is refused with both versions, and left as it is', () => {
    const directory = temporaryDirectory()
    open(directory).close()
    const db = new Sqlite(join(directory, 'history.db'))
    db.pragma('user_version = 99')
    db.close()
    expect(() => open(directory)).toThrow(NewerSchemaError)
    expect(() => open(directory)).toThrow(new RegExp(`version 99.*up to ${HISTORY_SCHEMA.steps.length}`))
    expect(readdirSync(directory).filter((name) => name.includes('broken'))).toEqual([])
  })
})

describe('a broken file', () => {
  test.each([
    ['no database', 'this is not a database, whatever its name says'.repeat(100)],
    ['a torn header', 'SQLite format 3\0'],
  ])('%s is set aside with a loud message, and a new one begun', (_, content) => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'history.db'), content)
    const { lines, log } = collectLog()
    const history = open(directory, { log })
    expect(lines.error.join()).toMatch(/broken.*set aside as .*history\.db\.broken-2025-11-20T/)
    feed(history, 0, 5, () => [[gpu(0), 1]])
    expect(points(history, 0, 10).size).toBe(5)
    expect(readdirSync(directory).filter((name) => name.includes('.broken-')).length).toBe(1)
  })

  test('another program’s database is set aside, not written into', () => {
    const directory = temporaryDirectory()
    const other = new Sqlite(join(directory, 'history.db'))
    other.exec('CREATE TABLE theirs (a)')
    other.close()
    const { lines, log } = collectLog()
    open(directory, { log })
    expect(lines.error.join()).toContain('set aside')
  })

  test('found while it runs: the agent goes on with a new one', () => {
    const directory = temporaryDirectory()
    const first = open(directory)
    feed(first, 0, 3000, (second) => [[gpu(0), Math.round(Math.sin(second) * 1e6) / 1e3]])
    first.close()
    const file = join(directory, 'history.db')
    const handle = openSync(file, 'r+')
    const junk = Buffer.alloc(4096, 0xa5)
    // All but the first page, which holds the header and the schema's root.
    for (let at = 4096; at < statSync(file).size; at += 4096) writeSync(handle, junk, 0, junk.length, at)
    closeSync(handle)
    const { lines, log } = collectLog()
    const history = open(directory, { log })
    feed(history, 3000, 4000, () => [[gpu(0), 7]])
    expect(lines.error.join()).toContain('broken')
    expect(history.stats().degraded).toBeUndefined()
    expect(points(history, 3900, 4000).size).toBe(100)
    history.close()
    expect(points(open(directory), 3900, 4000).size).toBe(100)
  })
})

test('a second agent on the same directory is refused with the pid of the first', () => {
  const directory = temporaryDirectory()
  const first = open(directory)
  expect(() => open(directory)).toThrow(HistoryLockedError)
  expect(() => open(directory)).toThrow(`another Warpwatch (pid ${process.pid}) already writes to ${directory}`)
  feed(first, 0, 2, () => [[gpu(0), 1]])
  first.close()
  expect(points(open(directory), 0, 5).size).toBe(2)
})

describe('a disk that cannot be written', () => {
  test('history stays in memory, says so once, and is written when the disk is back', () => {
    const parent = join(temporaryDirectory(), 'parent')
    writeFileSync(parent, 'a file where a directory should be')
    const directory = join(parent, 'data')
    const { lines, log } = collectLog()
    const history = open(directory, { log })
    feed(history, 0, 700, (second) => [[gpu(0), second]])
    expect(lines.error).toEqual([expect.stringContaining(`history cannot be written to ${directory}`)])
    expect(history.stats().degraded).toContain('ENOTDIR')
    expect(points(history, 0, 700).size).toBe(700)
    rmSync(parent)
    mkdirSync(parent)
    feed(history, 700, 720, (second) => [[gpu(0), second]])
    expect(history.stats()).toMatchObject({ degraded: undefined, waitingBlocks: 0 })
    expect(lines.info.join()).toContain('again')
    history.close()
    expect(points(open(directory), 0, 720).size).toBe(720)
  })

  const mount = (...args: string[]): void => void execFileSync('mount', args, { stdio: 'ignore' })
  function canMount(): boolean {
    if (process.getuid?.() !== 0) return false
    const probe = '/tmp/warpwatch-mount-probe'
    mkdirSync(probe, { recursive: true })
    try {
      mount('-t', 'tmpfs', 'tmpfs', probe)
      execFileSync('umount', [probe])
      return true
    } catch {
      return false
    } finally {
      rmSync(probe, { recursive: true, force: true })
    }
  }
  function smallDisk(): string {
    const directory = temporaryDirectory()
    mount('-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory)
    onTestFinished(() => void execFileSync('umount', ['-l', directory]))
    return directory
  }

  describe.skipIf(!canMount())('really (needs root and mount)', () => {
    test('full: what came before and during it is there when space is back', () => {
      const directory = smallDisk()
      const { lines, log } = collectLog()
      const history = open(directory, { log })
      feed(history, 0, 400, (second) => [[gpu(0), second]])
      try {
        writeFileSync(join(directory, 'filler'), Buffer.alloc(16 * 1024 * 1024))
      } catch {
        // Filled to the last byte.
      }
      feed(history, 400, 2000, (second) => [[gpu(0), Math.sin(second)]])
      expect(history.stats().degraded).toMatch(/SQLITE_(FULL|IOERR)/)
      expect(lines.error.slice(3)).toEqual([])
      expect(points(history, 0, 2000).size, 'answered from memory, and from the disk, which can still be read').toBe(2000)
      rmSync(join(directory, 'filler'))
      feed(history, 2000, 2030, (second) => [[gpu(0), second]])
      expect(history.stats().degraded).toBeUndefined()
      history.close()
      expect(points(open(directory), 0, 2030).size).toBe(2030)
    })

    test('read-only: the same', () => {
      const directory = smallDisk()
      mount('-o', 'remount,ro', directory)
      const history = open(directory)
      feed(history, 0, 400, (second) => [[gpu(0), second]])
      expect(history.stats().degraded).toBeDefined()
      expect(points(history, 0, 400).size).toBe(400)
      mount('-o', 'remount,rw', directory)
      feed(history, 400, 420, (second) => [[gpu(0), second]])
      expect(history.stats().degraded).toBeUndefined()
      history.close()
      expect(points(open(directory), 0, 420).size).toBe(420)
    })
  })
})

describe('retention', () => {
  test('by age: old seconds go, their minutes answer instead, old minutes go, their hours do', () => {
    const directory = temporaryDirectory()
    const history = open(directory, { retention: { rawMs: HOUR, minutesMs: 3 * HOUR, hoursMs: 100 * HOUR } })
    feed(history, 0, 6 * 3600, (second) => [[gpu(0), second % 3600 === 1800 ? 999 : 100]])
    const query = (fromHour: number, wanted: number) =>
      history.query({ metric: power.name, labels: {}, from: START + fromHour * HOUR, to: START + (fromHour + 0.2) * HOUR, points: wanted })[0]
    expect(query(5.4, 1000)?.step_ms).toBe(1000)
    expect(query(3.4, 1000)?.step_ms).toBe(60_000)
    expect(query(3.4, 1000)?.max).toContain(999)
    expect(query(0.4, 1000)).toMatchObject({ step_ms: HOUR, max: [999], min: [100] })
    expect(history.stats().oldest).toBeGreaterThan(START + 4.7 * HOUR)
  })

  test('by size: the file stays below, the last hour stays whole, pages are given back', () => {
    const directory = temporaryDirectory()
    const maxBytes = 400_000
    const history = open(directory, { retention: { maxBytes } })
    const series = Array.from({ length: 10 }, (_, i) => gpu(i))
    let largest = 0
    for (let hour = 0; hour < 5; hour++) {
      feed(history, hour * 3600, (hour + 1) * 3600, (second) => series.map((one, i) => [one, ((second * 7919 * (i + 3)) % 99_991) / 1000]))
      largest = Math.max(largest, history.stats().bytes)
    }
    expect(largest).toBeGreaterThan(maxBytes / 2)
    expect(largest).toBeLessThan(maxBytes * 1.25)
    expect(history.stats().oldest).toBeLessThanOrEqual(START + 4 * HOUR)
    expect(points(history, 4 * 3600 + 10, 5 * 3600 - 1, { gpu: '3' }).size).toBe(3590)
  })

  test('a smaller limit makes the file smaller', () => {
    const directory = temporaryDirectory()
    const first = open(directory)
    feed(first, 0, 3 * 3600, (second) => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [gpu(i), ((second * 7919 * (i + 3)) % 99_991) / 1000]))
    const before = first.stats().bytes
    first.close()
    const maxBytes = before / 2
    const history = open(directory, { retention: { maxBytes } })
    feed(history, 3 * 3600, 3 * 3600 + 600, () => [[gpu(0), 1]])
    expect(history.stats().bytes).toBeLessThan(maxBytes * 1.1)
  })
})

test('what a bug throws is not mistaken for a disk error', () => {
  const history = createHistory({ directory: temporaryDirectory(), log: collectLog().log, now: () => START })
  onTestFinished(() => history.close())
  const labels = {
    get gpu(): string {
      throw new Error('a bug')
    },
  }
  expect(() => feed(history, 0, 1, () => [[{ metric: power, labels, key: 'x' }, 1]])).toThrow('a bug')
  feed(history, 1, 3, () => [[gpu(0), 1]])
  expect(points(history, 0, 5).size).toBe(2)
})
