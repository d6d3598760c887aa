// All kinds of incidents, and what is derived from their declarations (kinds/NAME.ts): names, types, facts.
import { COMMON_FACTS, type Facts } from './facts.ts'
import * as declared from './kinds/index.ts'
import type { KindShape } from './kinds/kind.ts'
import { isLogKind } from './log-kinds.ts'

type Declared = (typeof declared)[keyof typeof declared]

export type IncidentKind = Declared['id']
/** Kinds that a log can show. */
export type LogKind = Extract<Declared, { readonly from: 'logs' | 'both' }>['id']
/** Kinds that a detector may raise. */
export type DetectedKind = Extract<Declared, { readonly from: 'numbers' | 'both' }>['id']

/** The facts that a fault of this kind may carry. */
export type FactsOf<Kind extends IncidentKind> = Pick<Facts, Extract<Declared, { readonly id: Kind }>['facts'][number] | (typeof COMMON_FACTS)[number]>

type Named = { readonly [Part in 'afterInText' | 'follows']?: unknown }
type NamedIn<One> = One extends Named
  ? | (One extends { readonly afterInText: readonly (infer Name)[] } ? Name : never)
    | (One extends { readonly follows: readonly { readonly causes: readonly (infer Name)[] }[] } ? Name : never)
    | (One extends { readonly crash: { readonly echoOf: infer Name } } ? Name : never)
  : never
/** Fails to compile where a declaration names a kind that is not declared; the error shows its name. */
const namedKindsExist: Exclude<NamedIn<Declared>, IncidentKind> extends never ? true : Exclude<NamedIn<Declared>, IncidentKind> = true
void namedKindsExist

const isFromLogs = ({ from }: KindShape): boolean => from !== 'numbers'
// Sorted, since a bundler keeps the order of the file and Node does not.
const shapes: readonly Declared[] = Object.values(declared).toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** The names of the facts that a fault of this kind may carry. */
export const factsOf = (kind: IncidentKind): ReadonlySet<string> => new Set<string>([...kindOf(kind).facts, ...COMMON_FACTS])

/** Kinds of logs first, each part by name. */
export const INCIDENT_KINDS: readonly IncidentKind[] = [...shapes.filter(isFromLogs), ...shapes.filter((shape) => !isFromLogs(shape))].map(({ id }) => id)
const BY_ID: ReadonlyMap<string, KindShape & { readonly id: IncidentKind }> = new Map(shapes.map((shape) => [shape.id, shape]))

export const isIncidentKind = (text: string): text is IncidentKind => BY_ID.has(text)
export function kindOf(kind: IncidentKind): KindShape {
  const shape = BY_ID.get(kind)
  if (shape === undefined) throw new Error(`expected a declared kind of incident, got ${kind}`)
  return shape
}
export const LOG_KINDS: readonly LogKind[] = INCIDENT_KINDS.filter(isLogKind)

/** `cuda_oom` is `CudaOom` where alerts are named. */
export const alertName = (kind: IncidentKind): string => kind.replace(/(?:^|_)([a-z0-9])/g, (_, first: string) => first.toUpperCase())
/** Where the agent serves what the kind means and what to do about it: each kind has its page in alerts/runbooks, a test holds it. */
export const runbookPath = (kind: IncidentKind): string => `/runbooks/${kind}`
export const ALERT_NAMES: ReadonlyMap<IncidentKind, string> = new Map(INCIDENT_KINDS.map((kind) => [kind, alertName(kind)]))
