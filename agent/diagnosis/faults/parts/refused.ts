// What became of a request that a server refused: the server goes on; a program that does not catch the error ends.
import type { Severity } from '../../../model/severity.ts'
import type { Seen } from './rules.ts'

const RAISED = /^\s{0,8}(?:\[rank ?\d{1,4}\]: ?)?(?:[\w.]{1,60}\.)?\w{1,40}(?:Error|Exception): /
/** What the server answered is in its access log. */
const ANSWERED = /" 4\d\d\b/
export const ended = ({ text, at }: Seen): boolean => RAISED.test(text[at] ?? '') && !text.slice(at + 1, at + 4).some((line) => ANSWERED.test(line))
export const outcome = (seen: Seen): string =>
  !ended(seen)
    ? 'It was refused; the server goes on with others.'
    : /\b4\d\d\b/.test(seen.message.slice(0, 80))
      ? 'The server refused it and goes on; the program that asked ended.'
      : 'The program ended by that.'
export const severityOf = (seen: Seen): Severity => (ended(seen) ? 'critical' : 'warning')
