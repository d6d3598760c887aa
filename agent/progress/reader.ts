// Reads the progress of a job out of its log, line by line as it is written. Pure and bounded: a fixed number of writers, shapes and samples.
import { FORMATS } from './formats/index.ts'
import type { Line, Read } from './formats/format.ts'
import type { Phase } from './observation.ts'
import { unwrapped, withoutLead, withoutLogger } from './lead.ts'
import { createLabels } from './labels.ts'
import { createOverTitle } from './over-title.ts'
import { againStamped, MAX_SEGMENT, saysRank, segmentsOf, stampOf, writtenBy } from './segments.ts'
import type { Progress } from './progress.ts'
import { createWriter, type Writer } from './writer.ts'

export type ProgressReader = {
  /** One line, or what a bar has overwritten; whether it said something of the progress. `clock`: when it was read, in seconds, for logs without times of their own. */
  readonly push: (line: string, clock?: number) => boolean
  /** Of the whole job; `judged`: whether it became slower, too. */
  readonly progress: (judged?: boolean) => Progress | undefined
  /** By rank, where several say their own. */
  readonly ranks: (judged?: boolean) => ReadonlyMap<number, Progress>
  /** Lines that said something of the progress. */
  readonly said: () => number
  /** How often its step rose, by the writer that says most of them. */
  readonly rises: () => number
  /** What it was busy with last. */
  readonly phase: () => Phase | undefined
}

/** Ranks of a large job; more of them say nothing new. */
const MAX_WRITERS = 64
/** Source files and line numbers, which loggers put before the message. */
const CODE_PLACE = /\[?[\w./<>-]{1,80}\.(?:py|cpp|cc|cu|h|rs|go|java|kt|ts|js|scala|cs|rb|php|jl|c|f90|hpp):\d{1,6}(?![\d(])(?::[\w.<>-]{1,60})?\]?/g
/** `INFO:my-test:` of Python's plain logging, `[INFO]:`: a logger's name says nothing of the line, unless it is none but counts. */
const LOGGER =
  /^\s*(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):(?:(?=(?:epoch|step|iter|iteration|batch|loss|round|update|global_step)s?:)|[\w.-]{1,80}:\s?)|^ {0,2}\[(?:DEBUG|INFO|WARNING)\]: ?/
/** Without which there is none of them: a cheap look at most lines. */
const CODE_END = /\.(?:py|cpp|cc|cu|h|rs|go|java|kt|ts|js|scala|cs|rb|php|jl|c|f90|hpp):\d/
/** A bar whose name was on the line before (an issue that wraps, a console of 40 columns). */
const LOOSE_BAR = /^\s*[\d,.kKM]+\/[\d,.kKM?]+ \[/
const LOOSE_TITLE = /\d{1,3}%\s*\|?[█#=\s]{0,200}$/
const INNER_WRITER = /^ ?(?:\[(?:default|rank)?\d{1,6}\]: ?|\([\w.-]{1,64} (?:rank=\d{1,6} )?pid=)/i
/** Statements glued into one line. */
const MAX_GLUED = 32

/** `Epoch: 22 [2024-01-02 10:11:12] | …`: what is said before the time, too. */
const SAID_BEFORE = /\b(?:epoch|step|iter|iteration|batch|round|update)\b\W{0,4}\d/i
function withoutStamp(text: string, { from, end }: { readonly from: number; readonly end: number }): string {
  const behind = text.slice(end).replace(/^[:\]),]+/, '')
  const head = text.slice(0, from)
  return SAID_BEFORE.test(head) ? `${head.replace(/[\s[(]+$/, '')} ${behind}` : behind
}

type Author = { readonly writer: string; readonly rank?: number }
type State = {
  readonly writer: Writer
  readonly rank?: number
  readonly formats: readonly ((line: Line) => Read | undefined)[]
  title: string
  readonly titled: (text: string) => string
  at: number
  reportedAt: number
}

/** Of ranks that say as much the first; a prefix that is known as a rank's only when it comes again goes on where none was. */
const before = (a: State, b: State): number => (a.rank === undefined || b.rank === undefined ? b.reportedAt - a.reportedAt : a.rank - b.rank)

export function createProgressReader(): ProgressReader {
  const writers = new Map<string, State>()
  let turn = 0
  /** Said by writers that were forgotten. */
  let gone = 0
  const labels = createLabels()
  /** The line that a number before a colon began, read again once it has turned out to be a rank's. */
  const firsts = new Map<number, string>()
  let now = ''
  const known = (rank: number): boolean => {
    const label = labels(rank)
    if (label === 'new') firsts.set(rank, now.slice(0, MAX_SEGMENT))
    return label === 'rank'
  }

  const stateOf = (name: string, rank: number | undefined): State => {
    let state = writers.get(name)
    if (state === undefined) {
      if (writers.size >= MAX_WRITERS) {
        const [oldest] = [...writers].toSorted(([, a], [, b]) => a.at - b.at)
        if (oldest !== undefined) {
          gone += oldest[1].writer.count()
          writers.delete(oldest[0])
        }
      }
      state = {
        writer: createWriter(),
        ...(rank === undefined ? {} : { rank }),
        formats: FORMATS.map(({ create }) => create()),
        title: '',
        titled: createOverTitle(),
        at: turn,
        reportedAt: turn,
      }
      writers.set(name, state)
    }
    state.at = turn
    return state
  }
  const readOne = (state: State, line: Line, clock: number | undefined): string | undefined => {
    for (const format of state.formats) {
      const found = format(line)
      if (found === undefined) continue
      state.writer.see(found.observation, clock)
      return found.rest
    }
    return undefined
  }
  /** `from`: who began the line, which is not said again behind a carriage return. */
  const readSegment = (segment: string, clock: number | undefined, from: Author | undefined): Author => {
    now = segment
    const own = writtenBy(withoutLead(segment), known)
    const first = own.rank === undefined ? undefined : firsts.get(own.rank)
    if (first !== undefined && own.rank !== undefined) {
      firsts.delete(own.rank)
      const nobody = writers.get('')
      if (nobody !== undefined && nobody.writer.count() <= 1) {
        gone += nobody.writer.count()
        writers.delete('')
      }
      readSegment(first, undefined, undefined)
    }
    const outer = own.writer === '' && from !== undefined ? { ...from, text: own.text } : own
    const time = stampOf(outer.text)
    const led = time === undefined ? outer.text : withoutLogger(withoutLead(withoutStamp(outer.text, time)))
    // Behind the collector's time may stand the rank, and the program's own time.
    const { writer, rank, text } =
      time !== undefined && outer.writer === '' && (INNER_WRITER.test(led) || saysRank(led)) ? writtenBy(led.trimStart(), known) : { ...outer, text: led }
    const second = time !== undefined && againStamped(text) ? stampOf(text) : undefined
    const stamp = second ?? time
    const state = stateOf(writer, rank)
    const behind = second === undefined ? text : withoutStamp(text, second)
    const unled = behind.replace(LOGGER, '')
    const plain = CODE_END.test(unled) ? unled.replace(CODE_PLACE, ' ') : unled
    const at = stamp === undefined ? {} : { at: stamp.at }
    const reported = state.writer.count()
    let rest: string | undefined = LOOSE_BAR.test(plain) && state.title !== '' ? `${state.title} ${plain}` : state.titled(plain)
    state.title = plain.length < 240 && LOOSE_TITLE.test(plain) ? plain : ''
    for (let round = 0; rest !== undefined && round < MAX_GLUED; round++) {
      // A logger's line that was glued behind a bar has its own time.
      const glued = round > 0 && againStamped(rest) ? stampOf(rest) : undefined
      rest = readOne(state, { text: glued === undefined ? rest : withoutLogger(withoutStamp(rest, glued)), ...at }, clock)
    }
    if (state.writer.count() > reported) state.reportedAt = turn
    return { writer, ...(rank === undefined ? {} : { rank }) }
  }
  const telling = (): readonly State[] => [...writers.values()].filter(({ writer }) => writer.weight() > 0)

  const said = (): number => gone + [...writers.values()].reduce((sum, { writer }) => sum + writer.count(), 0)

  return {
    push(line, clock) {
      turn += 1
      const before = said()
      let from: Author | undefined
      for (const segment of segmentsOf(unwrapped(line))) from = readSegment(segment, clock, from)
      return said() > before
    },
    said,
    rises: () => Math.max(0, ...[...writers.values()].map(({ writer }) => writer.rises())),
    progress(judged = true) {
      // The writer that says most: of ranks that print the same, the first.
      const [best] = telling().toSorted((a, b) => b.writer.weight() - a.writer.weight() || before(a, b))
      return best?.writer.progress(judged)
    },
    ranks(judged = true) {
      const out = new Map<number, Progress>()
      for (const { rank, writer } of writers.values()) {
        const progress = rank === undefined ? undefined : writer.progress(judged)
        if (rank !== undefined && progress !== undefined) out.set(rank, progress)
      }
      return out
    },
    phase: () => [...writers.values()].toSorted((a, b) => b.at - a.at)[0]?.writer.phase(),
  }
}

export type { Progress }
