// Shapes and call sites of a dump's entries, each kept once: a few hundred of them stand in thousands of entries, of every rank alike.
import { isFields, isList } from '../../allocator/snapshot/fields.ts'
import type { Frame, Op } from '../model.ts'

const MOST_FRAMES = 64
/** A dump with more different ones than a program has is not kept from being read, only from being shared. */
const MOST_KEPT = 50_000

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

export type Shapes = Pick<Op, 'inputs' | 'elements' | 'dtypes'>
export type SharedParts = { readonly frames: (value: unknown) => readonly Frame[]; readonly shapes: (entry: Readonly<Record<string, unknown>>) => Shapes }

type Numbered = { readonly frame: Frame; readonly number: number }

export function createSharedParts(): SharedParts {
  // By file and line: both are known to the reader of the pickle, a text made of them would be a new one each time.
  const files = new Map<string, Map<number, Numbered[]>>()
  const [lists, shapes] = [new Map<string, readonly Frame[]>(), new Map<string, Shapes>()]
  let count = 0
  const kept = <Part>(known: Map<string, Part>, key: string, make: () => Part): Part => {
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
  return {
    frames(value) {
      if (!isList(value) || value.length === 0) return []
      const list: Frame[] = []
      let key = ''
      for (const one of value.slice(0, MOST_FRAMES)) {
        if (!isFields(one)) continue
        const { frame, number } = numbered(words(one['filename']), position(one['line']) ?? 0, words(one['name']))
        key += `${number} `
        list.push(frame)
      }
      return kept(lists, key, () => list)
    },
    shapes(entry) {
      const [inputs, outputs] = [sizes(entry['input_sizes']), sizes(entry['output_sizes'])]
      const [ins, outs] = [sizes(entry['input_dtypes']), sizes(entry['output_dtypes'])]
      const make = (): Shapes => ({
        inputs,
        elements: { inputs: elements(entry['input_sizes']), outputs: elements(entry['output_sizes']) },
        dtypes: `${ins}${outs}`,
      })
      // Where the text is cut, it does not say all sizes.
      return inputs.length >= 400 || outputs.length >= 400 ? make() : kept(shapes, `${inputs}\n${outputs}\n${ins}\n${outs}`, make)
    },
  }
}
