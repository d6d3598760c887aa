// Cursors on disk: there after a restart, few writes, and a disk that cannot be written costs no more than a warning.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { poll } from '../../setup/poll.ts'

describe('cursors', () => {
  let directory = ''
  const said: string[] = []
  const log = { info: (text: string) => void said.push(text), warn: (text: string) => void said.push(text), error: (text: string) => void said.push(text) }
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'warpwatch-cursors-'))
    said.length = 0
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))
  const onDisk = (key: string): unknown => {
    const db = new Sqlite(join(directory, 'cursors.db'), { readonly: true })
    try {
      return db.prepare('SELECT value FROM cursors WHERE key = ?').pluck().get(key)
    } finally {
      db.close()
    }
  }

  test('are there after a restart; what was deleted is not', () => {
    const first = createCursorStore({ directory, log })
    first.set('a', '1')
    first.set('a', '2')
    first.set('b', '3')
    first.delete('b')
    first.close()
    const second = createCursorStore({ directory, log })
    expect([second.get('a'), second.get('b'), second.keys('')]).toEqual(['2', undefined, ['a']])
    second.close()
  })

  test('the first change is written at once, the following ones together, a second later', async () => {
    const store = createCursorStore({ directory, log })
    store.set('a', '1')
    expect(onDisk('a')).toBe('1')
    for (let at = 2; at <= 1_000; at++) store.set('a', String(at))
    expect(onDisk('a')).toBe('1')
    await poll(() => onDisk('a') === '1000', { what: 'the second write', deadlineMs: 3_000 })
    store.close()
  })

  test('are forgotten after a month', () => {
    const first = createCursorStore({ directory, log, now: () => Date.now() - 31 * 24 * 3_600_000 })
    first.set('old', '1')
    first.close()
    const second = createCursorStore({ directory, log })
    expect(second.get('old')).toBeUndefined()
    second.close()
  })

  test('without a place on disk they are kept in memory, with one warning', () => {
    writeFileSync(join(directory, 'file'), '')
    const store = createCursorStore({ directory: join(directory, 'file', 'data'), log })
    store.set('a', '1')
    expect(store.get('a')).toBe('1')
    expect(said).toEqual([expect.stringContaining('judged twice or missed')])
    store.close()
  })

  test('a broken file is set aside and a new one begun', () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'cursors.db'), 'no database at all'.repeat(500))
    const store = createCursorStore({ directory, log })
    store.set('a', '1')
    store.close()
    expect(said).toEqual([expect.stringContaining('set aside')])
    expect(onDisk('a')).toBe('1')
    expect(statSync(join(directory, 'cursors.db')).size).toBeGreaterThan(0)
  })
})
