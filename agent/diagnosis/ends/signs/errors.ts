// Tracebacks as errors: which of a chain ended the program, where in the user's code, in which rank.
import { known } from '../../faults/parts/window.ts'
import { isWrapper, telling, type Block, type Traceback } from '../../traceback/traceback.ts'
import { frameName, isUserFrame, userFrame } from '../../traceback/user-frame.ts'
import type { ErrorSeen, ErrorSign, SignalSign } from '../evidence.ts'
import { signalName } from '../signals.ts'

/** Where a program, a thread or a process begins. */
const ENTRY = /^<|^_?(?:wrap|bootstrap|start|run_|worker_loop)/
/** ComfyUI reports what failed and waits for the next workflow: this one has ended. */
const WORKFLOW = /[\\/]ComfyUI[\\/](?:[\w.-]{1,40}[\\/])?execution\.py$/i
/** A program of the system, as its services are: within one of its functions it reports what it caught. */
const PROGRAM = /[\\/]s?bin[\\/][\w.-]{1,60}$/
/** Of a thread besides the main one, which goes on. */
const OF_THREAD = /^Exception in thread \S.{0,200}:$/
/** Above a traceback that is cut off stands whatever came before: transformers warns of long texts. */
const WARNED = /^Token indices sequence length|\w{0,40}Warning: /
/** vLLM's engine quotes what a worker failed with: v1/executor/multiproc_executor.py. */
const OF_WORKER = /^Worker failed with error ['"]([^]{1,2000}?)['"], please check the stack trace above/
/** py4j's, of a program in Java or Scala: what it threw is in the next line. */
const OF_JAVA = /^: (?:[\w$]{1,60}\.){0,12}(\w{1,80}(?:: [^\n]{1,600})?)/
/** SageMaker's toolkit quotes the last line of the traceback of its script. */
const OF_SCRIPT = /^\s{0,3}ErrorMessage "?[:\s]{0,6}(?:raise )?(?:[\w.]{1,100}\.)?([A-Z]\w{2,80}(?:Error|Exception))(?:: ([^\n]{0,400}?)|\([^\n]{0,200})?"?$/m
function quoting(block: Block): Block {
  const { raised, tail } = block
  const [, name, message = ''] = raised !== undefined && isWrapper(raised) ? (OF_SCRIPT.exec(tail.join('\n')) ?? []) : []
  return raised === undefined || name === undefined ? block : { ...block, raised: { ...raised, name, module: undefined, message }, tail: [] }
}
const wordsOf = ({ raised, tail }: Block): string =>
  OF_WORKER.exec(raised?.message ?? '')?.[1] ?? (raised?.name === 'Py4JJavaError' ? OF_JAVA.exec(tail[0] ?? '')?.[1] : undefined) ?? raised?.message ?? ''
const partOf = (block: Block): Omit<ErrorSeen, 'causes'> => ({
  name: block.raised?.name,
  module: block.raised?.module,
  message: wordsOf(block),
  tail: block.tail.join('\n'),
  frames: block.frames,
})

/** What it was raised from; what was only being handled when it came is marked, unless it is all that is there. */
function causesOf(blocks: readonly Block[], block: Block): ErrorSeen['causes'] {
  const causes: ErrorSeen['causes'][number][] = []
  let handled = false
  for (let i = blocks.indexOf(block); i > 0; i -= 1) {
    const link = blocks[i]?.link
    const earlier = blocks[i - 1]
    if (earlier === undefined || link === undefined) break
    handled ||= link === 'context' && block.raised !== undefined && !isWrapper(block.raised)
    if (earlier.raised !== undefined) causes.push({ ...partOf(earlier), ...(handled ? { handled: true } : {}) })
  }
  return causes
}

/** TensorFlow's threads that fill a queue say it whenever a session is closed, after work that was done as well. */
const FEEDER = /^(?:Enqueue|Dequeue) operation was cancelled/
/** PyTorch's spawn() quotes the traceback of the process that failed, under its number. */
const SPAWNED = /^-- Process (\d{1,6}) terminated with the following error:/m
function rankOf({ rank, blocks }: Traceback): number | undefined {
  if (rank !== undefined) return rank
  const spawned = blocks
    .map(({ raised, tail }) => (raised === undefined ? null : SPAWNED.exec(`${raised.message}\n${tail.join('\n')}`)))
    .find((match) => match !== null)
  return spawned?.[1] === undefined ? undefined : Number(spawned[1])
}

/** The last line that surely belongs to the message: up to the first blank one, unless the message only announces what follows. */
function lastOf({ last, blocks }: Traceback): number {
  const block = blocks.at(-1)
  if (block?.raised === undefined) return last
  if (block.raised.message.endsWith(':')) return Math.max(last, block.raised.at + block.tail.length)
  const blank = block.tail.findIndex((line) => line.trim() === '')
  return Math.max(last, block.raised.at + (blank === -1 ? Math.min(block.tail.length, 3) : Math.min(blank, 12)))
}

/** anyio's word within itself that a stream has nothing yet: what follows it in the whole traceback is the error. */
const INTERNAL = /^WouldBlock$/
export function errorOf(traceback: Traceback, textOf: (line: number) => string): ErrorSign | SignalSign | undefined {
  const { pid, first, last } = traceback
  const blocks = traceback.blocks.map(quoting)
  const rank = rankOf(traceback)
  const block = telling(blocks)
  if (block === undefined || (block.raised?.name === 'CancelledError' && FEEDER.test(block.raised.message)) || INTERNAL.test(block.raised?.name ?? ''))
    return undefined
  // Julia on Windows: the line is a signal's.
  if (traceback.bare && block.raised?.message.startsWith('EXCEPTION_ACCESS_VIOLATION at ') === true) return undefined
  const frame = userFrame(blocks, block)
  const facts = known({
    rank,
    pid,
    frame: frame === undefined ? undefined : frameName(frame),
    exception: traceback.bare && block.raised?.name === 'Error' ? undefined : block.raised?.name,
  })
  if (traceback.fatal !== undefined && block.raised === undefined) {
    const signal = signalName(traceback.fatal)
    if (signal !== undefined) return { type: 'signal', at: first, text: textOf(first), signal, by: 'itself', facts: { ...facts, signal } }
    if (traceback.fatal === '') return undefined
    const error: ErrorSeen = { ...partOf(block), name: 'Fatal Python error', message: traceback.fatal, causes: [] }
    return { type: 'error', at: first, last, line: first, text: textOf(first), error, frame, weak: false, wrapper: false, facts }
  }
  // An interpreter that does not start says below why: `No module named 'encodings'`.
  if (traceback.fatal !== undefined && (traceback.fatal === '' || signalName(traceback.fatal) !== undefined)) return undefined
  const at = block.raised?.at ?? last
  const outermost = blocks[0]?.frames[0]
  const caught =
    traceback.headed &&
    traceback.writer === '' &&
    outermost !== undefined &&
    (OF_THREAD.test(traceback.lead) ||
      ((isUserFrame(outermost) || PROGRAM.test(outermost.file)) && !ENTRY.test(outermost.name ?? '<module>') && !WORKFLOW.test(outermost.file)))
  const error: ErrorSeen = { ...partOf(block), causes: causesOf(blocks, block) }
  // A debugger prints the message above the frames.
  const seen =
    block.raised === undefined && traceback.lead !== '' && !WARNED.test(traceback.lead) && block.frames.length > 0 && block.frames.at(-1)?.name !== undefined
      ? { ...error, message: traceback.lead }
      : error
  return {
    type: 'error',
    at: first,
    last: lastOf(traceback),
    line: at,
    text: textOf(at),
    error: seen,
    frame,
    weak: traceback.bare || block.raised === undefined,
    wrapper: block.raised !== undefined && isWrapper(block.raised),
    ...(caught ? { caught } : {}),
    facts,
  }
}
