// Stack frames of a snapshot. With PyTorch's default (stacks="all") a stack begins with dozens of C++ frames, and those of the backward pass have no others.
import { isFields } from './fields.ts'

export type Frame = { readonly file: string; readonly line?: number; readonly function: string }
/** A frame with what it shows: whether it is Python, of a program or a library, of the program itself; and the torch operation or the node of the backward pass that it names. */
export type TellingFrame = {
  readonly frame: Frame
  readonly python: boolean
  readonly model: boolean
  readonly user: boolean
  readonly operation?: string
  readonly backward?: string
}

const MAX_TEXT = 300
/** A file, or a cell of a notebook; `<frozen importlib>` and the like are Python's own. */
const PYTHON = /\.pyw?$|^<(?!frozen|eval_with_key|unknown|built-in|__array_function__)/
const TORCH = /(?:^|[\\/])torch[\\/](?:_\w+|nn|optim|autograd|utils|cuda|distributed|fx|jit|func|functional|storage)\b/
const STANDARD_LIBRARY = /[\\/]lib(?:64)?[\\/]python\d[\d.]*[\\/](?!site-packages|dist-packages)/
const PACKAGE = /(?:^|[\\/])(?:site-packages|dist-packages)[\\/]/
/** Up to the last such folder. */
const PACKAGES = /^.*[\\/](?:site-packages|dist-packages)[\\/]/
/** at::_ops::linear::call(…): what a program would call torch.linear. */
const OPERATION = /^at::_ops::(\w{1,80})::call\b/
/** torch::autograd::generated::BmmBackward0::apply(…) */
const BACKWARD = /(?:^|[\s:])(\w{1,80}Backward\d*)::apply\b/

/** Neither PyTorch's nor Python's own: the line of a program, or of a library that it uses. */
const isModelFrame = ({ file }: Frame): boolean => PYTHON.test(file) && !TORCH.test(file) && !STANDARD_LIBRARY.test(file)
/** Not of an installed package either. */
export const isUserFrame = (frame: Frame): boolean => isModelFrame(frame) && !PACKAGE.test(frame.file)

export function tellingFrame(value: unknown): TellingFrame {
  const fields = isFields(value) ? value : {}
  const [file, name, line] = [fields['filename'], fields['name'], fields['line']]
  const text = typeof name === 'string' ? name.slice(0, MAX_TEXT) : ''
  const frame: Frame = {
    file: typeof file === 'string' ? file.slice(0, MAX_TEXT) : '',
    function: text,
    ...(typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? { line } : {}),
  }
  if (PYTHON.test(frame.file)) return { frame, python: true, model: isModelFrame(frame), user: isUserFrame(frame) }
  const [operation, backward] = [OPERATION.exec(text)?.[1], BACKWARD.exec(text)?.[1]]
  return { frame, python: false, model: false, user: false, ...(operation === undefined ? {} : { operation }), ...(backward === undefined ? {} : { backward }) }
}

/** What a stack shows a person. */
export type Place = {
  /** The innermost line outside of PyTorch and Python's own library. */
  readonly frame?: Frame
  /** The innermost line outside of installed packages as well. */
  readonly user_frame?: Frame
  /** The torch operation that asked for the memory: `linear`, or `bmm in BmmBackward0` in the backward pass. */
  readonly operation?: string
  /** The frames of Python, innermost first; where there are none, those of C++. At most 32. Empty where no history was recorded. */
  readonly frames: readonly Frame[]
}

const MAX_FRAMES = 32
/** No stack of a program is deeper than this where it matters. */
export const MAX_STACK = 512

export function placeOf(stack: readonly TellingFrame[]): Place {
  const innermost = stack.findIndex(({ python }) => python)
  const python = stack.filter((one) => one.python).map(({ frame }) => frame)
  const native = innermost === -1 ? stack : stack.slice(0, innermost)
  const [operation, backward] = [native.findLast((one) => one.operation !== undefined)?.operation, native.find((one) => one.backward !== undefined)?.backward]
  const asked = backward === undefined ? operation : operation === undefined ? backward : `${operation} in ${backward}`
  const [model, user] = [python.find(isModelFrame), python.find(isUserFrame)]
  return {
    ...(model === undefined ? {} : { frame: model }),
    ...(user === undefined ? {} : { user_frame: user }),
    ...(asked === undefined ? {} : { operation: asked }),
    frames: (python.length > 0 ? python : stack.map(({ frame }) => frame)).slice(0, MAX_FRAMES),
  }
}

export const placeFrom = (raw: readonly unknown[]): Place => placeOf(raw.slice(0, MAX_STACK).map(tellingFrame))

const frameText = ({ file, line, function: name }: Frame, folders: number): string => {
  // Of an installed package the part that names it is enough.
  const named = file.slice((PACKAGES.exec(file)?.[0] ?? '').length)
  const path = named.split(/[\\/]/)
  const shown = path.length <= folders + 1 ? named : path.slice(-folders - 1).join('/')
  return `${shown === '' ? '?' : shown}${line === undefined ? '' : `:${line}`}${name === '' ? '' : ` ${name}`}`
}

/** A place in a line: `…/model.py:216 forward, mul_Tensor`, with so many folders of the path. */
export function placeText({ frame, frames, operation }: Place, folders = Infinity): string {
  const [innermost] = frames
  const shown = frame ?? innermost
  if (shown === undefined) return 'no history recorded'
  // Without a line of Python the operation says more than an address in a library.
  if (frame === undefined && operation !== undefined && !PYTHON.test(shown.file)) return operation.includes(' in ') ? `${operation} (backward pass)` : operation
  return `${frameText(shown, folders)}${operation === undefined ? '' : `, ${operation}`}`
}

/** Who called it: the next lines of the program itself. */
export function callersOf({ frame, frames }: Place, most: number): readonly string[] {
  const from = frame === undefined ? 0 : frames.indexOf(frame) + 1
  return frames
    .slice(from)
    .filter(isUserFrame)
    .slice(0, most)
    .map((caller) => frameText(caller, Infinity))
}
