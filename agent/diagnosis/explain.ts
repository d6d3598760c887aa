// From a whole text, or a stream of its bytes, to the faults in it. Memory is bounded: the text is never held as strings.
import type { Fault } from '../model/fault.ts'
import { stripPrefix } from '../text/line-prefix.ts'
import { bareMessage } from './ends/bare-message.ts'
import { createEndReader } from './ends/end-reader.ts'
import { createEndStream, type EndStream } from './ends/end-stream.ts'
import { judgeEnd, type EndJudgement, type KnownEnd } from './ends/judge.ts'
import { withEnd } from './ends/with-end.ts'
import { fitting } from './faults/remedies/fit.ts'
import { countNewlines } from './newlines.ts'
import { createSeenLines, cutLine, judgePassage, LINE_LIMIT, type SeenLines } from './passage.ts'
import { gatherFaults, type FaultCollection } from './root.ts'
import { createCandidates, type Scanner } from './scanner.ts'
import type { Knowledge } from './situation/knowledge.ts'
import { createSituations, readSituation, type Situation, type Situations } from './situation/situation.ts'
import { unwrappedChunks } from './unwrap/chunks.ts'
import { unwrapped } from './unwrap/unwrap.ts'
import { asUtf8 } from './unwrap/utf16.ts'

/** Pasted texts up to this size are also searched across their line ends, where a mail or a terminal broke a message. */
export const PASTED_LIMIT = 262_144
/** The lines of such a text, as they are counted. */
export const pastedLines = (text: string): readonly string[] => text.split(/\r?\n|\r(?!\n)/)
/** How far around a candidate a family may look, in a text that is too long to be held. */
const LINES_BEFORE = 48
const LINES_AFTER = 48
/** Of a line that is cut, this much is kept before what was found in it. */
const SHOWN_BEFORE = 256
const REACH = LINE_LIMIT * 2
/** Candidates closer than this share a passage, until the passage is this long. */
const PASSAGE_BYTES = 262_144
/** A family that found this many candidates in one text has found what it can; the rest repeats it. */
const CANDIDATES_PER_FAMILY = 20_000

const NEWLINE = 10

/** Where lines begin that were found by an offset, for one pass in rising order. */
function lineCounter(starts: readonly number[]): (offset: number) => number {
  return (offset) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? Infinity) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** The faults of a text that is held anyway. */
export function explainText(scanner: Scanner, text: string): readonly Fault[] {
  if (text.length > PASTED_LIMIT) return explainChunks(scanner, [new TextEncoder().encode(text)])
  const situations = createSituations()
  const lines = unwrapped(pastedLines(text)).map(cutLine)
  const found = withEnd(explainLines(scanner, lines, situations))
  if (found.length > 0) return found
  const bare = bareMessage(lines, (line) => situations.at(lines, Math.max(0, line - 1), 1))
  return bare === undefined ? [] : [bare]
}

/** What ended a run that said these lines last; undefined where another fault explains it, or it ended well. */
export function explainRunEnd(scanner: Scanner, said: readonly string[], known: KnownEnd, know: () => Knowledge): Fault | undefined {
  return explainLines(scanner, unwrapped(said).map(cutLine), createSituations(know), known).verdict
}

function explainLines(scanner: Scanner, lines: readonly string[], situations: Situations, known: KnownEnd = {}): EndJudgement {
  const candidates = createCandidates()
  // Found in the text as it is, with its line ends, so that a literal may name one.
  const found = (parts: readonly string[], glue: string): void => {
    const starts: number[] = []
    let length = glue.length
    for (const part of parts) {
      starts.push(length)
      length += part.length + glue.length
    }
    const lineAt = lineCounter(starts)
    scanner.search.inString(`${glue}${parts.join(glue)}${glue}`, (at, literal) => {
      const start = scanner.search.literals[literal]?.startsWith('\n') === true ? at + 1 : at
      candidates.add(lineAt(start), scanner.familiesOf(literal))
    })
  }
  found(lines, '\n')
  found(
    lines.map((line) => stripPrefix(line).trim()),
    ' ',
  )
  const faults = gatherFaults()
  for (const fault of judgePassage({ lines, firstLine: 1, candidates: candidates.list() }, createSeenLines(), situations)) faults.add(fault)
  const reader = createEndReader()
  lines.forEach((line, index) => reader.add(line, index + 1))
  const at = (line: number): Situation => situations.at(lines, Math.max(0, line - 1), 1)
  return fitted(judgeEnd(reader.evidence(), faults.ordered(), at, known), at)
}

/** The end of a job passes the same last look at its remedies as every fault. */
function fitted(judgement: EndJudgement, at: (line: number) => Situation): EndJudgement {
  const { verdict, faults } = judgement
  if (verdict === undefined) return judgement
  return { verdict: { ...verdict, remedies: fitting(verdict.remedies, verdict.kind, at(verdict.evidence[0]?.line ?? 1)) }, faults }
}

/** The faults of a stream of bytes: as a pasted text where it is short, else piece by piece. */
export function explainStream(scanner: Scanner, chunks: Iterable<Uint8Array>): readonly Fault[] {
  const held: Uint8Array[] = []
  let length = 0
  const rest = asUtf8(chunks)[Symbol.iterator]()
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    held.push(next.value.slice()) // the reader may use its buffer again
    length += next.value.length
    if (length > PASTED_LIMIT) return explainChunks(scanner, concatenated(held, rest))
  }
  const decoder = new TextDecoder()
  return explainText(scanner, `${held.map((chunk) => decoder.decode(chunk, { stream: true })).join('')}${decoder.decode()}`)
}

function* concatenated(first: readonly Uint8Array[], rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield* first
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value
}

/** The faults of a stream of bytes, however long, whatever is in it. */
export function explainChunks(scanner: Scanner, wrapped: Iterable<Uint8Array>): readonly Fault[] {
  const chunks = unwrappedChunks(wrapped)
  const faults = gatherFaults()
  const seenLines = createSeenLines()
  const reader = createEndReader()
  const ends = createEndStream(reader)
  const state = { scanner, faults, seenLines, counts: new Map<string, number>(), situations: createSituations(), ends }
  /** One buffer for all chunks: what is still needed of the last ones, then the new one. It starts with a line end, so that a literal may. */
  let space = new Uint8Array(2 ** 20)
  space[0] = NEWLINE
  let length = 1
  let scanned = 0
  /** Where in the log the buffer begins. */
  let base = 0
  /** Number of the line in which the buffer begins: its first byte is the end of line 0, or lies somewhere in the line. */
  let line = 0
  const append = (chunk: Uint8Array): void => {
    if (length + chunk.length > space.length) {
      const larger = new Uint8Array(length + chunk.length + REACH)
      larger.set(space.subarray(0, length))
      space = larger
    }
    space.set(chunk, length)
    length += chunk.length
  }
  for (const chunk of chunks) {
    append(chunk)
    const until = length - REACH
    if (until <= scanned) continue
    judgeRegion(state, space.subarray(0, length), scanned, until, line, base)
    const keep = Math.max(0, until - REACH)
    line += countNewlines(space, 0, keep)
    seenLines.forgetBefore(line - LINES_BEFORE)
    space.copyWithin(0, keep, length)
    length -= keep
    base += keep
    scanned = until - keep
  }
  append(Uint8Array.of(NEWLINE))
  judgeRegion(state, space.subarray(0, length), scanned, length, line, base)
  ends.end(space.subarray(0, length), length, base, line)
  const at = (ended: number): Situation => readSituation(ends.around(ended))
  return withEnd(fitted(judgeEnd(reader.evidence(), faults.ordered(), at), at))
}

type State = {
  readonly scanner: Scanner
  readonly faults: FaultCollection
  readonly seenLines: SeenLines
  readonly counts: Map<string, number>
  readonly situations: Situations
  readonly ends: EndStream
}
type Found = { readonly at: number; readonly literal: number }

/** Judges the candidates whose literal starts in [from, until) of the buffer; what is around them is in the buffer too. */
function judgeRegion(state: State, buffer: Uint8Array, from: number, until: number, firstLine: number, base: number): void {
  const { scanner, counts } = state
  const hits: Found[] = []
  const words: number[] = []
  // A literal that starts before `until` may end after it; one that starts after it is found in the next round.
  scanner.search.inBytes(buffer, from, Math.min(buffer.length, until + 1_024), (at, literal) => {
    if (at >= until) return
    if (scanner.isEnd(literal)) words.push(at)
    if (scanner.familiesOf(literal).length === 0) return
    const family = scanner.familiesOf(literal)[0]?.id ?? ''
    const count = (counts.get(family) ?? 0) + 1
    counts.set(family, count)
    if (count <= CANDIDATES_PER_FAMILY) hits.push({ at: scanner.search.literals[literal]?.startsWith('\n') === true ? at + 1 : at, literal })
  })
  hits.sort((a, b) => a.at - b.at)
  words.sort((a, b) => a - b)
  state.ends.region(buffer, buffer.length, base, firstLine, words)
  let [countedTo, line] = [0, firstLine]
  for (let i = 0; i < hits.length;) {
    const group: Found[] = []
    const start = passageStart(buffer, hits[i]?.at ?? 0)
    let end = start
    while (i < hits.length) {
      const hit = hits[i]
      const before = group.at(-1)
      // Where the passage ends is looked up only where it decides: hits may lie close together.
      if (before !== undefined && hit !== undefined && (hit.at > end || hit.at - start > PASSAGE_BYTES - LINE_LIMIT)) end = passageEnd(buffer, before.at)
      if (hit === undefined || (before !== undefined && (hit.at > end || end - start > PASSAGE_BYTES))) break
      group.push(hit)
      i += 1
    }
    end = Math.max(end, passageEnd(buffer, group.at(-1)?.at ?? start))
    line += countNewlines(buffer, countedTo, start)
    countedTo = start
    judgeGroup(state, buffer, start, end, line, group)
  }
}

function judgeGroup(state: State, buffer: Uint8Array, start: number, end: number, line: number, group: readonly Found[]): void {
  const starts = [start]
  for (let at = buffer.indexOf(NEWLINE, start); at !== -1 && at < end; at = buffer.indexOf(NEWLINE, at + 1)) starts.push(at + 1)
  const decoder = new TextDecoder()
  const focus = new Map<number, number>()
  const candidates = createCandidates()
  const lineAt = lineCounter(starts)
  for (const hit of group) {
    const index = lineAt(hit.at)
    if (!focus.has(index)) focus.set(index, hit.at)
    candidates.add(index, state.scanner.familiesOf(hit.literal))
  }
  const lines = starts.map((from, index) => {
    const next = starts[index + 1]
    const to = next === undefined ? end : next - 1
    const text = decoder.decode(buffer.subarray(from, Math.min(to, from + LINE_LIMIT * 4))).replace(/\r$/, '')
    if (text.length <= LINE_LIMIT) return text
    // A line too long is cut around what was found in it.
    const at = Math.max(0, (focus.get(index) ?? from) - from - SHOWN_BEFORE)
    return cutLine(`${at > 0 ? '[cut…] ' : ''}${decoder.decode(buffer.subarray(from + at, Math.min(to, from + at + LINE_LIMIT * 2)))}`)
  })
  const passage = { lines, firstLine: line, candidates: candidates.list() }
  for (const fault of judgePassage(passage, state.seenLines, state.situations)) state.faults.add(fault)
}

function passageStart(buffer: Uint8Array, at: number): number {
  const floor = Math.max(0, at - LINE_LIMIT)
  let start = at
  for (let n = 0; n <= LINES_BEFORE && start > floor; n += 1) {
    // A negative start would be counted from the buffer's end.
    const before = start - (n === 0 ? 1 : 2)
    const newline = before < 0 ? -1 : buffer.lastIndexOf(NEWLINE, before)
    if (newline < floor) return n === 0 ? floor : start
    start = newline + 1
  }
  return Math.max(start, floor)
}

function passageEnd(buffer: Uint8Array, at: number): number {
  const ceiling = Math.min(buffer.length, at + LINE_LIMIT)
  let end = at
  for (let n = 0; n <= LINES_AFTER; n += 1) {
    const newline = buffer.indexOf(NEWLINE, end)
    if (newline === -1 || newline >= ceiling) return n === 0 ? ceiling : Math.min(end, ceiling)
    end = newline + 1
  }
  return end - 1
}
