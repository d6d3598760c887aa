// One log file: its tail, its format, its flow of events and its cursor.
import type { ContainerDirectory } from '../../attribution/directory.ts'
import type { LogLine, LogOrigin } from '../../model/event.ts'
import type { CursorStore } from '../../store/cursors.ts'
import type { LineBatch } from '../logs/batch.ts'
import { createLogFlow, type LineFacts } from '../logs/flow.ts'
import type { LogCounters } from '../logs/metrics.ts'
import type { Prefilter } from '../logs/prefilter.ts'
import type { ProgressBook } from '../logs/progress-book.ts'
import { containerOfPath } from './container-path.ts'
import { createAssembler, parseCriLine, parseJsonLine, sniff, type Format } from './format.ts'
import { createTail } from './tail.ts'

export type FileLogOptions = {
  readonly path: string
  /** Lines are of a container: their origin is told by the path. */
  readonly ofContainer: boolean
  readonly from: 'begin' | 'end'
  readonly directory: ContainerDirectory
  readonly cursors: CursorStore
  readonly interesting: Prefilter
  readonly progress?: ProgressBook
  readonly emit: (line: LogLine) => void
  readonly counters: LogCounters
}
export type FileLog = { readonly place: () => void; readonly read: () => boolean; readonly close: () => void }

export const fileKey = (path: string): string => `file:${path}`

export function createFileLog(options: FileLogOptions): FileLog {
  const { path, ofContainer, directory, cursors, counters } = options
  const key = fileKey(path)
  const id = ofContainer ? containerOfPath(path) : undefined
  const origin = (): LogOrigin => (id === undefined ? { path } : { container: directory.resolve(id).name, container_id: id.slice(0, 12), path })
  const progress = options.progress?.tap(origin)
  const flow = createLogFlow({
    stream: ofContainer ? 'container' : 'file',
    origin,
    interesting: options.interesting,
    emit: options.emit,
    counters,
    ...(progress === undefined ? {} : { progress }),
  })
  let format: Format | undefined
  let offsetOfBatch = 0
  let stamp = ''
  const plain: LineFacts = { timeOf: () => Date.now(), cursorOf: (batch, at) => String(offsetOfBatch + (batch.starts[at] ?? 0)) }
  const stamped: LineFacts = {
    timeOf: () => {
      const ms = Date.parse(stamp)
      return Number.isFinite(ms) ? ms : Date.now()
    },
    cursorOf: () => stamp,
  }
  const assembler = createAssembler(
    (batch, at) => {
      stamp = at
      flow.take(batch, stamped)
      const ms = Date.parse(at)
      if (Number.isFinite(ms)) counters.behind(Math.max(0, Date.now() - ms))
    },
    () => counters.skip('cut'),
  )
  const onBatch = (batch: LineBatch, offset: number): void => {
    const first = batch.bytes.toString('utf8', batch.starts[0] ?? 0, Math.min(batch.ends[0] ?? 0, (batch.starts[0] ?? 0) + 512))
    // Only containers' files: a program may print JSON with a field `log` into a file of its own.
    format ??= ofContainer ? sniff(first) : 'plain'
    offsetOfBatch = offset
    if (format === 'plain') return flow.take(batch, plain)
    const parse = format === 'json' ? parseJsonLine : parseCriLine
    for (let at = 0; at < batch.count; at++) {
      const printed = parse(batch.bytes.toString('utf8', batch.starts[at] ?? 0, batch.ends[at] ?? 0))
      if (printed === undefined) counters.skip('malformed')
      else assembler.lines(printed)
    }
  }
  const tail = createTail({
    path,
    cursor: cursors.get(key),
    from: options.from,
    counters,
    onBatch,
    onTurned: () => (format = undefined),
    onOpenLine: (bytes) => progress?.open(bytes),
  })
  const commit = (): void => {
    const cursor = tail.cursor()
    if (cursor !== undefined) cursors.set(key, cursor)
  }
  return {
    place() {
      tail.place()
      // A kill before the first line comes must not make what is written meanwhile history.
      commit()
    },
    read() {
      const before = tail.cursor()
      const more = tail.read()
      if (tail.cursor() !== before) flow.settle(commit)
      return more
    },
    close() {
      flow.end()
      commit()
      tail.close()
    },
  }
}
