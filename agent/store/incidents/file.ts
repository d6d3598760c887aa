// The incidents' database: one row each, what lists need as text, the evidence compressed beside it.
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import { openReadOnly } from '../open-database.ts'
import type { Schema } from '../schema.ts'
import { summaryOf, type Incident, type IncidentFilter, type IncidentSummary } from '../../model/incident.ts'
import { takeRows } from '../take-over.ts'

export const INCIDENTS_FILE = 'incidents.db'
export const INCIDENTS_SCHEMA: Schema = {
  what: 'incidents',
  // WwIn
  applicationId: 0x57_77_49_6e,
  steps: [
    `
CREATE TABLE incidents (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  summary TEXT NOT NULL,
  evidence BLOB NOT NULL
) STRICT;
CREATE INDEX incidents_by_start ON incidents (started_at);
CREATE INDEX incidents_by_status ON incidents (status, started_at);
`,
  ],
}

type Row = { readonly summary: string; readonly evidence: Uint8Array }
type WholeRow = Row & { readonly id: string; readonly kind: string; readonly status: string; readonly started_at: number; readonly last_seen_at: number }
/** Evidence of the longest log lines and 64 series is about a megabyte as text. */
const MAX_EVIDENCE_BYTES = 64 << 20

export type IncidentFile = {
  readonly put: (incidents: readonly Incident[]) => void
  readonly list: (filter: IncidentFilter) => readonly IncidentSummary[]
  readonly get: (id: string) => Incident | undefined
  readonly unresolved: () => readonly Incident[]
  readonly rows: () => IterableIterator<WholeRow>
  /** Adds what another file holds, but for incidents that are here, as far as it can be read; returns how many. */
  readonly takeOver: (from: IncidentFile) => number
  /** Deletes the oldest resolved ones beyond either bound. */
  readonly trim: (maxCount: number, maxBytes: number) => void
}

// Only we write this file; what a broken disk makes of it fails in JSON.parse.
const summaryIn = (text: string): IncidentSummary => JSON.parse(text)
/** What lists do not need: the evidence, and beside it the earlier occurrences, absent in rows of older agents. */
type Stored = Incident['evidence'] & Pick<Incident, 'occurrences'>
const storedIn = (text: string): Stored => JSON.parse(text)
const whole = ({ summary, evidence: blob }: Row): Incident => {
  const { occurrences, ...evidence } = storedIn(inflateRawSync(blob, { maxOutputLength: MAX_EVIDENCE_BYTES }).toString('utf8'))
  return { ...summaryIn(summary), ...(occurrences === undefined ? {} : { occurrences }), evidence }
}

/** For readers, beside the agent or without one. Throws when it cannot be read. */
export function openIncidentFile(directory: string): IncidentFile & { readonly close: () => void } {
  const db = openReadOnly(join(directory, INCIDENTS_FILE))
  try {
    return { ...incidentsIn(db), close: () => void db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

export function incidentsIn(db: Database): IncidentFile {
  const upsert = db.prepare<[string, string, string, number, number, string, Uint8Array]>(
    'INSERT INTO incidents (id, kind, status, started_at, last_seen_at, summary, evidence) VALUES (?, ?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, status = excluded.status, last_seen_at = excluded.last_seen_at, summary = excluded.summary, evidence = excluded.evidence',
  )
  const list = db.prepare<{ status: string | null; kind: string | null; since: number | null; limit: number }, { summary: string }>(
    'SELECT summary FROM incidents WHERE (:status IS NULL OR status = :status) AND (:kind IS NULL OR kind = :kind) AND (:since IS NULL OR last_seen_at >= :since) ' +
      'ORDER BY started_at DESC, id LIMIT :limit',
  )
  const get = db.prepare<[string], Row>('SELECT summary, evidence FROM incidents WHERE id = ?')
  const unresolved = db.prepare<[], Row>("SELECT summary, evidence FROM incidents WHERE status = 'firing' ORDER BY started_at LIMIT 500")
  const rows = db.prepare<[], WholeRow>('SELECT id, kind, status, started_at, last_seen_at, summary, evidence FROM incidents ORDER BY started_at DESC')
  const add = db.prepare<[WholeRow]>(
    'INSERT INTO incidents VALUES (:id, :kind, :status, :started_at, :last_seen_at, :summary, :evidence) ON CONFLICT (id) DO NOTHING',
  )
  const size = db.prepare<[], { count: number; bytes: number }>(
    'SELECT count(*) AS count, coalesce(sum(length(summary) + length(evidence)), 0) AS bytes FROM incidents',
  )
  const dropOldest = db.prepare<[number]>("DELETE FROM incidents WHERE id IN (SELECT id FROM incidents ORDER BY status = 'firing', started_at LIMIT ?)")
  return {
    put(incidents) {
      db.transaction(() => {
        for (const incident of incidents) {
          const { id, kind, status, started_at: startedAt, last_seen_at: lastSeenAt } = incident
          const stored: Stored = { ...incident.evidence, ...(incident.occurrences !== undefined && { occurrences: incident.occurrences }) }
          const evidence = deflateRawSync(JSON.stringify(stored), { level: 1 })
          upsert.run(id, kind, status, startedAt, lastSeenAt, JSON.stringify(summaryOf(incident)), evidence)
        }
      }).immediate()
    },
    list: ({ status = null, kind = null, since = null, limit }) => list.all({ status, kind, since, limit }).map(({ summary }) => summaryIn(summary)),
    get(id) {
      const row = get.get(id)
      return row === undefined ? undefined : whole(row)
    },
    unresolved: () => unresolved.all().map(whole),
    rows: () => rows.iterate(),
    takeOver: (from) => takeRows(db, from.rows(), (row) => add.run(row).changes),
    trim(maxCount, maxBytes) {
      for (let round = 0; round < 100; round++) {
        const now = size.get()
        if (now === undefined) return
        const over = Math.max(now.count - maxCount, now.bytes > maxBytes ? Math.ceil(now.count / 20) : 0)
        if (over <= 0) break
        dropOldest.run(over)
      }
      db.pragma('incremental_vacuum(64)')
    },
  }
}
