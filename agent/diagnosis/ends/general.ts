// What any exception tells of its cause when no rule knows its message: whose check refused which call of the user's, with which values, and what to look at first.
import type { Piece } from '../faults/remedies/plan.ts'
import { frameName } from '../traceback/user-frame.ts'
import { choicesIn } from './choices.ts'
import type { EndContext } from './end-kind.ts'
import { failedCall, type FailedCall } from './failed-call.ts'
import { packageOf } from './python-packages.ts'

const CHECK =
  /^(?:Value|Assertion|Type|NotImplemented|Runtime|Key|Attribute)Error$|(?:Config\w{0,16}|Validation|Argument\w{0,6}|Usage|Setup|Setting\w{0,3}|Param\w{0,8})(?:Error|Exception)$/
/** A library that fails by itself names nothing that its caller could correct. */
const OWN_FAULT = /^assert |values to unpack|has no attribute|object is not|unsupported operand|please report|internal error|file a bug/i
const NAMED = /[`'"“]([A-Za-z_]\w{1,40})[`'"”]|\b([a-z]\w{0,40}(?:_[a-z0-9]+)+)\b|\b([a-z]\w{1,30})(?:\.shape|\.dtype)?=/g

/** What a message is about decides what is printed of a value. */
const look = (message: string): ((name: string) => string) =>
  /\bNaN\b|\binfinity\b/i.test(message)
    ? (name) => `np.isnan(${name}).sum()`
    : /shape|size|rank\b|ndim|dim(?:ension)?s?\b|channels/i.test(message)
      ? (name) => `${name}.shape`
      : /dtype/i.test(message)
        ? (name) => `${name}.dtype`
        : /length|empty|at least one|no (?:samples|images|files|data)|number of/i.test(message)
          ? (name) => `len(${name})`
          : /\btypes?\b|<class|expected/i.test(message)
            ? (name) => `type(${name})`
            : (name) => name
const inLine = (words: readonly string[]): string => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`)

/** The arguments that the message names, else those that the line passes. */
function concerned(message: string, { call }: FailedCall): readonly string[] {
  const said = [...new Set([...message.matchAll(NAMED)].flatMap((match) => match.slice(1).find((one) => one !== undefined) ?? []))]
  const passed = call?.names ?? []
  const both = passed.filter((name) => said.includes(name.split('.').at(-1) ?? name))
  return both.length > 0
    ? both
    : said.some((name) => name.includes('_'))
      ? said.filter((name) => name.includes('_')).slice(0, 3)
      : passed.length > 0
        ? passed
        : said.slice(0, 3)
}

/** A library looked at what it was given, and said what it does not accept. */
const refused = ({ error }: EndContext, { deepest, library }: FailedCall): boolean =>
  error !== undefined &&
  library !== undefined &&
  CHECK.test(error.name ?? '') &&
  error.message !== '' &&
  !OWN_FAULT.test(error.message) &&
  (deepest?.code === undefined || /^raise\b|^assert\b/.test(deepest.code))

const CONDITION = /\b(?:should|must|ha(?:s|ve) to|needs? to|can ?not|can't|expected|requires?)\b/i
const TYPE = /of type <class '([\w.]{1,40})'>|\bgot (?:an? )?(?:<class )?'?(list|tuple|dict|str|int|float|NoneType|ndarray|Tensor)\b/
/** Nothing was found where data should be. */
export const EMPTY =
  /length 0\b|\bempty\b|\bfound 0 |\b0 (?:images|files|samples|examples)|num_samples=0|[Nn]o (?:images|files|samples|data|examples)\b[^\n]{0,30}(?:found|in)\b/
const aspect = (words: string): string =>
  /dtype/.test(words) ? 'dtypes' : /shape|size|dim/.test(words) ? 'shapes' : /device/.test(words) ? 'devices' : /len\(/.test(words) ? 'lengths' : 'values'

/** `print(x.shape, y.shape)` before the line; nothing where no name is known. */
export function printed(message: string, { own, call }: FailedCall): Piece {
  const names = call?.names ?? []
  if (own === undefined || names.length === 0) return undefined
  return { text: `See what that line works on: put print(${names.map(look(message)).join(', ')}) before it.` }
}

/** Advice for an exception of which no more is known than what its traceback and its message say. */
export function general(context: EndContext): readonly Piece[] {
  const { error } = context
  if (error === undefined) return []
  const failed = failedCall(context)
  const { own, deepest, library, call } = failed
  const message = `${error.message}\n${error.tail.split('\n', 3).join('\n')}`
  const at = own === undefined ? undefined : `${call === undefined ? '' : `in ${call.callee}(…) `}at ${frameName(own)}`
  const choices = choicesIn(message)
  if (choices !== undefined && !choices.list.some((one) => one === choices.given))
    return [
      {
        text: `Use one of those that the message lists: ${choices.list.join(', ')}${choices.given === undefined ? '' : ` (${choices.given} is not among them)`}${at === undefined ? '' : `, ${at}`}.`,
      },
      printed(message, failed),
    ]
  if (refused(context, failed)) {
    const names = concerned(error.message, failed)
    const what = names.length === 0 ? 'what the message names' : inLine(names)
    const given = own === undefined ? 'what it was given' : `what ${call === undefined ? '' : `${call.callee}(…) at `}${frameName(own)} passes`
    const type = TYPE.exec(error.message)
      ?.slice(1)
      .find((one) => one !== undefined)
    return [
      EMPTY.test(error.message)
        ? {
            text: `There is nothing in ${what}: see that the path, the pattern or the split that it is made from exists, holds files, and has the folders that the loader expects.`,
          }
        : {
            text: `${library} refuses ${given}: change ${what}${CONDITION.test(error.message) ? ' until that holds' : type === undefined ? '' : ` to another type than ${type}`}.`,
          },
      printed(message, failed),
    ]
  }
  const assertion = /^assert (.{3,160})$/.exec(error.message)?.[1]
  if (assertion !== undefined && library !== undefined)
    return [
      {
        text: `${library} requires in ${deepest?.name ?? 'its code'} (${deepest === undefined ? '' : frameName(deepest)}) that this holds: ${assertion}. Look at the ${aspect(assertion)} of what it is given${own === undefined ? '' : ` at ${frameName(own)}`}.`,
      },
      printed(assertion, failed),
      own === undefined && { text: 'Your own call is further up in the whole traceback.' },
    ]
  const where = deepest === undefined ? '' : ` (${frameName(deepest)}${deepest.name === undefined ? '' : `, in ${deepest.name}`})`
  if (library !== undefined)
    return [
      printed(message, failed),
      own === undefined && { text: 'Look for a line of your own program further up in the whole traceback: this part shows only the library.' },
      {
        text: `It failed in the code of ${library}${where}: search its issues for this message, and see whether a newer release knows it.`,
        command: `python -m pip show ${packageOf(deepest?.file) ?? library}`,
      },
    ]
  return [printed(message, failed)]
}
