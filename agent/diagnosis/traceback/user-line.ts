// The user's own line of code in the newest traceback of some lines that ended with a certain error.
import { readLine } from './line.ts'
import { createTracebackReader } from './reader.ts'
import { telling } from './traceback.ts'
import { frameName, userFrame } from './user-frame.ts'

/** `finetune.py:131`; `error` is asked of the exception's name and message. */
export function userLine(lines: readonly string[], error: RegExp): string | undefined {
  const reader = createTracebackReader()
  lines.forEach((line, index) => reader.add(readLine(line, index + 1)))
  const found = reader.tracebacks().findLast(({ blocks }) => {
    const raised = telling(blocks)?.raised
    return raised !== undefined && error.test(`${raised.name}: ${raised.message}`)
  })
  const frame = found === undefined ? undefined : userFrame(found.blocks, telling(found.blocks))
  return frame === undefined ? undefined : frameName(frame)
}
