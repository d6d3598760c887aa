// The input of `explain --jsonl`: one independent log per line.
import { z } from 'zod'
import { messageOf } from '../text/error.ts'
import { UsageError } from './command.ts'

const INPUT = z.object({ id: z.union([z.string(), z.number()]), text: z.string() })
export type ExplainInput = z.infer<typeof INPUT>

export function inputLine(line: string, number: number): ExplainInput {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new UsageError(`explain: line ${number}: expected {"id","text"} as JSON, came: ${messageOf(error)}`, { cause: error })
  }
  const parsed = INPUT.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UsageError(`explain: line ${number}: expected {"id","text"}, came ${JSON.stringify(value).slice(0, 80)}`, { cause: parsed.error })
}

/** Lines of a stream of bytes, decoded as UTF-8. */
export function* linesOf(chunks: Iterable<Uint8Array>): Generator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
