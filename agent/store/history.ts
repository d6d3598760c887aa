// The past: takes scrapes in, keeps the last minutes in memory, writes them as blocks, and answers questions about all of it.
import type { Log } from '../model/source.ts'
import { messageOf } from '../text/error.ts'
import { MARKER, RECORD } from './history/disk.ts'
import type { Disk } from './history/disk.ts'
import { createJournalWriter, encodeMarker } from './history/journal.ts'
import { createLink } from './history/link.ts'
import { quantize } from './history/quantize.ts'
import { runQuery } from './history/query.ts'
import { replayJournal } from './history/recover.ts'
import { DEFAULT_RETENTION, createTrim } from './history/retention.ts'
import type { Trim } from './history/retention.ts'
import { sealGroup, writeBlock } from './history/seal.ts'
import type { SealedBlock } from './history/seal.ts'
import { measure } from './history/stats.ts'
import type { History, HistoryOptions, HistorySettings } from './history/types.ts'
import { BLOCK_SECONDS, createWindows } from './history/window.ts'
import type { Column, Group } from './history/window.ts'

export { HistoryLockedError } from './history/open.ts'
export { NewerSchemaError } from './schema.ts'
export type { History, HistoryOptions, HistorySettings, HistoryStats } from './history/types.ts'

const FOREVER = Number.MAX_SAFE_INTEGER
/** Blocks in memory while the disk is lost: more than an hour of 1,500 series. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Work of one tick, so that none is long: a block takes about half a millisecond. */
const BLOCKS_PER_TICK = 16
const DUE_PER_TICK = 4
const CHORES_EVERY_TICKS = 5
/** Series that nothing has been heard of for this many ticks after a start have ended while the agent was down. */
const ENDED_AFTER_TICKS = 900
/** Seconds that a reading may carry: 2001 to 2100; a clock outside them is not set. */
const FIRST_SECOND = 1_000_000_000
const LAST_SECOND = 4_102_444_800

const HOUR_MS = 3_600_000

/** The history that the configuration asks for; undefined when it is off. Throws as `createHistory`. */
export function openHistory({ data_dir, history }: HistorySettings, log: Log): History | undefined {
  if (!history.enabled) return undefined
  const retention = {
    rawMs: history.raw_hours * HOUR_MS,
    minutesMs: history.minute_days * 24 * HOUR_MS,
    hoursMs: history.hour_days * 24 * HOUR_MS,
    maxBytes: history.max_size_mb * 1_000_000,
  }
  return createHistory({ directory: data_dir, retention, log })
}

/** Throws when the directory is in use by another agent or holds history of a newer version; anything else costs only what is on disk. */
export function createHistory({ directory, retention, log, now = Date.now }: HistoryOptions): History {
  const limits = { ...DEFAULT_RETENTION, ...retention }
  const link = createLink(directory, log, now())
  const journal = createJournalWriter<Column>()
  const windows = createWindows(roll)
  let waiting: SealedBlock[] = []
  let waitingBytes = 0
  let ended: { readonly column: Column; readonly second: number }[] = []
  let trim: { readonly disk: Disk; readonly run: Trim } | undefined
  let nextSeq = 1
  let keyframes: number[] = []
  /** Record that the last jump of time began; all it holds is of the time after the jump. */
  let rolledSeq = -1
  let newest = 0
  let ticks = 0
  let droppedBlocks = 0
  let droppedReadings = 0
  let loggedBroken = false

  function seal(group: Group, seconds: number, before: number, until: number): void {
    const block = sealGroup(group, seconds, before, until)
    const second = group.start < 0 ? group.newest : group.start + seconds
    for (const column of windows.drop(group, seconds)) ended.push({ column, second })
    if (block === undefined) return
    waiting.push(block)
    waitingBytes += block.bytes
    while (waitingBytes > MAX_WAITING_BYTES) {
      waitingBytes -= waiting.shift()?.bytes ?? waitingBytes
      droppedBlocks++
    }
  }
  function sealWhole(group: Group): void {
    seal(group, Math.max(1, group.newest - group.start + 1), nextSeq, FOREVER)
  }
  /** Time has jumped for this group: all it has becomes a block of its own, and what the journal has of it so far is marked off from what follows. */
  function roll(group: Group): void {
    if (!journal.isEmpty() && rolledSeq !== nextSeq) commit()
    rolledSeq = nextSeq
    sealWhole(group)
  }

  /** One transaction: the journal's record, then at most so many waiting blocks. */
  function commit(blocks = 0): void {
    if (journal.isEmpty() && (blocks === 0 || (waiting.length === 0 && ended.length === 0))) return
    const given: Column[] = []
    let written = 0
    let keyframe: number | undefined
    let done = false
    const write = (disk: Disk): void => {
      const idOf = (column: Column): number => {
        if (column.id === 0) {
          column.id = disk.seriesId(column.group.metric, column.key, column.labels)
          given.push(column)
        }
        return column.id
      }
      if (!journal.isEmpty()) {
        const seq = nextSeq++
        const record = journal.take(idOf)
        disk.addJournal(seq, RECORD, record.bytes)
        if (record.keyframe) keyframe = seq
      }
      for (const block of waiting.slice(0, blocks)) {
        const ids = block.segments.map(({ column }) => idOf(column))
        try {
          writeBlock(disk, block)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          // Our own fault, not the disk's: one block less must not stop all that come after it.
          log.error(`history: ${block.length} s of ${block.metric} could not be written and are lost: ${error.message}`)
          droppedBlocks++
        }
        disk.addJournal(nextSeq++, MARKER, encodeMarker({ ids, before: block.before, until: block.until }))
        written++
      }
      if (blocks > 0) for (const { column, second } of ended) if (column.id > 0 && !windows.lives(column.key)) disk.endSeries(column.id, second)
      if (keyframe !== undefined) {
        const needed = Math.min(windows.neededSeq(), ...waiting.slice(written).map((block) => block.firstSeq))
        const cut = keyframes.findLast((seq) => seq <= needed)
        if (cut !== undefined) disk.cutJournal(cut)
      }
    }
    try {
      done = link.attempt(write)
    } finally {
      if (!done) {
        for (const column of given) column.id = 0
        journal.restart()
      }
    }
    if (!done) return
    if (keyframe !== undefined) keyframes = [...keyframes.slice(-60), keyframe]
    for (const block of waiting.splice(0, written)) waitingBytes -= block.bytes
    if (blocks > 0) ended = []
  }

  function sealDue(): void {
    for (let i = 0; i < DUE_PER_TICK; i++) {
      const group = windows.due(newest)
      if (group === undefined) return
      // The record that holds the samples up to now comes first, see `commit`.
      seal(group, BLOCK_SECONDS, nextSeq + (journal.isEmpty() ? 0 : 1), group.start + BLOCK_SECONDS)
    }
  }

  /** The disk is back, perhaps another one: nothing that was known of it holds. */
  function resume(): void {
    for (const column of windows.columns()) column.id = 0
    for (const block of waiting) for (const { column } of block.segments) column.id = 0
    ended = []
    journal.restart()
    recall()
    for (const group of windows.groups()) if (group.start >= 0) sealWhole(group)
    commit(BLOCKS_PER_TICK)
    if (link.degraded() === undefined) log.info(`history is written to ${directory} again`)
  }
  function recall(): void {
    const disk = link.disk()
    if (disk === undefined) return
    nextSeq = Math.max(nextSeq, disk.lastSeq() + 1)
    keyframes = []
    trim = { disk, run: createTrim(disk, limits) }
  }
  function start(): void {
    const disk = link.disk()
    if (disk === undefined) return
    try {
      replayJournal(disk, windows, (seq) => (nextSeq = seq), log)
    } catch (error) {
      log.error(`history: the journal could not be read to its end: ${messageOf(error)}`)
      if (!(error instanceof RangeError)) link.fail(error)
    }
    recall()
  }
  /** Series that did not come back after a start. */
  function endMissing(disk: Disk): void {
    const live = new Set<number>()
    for (const column of windows.columns()) live.add(column.id)
    for (const id of disk.unendedSeries()) if (!live.has(id)) disk.endSeries(id, newest)
  }

  let firstSecond: number | undefined
  start()
  return {
    name: 'history',
    ingest(event) {
      if (event.type !== 'scrape') return
      const second = Math.floor(event.t / 1000)
      if (!(second >= FIRST_SECOND && second < LAST_SECOND)) {
        droppedReadings += event.readings.length
        return
      }
      if (second !== newest) {
        commit()
        newest = second
      }
      const recording = link.disk() !== undefined
      const { readings } = event
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        if (reading === undefined) continue
        const { series, value } = reading
        if (series.metric.history === false) continue
        if (!Number.isFinite(value)) {
          droppedReadings++
          continue
        }
        const kept = quantize(value)
        const column = windows.column(series)
        if (!windows.put(column, second, kept, nextSeq)) droppedReadings++
        else if (recording) journal.add(column, second, kept)
      }
      // Of a life that ends within its first second something is kept: else two crashes make one hole of two seconds.
      firstSecond ??= second
      if (second === firstSecond) commit()
    },
    maintain(at) {
      ticks++
      link.check(at)
      if (link.degraded() !== undefined && link.retry(at)) resume()
      sealDue()
      commit(BLOCKS_PER_TICK)
      if (ticks % CHORES_EVERY_TICKS === 0) link.attempt(() => trim?.run(at))
      if (ticks === ENDED_AFTER_TICKS) link.attempt(endMissing)
    },
    query(query) {
      const broken = (error: RangeError): void => {
        if (!loggedBroken) log.error(`history: a stored block cannot be read and is left out of answers: ${error.message}`)
        loggedBroken = true
      }
      try {
        return runQuery({ disk: link.reader(), waiting, windows, broken }, query)
      } catch (error) {
        link.fail(error)
        return runQuery({ disk: undefined, waiting, windows, broken }, query)
      }
    },
    stats: () => measure({ disk: link.reader(), waiting, windows, droppedBlocks, droppedReadings, degraded: link.degraded() }),
    close() {
      commit(BLOCKS_PER_TICK)
      link.close()
    },
  }
}
