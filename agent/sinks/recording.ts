// Writes every event to a recording: JSON Lines, appended in batches, never in the way of the pipeline.
import { closeSync, fchmodSync, fstatSync, openSync, readSync, write } from 'node:fs'
import type { Sink, TakesEvents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import { messageOf } from '../text/error.ts'
import { eventLine, metaLine } from './recording/line.ts'

export type RecordingOptions = {
  readonly path: string
  readonly host: string
  readonly log: Log
  /** Text that waits for a slow disk; what comes on top is dropped and counted. A host with 8 GPUs writes about 40 KB/s. */
  readonly maxPendingBytes?: number
}

export type RecordingSink = Sink &
  TakesEvents &
  TakesTicks & {
    /** Events on disk. */
    readonly written: () => number
  }

/** From this size on a batch is written without waiting for the tick. */
const BATCH_CHARS = 64 * 1024

/** Owner only: log lines and process names are private. Throws when the file cannot be opened; the caller says so at start. */
export function createRecordingSink(options: RecordingOptions): RecordingSink {
  const { path, log, maxPendingBytes = 16 << 20 } = options
  let fd: number
  try {
    fd = openSync(path, 'a+', 0o600)
    makePrivate(fd)
  } catch (error) {
    throw new Error(`--record: the file cannot be written: ${messageOf(error)}`, { cause: error })
  }
  let pending = endsInMidLine(fd) ? '\n' : ''
  pending += metaLine(options.host)
  let pendingEvents = 0
  let written = 0
  let dropped = 0
  let writing = false
  let failing = false
  let closing = false
  let idle: (() => void) | undefined

  const finish = (events: number, error: NodeJS.ErrnoException | null, torn: boolean): void => {
    writing = false
    if (error === null) {
      written += events
      if (failing) log.info(`recording to ${path} goes on`)
      failing = false
    } else {
      dropped += events
      if (!failing) log.error(`recording: cannot write to ${path}: ${error.message}; its events are dropped until it can be written again`)
      failing = true
      // What was half written must not swallow the next line.
      if (torn) pending = `\n${pending}`
    }
    if (error === null && pending.length >= BATCH_CHARS) flush()
    else idle?.()
  }
  const flush = (): void => {
    if (writing || pending === '') return
    const batch = Buffer.from(pending, 'utf8')
    const events = pendingEvents
    pending = ''
    pendingEvents = 0
    writing = true
    const from = (offset: number): void => {
      write(fd, batch, offset, batch.length - offset, null, (error, bytes) => {
        if (error === null && offset + bytes < batch.length) from(offset + bytes)
        else finish(events, error, offset > 0)
      })
    }
    from(0)
  }
  const settled = async (): Promise<void> =>
    new Promise((resolve) => {
      if (writing) idle = resolve
      else resolve()
    })
  return {
    name: 'recording',
    ingest(event) {
      if (closing) return
      const line = eventLine(event)
      if (pending.length + line.length > maxPendingBytes) {
        dropped += 1
        return
      }
      pending += line
      pendingEvents += 1
      if (pending.length >= BATCH_CHARS) flush()
    },
    tick: flush,
    dropped: () => dropped,
    written: () => written,
    async close() {
      if (closing) return
      closing = true
      await settled()
      flush()
      await settled()
      closeSync(fd)
    },
  }
}

/** One that was there before, empty or from an earlier version, too. Of another user's file, or a pipe, the rights are theirs to set. */
function makePrivate(fd: number): void {
  const info = fstatSync(fd)
  if (info.isFile() && info.uid === process.getuid?.() && (info.mode & 0o077) !== 0) fchmodSync(fd, 0o600)
}

/** A recording that was cut off (the agent was killed, the disk was full) ends without a newline. */
function endsInMidLine(fd: number): boolean {
  const info = fstatSync(fd)
  if (!info.isFile() || info.size === 0) return false
  const last = Buffer.alloc(1)
  return readSync(fd, last, 0, 1, info.size - 1) === 1 && last[0] !== 0x0a
}
