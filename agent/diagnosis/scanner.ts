// Which lines may hold a fault, and of which family: one pass for the literals of all families.
import type { FaultFamily } from './faults/family.ts'
import { createLiteralSearch, type LiteralSearch } from './literal-search.ts'

export type Scanner = {
  readonly families: readonly FaultFamily[]
  readonly search: LiteralSearch
  /** The families that have this literal; none for those that are looked for beside the faults. */
  readonly familiesOf: (literal: number) => readonly FaultFamily[]
  /** Whether the literal is where a program ends. */
  readonly isEnd: (literal: number) => boolean
}

/** `beside`: literals that show no fault; `ends`: those that show how a program ends. */
export function createScanner(families: readonly FaultFamily[], beside: readonly string[] = [], ends: readonly string[] = []): Scanner {
  const owners = new Map<string, FaultFamily[]>()
  for (const family of families) {
    for (const literal of family.literals) owners.set(literal, [...(owners.get(literal) ?? []), family])
  }
  const literals = [...new Set([...owners.keys(), ...beside, ...ends])]
  const isEnd = literals.map((literal) => ends.includes(literal))
  const byId = literals.map((literal) => owners.get(literal) ?? [])
  return { families, search: createLiteralSearch(literals), familiesOf: (literal) => byId[literal] ?? [], isEnd: (literal) => isEnd[literal] === true }
}

/** A line that one or more families should look at. */
export type Candidate = { readonly line: number; readonly families: ReadonlySet<FaultFamily> }

/** Gathers hits by line, in the order of the lines. */
export function createCandidates(): {
  readonly add: (line: number, families: readonly FaultFamily[]) => void
  readonly list: () => readonly Candidate[]
} {
  const byLine = new Map<number, Set<FaultFamily>>()
  return {
    add(line, families) {
      if (families.length === 0) return
      const known = byLine.get(line)
      if (known === undefined) byLine.set(line, new Set(families))
      else for (const family of families) known.add(family)
    },
    list: () => [...byLine].map(([line, families]) => ({ line, families })).sort((a, b) => a.line - b.line),
  }
}
