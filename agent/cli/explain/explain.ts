// `warpwatch explain [FILE]`: what went wrong in a pasted log, why, and what to change.
import { closeSync, openSync, readSync } from 'node:fs'
import { redactDeep } from '../../lib/redact.ts'
import type { Fault } from '../../model/fault.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Command, type Io } from '../command.ts'

/** A piece that is read, copied and searched while it lies in the processor's cache: four times this costs a fifth more, a quarter of it the same. */
const CHUNK_BYTES = 2 ** 20

/** The bytes of a file, or of stdin, piece by piece; each piece holds until the next is asked for. */
export function* chunksOf(file: string | undefined, command = 'explain'): Generator<Uint8Array> {
  let descriptor: number
  try {
    descriptor = file === undefined || file === '-' ? 0 : openSync(file, 'r')
  } catch (error) {
    throw new UsageError(`${command}: the log cannot be read: ${messageOf(error)}`, { cause: error })
  }
  try {
    const buffer = new Uint8Array(CHUNK_BYTES)
    for (;;) {
      const length = readSome(descriptor, buffer, file, command)
      if (length === 0) return
      yield buffer.subarray(0, length)
    }
  } finally {
    if (descriptor !== 0) closeSync(descriptor)
  }
}

function readSome(descriptor: number, buffer: Uint8Array, file: string | undefined, command: string): number {
  for (;;) {
    try {
      return readSync(descriptor, buffer, 0, buffer.length, null)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      // A pipe that another program set to non-blocking, and the end of a console on Windows.
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      else if (code === 'EOF') return 0
      else throw new UsageError(`${command}: the log cannot be read: ${messageOf(error)} (${file ?? 'stdin'})`, { cause: error })
    }
  }
}

async function explainLines(file: string | undefined, io: Io): Promise<number> {
  const [{ explainText }, { logScanner }, { inputLine, linesOf }] = await Promise.all([
    import('../../diagnosis/explain.ts'),
    import('../../diagnosis/log-scanner.ts'),
    import('./input.ts'),
  ])
  let found = false
  let number = 0
  for (const line of linesOf(chunksOf(file))) {
    number += 1
    if (line.trim() === '') continue
    const { id, text } = inputLine(line, number)
    const faults = redactDeep(explainText(logScanner(), text))
    found ||= faults.length > 0
    io.out(`${JSON.stringify({ id, faults })}\n`)
  }
  return found ? 1 : 0
}

async function explainWhole(file: string | undefined): Promise<readonly Fault[]> {
  const [{ explainStream }, { logScanner }] = await Promise.all([import('../../diagnosis/explain.ts'), import('../../diagnosis/log-scanner.ts')])
  return explainStream(logScanner(), chunksOf(file))
}

export const explain: Command = {
  name: 'explain',
  summary: 'reads a pasted log (FILE or stdin): what went wrong, why, and what to change',
  positionals: [],
  optionalPositionals: ['FILE'],
  flags: {
    json: { kind: 'switch', help: 'print {"faults":[…]}, the root first' },
    jsonl: { kind: 'switch', help: 'each line in is {"id","text"}, each line out {"id","faults":[…]}' },
  },
  async run(args, io) {
    const file = args.positionals[0]
    if (args.flags.has('jsonl')) return explainLines(file, io)
    // People paste the answer into tickets.
    const faults = redactDeep(await explainWhole(file))
    if (args.flags.has('json')) io.out(`${JSON.stringify({ faults })}\n`)
    else {
      const [{ answerText }, { isColoured }] = await Promise.all([import('./answer.ts'), import('../paint.ts')])
      io.out(answerText(faults, isColoured(io.env)))
    }
    return faults.length > 0 ? 1 : 0
  },
}
