// The input of `explain --jsonl` and `progress --jsonl`: one independent log per line.
import { z } from 'zod'
import { messageOf } from '../../text/error.ts'
import { createLineSplitter } from '../../text/line-splitter.ts'
import { UsageError } from '../command.ts'

const INPUT = z.object({ id: z.union([z.string(), z.number()]), text: z.string() })
export type ExplainInput = z.infer<typeof INPUT>

export function inputLine(line: string, number: number, command = 'explain'): ExplainInput {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new UsageError(`${command}: line ${number}: must be {"id","text"} as JSON: ${messageOf(error)}`, { cause: error })
  }
  const parsed = INPUT.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UsageError(`${command}: line ${number}: must be {"id","text"}, not ${JSON.stringify(value).slice(0, 80)}`, { cause: parsed.error })
}

/** The longest log that one line may hold; V8's strings end at twice that. */
const MAX_LINE_CHARS = 2 ** 28

/** Lines of a stream of bytes, decoded as UTF-8. */
export function* linesOf(chunks: Iterable<Uint8Array>, command = 'explain'): Generator<string> {
  const decoder = new TextDecoder()
  const onOverlong = (): never => {
    throw new UsageError(`${command}: a line of the input is longer than 256 Mi characters. Give that log as a file of its own: warpwatch ${command} FILE`)
  }
  const splitter = createLineSplitter({ maxChars: MAX_LINE_CHARS, overlong: 'drop', onOverlong })
  for (const chunk of chunks) yield* splitter.push(decoder.decode(chunk, { stream: true }))
  yield* splitter.push(decoder.decode())
  yield* splitter.end()
}
