// Where each log was read to, so that a restart judges no line twice and loses none. A small database of its own in data_dir.
import type { Database } from 'better-sqlite3'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import type { Schema } from './schema.ts'

export type CursorStore = {
  readonly get: (key: string) => string | undefined
  /** Kept at once, on disk within a second: at once when the last write is longer ago. */
  readonly set: (key: string, value: string) => void
  readonly delete: (key: string) => void
  readonly keys: (prefix: string) => readonly string[]
  readonly flush: () => void
  /** Once a second: writes again what could not be written. */
  readonly maintain: (now: number) => void
  readonly close: () => void
}

const WRITE_EVERY_MS = 1_000
/** A log that was not read for this long is gone. */
const KEPT_MS = 30 * 24 * 3_600_000
const MAX_CURSORS = 20_000
const SCHEMA: Schema = {
  what: 'positions in logs',
  // WwCu
  applicationId: 0x57_77_43_75,
  knownBy: 'cursors',
  steps: ['CREATE TABLE IF NOT EXISTS cursors (key TEXT PRIMARY KEY, value TEXT NOT NULL, t INTEGER NOT NULL) WITHOUT ROWID'],
}

type Row = { readonly key: string; readonly value: string }
type Changes = ReadonlyMap<string, string | undefined>

function cursorsIn(db: Database) {
  const trim = db.prepare<[number]>('DELETE FROM cursors WHERE t < ?')
  const all = db.prepare<[], Row>(`SELECT key, value FROM cursors ORDER BY t LIMIT ${MAX_CURSORS}`)
  const put = db.prepare('INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, t = excluded.t')
  const remove = db.prepare('DELETE FROM cursors WHERE key = ?')
  const write = db.transaction((changes: Changes, t: number) => {
    for (const [key, value] of changes) {
      if (value === undefined) remove.run(key)
      else put.run(key, value, t)
    }
  })
  return {
    /** Those that were written since then, the newest last. */
    since(t: number): readonly Row[] {
      trim.run(t)
      return all.all()
    },
    write: (changes: Changes, t: number): void => write.immediate(changes, t),
  }
}

/** Never throws: without a disk the cursors are in memory, and the log says what that costs. */
export function createCursorStore(options: { readonly directory: string; readonly log: Log; readonly now?: () => number }): CursorStore {
  const { directory, log, now = Date.now } = options
  const values = new Map<string, string>()
  /** What is not on disk. */
  const dirty = new Map<string, string | undefined>()
  let isLoaded = false
  let lastWrite = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const durable = openDurable({
    directory,
    file: 'cursors.db',
    log,
    what: 'positions in logs',
    cost: 'after a restart, lines of logs may be judged twice or missed',
    now,
    schema: SCHEMA,
    cacheKib: 128,
    prepare: cursorsIn,
    onOpen(file) {
      // Where the file is another one, nothing of what is known is in it.
      if (isLoaded) for (const [key, value] of values) if (!dirty.has(key)) dirty.set(key, value)
      for (const { key, value } of file.since(now() - KEPT_MS)) if (!values.has(key) && !dirty.has(key)) values.set(key, value)
      isLoaded = true
      file.write(dirty, now())
      dirty.clear()
    },
  })
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    lastWrite = performance.now()
    durable.maintain(now())
    if (dirty.size > 0 && durable.use((file) => file.write(dirty, now()))) dirty.clear()
  }
  const changed = (key: string, value: string | undefined): void => {
    dirty.set(key, value)
    if (timer !== undefined) return
    const dueMs = lastWrite + WRITE_EVERY_MS - performance.now()
    if (dueMs <= 0) write()
    else timer = setTimeout(write, dueMs).unref()
  }

  return {
    get: (key) => values.get(key),
    set(key, value) {
      if (values.get(key) === value) return
      values.delete(key)
      values.set(key, value)
      const oldest = values.size > MAX_CURSORS ? values.keys().next().value : undefined
      if (oldest !== undefined) {
        values.delete(oldest)
        dirty.set(oldest, undefined)
      }
      changed(key, value)
    },
    delete(key) {
      if (values.delete(key)) changed(key, undefined)
    },
    keys: (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
    flush: write,
    maintain: durable.maintain,
    close() {
      write()
      durable.close()
    },
  }
}
