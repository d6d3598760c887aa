// Reads groups of keys and lists of them, such as `targets`: each group's keys are fields, like those of a section.
import { nearest } from '../lib/nearest.ts'
import { readField, type Fields, type PartProblem, type ValuesOf } from './field.ts'
import { cameInstead, mustBe } from './problem.ts'

type Group = Readonly<Record<string, unknown>>
export const isGroup = (value: unknown): value is Group => typeof value === 'object' && value !== null && !Array.isArray(value)

export type GroupSpec<F extends Fields> = {
  readonly fields: F
  /** Keys that must be set. */
  readonly required: readonly (keyof F & string)[]
}
export type GroupsSpec<F extends Fields> = GroupSpec<F> & {
  /** Ends the sentence "expected …" of the whole list. */
  readonly expected: string
  /** More would be none that a person wrote. */
  readonly max: number
}
export type ReadGroups<F extends Fields> = {
  readonly groups: readonly { readonly at: number; readonly values: ValuesOf<F> }[]
  readonly problems: PartProblem[]
}

export function isValues<F extends Fields>(fields: F, values: Group): values is ValuesOf<F> & Group {
  return Object.entries(fields).every(([name, { schema }]) => schema.safeParse(values[name]).success)
}

// A URL in a group's place may hold a password as well as one in its own.
const anySecret = (fields: Fields): boolean => Object.values(fields).some((field) => field.secret)

/** One group; the paths of problems begin within it. */
export function readGroup<const F extends Fields>(
  item: unknown,
  { fields, required }: GroupSpec<F>,
): { readonly values: ValuesOf<F> } | { readonly problems: readonly PartProblem[] } {
  if (!isGroup(item)) {
    const came = cameInstead({ secret: anySecret(fields) }, item)
    return { problems: [{ path: [], text: mustBe(`a group of keys${required.length > 0 ? ` with ${required.join(', ')}` : ''}`, came) }] }
  }
  const problems: PartProblem[] = []
  const values: Record<string, unknown> = {}
  for (const key of Object.keys(item))
    if (!Object.hasOwn(fields, key)) problems.push({ path: [key], text: `unknown key; the nearest valid one is ${nearest(key, Object.keys(fields)) ?? ''}` })
  for (const [name, field] of Object.entries<Fields[string]>(fields)) {
    if (!Object.hasOwn(item, name)) {
      if (required.includes(name)) problems.push({ path: [name], text: `missing: give ${field.expected}` })
      else values[name] = field.default
      continue
    }
    const found = readField(field, item[name])
    if ('value' in found) values[name] = found.value
    else problems.push(...found.problems.map(({ path, text }) => ({ path: [name, ...path], text })))
  }
  if (problems.length > 0) return { problems }
  if (isValues(fields, values)) return { values }
  // Losing a group silently would be worse: a notifier would never send.
  throw new Error(`a default of ${Object.keys(fields).join(', ')} does not pass its own schema`)
}

/** Groups with a problem are left out. */
export function readGroups<const F extends Fields>(value: unknown, { fields, required, expected, max }: GroupsSpec<F>): ReadGroups<F> {
  if (!Array.isArray(value) || value.length > max) {
    const came = Array.isArray(value) ? value.length : cameInstead({ secret: anySecret(fields) }, value)
    return { groups: [], problems: [{ path: [], text: mustBe(`${expected}, at most ${max}`, String(came)) }] }
  }
  const problems: PartProblem[] = []
  const groups = value.flatMap((item: unknown, at) => {
    const found = readGroup(item, { fields, required })
    if ('values' in found) return [{ at, values: found.values }]
    problems.push(...found.problems.map(({ path, text }) => ({ path: [at, ...path], text })))
    return []
  })
  return { groups, problems }
}
