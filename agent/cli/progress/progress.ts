// `warpwatch progress [FILE]`: how far the job of a log is, how fast, and when it will be done.
import type { ProgressReader } from '../../progress/reader.ts'
import type { Command, Io } from '../command.ts'
import { answerOf, progressText } from './answer.ts'

const COMMAND = 'progress'

async function readerOf(chunks: Iterable<Uint8Array>): Promise<ProgressReader> {
  const [{ createProgressReader }, { createFeed }, { createSkim }, { unwrappedChunks }, { asUtf8 }] = await Promise.all([
    import('../../progress/reader.ts'),
    import('../../progress/feed.ts'),
    import('../../progress/skim.ts'),
    import('../../diagnosis/unwrap/chunks.ts'),
    import('../../diagnosis/unwrap/utf16.ts'),
  ])
  const reader = createProgressReader()
  const feed = createFeed(reader)
  const skim = createSkim(feed.push, feed.drop)
  // The reader knows the ranks before lines itself, and what counts steps there.
  for (const chunk of unwrappedChunks(asUtf8(chunks), true)) skim.push(chunk)
  skim.end()
  feed.end()
  return reader
}

async function eachLine(file: string | undefined, io: Io): Promise<number> {
  const [{ chunksOf }, { inputLine, linesOf }] = await Promise.all([import('../explain/explain.ts'), import('../explain/input.ts')])
  let number = 0
  for (const line of linesOf(chunksOf(file, COMMAND), COMMAND)) {
    number += 1
    if (line.trim() === '') continue
    const { id, text } = inputLine(line, number, COMMAND)
    const reader = await readerOf([Buffer.from(text)])
    io.out(`${JSON.stringify({ id, ...answerOf(reader.progress(), reader.phase()) })}\n`)
  }
  return 0
}

export const progress: Command = {
  name: COMMAND,
  summary: 'reads progress, speed and time left from a log (FILE or stdin)',
  positionals: [],
  optionalPositionals: ['FILE'],
  flags: {
    json: { kind: 'switch', help: 'print {"unit","step","total","rate","loss","epoch","eta_seconds","nan","slowdown","phase"}' },
    jsonl: { kind: 'switch', help: 'each line in is {"id","text"}, each line out is the object of --json with the id' },
  },
  async run(args, io) {
    const file = args.positionals[0]
    if (args.flags.has('jsonl')) return eachLine(file, io)
    const { chunksOf } = await import('../explain/explain.ts')
    const reader = await readerOf(chunksOf(file, COMMAND))
    const found = reader.progress()
    io.out(args.flags.has('json') ? `${JSON.stringify(answerOf(found, reader.phase()))}\n` : progressText(found, reader.phase()))
    return found?.lost === true || found?.slowdown !== undefined ? 1 : 0
  },
}
