// Lines about a failure that is not this run's: an earlier run's, a test's that was expected to fail, one in a quotation.

/** `Previous run ended with: RuntimeError: …`, `the last attempt crashed: …`: an ending is named, and then what it said. */
const EARLIER =
  /\b(?:previous|prior|earlier|last) (?:run|attempt|job|session|execution|launch|start)\b[^:\n]{0,60}\b(?:ended|failed|died|crashed|exited|aborted|stopped|finished|terminated|gave)\b/i
/** `The run of Monday crashed with …`. */
const NAMED = /\b(?:the|a|that) (?:run|job|training) (?:of|on|from) \S[^:\n]{0,40}\b(?:ended|failed|died|crashed|aborted|stopped)\b/i
/** A list of problems in a manual, a search in another file, a line of a data set of questions. */
const SPOKEN =
  /^\s*(?:[*+-]|\d{1,2}[.)])\s+`[^`\n]{3,200}` ?[:–-]|^\s*(?:\$|\w{1,32}@[\w.-]{1,60}:\S{0,200}[$#]) (?:sudo )?(?:z?grep|rg|ack|awk|sed|echo|printf)\b|^\s*\{ ?"(?:prompt|instruction|question|completion|conversations|messages)" ?:/
/** pytest's marks of tests that need not pass, where pytest puts them: before the test, or behind it. */
const MEANT = /^\s*(?:XFAIL|XPASS|SKIPPED)\b|::\S{1,200} {1,4}(?:XFAIL|XPASS|SKIPPED)\b|\bxfailed\b/

/** `was the reason last week, see ticket 412`: prose about another day. */
const ANOTHER_DAY =
  /^(?!\s*(?:[\w.]{1,80}\.)?\w{1,60}(?:Error|Exception|Warning):)[^\n]{0,200}\b(?:was|were|had|happened|got|saw|failed|died)\b[^\n]{0,60}\b(?:last (?:week|month|year|night)|yesterday)\b/i

/** The line itself says so, before the words of the failure or beside them. */
export const isReported = (line: string): boolean => EARLIER.test(line) || NAMED.test(line) || SPOKEN.test(line) || MEANT.test(line) || ANOTHER_DAY.test(line)

/** A mail's or an issue's mark of a quotation. */
export const isQuoted = (line: string): boolean => /^\s{0,3}> ?\S/.test(line)
