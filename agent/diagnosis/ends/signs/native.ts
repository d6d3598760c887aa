// Errors of programs that are not Python, and of native code below it: how each language announces an uncaught error, and its frames.
import type { ReadLine } from '../../traceback/line.ts'
import type { Frame } from '../../traceback/traceback.ts'
import { frameName, isUserFrame } from '../../traceback/user-frame.ts'
import type { Found } from '../evidence.ts'

type Language = {
  /** Group `message`; `name` where the language names the error, `file` and `line` where the head says the place. */
  readonly head: RegExp
  /** Frames below it; groups `file` and `line`. */
  readonly frame?: RegExp
  /** The head is in what elsewhere counts as a prefix. */
  readonly raw?: true
  /** The process ends itself: native code. */
  readonly aborts?: true
  /** A line below it without which the head is an ordinary line. */
  readonly confirmed?: RegExp
  /** What the head is called where it has no name of its own. */
  readonly name?: string
  /** A line below the head that holds the message. */
  readonly message?: RegExp
  /** A line below that says it better. */
  readonly detail?: RegExp
  /** The message goes on up to a blank line. */
  readonly wrapped?: true
}

const PYTEST = /^(?:FAILED|ERROR) \S{1,300}\.py\b|^={3,} .{0,80}\b\d{1,6} (?:failed|errors?)\b/
const LANGUAGES: readonly Language[] = [
  // C++
  {
    aborts: true,
    head: /terminate called after throwing an instance of '(?:[\w:]{0,80}::)?(?<name>[\w<>]{1,80})[^']{0,200}'/,
    message: /^\s*what\(\): {0,3}(?<message>.*)$/,
  },
  { aborts: true, head: /terminate called (?<message>without an active exception|recursively)/, name: 'terminate' },
  {
    aborts: true,
    head: /libc\+\+abi: terminating (?:due to|with) uncaught exception(?: of type (?:[\w:]{0,80}::)?(?<name>\w{1,80})[^:\n]{0,80})?(?:: (?<message>.*))?/,
    name: 'terminate',
  },
  // glibc's checks of heap and stack, and assert()
  {
    aborts: true,
    head: /^(?:\*{3} Error in `[^'’]{1,200}['’]: )?(?<message>(?:free|malloc|realloc|munmap_chunk|calloc|malloc_consolidate|_int_malloc)\(\): [^\n]{3,100}|double free or corruption[^\n]{0,40}|corrupted (?:size vs\. prev_size|double-linked list)[^\n]{0,40}|(?:\*{3} )?(?:stack smashing|buffer overflow) detected[^\n]{0,40})/,
    name: 'glibc',
  },
  { aborts: true, head: /^(?:[\w.+-]{1,60}: )?(?<file>[^\s:]{1,200}):(?<line>\d{1,6}): .{0,300}?(?<message>Assertion [`'].{1,300}' failed)/, name: 'assert' },
  // ggml, of llama.cpp and Ollama: its own assertions, and its check of each CUDA call, which names the call below
  {
    aborts: true,
    head: /(?:^|[\s.])(?:(?<file>(?:[A-Za-z]:)?[^\s:*?"]{1,200}\.(?:cpp|cuh?|c|h|m)):(?<line>\d{1,6}): )?(?<message>GGML_(?:ASSERT|ABORT)\(.{1,200}\) failed)/,
    name: 'assert',
  },
  // GGML_ABORT with words of its own: file, line and reason, then the stack.
  {
    aborts: true,
    head: /^(?<file>(?:[A-Za-z]:)?[^\s:*?"]{1,200}\.(?:cpp|cuh?|c|h|m)):(?<line>\d{1,6}): (?<message>[^\n]{3,300})$/,
    confirmed: /\bggml_(?:print_backtrace|abort)\b/,
    name: 'abort',
  },
  { aborts: true, head: /(?<message>GGML_ASSERT: (?:[A-Za-z]:)?[^\s:*?"]{1,200}:\d{1,6}: [^\n]{1,200})$/, name: 'assert' },
  {
    aborts: true,
    head: /(?:^|\s)(?<message>(?:CUDA|ROCm|HIP|MUSA) error(?: \d{1,4})?(?: at [^\s:]{1,200}:\d{1,6})?: [^\n]{3,200})$/,
    confirmed: /^\s{1,4}current device: -?\d|\.(?:cu|cpp|cuh):\d{1,6}: (?:CUDA|ROCm|HIP|MUSA) error|in function ggml_/,
    name: 'CUDA error',
  },
  { aborts: true, head: /^(?<message>Failed: (?:Cuda|CUDA|HIP) error \S{1,200}:\d{1,6} '[^'\n]{3,200}')/, name: 'CUDA error' },
  // llama.cpp's loader
  {
    head: /\berror loading model: (?:error loading model architecture: )?(?!\w{1,40}: failed to load model(?: from|$))(?<message>[^"\n]{3,300})/,
    name: 'error',
  },
  // TensorRT-LLM's C++ side
  { head: /\[TensorRT-LLM\]\[ERROR\] (?:Encountered an error in \w{1,40} function: )?(?<message>(?!CUDA runtime error|\[)[^\n]{8,300})$/, name: 'error' },
  // glog and absl
  {
    aborts: true,
    head: /^(?:F\d{4} \d\d:\d\d:\d\d\S{0,10} {1,4}\d{1,10}|\d{4}-[\d :.-]{21}: F) (?<file>[\w./-]{1,120}):(?<line>\d{1,6})\] ?(?<message>.*)$/,
    name: 'check',
    raw: true,
  },
  // Omniverse's crash reporter
  { aborts: true, head: /\[Fatal\] \[carb\.\S{1,60}\] (?<message>.*)$/, name: 'crash', raw: true },
  // Not NVIDIA's driver, which checks and goes on.
  { aborts: true, head: /(?:^|\s)(?<message>Check fail(?:ed|ure):? (?![^\n]{0,80}\[NV_ERR_)[^\n]{1,300})$/, name: 'check' },
  // Rust
  {
    aborts: true,
    head: /thread '[^']{1,80}' (?:\(\d{1,10}\) )?panicked at (?:'(?<message>[^\n]{0,400})', )?(?<file>[^\s:']{1,200}):(?<line>\d{1,6})(?::\d{1,6})?:?$/,
    name: 'panic',
    message: /^(?<message>\S.*)$/,
  },
  { aborts: true, head: /^fatal runtime error: (?<message>.*)$/, name: 'abort' },
  // Go
  { aborts: true, head: /^(?<name>panic|fatal error): (?<message>.*)$/, frame: /^\s{1,8}(?<file>\/\S{1,300}\.go):(?<line>\d{1,6}) \+0x/ },
  // pytest: the place of a failed test, and the list of those that failed behind it
  {
    head: /^(?<file>[\w./-]{1,200}\.py):(?<line>\d{1,6}): (?<name>[A-Z]\w{2,80})$/,
    confirmed: PYTEST,
  },
  // Compilers: gcc, clang, nvcc; the build stops because of it
  {
    head: /^(?<file>[^\s:(]{1,200}\.(?:cu|cuh|cc|cpp|cxx|c|h|hpp|hip))(?::(?<line>\d{1,6})(?::\d{1,6})?|\(\d{1,6}\)): (?:fatal )?error: (?<message>.*)$/,
    confirmed: /^ninja: build stopped|^\d{1,4} errors? (?:detected|generated)|^compilation terminated|^make(?:\[\d{1,2}\])?: \*{3} /,
    name: 'CompileError',
  },
  // Java, Kotlin, Scala
  {
    head: /^Exception in thread "[^"]{1,80}" (?:[\w$]{1,60}\.){1,12}(?<name>\w{1,80})(?:: (?<message>.*))?$/,
    frame:
      /^\s{1,8}at (?!(?:java|javax|jdk|sun|scala|kotlin|org\.apache|io\.netty)[./])(?<own>[\w$]{1,60}(?:\.[\w$]{1,60}(?=\.[\w$<>]{1,80}\.))?)\.[\w$.<>/@]{1,300}\((?<file>[\w$]{1,80}\.(?:java|kt|scala)):(?<line>\d{1,6})\)/,
  },
  // Node
  {
    head: /^(?:Uncaught )?(?<name>(?:\w{0,30}Error)|Error)(?: \[\w{3,60}\])?: (?<message>.*)$/,
    frame: /^\s{2,8}at (?:[^\n(]{1,200}\()?(?:file:\/\/)?(?<file>(?:\/|[A-Za-z]:\\)[^\s:)]{1,300}):(?<line>\d{1,6}):\d{1,6}\)?$/,
  },
  // C#
  {
    head: /^Unhandled exception[.:] (?:[\w]{1,60}\.){0,12}(?<name>\w{1,80})(?:: (?<message>.*))?$/i,
    frame: /^\s{2,8}at .{1,200} in (?<file>\S{1,300}):line (?<line>\d{1,6})/,
  },
  // Julia
  {
    head: /^(?:julia> )?ERROR: (?:(?:Load|Init)Error: ){0,4}(?:(?<name>[A-Z]\w{2,60}(?:Error|Exception)|[A-Z][a-z]\w{0,30}[A-Z]\w{1,40}(?=: ))(?:: |\())?(?<message>.*)$/,
    frame: /(?:@ (?:[A-Z][\w.]{0,80} )?|\bat )(?<file>[^\s:]{1,300}\.jl):(?<line>\d{1,6})/,
    name: 'ErrorException',
  },
  // R
  {
    head: /^Error in .{1,200}? :(?: |$)(?<message>.*)$/,
    name: 'simpleError',
    message: /^ {2}(?<message>\S.*)$/,
    detail: /^ {2}(?<message>cannot open (?:compressed )?file '[^'\n]{1,300}'[^\n]{0,100})$/,
  },
  // Ruby, Lua, Perl, Fortran, MATLAB
  { head: /^(?<file>[^\s:]{1,200}\.rb):(?<line>\d{1,6}):in [`'][^']{1,100}': (?<message>.*?) \((?<name>[A-Z][\w:]{2,80})\)/ },
  { head: /^lua\w{0,10}: (?<file>[^\s:]{1,200}\.lua):(?<line>\d{1,6}): (?<message>.*)$/, name: 'error' },
  { head: /^(?<message>.{3,300}) at (?<file>\S{1,200}\.p[lm]) line (?<line>\d{1,6})\.$/, name: 'die' },
  {
    head: /^At line (?<line>\d{1,6}) of file (?<file>[^\s()]{1,300})(?: \(unit = |$)/,
    name: 'runtime error',
    message: /^Fortran runtime error: (?<message>.*)$/,
  },
  { head: /^Fortran runtime error: (?<message>.*)$/, name: 'runtime error' },
  // Intel's Fortran
  { head: /^forrtl: (?:severe|error) \(\d{1,4}\): (?!SIG)(?<message>\S.*)$/, name: 'error' },
  // GROMACS
  {
    head: /^(?<message>)(?:Fatal error|Error in user input|Inconsistency in user input|File not found|System I\/O error|Simulation instability detected|Feature not implemented|(?:Internal|API) error \(bug\)):$/,
    name: 'error',
    message: /^(?<message>\S.*)$/,
    wrapped: true,
    confirmed: /GROMACS/,
  },
  { head: /^--> FOAM FATAL (?:IO )?ERROR ?:(?<message>)/, name: 'error', message: /^(?<message>\S.*)$/ },
  { head: /^(?:FATAL|Fatal) ERROR: (?<message>.{8,400})$/, name: 'error' },
  // MATLAB: the function, then what it says
  { head: /^Error using \S{1,100}(?<message>)(?: \(line \d{1,6}\))?$/, name: 'error', message: /^(?<message>\S.*)$/ },
]
const MAY =
  /GGML_|\.(?:cpp|cuh?):\d{1,6}: |error loading model|(?:CUDA|ROCm|HIP|MUSA|Cuda) error|\[ERROR\]|terminat|corrupt|detected|\(\): |ssertion|Check fail|panic|fatal |^[A-Z][\w/ ]{4,40}(?: \(bug\))?:$|^Exception in thread "|Error(?: \[\w+\])?: |Unhandled|\bERROR: |^Error |\.rb:|\.lua:|\.p[lm] line|Fortran|^At line \d|^forrtl: |FATAL|\.py:\d|: (?:fatal )?error: /
const MAY_RAW = /^F\d{4} |^\d{4}-.{21}: F |\[Fatal\]/
/** Names that Python's reader knows: a bare line of them is read there. */
const BELOW = 40
const MESSAGE_BELOW = 3
const DETAIL_BELOW = 6
const LONGEST_MESSAGE = 400

type Reading = {
  readonly language: Language
  readonly at: number
  readonly text: string
  name: string
  message: string
  frame: Frame | undefined
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
  const finish = (found: Found): void => {
    if (reading?.confirmed === true) {
      const { at, last, text, name, message, frame, rank, language } = reading
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
        wrapper: false,
        facts: {
          ...(rank === undefined ? {} : { rank }),
          ...(language.aborts === true || name === language.name || name === 'error' || name === 'Error' ? {} : { exception: name }),
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
          if (frame?.['file'] !== undefined) {
            const seen: Frame = { file: frame['file'], line: Number(frame['line']), name: undefined }
            // The first is the innermost: of Java that of the package in which the program begins, which stands last.
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
          } else if (reading.language.wrapped === true && line.number === reading.last + 1 && text.trim() !== '' && reading.message.length < LONGEST_MESSAGE) {
            reading.message = `${reading.message} ${text.trim()}`
            reading.last = line.number
            return
          }
          const detail = line.number - reading.at <= DETAIL_BELOW ? reading.language.detail?.exec(text)?.groups?.['message'] : undefined
          if (detail !== undefined) {
            reading.message = detail
            reading.last = line.number
          }
          if (reading.language.confirmed?.test(text) === true) reading.confirmed = true
          if (/^Execution halted|^Stacktrace:|^exit status \d/.test(text)) reading.confirmed = true
        }
      }
      if (inTraceback || !(MAY.test(text) || MAY_RAW.test(line.raw))) return
      for (const language of LANGUAGES) {
        const match = language.head.exec(language.raw === true ? line.raw.slice(-2_000) : text)
        if (match === null) continue
        const { name, message, file, line: number } = match.groups ?? {}
        finish(found)
        const place: Frame | undefined = file === undefined ? undefined : { file, line: Number(number), name: undefined }
        reading = {
          language,
          at: line.number,
          text: line.raw,
          name: name ?? language.name ?? 'error',
          message: message ?? '',
          frame: place !== undefined && !/\.(?:cc|cpp|c|h|hpp|cu)$/.test(place.file) && !/registry\/src|\/rustc\//.test(place.file) ? place : undefined,
          innermost: new Map(),
          last: line.number,
          // Of languages whose head is an ordinary line, a frame must follow.
          confirmed:
            (language.frame ?? language.confirmed) === undefined || name === 'panic' || text.startsWith('Exception in thread') || text.startsWith('Unhandled'),
          rank: line.rank,
        }
        return
      }
    },
    end: finish,
    isReading: () => reading !== undefined,
  }
}
