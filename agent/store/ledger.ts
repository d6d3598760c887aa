// Keeps the ledger of use: what was counted is on disk together with where the counting stands, so that a crash neither loses nor doubles it.
import type { JobGroup } from '../model/job.ts'
import type { CardCheckpoint, UseRow } from '../model/ledger.ts'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import { ledgerIn, type LedgerFile, type UseSum } from './ledger/file.ts'
import { LEDGER_FILE, LEDGER_SCHEMA } from './ledger/schema.ts'
import type { LedgerTail } from './ledger/tail.ts'

export type LedgerStore = {
  /** False: it could not be written, and is still the caller's. */
  readonly write: (rows: readonly UseRow[], checkpoints: readonly CardCheckpoint[]) => boolean
  /** What would be lost if the agent was killed before the next write. */
  readonly keepTail: (tail: LedgerTail) => boolean
  /** Of an agent that was killed. */
  readonly tail: () => LedgerTail | undefined
  readonly recover: () => void
  readonly sums: (by: JobGroup, since: number, until: number) => readonly UseSum[]
  readonly held: LedgerFile['held']
  readonly checkpoints: () => readonly CardCheckpoint[]
  /** Before sums are written: tries a lost file again, sums up what is old. */
  readonly maintain: (now: number) => void
  readonly close: () => void
}

const COMPACT_EVERY_MS = 3_600_000

export function createLedgerStore({ directory, log }: { readonly directory: string; readonly log: Log }): LedgerStore {
  let compactedAt = Number.NEGATIVE_INFINITY
  const durable = openDurable({
    directory,
    file: LEDGER_FILE,
    log,
    what: 'sums of who used what',
    schema: LEDGER_SCHEMA,
    cacheKib: 256,
    prepare: ledgerIn,
    onOpen(file, { previous }) {
      if (previous !== undefined) log.info(`jobs: ${file.takeOver(previous)} sums of use were taken over into the new file`)
    },
  })
  return {
    write: (rows, checkpoints) => durable.use((file) => file.write(rows, checkpoints)),
    keepTail: (tail) => durable.use((file) => file.keepTail(tail)),
    tail: () => durable.read((file) => file.tail(), undefined),
    recover: () => void durable.use((file) => file.recover()),
    sums: (by, since, until) => durable.read((file) => file.sums(by, since, until), []),
    held: (since, until, by) => durable.read((file) => file.held(since, until, by), []),
    checkpoints: () => durable.read((file) => file.checkpoints(), []),
    maintain(now) {
      durable.maintain(now)
      if (Math.abs(now - compactedAt) < COMPACT_EVERY_MS) return
      if (durable.use((file) => file.compact(now))) compactedAt = now
    },
    close: durable.close,
  }
}
