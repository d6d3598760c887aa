// An exception that nothing caught and that no other kind explains.
import { asks } from '../asks.ts'
import type { Facts } from '../../../model/facts.ts'
import { WEIGHT, openFrame, pathIn, place, quote, who, type EndKind, type EndContext } from '../end-kind.ts'
import { gpuCall, type GpuCall } from '../gpu-call.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { INFERENCE } from '../../situation/programs.ts'
import { ran } from '../../situation/work.ts'
import { applicationOf } from '../applications.ts'
import { general } from '../general.ts'
import { EXCEPTIONS } from '../messages/exceptions.ts'
import { firstKnown, type KnownMessage } from '../messages/message.ts'

/** A server that only runs models: there is no script of the user's, and no checkpoint. */
const serves = ({ situation, facts }: EndContext): boolean => facts.frame === undefined && INFERENCE.some((program) => situation.programs.has(program))
/** By these a server says what it does not accept. */
const CHECK = /^(?:ValueError|AssertionError|NotImplementedError)$/
/** Python did not come to run the line: there is nothing to print. */
const UNREADABLE = /^(?:SyntaxError|IndentationError|TabError)$/
const gpuCallOf = ({ error, situation }: EndContext): GpuCall | undefined => (error === undefined ? undefined : gpuCall(error.message, situation))

function exceptionOf(context: EndContext): KnownMessage | undefined {
  const { error } = context
  return error?.name === undefined ? undefined : firstKnown(EXCEPTIONS, `${error.name}: ${error.message}`, context)
}
const BRIEF = 90
/** The exception with the beginning of its message, as a title. */
function brief(context: EndContext): string {
  const words = quote(context).replace(/(?<=[\w)'"\]])[.;] .*$|[.:;…]+$/, '')
  const at = words.lastIndexOf(' ', BRIEF)
  return (words.length <= BRIEF ? words : `${words.slice(0, at < BRIEF / 2 ? BRIEF : at)}…`).trim()
}

/** A script that is known can be run under the debugger as it is. */
const reproduce = ({ situation, error }: EndContext): Piece =>
  error?.foreign === true
    ? { text: 'Reproduce it with a small input: the message names what the program stumbles over.' }
    : situation.distributed
      ? { text: 'Reproduce it with one process, no workers and a small input: the same line then fails at once, and a debugger can stop there.' }
      : {
          text: 'Reproduce it with a small input under the debugger: it stops where the exception is raised, with all variables at hand.',
          ...(/ipykernel|ipython-input|^Cell In/m.test(situation.text)
            ? {}
            : { command: `python -m pdb -c continue ${/^[\w./-]{1,120}$/.test(situation.subject.script ?? '') ? situation.subject.script : '<SCRIPT>'}` }),
        }
/** Without a step that was done there is no checkpoint of this run. */
const works = ({ situation }: EndContext): boolean => ran(situation.text)

/** The only one of the system's errors without a kind of its own. */
function existing(message: string): { readonly facts?: Facts } {
  const path = pathIn(message)
  return path === undefined ? {} : { facts: { path } }
}

export const pythonException: EndKind = {
  kind: 'python_exception',
  stage: 'cause',
  severity: 'critical',
  // The last resort for whatever has a name.
  claims: ({ name, module, frames, message }) =>
    // A bare `Error: …` is what Go, Rust and shells print.
    name === undefined ||
    (message === '' && /^[a-z]/.test(name)) ||
    (name === 'Error' && module === undefined && frames.length === 0) ||
    /^(?:record|message|shell|usage|library|python|r)$/.test(name)
      ? undefined
      : { weight: WEIGHT.words / 2, ...(name === 'FileExistsError' ? existing(message) : {}) },
  title: (context) => {
    const title = exceptionOf(context)?.title ?? brief(context)
    return `${title === '' ? 'The program ended with an error' : title}${place(context)}`
  },
  verdict: (context) => {
    const ended =
      context.request === true
        ? 'A request failed with an exception, and the server reported it'
        : `${who(context)} ended with ${/^[a-z]/.test(context.error?.name ?? '') ? 'an error' : 'an exception that nothing caught'}`
    const said = `${ended}${place(context)}: "${quote(context)}".`
    const call = gpuCallOf(context)
    if (call !== undefined) return `${said} It means: ${call.says}`
    const means = exceptionOf(context)?.says
    return means === undefined ? said : `${said} ${means}`
  },
  remedies: (context) => {
    const call = gpuCallOf(context)
    if (call !== undefined) return call.remedies
    const asked = asks(context)
    const application = applicationOf(context)
    const known = exceptionOf(context)?.remedies
    // Where the message itself says what to do, nothing is to be found out first.
    const advice = asked === undefined && !UNREADABLE.test(context.error?.name ?? '') ? general(context) : []
    return [
      asked,
      application?.first,
      application?.user === true ? undefined : (known ?? (serves(context) ? [] : advice)),
      openFrame(context),
      UNREADABLE.test(context.error?.name ?? '') && {
        text: 'Correct the line, or run the program with the version of Python that it was written for.',
        command: 'python --version',
      },
      application?.next,
      serves(context) &&
        application === undefined && [
          CHECK.test(context.error?.name ?? '') && context.error?.message !== ''
            ? { text: 'The message is a check of the server itself: change the setting, the request or the model that it names.' }
            : { text: 'Search the issues of the server for this message, and update it: an error inside its own code is rarely yours to correct.' },
          { text: 'See whether one switch brings it about: start the server with its model alone and default settings.' },
        ],
      !serves(context) &&
        asked === undefined &&
        application === undefined &&
        known === undefined &&
        !advice.some(Boolean) &&
        !UNREADABLE.test(context.error?.name ?? '') &&
        reproduce(context),
      !serves(context) && works(context) && { text: 'Resume from the last checkpoint after the correction; what came after it is lost.' },
    ]
  },
}
