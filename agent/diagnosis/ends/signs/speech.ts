// Lines by which a program goes on speaking after an error that it printed itself. What it did not catch is mostly its last word.
import type { ReadLine } from '../../traceback/line.ts'
import { isEnding } from './life.ts'

/** `[loader] …`, `### Response`, `seed 2 …`: who speaks, or what of. */
const LEAD = /^(?:\[[a-z][a-z _-]{1,30}\](?= )|#{1,6}(?= [a-z])|(?:[a-z][a-z_-]{1,20} ){1,3}(?=#?\d))/i
/** Levels of loggers, communication libraries of other ranks, and pages of prose. */
const NO_LEAD = /^\[?(?:info|warn\w*|error|debug|bt|TRT|frame|rank|line|at|pid|code|GPU|thread|process|worker)\b/i
const LIBRARY = /\bNCCL\b|\bc10d?\b|MPI/
const PROSE = /\?\s*$|^(?:I|My|We|Please|Thanks?|How)\b/
/** Of an issue, whose next heading is no word of the program. */
const OF_POST =
  /^#{1,6} \W{0,6}(?:(?:full|relevant|the|my|your|complete|minimal|current|expected|actual|additional|possible|steps to|how to) )?(?:error|exception|traceback|stack ?trace|logs?|bug|descri\w{2,6}|(?:to )?reproduc\w{1,8}|steps|environment|system|versions?|behaviou?r|screenshots?|code|output|what|issue|problem|context|config\w{0,9}|hardware|software|install\w{0,6}|checklist|information)\b/i
const KEPT = 64
/** The rest of a message stands directly below its first line. */
const MESSAGE_LINES = 3

export type Speech = {
  /** `failedAt`: of the last line that reported a failure, 0 where none did. */
  readonly add: (line: ReadLine, failedAt: number) => void
  /** Number of the last line that begins as one before the failure did; 0 where none does. */
  readonly spokeAt: () => number
  /** Of the last line that is neither the rest of a message nor about an end. */
  readonly plainAt: () => number
}

export function createSpeech(): Speech {
  const leads = new Map<string, number>()
  let spokeAt = 0
  let plainAt = 0
  return {
    add({ text, number, record, writer }, failedAt) {
      if (record || !/^[\w#[]/.test(text) || LIBRARY.test(text) || OF_POST.test(text)) return
      const lead = NO_LEAD.test(text) ? undefined : LEAD.exec(text)?.[0]
      if (lead !== undefined) {
        const since = leads.get(lead)
        if (since === undefined && leads.size < KEPT) leads.set(lead, number)
        if (failedAt > 0 && since !== undefined && since < failedAt && !isEnding(text)) spokeAt = number
      }
      if (writer === '' && failedAt > 0 && number > failedAt + MESSAGE_LINES && !isEnding(text) && !PROSE.test(text)) plainAt = number
    },
    spokeAt: () => spokeAt,
    plainAt: () => plainAt,
  }
}
