// Judges log lines as they come: the few lines before are kept for each origin, so that a family can look back.
import type { LogLine } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { FaultFamily } from './faults/family.ts'
import { createSeenLines, cutLine, judgePassage, type SeenLines } from './passage.ts'
import { gatherFaults } from './root.ts'
import { createCandidates, type Scanner } from './scanner.ts'
import type { Knowledge } from './situation/knowledge.ts'
import { createSituations, type Situations } from './situation/situation.ts'
import { TRIES_AGAIN } from './tries-again.ts'
import { richRecords } from './unwrap/rich.ts'

/** Enough for a traceback above a message; at most this much for each of the origins that spoke last. */
const LINES_KEPT = 48
const CHARACTERS_KEPT = 65_536
const ORIGINS_KEPT = 512

/** So long a failure that its program may get over waits for the next line of its origin. */
const WAIT_MS = 2_000

type Know = () => Knowledge
type Waiting = { readonly number: number; readonly t: number; readonly family: FaultFamily }
type Window = {
  readonly lines: string[]
  characters: number
  firstLine: number
  readonly seenLines: SeenLines
  know: Know
  readonly situations: Situations
  waiting: readonly Waiting[]
}

/** `know`: asked where a fault was found. */
export type LogJudge = { readonly judge: (line: LogLine, know?: Know) => readonly Fault[] }

const ofOrigin =
  ({ origin }: LogLine): Know =>
  () =>
    origin.container === undefined ? {} : { container: origin.container }
function openWindow(line: LogLine): Window {
  const ofContainer = line.stream !== 'kernel' && line.origin.container_id !== undefined
  const situations = createSituations(() => window.know(), ofContainer)
  const window: Window = { lines: [], characters: 0, firstLine: 1, seenLines: createSeenLines(), know: ofOrigin(line), situations, waiting: [] }
  return window
}
const originOf = ({ stream, origin }: LogLine): string => `${stream} ${origin.container_id ?? origin.container ?? ''} ${origin.path ?? ''}`
const NONE: readonly Fault[] = []

function inFull(lines: readonly string[]): readonly string[] {
  const unwrap = richRecords(lines)
  return unwrap === undefined ? lines : lines.map((line) => unwrap(line) ?? line)
}

export function createLogJudge(scanner: Scanner): LogJudge {
  /** In the order of last use: the origin that was silent longest goes first. */
  const windows = new Map<string, Window>()

  /** Lines of one origin come in runs, and sources hand over the same origin object. */
  let last: { readonly origin: LogLine['origin']; readonly stream: LogLine['stream']; readonly window: Window } | undefined
  const windowOf = (line: LogLine): Window => {
    if (last?.origin === line.origin && last.stream === line.stream) return last.window
    const key = originOf(line)
    const window = windows.get(key) ?? openWindow(line)
    windows.delete(key)
    windows.set(key, window)
    if (windows.size > ORIGINS_KEPT) {
      const [oldest] = windows.keys()
      if (oldest !== undefined) windows.delete(oldest)
    }
    last = { origin: line.origin, stream: line.stream, window }
    return window
  }

  const forget = (window: Window): void => {
    while (window.lines.length > LINES_KEPT || (window.characters > CHARACTERS_KEPT && window.lines.length > 1)) {
      window.characters -= window.lines.shift()?.length ?? 0
      window.firstLine += 1
    }
  }

  const hits: number[] = []
  const note = (_: number, literal: number): void => void hits.push(literal)

  return {
    judge(line, know) {
      const window = windowOf(line)
      if (know !== undefined) window.know = know
      const fresh = line.text.includes('\n') ? inFull(line.text.split('\n')) : [line.text]
      let candidates: ReturnType<typeof createCandidates> | undefined
      for (const part of fresh) {
        const text = cutLine(part)
        const at = window.lines.push(text) - 1
        window.characters += text.length
        scanner.search.inString(text, note)
        if (hits.length === 0 && window.waiting.length === 0) continue
        candidates ??= createCandidates()
        const families = new Set(hits.flatMap((literal) => scanner.familiesOf(literal)))
        hits.length = 0
        const waits = [...families].filter(({ id }) => TRIES_AGAIN.some(({ family, failure }) => family === id && failure.test(text)))
        window.waiting = window.waiting.filter(({ family: { id } }) => !TRIES_AGAIN.some(({ family, again }) => family === id && again.test(text)))
        if (waits.length === 0 || window.waiting.some(({ t }) => line.t - t >= WAIT_MS)) {
          for (const { number, family } of window.waiting) if (number >= window.firstLine) candidates.add(number - window.firstLine, [family])
          window.waiting = []
        }
        window.waiting = [...window.waiting, ...waits.map((family) => ({ number: window.firstLine + at, t: line.t, family }))].slice(-LINES_KEPT)
        candidates.add(
          at,
          [...families].filter((family) => !waits.includes(family)),
        )
      }
      const found =
        candidates === undefined
          ? NONE
          : judgePassage({ lines: window.lines, firstLine: window.firstLine, candidates: candidates.list() }, window.seenLines, window.situations)
      forget(window)
      if (candidates !== undefined) window.seenLines.forgetBefore(window.firstLine)
      if (found.length <= 1) return found
      const faults = gatherFaults()
      for (const fault of found) faults.add(fault)
      return faults.ordered()
    },
  }
}
