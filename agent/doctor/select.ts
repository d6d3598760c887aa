// Which checks are meant by the ids and groups that a user names.
import { nearest } from '../lib/nearest.ts'
import { CHECK_GROUPS } from '../model/doctor.ts'
import type { CheckDefinition } from './definition.ts'

export type Selection = { readonly checks: readonly CheckDefinition[] } | { readonly problem: string }

const isGroup = (name: string): boolean => (CHECK_GROUPS as readonly string[]).includes(name)

/** `only` and `skip`: ids or groups, split by commas; undefined: not given. */
export function selectChecks(all: readonly CheckDefinition[], only: string | undefined, skip: string | undefined): Selection {
  const known = [...all.map(({ id }) => id), ...CHECK_GROUPS]
  const named = (text: string | undefined): readonly string[] | undefined =>
    text
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
  const [wanted, unwanted] = [named(only), named(skip)]
  for (const name of [...(wanted ?? []), ...(unwanted ?? [])]) {
    if (known.includes(name)) continue
    return { problem: `${JSON.stringify(name.slice(0, 60))} is not a check or a group; did you mean ${nearest(name, known) ?? 'host'}?` }
  }
  const matches = (names: readonly string[], { id, group }: CheckDefinition): boolean => names.some((name) => (isGroup(name) ? name === group : name === id))
  const checks = all.filter((check) => (wanted === undefined || matches(wanted, check)) && !(unwanted !== undefined && matches(unwanted, check)))
  return checks.length === 0 ? { problem: 'expected at least one check, none is left' } : { checks }
}
