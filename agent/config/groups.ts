// Reads a list of groups, such as `targets`: each group's keys are fields, like those of a section.
import { nearest } from '../lib/nearest.ts'
import type { Fields, PartProblem, ValuesOf } from './field.ts'
import { cameInstead } from './problem.ts'

type Group = Readonly<Record<string, unknown>>
const isGroup = (value: unknown): value is Group => typeof value === 'object' && value !== null && !Array.isArray(value)

export type GroupSpec<F extends Fields> = {
  readonly fields: F
  /** Keys that must be set. */
  readonly required: readonly (keyof F & string)[]
  /** Ends the sentence "expected …" of the whole list. */
  readonly expected: string
  /** More would be none that a person wrote. */
  readonly max: number
}
export type ReadGroups<F extends Fields> = {
  readonly groups: readonly { readonly at: number; readonly values: ValuesOf<F> }[]
  readonly problems: PartProblem[]
}

function isValues<F extends Fields>(fields: F, values: Group): values is ValuesOf<F> & Group {
  return Object.entries(fields).every(([name, { schema }]) => schema.safeParse(values[name]).success)
}

/** Groups with a problem are left out. */
export function readGroups<const F extends Fields>(value: unknown, { fields, required, expected, max }: GroupSpec<F>): ReadGroups<F> {
  // A URL in a group's place may hold a password as well as one in its own.
  const secret = Object.values<Fields[string]>(fields).some((field) => field.secret)
  if (!Array.isArray(value) || value.length > max)
    return {
      groups: [],
      problems: [{ path: [], text: `expected ${expected}, at most ${max}, came ${Array.isArray(value) ? value.length : cameInstead({ secret }, value)}` }],
    }
  const problems: PartProblem[] = []
  const groups = value.flatMap((item: unknown, at) => {
    if (!isGroup(item)) {
      problems.push({ path: [at], text: `expected a group of keys with ${required.join(', ')}, came ${cameInstead({ secret }, item)}` })
      return []
    }
    const before = problems.length
    const values: Record<string, unknown> = {}
    for (const key of Object.keys(item))
      if (!Object.hasOwn(fields, key))
        problems.push({ path: [at, key], text: `unknown key; the nearest valid one is ${nearest(key, Object.keys(fields)) ?? ''}` })
    for (const [name, field] of Object.entries<Fields[string]>(fields)) {
      if (!Object.hasOwn(item, name)) {
        if (required.includes(name)) problems.push({ path: [at, name], text: `expected ${field.expected}, came nothing` })
        else values[name] = field.default
        continue
      }
      const found = item[name] === null ? undefined : field.schema.safeParse(item[name])
      if (found?.success === true) values[name] = found.data
      else problems.push({ path: [at, name], text: `expected ${field.expected}, came ${cameInstead(field, item[name])}` })
    }
    return problems.length === before && isValues(fields, values) ? [{ at, values }] : []
  })
  return { groups, problems }
}
