// Shapes and call sites of a dump's entries, each kept once: a few hundred of them are in thousands of entries, of every rank alike.
import { isFields, isList } from '../../allocator/snapshot/fields.ts'
import type { Frame, Op } from '../model.ts'
import { opName } from './ops.ts'

const MOST_FRAMES = 64
/** A dump with more different ones than a program has is not kept from being read, only from being shared. */
const MOST_KEPT = 50_000
/** Shapes that are looked through for one list of inputs. */
const MOST_BESIDE = 16

export const words = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 300) : typeof value === 'number' ? String(value) : '')
/** Positions count from −1 (none); JSON has them as text. */
export function position(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
/** As JSON writes them; by hand, since a dump has thousands. */
const part = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : typeof value === 'number' || typeof value === 'bigint' ? String(value) : '?'
const sizes = (value: unknown): string =>
  isList(value)
    ? `[${value
        .slice(0, 64)
        .map((one) => (isList(one) ? `[${one.slice(0, 64).map(part).join(',')}]` : part(one)))
        .join(',')}]`.slice(0, 400)
    : ''
/** Of `[[8, 4], [2]]`: 34. */
const elements = (value: unknown): string =>
  isList(value)
    ? String(value.reduce<number>((sum, shape) => sum + (isList(shape) ? shape.reduce<number>((product, length) => product * Number(length), 1) : 0), 0))
    : ''

/** Input sizes, output sizes, and the types of both. */
export type Parts = readonly [unknown, unknown, unknown, unknown]
export type Shapes = Pick<Op, 'inputs' | 'elements' | 'dtypes'>
/** The name of an operation, and what follows it: `0->1` or `1<-0` for a send or receive. */
export type Called = { readonly name: string; readonly pair: string | undefined }
export type SharedParts = {
  readonly frames: (value: unknown) => readonly Frame[]
  readonly shapes: (parts: Parts) => Shapes
  readonly called: (value: unknown) => Called
}

function calledOf(text: string): Called {
  const space = text.indexOf(' ')
  return space < 0 ? { name: opName(text), pair: undefined } : { name: opName(text.slice(0, space)), pair: text.slice(space + 1).split(' ', 1)[0] ?? '' }
}

type Numbered = { readonly frame: Frame; readonly number: number }

export function createSharedParts(): SharedParts {
  // By file and line: both are known to the reader of the pickle, a text made of them would be a new one each time.
  const files = new Map<string, Map<number, Numbered[]>>()
  const [lists, shapes] = [new Map<string, readonly Frame[]>(), new Map<string, Shapes>()]
  let count = 0
  const kept = <Key, Part>(known: Map<Key, Part>, key: Key, make: () => Part): Part => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make()
    if (known.size < MOST_KEPT) known.set(key, made)
    return made
  }
  const numbered = (file: string, line: number, name: string): Numbered => {
    const lines = files.get(file) ?? new Map<number, Numbered[]>()
    const here = lines.get(line) ?? []
    const found = here.find(({ frame }) => frame.function === name)
    if (found !== undefined) return found
    count += 1
    const made = { frame: { file, line, function: name }, number: count }
    if (count < MOST_KEPT) {
      here.push(made)
      lines.set(line, here)
      files.set(file, lines)
    }
    return made
  }
  const framesOf = (stack: readonly unknown[]): readonly Frame[] => {
    const list: Frame[] = []
    let key = ''
    for (const one of stack.slice(0, MOST_FRAMES)) {
      if (!isFields(one)) continue
      const { frame, number } = numbered(words(one['filename']), position(one['line']) ?? 0, words(one['name']))
      key += `${number} `
      list.push(frame)
    }
    return kept(lists, key, () => list)
  }
  const shapesOf = ([insizes, outsizes, intypes, outtypes]: Parts): Shapes => {
    const [inputs, outputs, ins, outs] = [sizes(insizes), sizes(outsizes), sizes(intypes), sizes(outtypes)]
    const make = (): Shapes => ({ inputs, elements: { inputs: elements(insizes), outputs: elements(outsizes) }, dtypes: `${ins}${outs}` })
    // Where the text is cut, it does not say all sizes.
    return inputs.length >= 400 || outputs.length >= 400 ? make() : kept(shapes, `${inputs}\n${outputs}\n${ins}\n${outs}`, make)
  }
  // A list that is in many entries is the same one where the reader of the pickle gives it so.
  const stacksRead = new Map<readonly unknown[], readonly Frame[]>()
  const names = new Map<unknown, Called>()
  const shapesRead = new Map<unknown, { readonly parts: Parts; readonly shapes: Shapes }[]>()
  return {
    frames: (value) => (isList(value) && value.length > 0 ? kept(stacksRead, value, () => framesOf(value)) : []),
    shapes(parts) {
      const read = kept(shapesRead, parts[0], () => [])
      for (const known of read) if (known.parts[1] === parts[1] && known.parts[2] === parts[2] && known.parts[3] === parts[3]) return known.shapes
      const made = shapesOf(parts)
      if (read.length < MOST_BESIDE) read.push({ parts, shapes: made })
      return made
    },
    called: (value) => kept(names, value, () => calledOf(words(value))),
  }
}
