// `warpwatch explain [FILE]`: what went wrong in a pasted log, why, and what to change.
import { closeSync, openSync, readSync } from 'node:fs'
import { redactDeep } from '../../lib/redact.ts'
import type { Answer, Evidence } from '../../hang/model.ts'
import type { Fault } from '../../model/fault.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Command, type Io } from '../command.ts'

/** A piece that is read, copied and searched while it is in the processor's cache: four times this costs a fifth more, a quarter of it the same. */
const CHUNK_BYTES = 2 ** 20
const REPORT_BYTES = 256 * 2 ** 10

/** How compressed files begin, and what prints them. */
const PACKED: readonly { readonly magic: readonly number[]; readonly by: string }[] = [
  { magic: [0x1f, 0x8b], by: 'zcat' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], by: 'zstdcat' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], by: 'xzcat' },
]

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
    for (let isFirst = true; ; isFirst = false) {
      const length = readSome(descriptor, buffer, file, command)
      if (length === 0) return
      const unpack = isFirst ? PACKED.find(({ magic }) => magic.every((byte, at) => buffer[at] === byte)) : undefined
      if (unpack !== undefined)
        throw new UsageError(
          `${command}: the log is compressed. Give its text: ${unpack.by} ${file === undefined || file === '-' ? '<FILE>' : file} | warpwatch ${command}`,
        )
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

/** Keeps the beginning of a log that is read: a report of NCCL's RAS is known by it, and is whole in it. */
function* keepingHead(chunks: Iterable<Uint8Array>, head: Buffer[]): Generator<Uint8Array> {
  let left = REPORT_BYTES
  for (const chunk of chunks) {
    if (left > 0) head.push(Buffer.from(chunk.subarray(0, left)))
    left -= chunk.length
    yield chunk
  }
}

/** What a pasted report of `ncclras` says of the job; undefined for any other text. */
async function ofReport(head: Buffer): Promise<{ readonly evidence: Evidence; readonly answer: Answer } | undefined> {
  if (!head.includes('\nJob summary')) return undefined
  const [{ createEvidence }, { isReport, readReport }, { judge }] = await Promise.all([
    import('../../hang/model.ts'),
    import('../../hang/evidence/ras-report.ts'),
    import('../../hang/judge/judge.ts'),
  ])
  const text = head.toString('utf8')
  if (!isReport(text)) return undefined
  const evidence = createEvidence()
  readReport(text, evidence)
  return evidence.ranks.size === 0 ? undefined : { evidence, answer: judge(evidence) }
}

async function explainWhole(chunks: Iterable<Uint8Array>): Promise<readonly Fault[]> {
  const [{ explainStream }, { logScanner }] = await Promise.all([import('../../diagnosis/explain.ts'), import('../../diagnosis/log-scanner.ts')])
  return explainStream(logScanner(), chunks)
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
    const head: Buffer[] = []
    const faults = redactDeep(await explainWhole(keepingHead(chunksOf(file), head)))
    const report = faults.length > 0 ? undefined : await ofReport(Buffer.concat(head))
    if (report !== undefined) {
      const [{ answerJson, answerText }, { isColoured }] = await Promise.all([import('../hang/answer.ts'), import('../paint.ts')])
      if (args.flags.has('json')) io.out(`${JSON.stringify({ faults, hang: answerJson(report.evidence, report.answer) })}\n`)
      else io.out(answerText(report.evidence, report.answer, isColoured(io.env)))
      return report.answer.verdict === 'hang' ? 1 : 0
    }
    if (args.flags.has('json')) io.out(`${JSON.stringify({ faults })}\n`)
    else {
      const [{ answerText }, { isColoured }] = await Promise.all([import('./answer.ts'), import('../paint.ts')])
      io.out(answerText(faults, isColoured(io.env)))
    }
    return faults.length > 0 ? 1 : 0
  },
}
