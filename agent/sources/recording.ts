// Reads a recording back as the events that the pipeline takes.
import { createReadStream } from 'node:fs'
import type { Event } from '../model/event.ts'
import { createLineSplitter } from '../text/line-splitter.ts'
import { createLineParser } from './recording/parse.ts'
import { createSeriesCache, type MetricNamed } from './recording/series-cache.ts'

export type ReadOptions = {
  readonly metricNamed: MetricNamed
  /** Longer lines are passed over and counted; a scrape of 1,000 processes has 300,000 characters. */
  readonly maxLineChars?: number
}

export type RecordingCounts = {
  readonly lines: number
  /** Not JSON, or not what its type says. */
  readonly malformed: number
  readonly tooLong: number
  /** Readings and gaps left out of scrapes that were read. */
  readonly malformedEntries: number
  /** Lines of types that this version does not know, by type. */
  readonly unknown: ReadonlyMap<string, number>
}

export type Recording = AsyncIterable<Event> & {
  /** Complete when the events have been read to the end. */
  readonly counts: () => RecordingCounts
  /** Of the newest meta line read so far. */
  readonly host: () => string | undefined
}

/** A recording of a format that this version cannot read. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}

const MAX_UNKNOWN_TYPES = 100

/** `input` is a path or a stream of its text. */
export function readRecording(input: string | AsyncIterable<string>, options: ReadOptions): Recording {
  const parser = createLineParser(createSeriesCache(options.metricNamed))
  const unknown = new Map<string, number>()
  let [lines, malformed, tooLong] = [0, 0, 0]
  let host: string | undefined

  /** The event of a line; undefined where it holds none. */
  const take = (line: string): Event | undefined => {
    if (line === '' || line === '\r') return undefined
    lines += 1
    const parsed = parser.parse(line)
    if (parsed === undefined) malformed += 1
    else if (typeof parsed === 'string') {
      const type = unknown.has(parsed) || unknown.size < MAX_UNKNOWN_TYPES ? parsed : '(further types)'
      unknown.set(type, (unknown.get(type) ?? 0) + 1)
    } else if (parsed.type !== 'meta') return parsed
    else if (parsed.version !== 1)
      throw new RecordingError(`the recording is of version ${parsed.version}, and this Warpwatch reads version 1. Replay it with the Warpwatch that made it`)
    else host = parsed.host
    return undefined
  }
  async function* events(): AsyncGenerator<Event> {
    const chunks = typeof input === 'string' ? createReadStream(input, { encoding: 'utf8', highWaterMark: 1 << 20 }) : input
    const splitter = createLineSplitter({ maxChars: options.maxLineChars ?? 16 << 20, overlong: 'drop', onOverlong: () => void ((lines += 1), (tooLong += 1)) })
    async function* batches(): AsyncGenerator<readonly string[]> {
      for await (const chunk of chunks) yield splitter.push(chunk)
      yield splitter.end()
    }
    for await (const batch of batches()) {
      for (const line of batch) {
        const event = take(line)
        if (event !== undefined) yield event
      }
    }
  }
  return {
    [Symbol.asyncIterator]: events,
    counts: () => ({ lines, malformed, tooLong, malformedEntries: parser.malformedEntries(), unknown }),
    host: () => host,
  }
}
