// A traceback while it is being read, and what it is when it is finished.
import type { Token } from './grammar.ts'
import type { ReadLine } from './line.ts'
import { isWrapper, type Block, type Frame, type Link, type Raised, type Traceback } from './traceback.ts'

export type OpenTraceback = {
  readonly writer: string
  readonly rank: number | undefined
  pid: number | undefined
  readonly blocks: { frames: Frame[]; raised: Raised | undefined; link: Link | undefined; tail: string[]; innermostFirst: boolean }[]
  readonly lead: string
  readonly ignored: boolean
  readonly bare: boolean
  readonly first: number
  last: number
  fatal: string | undefined
  /** What the next header or frame hangs on. */
  link: Link | undefined
  state: 'frames' | 'raised'
  notebook: boolean
  /** What the head of a notebook's traceback names, of which the last line may be missing. */
  named: { readonly name: string; readonly at: number } | undefined
  headed: boolean
  /** A notebook's frame waits for the number of its line; a boxed one for the rest of its path. */
  waiting: { readonly frame: Frame } | undefined
  half: string
  /** What was before the exception in its line. */
  head: string
  indent: number
  /** The assertion in the source line that was read last. */
  asserted: string
  foreign: number
  skip: boolean
  /** The frames are below the exception, under a heading of their own. */
  stack: boolean
}

/** Of a recursion the first frames and the last ones. */
const FIRST_FRAMES = 16
const LAST_FRAMES = 112
const BLOCKS = 24
/** A wrapper's quoted traceback begins at most so many lines below it. */
const QUOTED_WITHIN = 8

const PID = /\bpid[=: ]{1,3}(\d{1,10})/
export const pidIn = (text: string): number | undefined => {
  const match = PID.exec(text)
  return match?.[1] === undefined ? undefined : Number(match[1])
}
/** Of a line with kilobytes of progress bar its end. */
export const tailOfBar = (text: string): string => text.slice(-4_000)

export function newBlock(one: OpenTraceback, link: Link | undefined): void {
  if (one.blocks.length >= BLOCKS) one.blocks.splice(1, 1)
  one.blocks.push({ frames: [], raised: undefined, link: one.blocks.length === 0 && link === 'inner' ? undefined : link, tail: [], innermostFirst: false })
  one.link = undefined
}

export function pushFrame(frames: Frame[], frame: Frame): void {
  frames.push(frame)
  if (frames.length > FIRST_FRAMES + LAST_FRAMES) frames.splice(FIRST_FRAMES, 1)
}

const CODE_LENGTH = 240
/** Numbered lines around a frame of a notebook, bars of boxes, and what Python left out. */
const NO_CODE = /^\s*(?:\d{1,6}(?:\s|$)|[|│┃]|\.\.\.<\d)/
/** Whether a call goes on in the next line. */
const goesOn = (code: string): boolean => /[([{,]$/.test(code)
/** The line of source below a frame; of a call over several lines these too. */
export function addCode(frames: Frame[], text: string): void {
  const frame = frames.at(-1)
  if (frame === undefined || NO_CODE.test(text)) return
  const { code } = frame
  const line = text.trim()
  if (code !== undefined && !(goesOn(code) && code.length < CODE_LENGTH)) return
  const joined = code === undefined ? line : `${code}${code.endsWith(',') ? ' ' : ''}${line}`
  frames[frames.length - 1] = { ...frame, code: joined.slice(0, CODE_LENGTH) }
}
/** `---> 15 model.fit(x)`: the line of a frame that a notebook or a box prints with its neighbours. */
export const codeAt = (text: string): string =>
  text
    .replace(/^[\s|│┃]*(?:-{2,}>|❱) ?\d{1,7}\s?[|│┃]?/, '')
    .replace(/^[\s|│┃]+|[\s|│┃]+$/g, '')
    .slice(0, CODE_LENGTH)

export function setRaised(one: OpenTraceback, raised: Raised, line: ReadLine): void {
  const block = one.blocks.at(-1)
  if (block === undefined) return
  block.raised = raised.message === '' && raised.name === 'AssertionError' && one.asserted !== '' ? { ...raised, message: one.asserted } : raised
  one.state = 'raised'
  one.last = line.number
  one.pid ??= pidIn(raised.message)
}

/** Whether the exception that was read last quotes what comes now. */
export function quotes(one: OpenTraceback, at: number, lead: string): boolean {
  const block = one.blocks.at(-1)
  const { raised } = block ?? {}
  if (raised === undefined || at - raised.at > QUOTED_WITHIN) return false
  if (/Original/.test(lead) || raised.wrapper !== undefined) return true
  return (
    (isWrapper(raised) && !/ChildFailed|SignalException|CalledProcess/.test(raised.name)) ||
    /Caught \w|following error|terminated with|remote traceback|worker process \d|in replica/i.test(`${raised.message}\n${block?.tail.join('\n')}`)
  )
}

/** A wrapper whose message ends with a colon: what it wraps is named below. */
export function announces(one: OpenTraceback, at: number): boolean {
  const raised = one.blocks.at(-1)?.raised
  return raised !== undefined && at - raised.at <= 2 && raised.message.endsWith(':') && isWrapper(raised)
}

/** A second exception line right below the first repeats it, or names its parent. */
export const belongs = (one: OpenTraceback, at: number): boolean => at - (one.blocks.at(-1)?.raised?.at ?? -Infinity) <= 2

/** TensorFlow says first where the failed node was made, with a stack of its own, and then what failed. */
const OF_GRAPH = /^Graph execution error:(?= |$)/
const NODE = /^(?:Detected at node |Node: |\d{1,3} root error\(s\) found|<stack traces unavailable>)/
/** Whether the line is one of that stack, or the message below it, which becomes that of the exception. */
export function ofGraph(one: OpenTraceback, token: Token, text: string): boolean {
  const block = one.blocks.at(-1)
  const raised = one.state === 'raised' ? block?.raised : undefined
  if (block === undefined || raised === undefined || !OF_GRAPH.test(raised.message)) return false
  if (token.type === 'frame') {
    // Without a traceback above, the user's line is in this one.
    if (one.bare) pushFrame(block.frames, token.frame)
    return true
  }
  const waits = raised.message === 'Graph execution error:'
  if (NODE.test(text) || (waits && (token.type === 'blank' || token.type === 'detail'))) return true
  if (!waits || (token.type !== 'other' && token.type !== 'raised')) return false
  block.raised = { ...raised, message: `${raised.message} ${text.trim().replace(/^\(\d\) {1,2}/, '')}` }
  return true
}

export function finished(one: OpenTraceback): Traceback {
  const { writer, rank, pid, lead, headed, bare, first, last, fatal } = one
  const block = one.blocks.at(-1)
  if (one.named !== undefined && block !== undefined && block.raised === undefined && block.frames.length > 0)
    block.raised = { ...one.named, wrapper: undefined, module: undefined, message: '' }
  const blocks: Block[] = one.blocks.map(({ frames, raised, link, tail, innermostFirst }, index) => ({
    frames: innermostFirst || (index === 0 && !headed && debuggerOrder(frames, lead, raised)) ? frames.toReversed() : frames,
    raised,
    link,
    tail,
  }))
  // What a destructor raises is always ignored by Python.
  const ignored = one.ignored || blocks.some(({ frames }) => frames[0]?.name === '__del__')
  return { writer, rank, pid, blocks, lead, headed, ignored, bare, first, last, fatal }
}

/** Debuggers print the message first, and the innermost frame before its callers. */
function debuggerOrder(frames: readonly Frame[], lead: string, raised: Raised | undefined): boolean {
  if (frames.length < 2) return false
  const [top, bottom] = [frames[0]?.name, frames.at(-1)?.name]
  if (bottom === '<module>' && top !== '<module>') return true
  return raised === undefined && lead !== '' && top !== '<module>' && !/[:,(]$/.test(lead) && /\w \w/.test(lead) && !/^\s/.test(lead)
}
