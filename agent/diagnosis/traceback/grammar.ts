// What one line can be within a traceback: of Python, IPython, rich, PyTest's neighbours and faulthandler. One token a line.
import type { Frame } from './traceback.ts'

export type Token =
  | { readonly type: 'header'; readonly lead: string; readonly indent: number; readonly name: string | undefined; readonly notebook: boolean }
  | { readonly type: 'frame'; readonly frame: Frame; readonly indent: number; readonly needsLine: boolean; readonly innermostFirst: boolean }
  /** The first half of a boxed frame whose path was wrapped. */
  | { readonly type: 'half'; readonly text: string }
  /** `----> 5 code`: the line number of the notebook frame above. */
  | { readonly type: 'arrow'; readonly line: number }
  /** `inner`: Dagster's, where the cause follows what it caused. */
  | { readonly type: 'link'; readonly link: 'cause' | 'context' | 'inner' }
  | {
      readonly type: 'raised'
      readonly name: string
      readonly wrapper: string | undefined
      readonly module: string | undefined
      readonly message: string
      readonly strict: boolean
    }
  | { readonly type: 'fatal'; readonly signal: string }
  | { readonly type: 'threads'; readonly current: boolean }
  /** Source lines, marks under them, blank lines, borders of boxes and groups. */
  | { readonly type: 'detail' }
  | { readonly type: 'blank' }
  | { readonly type: 'other' }

const DETAIL: Token = { type: 'detail' }
const BLANK: Token = { type: 'blank' }
const OTHER: Token = { type: 'other' }

/** An exception group and a box put bars before their lines. */
const GUTTER = /^(\s*)(?:[|│┃]\s?)+/
const BORDER = /^\s*(?:[+|]-*\+?-{4,}|[╭╰┌└├][─━](?!▶)|[─━]{8,}|\+-{4,})/
const HEADER = /Traceback \((?:most recent call last|innermost last)\):?|[╭┌][─━]+ ?Traceback \(most recent call last\)/
/** Where a page has closed the gap, by what ends its name; the dashes above it may be glued to it. */
const NOTEBOOK_HEADER = /^-*([A-Z]\w{2,60}?)(?:\s{2,}|(?<=Error|Exception|Interrupt|NotMet)\s?)Traceback \(most recent call last\)/
/** The closing quote and even the opening one may be lost, without them it begins its line; Markdown swallows `<module>` behind "in". */
const FRAME = /(?:File ["“”]|^\W{0,80}File )([^"“”\n]{1,400}?)["“”]?, line (\d{1,7})(?:(,)? in (\S[^\n]{0,200})|, in(?=\s*$))?(?:\s|$)/
const BOXED_FRAME = /^((?:\/|~|\.{1,2}\/|[A-Za-z]:\\|in |<)?[^\s:│]{1,300}\.\w{1,5}|<[\w .:-]{1,80}>):(\d{1,7}) in (\S{1,200})/
const HALF_PATH = /^(?:\/|~\/|[A-Za-z]:\\)[^\s:]{10,300}$/
const HALF_FRAME = /^File "[^"\n]{8,300}$/
const NOTEBOOK_FRAME = /^\[?((?:\/|~[\\/]|[A-Za-z]:\\)[^\s\]]{1,300}\.\w{1,5}|<ipython-input-[\w-]{1,60}>)(?:\]\([^)]{0,200}\))? in (\S[^\n]{0,200})$/
const CELL =
  /^(?:(?:Cell )?In(?:put In)? ?\[(\d{1,6})\])(?:, line (\d{1,7}))?(?:, in (.{1,120}))?$|^Cell In ?\[(\d{1,6})\], line (\d{1,7})(?:, in (.{1,120}))?$|^Input In \[(\d{1,6})\](?:, in (.{1,120}))?$/
/** Of VS Code: the cell's place in its file, not the number of its run. */
const PLACED_CELL =
  /^((?:\/|~\/|[A-Za-z]:\\)[^\n]{1,300}\.ipynb Cell \d{1,5})(?: line (?:\w{1,40} )?(\d{1,7})| in <(?:cell line: \d{1,7}|module)>\(\)| in (\w{1,80}\([^\n]{0,200}\)))$/
const FILE_FRAME = /^File ((?:\/|~\/|[A-Za-z]:\\)[^\s:"]{1,300}):(\d{1,7})(?:, in (.{1,200}))?$/
const ARROW = /^\s*(?:-{2,}>|❱) ?(\d{1,7})\b/
const CAUSE = /The above exception was the direct cause of the following exception/
const CONTEXT = /During handling of the above exception, another exception occurred/
const CAUSED_BY = /^\s{0,8}The above exception (?:was caused by|occurred during handling of) the following exception:$/
const MARKS = /^[\s|│]*[~^]+[\s~^]*$/
const REPEATED = /^\s*\[Previous line repeated \d/
const THREADS = /^(Current t|T)hread 0x[0-9a-f]{1,20}\b.{0,80}\(most recent call first\):?/
const FATAL = /Fatal Python error: ([^\n]{1,400}?)\s*$|Windows fatal exception: ([^\n]{1,80}?)\s*$/

/** What ends the names of exceptions, in Python and elsewhere. */
const SUFFIX = '(?:Error|Exception|Interrupt|Exit|Failure|Timeout|Unavailable|NotFound|Empty|Unsupported|OutOfResources|Denied|Invalid\\w{0,20}|Fault|Panic)'
const STRICT = new RegExp(
  `^((?:[A-Za-z_]\\w{0,60}\\.){0,8})(\\w{0,60}${SUFFIX}|(?<=\\b(?:exceptions?|errors?)\\.)[A-Z]\\w{2,60}|StopIteration|StopAsyncIteration|BrokenProcessPool|\\w{0,40}Exited)(?:\\((\\w[\\w.]{0,60})\\)| \\(see above for traceback\\))?(?:: ?(.*)|\\s*)$`,
)
/** After frames anything that looks like a name will do: `socket.error: …`, `queue.Empty`. */
const LOOSE = /^((?:[A-Za-z_]\w{0,60}\.){0,8})([A-Za-z_]\w{0,80})(?:\((\w[\w.]{0,60})\))?(?:: (.*)|:?\s*)$/
const NO_NAME = /^(?:wandb|srun|slurmstepd|INFO|WARNING|ERROR|DEBUG|Killed|Aborted|Terminated|Done|done|Output|Command|Note|Hint|Epoch|Step)$/
const WARNING = /Warning$/
/** Two processes wrote at once: `ValueErrorValueError: : x`. */
const DOUBLED = /^((?:[\w.]{1,80}?\.)?[A-Z]\w{1,60}?(?:Error|Exception))\1(?=\W|$)/
const SAID_TWICE = /^(.{6,}?)\1$/

/** Marks under a line of source, borders of boxes, repeated frames. */
export const isMarks = (text: string): boolean => MARKS.test(text) || BORDER.test(text) || REPEATED.test(text)
const indentOf = (text: string): number => text.length - text.trimStart().length

function raised(text: string, open = false): Token | undefined {
  const twice = DOUBLED.test(text)
  const line = text.replace(DOUBLED, '$1')
  const strict = STRICT.exec(line)
  const match = strict ?? LOOSE.exec(line)
  if (match === null) return undefined
  const [, module = '', own = '', inner, message = ''] = match
  if (NO_NAME.test(own) && module === '') return undefined
  // `Exit: 143`: what a shell ended with.
  if (own === 'Exit' && module === '' && /^\s*\d{1,3}\s*$/.test(message)) return undefined
  // A name alone must look like one: `queue.Empty`, `error: …`, not a word of a sentence.
  if (strict === null && module === '' && !/[A-Z]/.test(own.slice(1)) && !(own === 'error' || own === 'timeout')) return undefined
  // Where warnings are errors it ends a traceback as they do.
  if (WARNING.test(own) && !(open && message !== '' && inner === undefined)) return undefined
  // A line of source that lost its indentation: `handler.close(signal)`.
  if (strict === null && message === '' && !/^[A-Z]/.test(inner?.split('.').at(-1) ?? own) && !/error|timeout/i.test(own)) return undefined
  return {
    type: 'raised',
    name: inner?.split('.').at(-1) ?? own,
    wrapper: inner === undefined ? undefined : own,
    module: module === '' ? undefined : module.slice(0, -1),
    message: (twice ? message.replace(/^[: ]+/, '').replace(SAID_TWICE, '$1') : message.replace(/^[: ]+/, '')).trim(),
    strict: strict !== null,
  }
}

function frameToken(text: string, body: string): Token | undefined {
  const python = body.includes('ine ') ? FRAME.exec(body) : null
  if (python !== null) {
    const [, file = '', line = '', comma, name] = python
    return {
      type: 'frame',
      frame: { file, line: Number(line), name: name?.trim() },
      indent: indentOf(text),
      needsLine: false,
      innermostFirst: name !== undefined && comma === undefined,
    }
  }
  const bare = body.trim().replace(/\s*[│┃]$/, '')
  const boxed = BOXED_FRAME.exec(bare)
  if (boxed?.[1] !== undefined && boxed[2] !== undefined)
    return { type: 'frame', frame: { file: boxed[1], line: Number(boxed[2]), name: boxed[3] }, indent: 0, needsLine: false, innermostFirst: false }
  const file = FILE_FRAME.exec(bare)
  if (file?.[1] !== undefined && file[2] !== undefined)
    return { type: 'frame', frame: { file: file[1], line: Number(file[2]), name: file[3] }, indent: 0, needsLine: false, innermostFirst: false }
  const notebook = NOTEBOOK_FRAME.exec(bare)
  if (notebook?.[1] !== undefined)
    return { type: 'frame', frame: { file: notebook[1], line: undefined, name: notebook[2] }, indent: 0, needsLine: true, innermostFirst: false }
  const placed = PLACED_CELL.exec(bare)
  if (placed?.[1] !== undefined)
    return { type: 'frame', frame: { file: placed[1], line: undefined, name: placed[3] }, indent: 0, needsLine: true, innermostFirst: false }
  const cell = CELL.exec(bare)
  if (cell !== null) {
    const [number, line, name] = [cell[1] ?? cell[4] ?? cell[7], cell[2] ?? cell[5], cell[3] ?? cell[6] ?? cell[8]]
    return {
      type: 'frame',
      frame: { file: `<ipython-input-${number}>`, line: line === undefined ? undefined : Number(line), name },
      indent: 0,
      needsLine: line === undefined,
      innermostFirst: false,
    }
  }
  return undefined
}

/** Pasted with a blank or two before it. */
const PASTED =
  /^ {1,2}(?:(?:Value|Runtime|Type|Key|Index|OS|IO|Import|ModuleNotFound|Attribute|Assertion|NotImplemented|FileNotFound|Permission|Connection|Environment|Memory|Name|ZeroDivision)Error: \S+ \S)/
const pasted = (body: string): Token => (PASTED.test(body) ? (raised(body.trim()) ?? OTHER) : OTHER)

/** What a line is. `open`: a traceback is being read, so that looser forms count. */
export function tokenOf(text: string, open: boolean): Token {
  if (text.trim() === '') return BLANK
  const header = text.includes('raceback') ? HEADER.exec(text) : null
  if (header !== null) {
    const notebook = NOTEBOOK_HEADER.exec(text.trim())
    return {
      type: 'header',
      lead: text.slice(0, header.index).trim(),
      indent: indentOf(text),
      name: notebook?.[1],
      notebook: notebook !== null,
    }
  }
  if (CAUSE.test(text)) return { type: 'link', link: 'cause' }
  if (CONTEXT.test(text)) return { type: 'link', link: 'context' }
  if (CAUSED_BY.test(text)) return { type: 'link', link: 'inner' }
  const fatal = FATAL.exec(text)
  if (fatal !== null) return { type: 'fatal', signal: fatal[1] ?? fatal[2] ?? '' }
  const threads = THREADS.exec(text)
  if (threads !== null) return { type: 'threads', current: threads[1] === 'Current t' }
  if (BORDER.test(text)) return DETAIL
  const arrow = open ? ARROW.exec(text.replace(GUTTER, '$1')) : null
  if (arrow !== null) return { type: 'arrow', line: Number(arrow[1]) }
  if (MARKS.test(text) || REPEATED.test(text)) return DETAIL
  const gutter = GUTTER.test(text)
  const body = gutter ? text.replace(GUTTER, '$1') : text
  // A message may quote a frame.
  const quoting = /^[A-Za-z_][\w.]{0,120}: .*File "/.test(body) ? raised(body) : undefined
  if (quoting?.type === 'raised' && quoting.strict) return quoting
  const frame = frameToken(text, body)
  if (frame !== undefined) return frame
  const inside = body.trim().replace(/\s*[│┃]$/, '')
  // PowerShell breaks long lines of a program's errors.
  if (open && HALF_FRAME.test(inside)) return { type: 'half', text: inside }
  if (open && HALF_PATH.test(inside)) return { type: 'half', text: inside }
  if (indentOf(body) > 0 && !gutter) return open ? DETAIL : pasted(body)
  const named = raised(inside, open)
  return named !== undefined && (open || (named.type === 'raised' && named.strict)) ? named : OTHER
}
