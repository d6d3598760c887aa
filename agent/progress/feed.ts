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
      const lines = (rest + text).split('\n')
      const open = lines.pop() ?? ''
      for (const line of lines) if (line !== '') reader.push(line)
      // Bars that are drawn over one another end no line.
      const end = open.lastIndexOf('\r')
      if (end > 0) reader.push(open.slice(0, end))
      rest = open.slice(end + 1).slice(-2 * MAX_SEGMENT)
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
