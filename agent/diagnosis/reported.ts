// Lines about a failure that is not this run's: an earlier run's, a test's that was expected to fail, one in a manual, in code or in a quotation.

/**
 * `Previous run ended with: RuntimeError: …`: an ending is named, and then what it said. Behind the words of a failure the sentence is about this one;
 * the last of several attempts is this run, too.
 */
const EARLIER =
  /^(?:(?!rror|Xid|memory|[Ff]ail|NCCL).){0,90}?\b(?:(?:previous|prior|earlier) (?:run|attempt|job|session|execution|launch|start)|last (?:run|session))\b[^:\n]{0,60}\b(?:ended|failed|died|crashed|exited|aborted|stopped|terminated|gave)\b/i
/** `The run of Monday crashed with …`: it is named by its day. */
const NAMED =
  /\b(?:the|a|that) (?:run|job|training) (?:of|on|from) (?:\w{2,6}day|yesterday|last|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|\d{4}-\d\d)\b[^:\n]{0,40}\b(?:ended|failed|died|crashed|aborted|stopped)\b/i
/** A list of problems in a manual, a search in another file, a line of a data set of questions. */
const SPOKEN =
  /^\s*(?:[*+-]|\d{1,2}[.)])\s+`[^`\n]{0,120}(?:rror|ault|NCCL|CUDA|memory|[Ff]ail|denied|not found)[^`\n]{0,120}` ?[:–-]|^\s*(?:\$|\w{1,32}@[\w.-]{1,60}:\S{0,200}[$#]) (?:sudo )?(?:z?grep|rg|ack|awk|sed|echo|printf)\b|^\s*\{ ?["'](?:prompt|instruction|question|completion|(?:conversations|messages)["'] ?: ?\[)/
/** A list of changes. */
const CHANGED = /^\s*[*+-]\s+(?:\w{1,20}: )?(?:[Ff]ix(?:ed|es)?|[Aa]void(?:s|ed)?|[Hh]andle[sd]?|[Pp]revent(?:s|ed)?|[Ii]mproved?|[Rr]emoved?)\b/
/** A help text, and code that prints it. */
const CODE = /\b(?:what to do|whether to \w{2,16}|what happens) (?:when|if)\b|^\s*(?:print|printf|puts|log(?:ger|ging)?\.\w{3,9}|warnings\.warn)\(\s*[rbf]?["']/
/** pytest's marks of tests that need not pass, where pytest puts them: before the test, or behind it. */
const MEANT = /^\s*(?:XFAIL|XPASS|SKIPPED)\b|::\S{1,200} {1,4}(?:XFAIL|XPASS|SKIPPED)\b|^=.{0,200}\bxfailed\b/
/** A test or a bench that provokes it. */
const EXPECTED = /\b(?:got|caught|saw|raised|hit) (?:the |an )?expected (?:error|exception|failure|panic)\b|\((?:as )?expected\)\s*$/i

/** What to do about an error that may come: `If you encounter the error '…'`. */
const HINT =
  /^(?:(?!rror)[^\n]){0,100}\b[Ii]f you (?:encounter|see|get|run into|hit|face|experience) (?:the |this |an? |any )?(?:following )?(?:errors?|messages?|problems?|issues?)\b/

/** The line itself says so, before the words of the failure or beside them. */
export const isReported = (line: string): boolean => [EARLIER, NAMED, SPOKEN, CHANGED, CODE, MEANT, EXPECTED, HINT].some((form) => form.test(line))

/** A mail's, an issue's or a chat's mark of a quotation; Triton's table of models begins its rows in the same way. */
const QUOTED =
  /^\s{0,3}(?:(?:user|human|assistant|bot|system|ai|you|question|answer|[QA]) ?)?> ?\S|^\s{0,4}\|\s{1,8}(?!.{0,200}\| UNAVAILABLE: )\S|^\s{0,3}(?:user|human|assistant|question|answer|prompt|[QA]) ?: ?\S/i
/** A comment of a program or a script. */
const COMMENT = /^\s*(?:#|\/\/)\s/
/** `was the reason last week, see ticket 412`: prose about another day. */
const ANOTHER_DAY =
  /^(?!\s*(?:[\w.]{1,80}\.)?\w{1,60}(?:Error|Exception|Warning):)[^\n]{0,200}\b(?:was|were|had|happened|got|saw|failed|died)\b[^\n]{0,60}\b(?:last (?:week|month|year|night)|yesterday)\b/i

/** The line says itself that it only warns, as loggers do or Python's `warnings`: whether the program went on shows below. */
export const isWarned = (line: string): boolean => /^.{0,80}\bWARN(?:ING)?\b|^\S{0,300}\.py:\d{1,6}: \w{0,40}Warning: |^\s{1,8}(?:warnings\.)?warn\(/.test(line)

/** What the program does instead, in the line that says what failed. */
export const goesRound = (line: string): boolean =>
  /\b(?:disabled, using|fall(?:ing|s)? back|fallback|skipp(?:ed|ing)|ignor(?:ed|ing)|retry(?:ing)?|trying again|going on|continuing)\b|\busing .{1,60} instead\b/i.test(
    line,
  )

/** So may a line about this run look, too: it counts as another's only where the text shows below that this run goes on. */
export const isQuoted = (line: string): boolean => QUOTED.test(line) || COMMENT.test(line) || ANOTHER_DAY.test(line)
