// Reads tracebacks line by line: each process that prints has its own, so that ranks may write at the same time. Memory is bounded.
import { isMarks, tokenOf, type Token } from './grammar.ts'
import type { ReadLine } from './line.ts'
import {
  addCode,
  announces,
  belongs,
  codeAt,
  finished,
  ofGraph,
  newBlock,
  pidIn,
  pushFrame,
  quotes,
  setRaised,
  tailOfBar,
  type OpenTraceback as Open,
} from './open-traceback.ts'
import type { Raised, Traceback } from './traceback.ts'

const TAIL_LINES = 24
const TAIL_LENGTH = 400
const MESSAGE_LENGTH = 2_000
/** Lines of others that may be between two frames before the traceback counts as cut. */
const FOREIGN_LINES = 12
/** Of all that a text holds, the first and the last. */
const FIRST_KEPT = 24
const LAST_KEPT = 40
const WRITERS = 256

/** What Python prints before an exception that it then forgets. */
const IGNORED = /--- Logging error ---|Error in (?:atexit|sys)\.|Original exception was|was never retrieved|^future: <Task |Exception ignored/
/** A logger that stamps each line of a record: the same stamp is the same record. */
const headOf = ({ raw, text, record }: ReadLine): string => (record && raw.endsWith(text) ? raw.slice(0, raw.length - text.length) : '')
/** What it says itself is in its message. */
const ASSERTED = /^\s*(?:-{2,}> ?\d{1,6} {1,40})?(assert [^,"']{3,160})$/
const IS_WARNING = /Warning$/
/** What Python prints below a frame: its line, and the marks under it. */
const SOURCE_LINES = 3
const NAME_ALONE = /^[A-Z]\w{2,60}$/
/** vLLM's engine and workers log an exception when they end by it, each line with the prefix: the last one alone tells it too. */
const ENGINE_ENDS = /\bERROR \d\d-\d\d [\d:.]{8,15} \[(?:core|multiproc_executor)\.py:\d{1,5}\] /
/** Dagster's heading of the frames, below the exception. */
const STACK_BELOW = /^\s{0,8}Stack Trace:$/

export type TracebackReader = {
  readonly add: (line: ReadLine) => Token['type']
  /** Whether a traceback of this line's writer is being read, so that its next lines belong to it. */
  readonly isOpen: (writer: string) => boolean
  readonly tracebacks: () => readonly Traceback[]
}

export function createTracebackReader(): TracebackReader {
  const open = new Map<string, Open>()
  const first: Open[] = []
  const last: Open[] = []
  let before = ''
  const keep = (one: Open): Open => {
    if (first.length < FIRST_KEPT) first.push(one)
    else {
      last.push(one)
      if (last.length > LAST_KEPT) last.shift()
    }
    return one
  }
  const start = (line: ReadLine, lead: string, bare: boolean): Open => {
    if (open.size >= WRITERS) open.clear()
    const from = lead === '' ? before : lead
    const one: Open = {
      writer: line.writer,
      rank: line.rank,
      pid: line.pid ?? pidIn(from),
      blocks: [],
      lead: from,
      ignored: IGNORED.test(lead) || IGNORED.test(before),
      bare,
      first: line.number,
      last: line.number,
      fatal: undefined,
      link: undefined,
      state: 'frames',
      notebook: false,
      named: undefined,
      headed: false,
      waiting: undefined,
      half: '',
      head: '',
      indent: 0,
      asserted: '',
      foreign: 0,
      skip: false,
      stack: false,
    }
    open.set(line.writer, one)
    return keep(one)
  }

  const add = (line: ReadLine): Token['type'] => {
    const current = open.get(line.writer)
    // A whole traceback may stand indented, as pip quotes that of a build.
    const base = current === undefined ? 0 : Math.max(0, current.indent - 2)
    const own = base > 0 && line.text.slice(0, base).trim() === '' ? { ...line, text: line.text.slice(base) } : line
    const read = tokenOf(own.text.length > 4_000 ? tailOfBar(own.text) : own.text, current !== undefined)
    const token = read.type === 'frame' && own !== line ? { ...read, indent: read.indent + base } : read
    const taken = step(current, token, own)
    if (token.type !== 'blank') before = line.text.slice(-200)
    return token.type === 'raised' && !taken ? 'other' : token.type
  }

  /** Whether a line that looks like an exception was taken for one. */
  const step = (current: Open | undefined, token: Token, line: ReadLine): boolean => {
    if (current !== undefined && token.type !== 'other') current.foreign = 0
    if (current !== undefined && ofGraph(current, token, line.text)) return true
    switch (token.type) {
      case 'header': {
        const quoted = current !== undefined && current.state === 'raised' && quotes(current, line.number, token.lead)
        const chained = current?.link ?? (quoted ? 'inner' : undefined)
        // A second header without an exception between: two processes write at once.
        const twice = current?.state === 'frames' && current.fatal === undefined && (current.blocks.at(-1)?.frames.length ?? 3) < 3
        const one = current !== undefined && (chained !== undefined || twice) ? current : start(line, token.lead, false)
        if (!twice || current === undefined) newBlock(one, chained)
        one.notebook = token.notebook
        one.named = token.name === undefined ? undefined : { name: token.name, at: line.number }
        if (one.blocks.length === 1 && (one.blocks[0]?.frames.length ?? 0) === 0) one.headed = !token.notebook
        one.state = 'frames'
        one.last = line.number
        return true
      }
      case 'frame': {
        // The first half of its path was in the line above.
        const half = current?.half ?? ''
        const frame = half === '' || /^(?:[/~<]|[A-Za-z]:)/.test(token.frame.file) ? token.frame : { ...token.frame, file: `${half}${token.frame.file}` }
        let one = current
        if (one?.state === 'raised') {
          if (one.blocks.at(-1)?.frames.length === 0 && line.number - one.last <= (one.stack ? 2 : one.bare ? 1 : 0)) one.state = 'frames'
          else if (one.link !== undefined || quotes(one, line.number, '') || line.number - one.last <= 2) newBlock(one, one.link ?? 'inner')
          else one = undefined
        }
        if (one === undefined) {
          one = start(line, '', false)
          newBlock(one, undefined)
          // A debugger prints the message, then the innermost frame.
          const block = one.blocks[0]
          if (block !== undefined && token.innermostFirst) block.innermostFirst = true
        }
        if (one.skip) return true
        if (one.half !== '') one.half = ''
        // Below a link whose first half is not in the text, without a heading.
        if (one.blocks.length === 0) newBlock(one, one.link)
        const block = one.blocks.at(-1)
        if (block === undefined) return true
        if (token.innermostFirst) block.innermostFirst = true
        pushFrame(block.frames, frame)
        one.waiting = token.needsLine ? { frame } : undefined
        one.indent = token.indent
        one.asserted = ''
        one.state = 'frames'
        one.last = line.number
        one.pid ??= pidIn(line.text)
        return true
      }
      case 'half':
        if (current !== undefined) current.half = token.text
        return true
      case 'arrow': {
        const frames = current?.blocks.at(-1)?.frames
        const waiting = current?.waiting?.frame
        const code = codeAt(line.text)
        if (current === undefined || frames === undefined) return true
        if (waiting === undefined) {
          const frame = frames.at(-1)
          if (frame?.line === token.line && frame.code === undefined) frames[frames.length - 1] = { ...frame, code }
          return true
        }
        const at = frames.lastIndexOf(waiting)
        if (at >= 0) frames[at] = { ...waiting, line: token.line, code }
        current.waiting = undefined
        current.last = line.number
        return true
      }
      case 'link':
        if (current !== undefined) {
          current.link = token.link
          current.last = line.number
          return true
        }
        // Its first half is not in the text.
        start(line, '', false).link = token.link
        return true
      case 'raised':
        return raisedAt(current, token, line)
      case 'fatal': {
        const one = start(line, '', false)
        one.fatal = token.signal
        newBlock(one, undefined)
        return true
      }
      case 'threads': {
        // Of several threads the current one counts.
        if (current?.fatal === undefined) {
          const one = start(line, '', false)
          one.fatal = ''
          newBlock(one, undefined)
          return true
        }
        current.skip = !token.current && !(current.blocks.at(-1)?.frames.length === 0)
        if (token.current) current.blocks.at(-1)?.frames.splice(0)
        return true
      }
      case 'detail':
      case 'blank':
      case 'other':
        rest(current, token, line)
    }
    return true
  }

  const raisedAt = (current: Open | undefined, token: Extract<Token, { type: 'raised' }>, line: ReadLine): boolean => {
    const other = (): false => {
      rest(current, { type: 'other' }, line)
      return false
    }
    const raised: Raised = { name: token.name, wrapper: token.wrapper, module: token.module, message: token.message.slice(0, MESSAGE_LENGTH), at: line.number }
    if (
      current === undefined ||
      (current.state === 'raised' && current.link !== 'inner' && !belongs(current, line.number) && !announces(current, line.number))
    ) {
      if (!token.strict || (line.record && !ENGINE_ENDS.test(line.raw))) return other()
      const one = start(line, '', true)
      newBlock(one, undefined)
      setRaised(one, raised, line)
      one.head = headOf(line)
      return true
    }
    if (current.state === 'raised') {
      if (!token.strict || !(current.link === 'inner' || announces(current, line.number))) return other()
      newBlock(current, 'inner')
      setRaised(current, raised, line)
      current.stack = false
      return true
    }
    // Its exception is above it.
    if (current.stack && current.blocks.at(-1)?.raised !== undefined) {
      if (current.link !== 'inner') return other()
      newBlock(current, 'inner')
      setRaised(current, raised, line)
      current.stack = false
      return true
    }
    const frames = current.blocks.at(-1)?.frames.length ?? 0
    // Another writer's warning, between the frames.
    if (IS_WARNING.test(token.name) && line.number - current.last > SOURCE_LINES) return other()
    // A lone word below a cut traceback is no exception.
    if (!token.strict && token.message === '' && !NAME_ALONE.test(token.name) && token.module === undefined) return other()
    if (!token.strict && frames === 0) return other()
    if (current.blocks.length === 0) newBlock(current, current.link)
    setRaised(current, raised, line)
    current.head = headOf(line)
    return true
  }

  return {
    add,
    isOpen: (writer) => open.get(writer)?.state === 'frames',
    tracebacks: () => [...first, ...last].map(finished),
  }

  function rest(current: Open | undefined, token: Token, line: ReadLine): void {
    if (current === undefined) return
    const block = current.blocks.at(-1)
    if (current.state === 'raised') {
      if (STACK_BELOW.test(line.text)) {
        current.stack = true
        current.last = line.number
      }
      if (block !== undefined && block.tail.length < TAIL_LINES && (!line.record || headOf(line) === current.head)) {
        block.tail.push(line.text.slice(0, TAIL_LENGTH))
        current.pid ??= pidIn(line.text)
      } else open.delete(line.writer)
      return
    }
    if (current.half !== '' && token.type !== 'blank') {
      const joined = tokenOf(`│ ${current.half}${line.text.replace(/^[\s│|]+/, '')}`, true)
      current.half = ''
      if (joined.type === 'frame') step(current, joined, line)
      return
    }
    if (token.type === 'detail') {
      current.asserted = ASSERTED.exec(line.text)?.[1] ?? current.asserted
      if (block !== undefined && current.waiting === undefined && !isMarks(line.text)) addCode(block.frames, line.text)
    }
    if (token.type !== 'other') return
    current.foreign += 1
    if (current.foreign > FOREIGN_LINES) open.delete(line.writer)
  }
}
