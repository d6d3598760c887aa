// One configuration key: what may be there, what holds when nothing does, and what it means. Everything else follows from the declaration.
// zod/mini: bundled it costs 0.4 MiB of private memory, the full zod 3.3 MiB (measured with rolldown, Node 24.21).
import * as z from 'zod/mini'
import { durationText, MAX_DURATION_MS, parseDuration } from '../text/duration.ts'
import { cameInstead, describeValue, mustBe } from './problem.ts'

/** How text from the environment or a flag becomes a value; `text` and `choice` take it as it is, the others as a YAML scalar. */
export type FieldKind = 'text' | 'choice' | 'number' | 'switch' | 'list' | 'parts'

/** What is wrong with one part of a value, such as the `url` of the second target. */
export type PartProblem = { readonly path: readonly (string | number)[]; readonly text: string }
/** How a value with parts is read. */
export type ReadParts<T> = (value: unknown) => { readonly value: T } | { readonly problems: readonly PartProblem[] }

export type Field<T> = {
  readonly kind: FieldKind
  readonly schema: z.ZodMiniType<T>
  readonly default: T
  /** Ends the sentence "must be …". */
  readonly expected: string
  /** One sentence for the example file. */
  readonly description: string
  /** Shown as `(hidden)` wherever a value is printed. */
  readonly secret: boolean
  /** Of a value with parts: reads it and says of each part what is wrong. `schema` then only holds the form. */
  readonly read?: ReadParts<T>
  /** How the value is printed, secrets hidden. A method, so that a field of any type still is a field. */
  shown?(value: T): unknown
  /** Lines of the example file, where the default alone says too little. */
  readonly example?: readonly string[]
}
/** The value as its field takes it, or what is wrong with it. */
export function readField(field: Field<unknown>, value: unknown): { readonly value: unknown } | { readonly problems: readonly PartProblem[] } {
  if (field.read !== undefined) return field.read(value)
  const found = value === null || value === undefined ? undefined : field.schema.safeParse(value)
  if (found?.success === true) return { value: found.data }
  return { problems: [{ path: [], text: mustBe(field.expected, cameInstead(field, value)) }] }
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Section<F extends Fields = Fields> = { readonly description: string; readonly fields: F }
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

type About<T> = { readonly default: T; readonly description: string; readonly secret?: boolean }

export function text(about: About<string> & { readonly expected?: string; readonly pattern?: RegExp }): Field<string> {
  const { pattern, expected = 'text' } = about
  const schema = pattern === undefined ? z.string() : z.string().check(z.regex(pattern))
  return { kind: 'text', schema, expected, default: about.default, description: about.description, secret: about.secret ?? false }
}

export function choice<const T extends string>(values: readonly T[], about: { readonly default: T; readonly description: string }): Field<T> {
  return { kind: 'choice', schema: z.enum(values), expected: `one of ${values.join(', ')}`, secret: false, ...about }
}

type Bounds = { readonly min: number; readonly max: number }

function within(kind: string, { min, max }: Bounds): string {
  return `${kind} from ${min} to ${max}`
}

export function wholeNumber(about: About<number> & Bounds): Field<number> {
  const schema = z.int().check(z.gte(about.min), z.lte(about.max))
  return { kind: 'number', schema, expected: within('a whole number', about), default: about.default, description: about.description, secret: false }
}

/** A number that may be left out; there is no stand-in for "not said". */
export function optionalWholeNumber(about: Bounds & { readonly description: string }): Field<number | undefined> {
  const schema = z.optional(z.int().check(z.gte(about.min), z.lte(about.max)))
  return { kind: 'number', schema, expected: within('a whole number', about), default: undefined, description: about.description, secret: false }
}

export function onOff(about: About<boolean>): Field<boolean> {
  return { kind: 'switch', schema: z.boolean(), expected: 'true or false', secret: false, ...about }
}

export function list(about: About<readonly string[]> & { readonly expected?: string }): Field<readonly string[]> {
  const { expected = 'a list of texts' } = about
  return { kind: 'list', schema: z.array(z.string()), expected, default: about.default, description: about.description, secret: false }
}

/** Any of the values, in any order, each once. */
export function choices<const T extends string>(
  values: readonly T[],
  about: { readonly default: readonly T[]; readonly description: string },
): Field<readonly T[]> {
  const schema = z.array(z.enum(values)).check(z.refine((chosen) => new Set(chosen).size === chosen.length))
  return { kind: 'list', schema, expected: `a list of ${values.join(', ')}, each at most once`, secret: false, ...about }
}

/** A number with a fraction. */
export function anyNumber(about: About<number> & Partial<Bounds>): Field<number> {
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = about
  const expected = about.min === undefined && about.max === undefined ? 'a number' : within('a number', { min, max })
  return { kind: 'number', schema: z.number().check(z.gte(min), z.lte(max)), expected, default: about.default, description: about.description, secret: false }
}

/** Texts by name; YAML's numbers and switches are taken as they are written. */
export function texts(
  about: About<Readonly<Record<string, string>>> & { readonly expected: string; readonly valid?: (name: string, value: string) => boolean },
) {
  const { expected, valid = () => true } = about
  const scalar = z.pipe(z.union([z.string(), z.number(), z.boolean()]), z.transform(String))
  const schema = z.record(z.string(), scalar).check(z.refine((found) => Object.entries(found).every(([name, value]) => valid(name, value))))
  const field: Field<Readonly<Record<string, string>>> = {
    kind: 'parts',
    schema,
    expected,
    default: about.default,
    description: about.description,
    secret: about.secret ?? false,
  }
  return field
}

const isHttpUrl = (value: string): boolean => value.length <= 2_000 && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

/** A URL of http or https. */
export function httpUrl({
  empty = false,
  ...about
}: About<string> & { readonly expected: string; /** May be empty. */ readonly empty?: boolean }): Field<string> {
  return { kind: 'text', schema: z.string().check(z.refine((value) => isHttpUrl(value) || (empty && value === ''))), secret: false, ...about }
}

type Times = { readonly description: string; /** In ms. */ readonly min?: number; readonly max?: number }
const boundsOf = ({ min = 0, max = MAX_DURATION_MS }: Times): string => `${min > 0 ? `from ${durationText(min)} to` : 'at most'} ${durationText(max)}`
/** In ms; undefined where it is no time within the bounds. */
function timeIn(value: unknown, { min = 0, max = MAX_DURATION_MS }: Times): number | undefined {
  const ms = typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined
  return ms !== undefined && ms >= min && ms <= max ? ms : undefined
}

/** A time as people write it; its value is in ms. */
export function duration(about: Times & { readonly default: number }): Field<number> {
  const expected = `a time such as 90s, 5m or 2h, ${boundsOf(about)}`
  return {
    kind: 'text',
    schema: z.number(),
    expected,
    default: about.default,
    description: about.description,
    secret: false,
    read(value) {
      const ms = timeIn(value, about)
      return ms === undefined ? { problems: [{ path: [], text: mustBe(expected, describeValue(value)) }] } : { value: ms }
    },
    shown: durationText,
  }
}

/** A time that may be left out, or be `never`: both are undefined where the default is. */
export function optionalDuration(about: Times & { readonly default?: number; readonly never?: true }): Field<number | undefined> {
  const expected = `a time such as 90s, 5m or 2h, ${boundsOf(about)}${about.never === true ? ', or never' : ''}`
  return {
    kind: 'text',
    schema: z.optional(z.number()),
    expected,
    default: about.default,
    description: about.description,
    secret: false,
    read(value) {
      if (about.never === true && (value === 'never' || value === 0 || value === '0')) return { value: undefined }
      const ms = timeIn(value, about)
      return ms === undefined ? { problems: [{ path: [], text: mustBe(expected, describeValue(value)) }] } : { value: ms }
    },
    shown: (ms) => (ms === undefined ? 'never' : durationText(ms)),
  }
}
