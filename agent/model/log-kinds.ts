// The kinds of incidents that logs show, without those of numbers: all that explaining a log needs, in the dashboard too.
import { COMMON_FACTS } from './facts.ts'
import type { IncidentKind, LogKind } from './kinds.ts'
import * as declared from './kinds/from-logs.ts'
import type { KindShape } from './kinds/kind.ts'

const BY_ID: ReadonlyMap<string, KindShape> = new Map(Object.values(declared).map((shape) => [shape.id, shape]))

export const isLogKind = (kind: IncidentKind): kind is LogKind => BY_ID.has(kind)
export function logKindOf(kind: LogKind): KindShape {
  const shape = BY_ID.get(kind)
  if (shape === undefined) throw new Error(`expected a declared kind of incident that logs show, got ${kind}`)
  return shape
}

/** The names of the facts that a fault of this kind may carry. */
export const logFactsOf = (kind: LogKind): ReadonlySet<string> => new Set<string>([...logKindOf(kind).facts, ...COMMON_FACTS])
