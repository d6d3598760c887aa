// Judges log lines as they come: the few lines before are kept for each origin, so that a family can look back.
import type { LogLine } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { createTold, cutLine, judgePassage, type Told } from './passage.ts'
import { gatherFaults } from './root.ts'
import { createCandidates, type Scanner } from './scanner.ts'

/** Enough for a traceback above a message; at most this much for each of the origins that spoke last. */
const LINES_KEPT = 48
const CHARACTERS_KEPT = 65_536
const ORIGINS_KEPT = 512

type Window = { readonly lines: string[]; characters: number; firstLine: number; readonly told: Told }

export type LogJudge = { readonly judge: (line: LogLine) => readonly Fault[] }

const originOf = ({ stream, origin }: LogLine): string => `${stream} ${origin.container_id ?? origin.container ?? ''} ${origin.path ?? ''}`
const NONE: readonly Fault[] = []

export function createLogJudge(scanner: Scanner): LogJudge {
  /** In the order of last use: the origin that was silent longest goes first. */
  const windows = new Map<string, Window>()

  const windowOf = (origin: string): Window => {
    const known = windows.get(origin)
    if (known !== undefined) {
      windows.delete(origin)
      windows.set(origin, known)
      return known
    }
    const window: Window = { lines: [], characters: 0, firstLine: 1, told: createTold() }
    windows.set(origin, window)
    if (windows.size > ORIGINS_KEPT) for (const oldest of windows.keys()) return (windows.delete(oldest), window)
    return window
  }

  const forget = (window: Window): void => {
    while (window.lines.length > LINES_KEPT || (window.characters > CHARACTERS_KEPT && window.lines.length > 1)) {
      window.characters -= window.lines.shift()?.length ?? 0
      window.firstLine += 1
    }
    window.told.forgetBefore(window.firstLine)
  }

  return {
    judge(line) {
      const window = windowOf(originOf(line))
      const text = line.text
      const fresh = text.includes('\n') ? text.split('\n').map(cutLine) : [cutLine(text)]
      const first = window.lines.length
      const candidates = createCandidates()
      let any = false
      for (const [index, part] of fresh.entries()) {
        window.lines.push(part)
        window.characters += part.length
        scanner.search.inString(part, (_, literal) => {
          any = true
          candidates.add(first + index, scanner.familiesOf(literal))
        })
      }
      const found = any ? judgePassage({ lines: window.lines, firstLine: window.firstLine, candidates: candidates.list() }, window.told) : NONE
      forget(window)
      if (found.length <= 1) return found
      const faults = gatherFaults()
      for (const fault of found) faults.add(fault)
      return faults.ordered()
    },
  }
}
