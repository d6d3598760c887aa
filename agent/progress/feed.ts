// From pieces of a log as they are read to what the reader takes: lines, and bars that only carriage returns part. Bounded whatever the log holds.
import type { ProgressReader } from './reader.ts'
import { MAX_SEGMENT } from './segments.ts'

export type Feed = {
  readonly push: (text: string) => void
  readonly end: () => void
  /** What comes next does not follow: the line that was begun is torn. */
  readonly drop: () => void
}

export function createFeed(reader: Pick<ProgressReader, 'push'>): Feed {
  let rest = ''
  return {
    push(text) {
      const parts = (rest + text).split(/[\r\n]+/)
      rest = (parts.pop() ?? '').slice(-2 * MAX_SEGMENT)
      for (const part of parts) if (part !== '') reader.push(part)
    },
    end() {
      if (rest !== '') reader.push(rest)
      rest = ''
    },
    drop() {
      rest = ''
    },
  }
}
