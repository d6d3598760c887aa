// What a traceback shows of the call that failed: the user's own line as it is written, what it passes on, and whose code refused it.
import type { Piece } from '../faults/remedies/plan.ts'
import type { Frame } from '../traceback/traceback.ts'
import { checkoutOf, frameName, isUserFrame } from '../traceback/user-frame.ts'
import type { EndContext } from './end-kind.ts'
import { packageOf } from './python-packages.ts'

export type Call = { readonly callee: string; /** Names and attributes among its arguments; no literals. */ readonly names: readonly string[] }
export type FailedCall = {
  /** The deepest frame of the user's own. */
  readonly own: Frame | undefined
  readonly deepest: Frame | undefined
  /** The package whose code failed, where it was not the user's. */
  readonly library: string | undefined
  /** What the own line called. */
  readonly call: Call | undefined
}

/** A line that may hold a key is shown to nobody. */
const SECRET = /(?:token|passw\w{0,8}|secret|key|credential)\w{0,12}['"]?\]? ?[=:(,] ?[rfb]?['"][^'"]{6}|\bhf_\w{8}|\bsk-\w{8}/i
const SHOWN = 100
/** A line of source, as a remedy may quote it. */
export const shown = (code: string | undefined): string | undefined =>
  code === undefined || code === '' || SECRET.test(code) ? undefined : code.length <= SHOWN ? code : `${code.slice(0, SHOWN)}…`

const NO_CALLEE =
  /^(?:if|elif|while|return|raise|assert|with|not|in|and|or|lambda|print|isinstance|len|str|int|float|bool|range|enumerate|zip|list|tuple|dict|set|super)$/
const NAME = /^[A-Za-z_]\w{0,40}(?:\.\w{1,40}|\[(?:'[\w-]{1,40}'|"[\w-]{1,40}"|\w{1,20})\]){0,3}$/
const NO_NAME = /^(?:None|True|False|self|cls|Exception|os\.environ)$|^(?:torch|np|tf|jnp)\.\w+$/
const MOST = 4

/** The arguments of a call, from behind its bracket on, split at the commas of its own depth. */
function argumentsIn(rest: string): readonly string[] {
  const out: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < rest.length; at += 1) {
    const one = rest.charAt(at)
    if ('([{'.includes(one)) depth += 1
    else if (')]}'.includes(one)) depth -= 1
    if (depth < 0) {
      out.push(rest.slice(from, at))
      return out
    }
    if (one === ',' && depth === 0) {
      out.push(rest.slice(from, at))
      from = at + 1
    }
  }
  out.push(rest.slice(from))
  return out
}
export const namesIn = (parts: readonly string[]): readonly string[] =>
  [...new Set(parts.map((one) => one.trim().replace(/^\w{1,40} ?=(?!=) ?/, '')))].filter((one) => NAME.test(one) && !NO_NAME.test(one)).slice(0, MOST)

/** The call in a line of source. `inside`: the function that the next frame is in. */
export function callIn(code: string | undefined, inside?: string): Call | undefined {
  const line = code?.replaceAll('super().', 'super.') ?? ''
  const calls = [...line.matchAll(/(?<![\w.'"])([A-Za-z_][\w.]{0,80})\(/g)].filter(([, callee = '']) => !NO_CALLEE.test(callee))
  const named = calls.find(([, callee = '']) => {
    const last = callee.split('.').at(-1) ?? ''
    return last === inside || (inside === '__init__' && /^[A-Z]/.test(last))
  })
  const found = named ?? calls[0]
  if (found?.[1] === undefined) return undefined
  return { callee: found[1].replace(/^super\./, 'super().'), names: namesIn(argumentsIn(line.slice(found.index + found[0].length))) }
}

const STANDARD = /^<|[\\/]lib(?:64)?[\\/]python[\d.]{0,6}[\\/](?!site|dist)/
const ownerOf = ({ file }: Frame): string | undefined => packageOf(file) ?? checkoutOf(file)

/** The error was raised below the user's own code. */
export const failedInLibrary = ({ error }: Pick<EndContext, 'error'>): boolean => {
  const deepest = error?.frames.at(-1)
  return deepest !== undefined && (!isUserFrame(deepest) || checkoutOf(deepest.file) !== undefined)
}

export function failedCall({ error, facts }: Pick<EndContext, 'error' | 'facts'>): FailedCall {
  const frames = error?.frames ?? []
  const at = frames.findLastIndex((frame) => frame.line !== undefined && frameName(frame) === facts.frame)
  const own = frames[at]
  const deepest = frames.findLast(({ file }) => !STANDARD.test(file)) ?? frames.at(-1)
  const call = callIn(own?.code, frames[at + 1]?.name)
  // `main()` says nothing of what failed below it.
  const tells = call !== undefined && (call.names.length > 0 || frames[at + 1] !== undefined)
  return { own, deepest, library: deepest === undefined || deepest === own ? undefined : ownerOf(deepest), call: tells ? call : undefined }
}

const KEYWORD =
  /^(?:if|elif|else|for|in|not|and|or|is|while|return|raise|assert|with|as|lambda|await|yield|from|import|None|True|False|self|cls|print|def|class|del|pass|try|except)$/
/** The values in a line of source: no functions, attributes or targets of an assignment. */
export function identifiersIn(code: string | undefined): readonly string[] {
  const line = (code ?? '')
    .replace(/#.*$/, '')
    .replace(/^[\w., ]{1,80}(?<![=!<>+*/-])=(?!=)/, '')
    .replaceAll(/(['"])(?:(?!\1).)*\1/g, "''")
  return [
    ...new Set(
      [...line.matchAll(/(?<![\w.])([A-Za-z_]\w{0,40}(?:\.[a-z_]\w{0,40}){0,2})(?![\w(]|\.\w| ?=(?!=))/g)].flatMap(([, one = '']) =>
        KEYWORD.test(one) || NO_NAME.test(one) ? [] : [one],
      ),
    ),
  ].slice(0, MOST)
}

/** Who called the function that failed, where that is the user's own too. */
export function calledFrom({ error, facts }: Pick<EndContext, 'error' | 'facts'>): Piece {
  const frames = error?.frames ?? []
  const at = frames.findLastIndex((frame) => frame.line !== undefined && frameName(frame) === facts.frame)
  const before = frames[at - 1]
  const code = shown(before?.code)
  if (at !== frames.length - 1 || before === undefined || code === undefined || !isUserFrame(before) || frameName(before) === facts.frame) return undefined
  return { text: `It was called at ${frameName(before)}, \`${code}\`: look at what is passed there.` }
}
