// Errors of programs that are not Python, and of native code below it.
import type { ReadLine } from '../../traceback/line.ts'
import type { Frame } from '../../traceback/traceback.ts'
import { frameName, isUserFrame } from '../../traceback/user-frame.ts'
import type { Found } from '../evidence.ts'
import { createPytest } from './pytest.ts'
import { LANGUAGES, MAY, MAY_RAW, PYTEST, type Language } from './languages.ts'

/** Names that Python's reader knows: a bare line of them is read there. */
const PASSED_ON = /^(?:[a-z_][\w.]{0,100}\.)?([A-Z]\w{2,60}(?:Error|Exception)): /
/** Julia: what failed in the process that compiled a package ahead, or in any other, is above. PETSc: the number of the signal does. */
const PASSES_ON = /^(?:Failed to precompile |failed process: Process\(|Signal received$)/
/** Java's, where nothing but the cause was given: its class and its words. */
const SAYS_CAUSE = /^(?:[\w$]{1,60}\.){1,12}\w{1,80}(?:: |$)/
const BELOW = 40
const MESSAGE_BELOW = 3
const DETAIL_BELOW = 6
const LONGEST_MESSAGE = 400
/** GROMACS, below its message. */
const ADVICE = /^For more information and tips\b/

type Reading = {
  readonly language: Language
  readonly at: number
  readonly text: string
  name: string
  message: string
  frame: Frame | undefined
  /** Where the line of the place is below it. */
  file: string
  /** Of each package. */
  readonly innermost: Map<string, Frame>
  last: number
  confirmed: boolean
  readonly rank: number | undefined
}

/** The module of errors by which native code ends its process. */
export const NATIVE = 'native code'

export type NativeReader = {
  readonly add: (line: ReadLine, found: Found, inTraceback: boolean) => void
  readonly end: (found: Found) => void
  readonly isReading: () => boolean
}

export function createNativeReader(): NativeReader {
  let reading: Reading | undefined
  const pytest = createPytest()
  const finish = (found: Found): void => {
    if (reading?.language.wrapped === true && reading.language.confirmed?.test(reading.message) === true) reading.confirmed = true
    if (reading?.confirmed === true) {
      const { at, last, text, name, message, frame, rank, language } = reading
      // What R and others pass on of Python names its own exception first.
      const generic = name === language.name || name === 'error' || name === 'Error'
      const exception = language.aborts === true ? undefined : generic ? PASSED_ON.exec(message)?.[1] : name
      const error = {
        name,
        module: language.aborts === true ? NATIVE : undefined,
        message,
        tail: '',
        frames: name === 'Error' && frame !== undefined ? [frame] : [],
        causes: [],
        ...(language.aborts === true || language.confirmed === PYTEST ? {} : { foreign: true as const }),
      }
      found({
        type: 'error',
        at,
        last,
        line: at,
        text,
        error,
        frame,
        weak: false,
        wrapper: PASSES_ON.test(message),
        facts: {
          ...(rank === undefined ? {} : { rank }),
          ...(exception === undefined ? {} : { exception }),
          ...(frame === undefined ? {} : { frame: frameName(frame) }),
        },
      })
    }
    reading = undefined
  }
  return {
    add(line, found, inTraceback) {
      const text = line.text.length > 2_000 ? line.text.slice(-2_000) : line.text
      if (reading !== undefined) {
        if (line.number - reading.at > BELOW) finish(found)
        else {
          const frame = reading.language.frame?.exec(text)?.groups
          if (frame?.['file'] !== undefined) reading.file = frame['file']
          if (frame?.['line'] !== undefined && reading.file !== '') {
            const seen: Frame = { file: reading.file, line: Number(frame['line']), name: undefined }
            // The first is the innermost: of Java that of the package in which the program begins, which is last.
            const own = frame['own'] ?? ''
            if (isUserFrame(seen) && !reading.innermost.has(own)) reading.innermost.set(own, seen)
            reading.frame = reading.innermost.get(own) ?? reading.frame
            reading.confirmed = true
            reading.last = line.number
            return
          }
          if (reading.message === '' && line.number - reading.at <= MESSAGE_BELOW) {
            const message = reading.language.message?.exec(text)?.groups?.['message']
            if (message !== undefined) {
              reading.message = message
              reading.last = line.number
              return
            }
          } else if (
            reading.language.wrapped === true &&
            line.number === reading.last + 1 &&
            text.trim() !== '' &&
            reading.message.length < LONGEST_MESSAGE &&
            !ADVICE.test(text)
          ) {
            reading.message = `${reading.message} ${text.trim()}`
            reading.last = line.number
            return
          }
          const cause = reading.language.cause?.exec(text)?.groups
          if (cause?.['name'] !== undefined && (reading.message === '' || SAYS_CAUSE.test(reading.message))) {
            reading.name = cause['name']
            reading.message = cause['message'] ?? ''
            reading.last = line.number
            return
          }
          const detail =
            line.number - reading.at <= DETAIL_BELOW || reading.language.deep === true ? reading.language.detail?.exec(text)?.groups?.['message'] : undefined
          if (detail !== undefined) {
            reading.message = detail
            reading.last = line.number
          }
          if (reading.language.confirmed?.test(text) === true) reading.confirmed = true
          if (/^Execution halted|^Stacktrace:|^exit status \d{1,3}$/.test(text)) reading.confirmed = true
        }
      }
      pytest.add(text)
      if (inTraceback || !(MAY.test(text) || MAY_RAW.test(line.raw))) return
      for (const language of LANGUAGES) {
        const match = language.head.exec(language.raw === true ? line.raw.slice(-2_000) : text)
        if (match === null) continue
        const { name, message, file, line: number } = match.groups ?? {}
        finish(found)
        const place: Frame | undefined = file === undefined ? undefined : { file, line: Number(number), name: undefined }
        const test = language.confirmed === PYTEST ? pytest.said(place, name) : undefined
        reading = {
          language,
          at: line.number,
          text: line.raw,
          name: name ?? language.name ?? 'error',
          message: test?.message ?? message ?? '',
          frame:
            test !== undefined
              ? test.frame
              : place !== undefined && !/\.(?:cc|cpp|c|h|hpp|cu)$/.test(place.file) && !/registry[\\/]src|\.cargo[\\/]git|[\\/]rustc[\\/]/.test(place.file)
                ? place
                : undefined,
          file: '',
          innermost: new Map(),
          last: line.number,
          // Of languages whose head is an ordinary line, a frame must follow.
          confirmed:
            (language.frame ?? language.confirmed) === undefined ||
            name === 'panic' ||
            text.startsWith('Exception in thread') ||
            /^ERROR: (?:Load|Init)Error: /.test(text) ||
            /^(?:Unhandled|Accelerator Fatal)/.test(text),
          rank: line.rank,
        }
        return
      }
    },
    end: finish,
    isReading: () => reading !== undefined,
  }
}
