// A SQLite file over the life of the agent: private, migrated, lost and tried again, still read while it cannot be written, handed over when it was moved.
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openDurable, type DurableOptions } from '../../../agent/store/durable.ts'
import { prepareSchema, type Schema } from '../../../agent/store/schema.ts'
import { kept } from '../../setup/alert-scene.ts'
import { temporaryDirectory } from './history-harness.ts'

const SCHEMA: Schema = { what: 'words', applicationId: 0x57_77_74_65, knownBy: 'words', steps: ['CREATE TABLE IF NOT EXISTS words (word TEXT)'] }
const T = 1_763_596_800_000

const wordsIn = (db: Database) => {
  const put = db.prepare('INSERT INTO words VALUES (?)')
  const all = db.prepare<[], string>('SELECT word FROM words ORDER BY rowid').pluck()
  return {
    put: (word: string): void => void put.run(word),
    all: (): readonly string[] => all.all(),
    refuseWrites: (): void => void db.pragma('query_only = ON'),
  }
}
type Words = ReturnType<typeof wordsIn>

/** A store of words: what cannot be written waits, and a new file takes over what the previous one still gives. */
function open(directory = join(temporaryDirectory(), 'data'), options: Partial<DurableOptions<Words>> = {}) {
  const { lines, log } = kept()
  const calls: string[] = []
  let waiting: string[] = []
  const durable = openDurable<Words>({
    directory,
    file: 'words.db',
    log,
    what: 'words',
    now: () => T,
    schema: SCHEMA,
    cacheKib: 64,
    prepare: wordsIn,
    onOpen(on, { previous }) {
      for (const word of [...(previous?.all() ?? []), ...waiting]) on.put(word)
      waiting = []
      calls.push(previous === undefined ? 'open' : 'open after previous')
    },
    onLost: (on) => void calls.push(on === undefined ? 'lost' : 'lost, open'),
    ...options,
  })
  onTestFinished(durable.close)
  const put = (word: string): void => {
    if (!durable.use((on) => on.put(word))) waiting.push(word)
  }
  return { directory, file: join(directory, 'words.db'), durable, put, all: () => durable.read((on) => on.all(), []), lines, calls }
}
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)
/** Another program writes into the file, so that we cannot. */
function lock(file: string): () => void {
  const db = new Sqlite(file)
  db.exec('BEGIN IMMEDIATE')
  onTestFinished(() => void db.close())
  return () => void db.close()
}

test('directory 0700, files 0600, whatever the umask is; also a file that was there before', () => {
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  const first = open()
  first.put('a')
  expect([dirname(first.file), first.file, `${first.file}-wal`, `${first.file}-shm`].map(modeOf)).toEqual(['700', '600', '600', '600'])
  first.durable.close()
  chmodSync(first.file, 0o644)
  const again = open(first.directory)
  again.put('b')
  expect([first.file, `${first.file}-wal`].map(modeOf)).toEqual(['600', '600'])
})

test('a lost file is told of once, still read, tried each ten seconds, and gets what waited', () => {
  const { durable, put, all, lines, calls, file } = open()
  put('a')
  const unlock = lock(file)
  put('b')
  put('c')
  expect([durable.degraded(), all(), calls]).toEqual([expect.stringContaining('SQLITE_BUSY'), ['a'], ['open', 'lost, open']])
  durable.maintain(T)
  expect(durable.degraded()).toBeDefined()
  unlock()
  durable.maintain(T + 9_999)
  expect(durable.degraded()).toBeDefined()
  durable.maintain(T + 10_000)
  expect([durable.degraded(), all()]).toEqual([undefined, ['a', 'b', 'c']])
  expect(lines).toEqual([
    expect.stringMatching(/words\.db cannot be written, words are kept in memory only \(SQLITE_BUSY: .*\): free space .* tried again every 10 s$/),
    expect.stringMatching(/words\.db can be written again$/),
  ])
})

test('a clock that is set back does not put the next try off', () => {
  const { durable, put, all, file } = open()
  const unlock = lock(file)
  put('a')
  durable.maintain(T)
  unlock()
  durable.maintain(T - 5_000)
  expect([durable.degraded(), all()]).toEqual([undefined, ['a']])
})

test('a connection that stays read-only is replaced by a new one', () => {
  const { durable, put, all } = open()
  put('a')
  durable.use((on) => on.refuseWrites())
  put('b')
  expect([durable.degraded(), all()]).toEqual([expect.stringContaining('SQLITE_READONLY'), ['a']])
  durable.maintain(T)
  expect([durable.degraded(), all()]).toEqual([undefined, ['a', 'b']])
})

test('a lost file is tried once more when the agent ends', () => {
  const { durable, put, directory, file } = open()
  const unlock = lock(file)
  put('a')
  durable.maintain(T)
  unlock()
  durable.close()
  expect(open(directory).all()).toEqual(['a'])
})

test('removed while nothing can be made in its place: still read, and handed over when there is a place', () => {
  const { durable, put, all, directory, calls, lines } = open()
  put('a')
  rmSync(directory, { recursive: true })
  writeFileSync(directory, 'in the way')
  durable.maintain(T)
  put('b')
  expect([durable.degraded(), all()]).toEqual([expect.stringContaining('EEXIST'), ['a']])
  rmSync(directory)
  durable.maintain(T + 10_000)
  expect([durable.degraded(), all(), calls]).toEqual([undefined, ['a', 'b'], ['open', 'lost, open', 'open after previous']])
  expect(lines[0]).toContain('was removed while it was in use: started over with the words that are known')
})

test('replaced while it is lost: what waits goes into the file that stands there now', () => {
  const { durable, put, all, file } = open()
  put('a')
  const other = open()
  other.put('other')
  other.durable.close()
  const unlock = lock(file)
  put('b')
  durable.maintain(T)
  unlock()
  renameSync(other.file, file)
  durable.maintain(T + 1)
  expect([durable.degraded(), all()]).toEqual([undefined, ['other', 'a', 'b']])
})

test('each broken file is set aside under a name of its own', () => {
  const directory = temporaryDirectory()
  const texts = ['first ', 'second '].map((text) => text.repeat(500))
  for (const text of texts) {
    writeFileSync(join(directory, 'words.db'), text)
    const { durable, put, all, lines } = open(directory)
    put('a')
    expect([durable.degraded(), all(), lines]).toEqual([undefined, ['a'], [expect.stringMatching(/is broken .* set aside as .* a new one begins$/)]])
    durable.close()
  }
  const aside = readdirSync(directory).filter((name) => name.startsWith('words.db.broken-'))
  expect(aside.map((name) => readFileSync(join(directory, name), 'utf8')).toSorted()).toEqual(texts)
})

test('what the store finds wrong with a file that can be opened is a failure of the file', () => {
  const directory = temporaryDirectory()
  let fails = true
  const { durable, lines } = open(directory, {
    onOpen() {
      if (fails) throw new Error('no room')
    },
  })
  expect([durable.degraded(), durable.use(() => {})]).toEqual(['no room', false])
  fails = false
  durable.maintain(T)
  expect([durable.degraded(), durable.use(() => {})]).toEqual([undefined, true])
  expect(lines).toHaveLength(2)
})

test('steps run once each, in order; one that fails changes nothing', () => {
  const db = new Sqlite(':memory:')
  const version = () => db.pragma('user_version', { simple: true })
  prepareSchema(db, 'x', SCHEMA)
  db.exec("INSERT INTO words VALUES ('a')")
  const more = [...SCHEMA.steps, 'ALTER TABLE words ADD COLUMN n INTEGER DEFAULT 7', 'CREATE TABLE extra (a); CREATE TABLE words (a)']
  expect(() => prepareSchema(db, 'x', { ...SCHEMA, steps: more })).toThrow('already exists')
  expect([version(), db.prepare('SELECT * FROM words').get()]).toEqual([2, { word: 'a', n: 7 }])
  expect(db.prepare("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").pluck().get()).toBe(0)
  expect(() => prepareSchema(db, 'x', SCHEMA)).toThrow('x has words of schema version 2, this Warpwatch knows versions up to 1')
})

test.each([
  ['an application id of another program', 'PRAGMA application_id = 7; CREATE TABLE words (word)'],
  ['no application id, and another table', 'CREATE TABLE theirs (a)'],
])('a file with %s is set aside, not written into', (_, sql) => {
  const directory = join(temporaryDirectory(), 'data')
  mkdirSync(directory)
  const db = new Sqlite(join(directory, 'words.db'))
  db.exec(sql)
  db.close()
  const { durable, file } = open(directory)
  expect(durable.degraded()).toBeUndefined()
  expect(readdirSync(directory).filter((name) => name.startsWith('words.db.broken-'))).toHaveLength(1)
  expect(existsSync(file)).toBe(true)
})
