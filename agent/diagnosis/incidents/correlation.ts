// Which incident led to which: a table of what follows from what, and the cause that fits best by GPU, container and time. Pure.
import { INCIDENT_KINDS, isIncidentKind, kindOf, type IncidentKind } from '../../model/kinds.ts'
import type { Nearness } from '../../model/kinds/kind.ts'

/** What of an incident decides where it belongs. */
export type CorrelatedIncident = {
  readonly id: string
  readonly kind: IncidentKind
  /** An Xid that is a program's own, which explains nothing about the card. */
  readonly programXid: boolean
  readonly gpus: ReadonlySet<string>
  /** Containers, as crashes know them. */
  readonly containers: ReadonlySet<string>
  /** Unix ms. */
  readonly startedAt: number
  readonly lastSeenAt: number
}

type Rule = {
  readonly causes: readonly string[]
  readonly on: Nearness
  readonly withinMs: number
  readonly lateMs: number
}
const MINUTE_MS = 60_000

/** For each kind what may have led to it, the nearest first. */
const RULES: ReadonlyMap<IncidentKind, readonly Rule[]> = new Map(
  INCIDENT_KINDS.map((kind) => [
    kind,
    (kindOf(kind).follows ?? []).map(({ causes, on, withinMinutes, lateMinutes }) => ({
      causes,
      on,
      withinMs: withinMinutes * MINUTE_MS,
      lateMs: lateMinutes * MINUTE_MS,
    })),
  ]),
)
/** The kinds that may have led to this one. */
export const causesOf = (kind: IncidentKind): readonly IncidentKind[] => (RULES.get(kind) ?? []).flatMap(({ causes }) => causes.filter(isIncidentKind))

const overlap = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => {
  for (const each of a) if (b.has(each)) return true
  return false
}
const near = (on: Nearness, a: CorrelatedIncident, b: CorrelatedIncident): boolean =>
  on === 'host' || overlap(a.gpus, b.gpus) || (on === 'either' && overlap(a.containers, b.containers))

const fits = ({ on, withinMs, lateMs }: Rule, cause: CorrelatedIncident, effect: CorrelatedIncident): boolean =>
  cause.id !== effect.id && effect.startedAt >= cause.startedAt - lateMs && effect.startedAt <= cause.lastSeenAt + withinMs && near(on, cause, effect)

/** What led to `effect`, among what is known: the nearest kind, of that the newest. */
export function causeOf(effect: CorrelatedIncident, known: readonly CorrelatedIncident[]): CorrelatedIncident | undefined {
  if (effect.programXid) return undefined
  for (const each of RULES.get(effect.kind) ?? []) {
    for (const kind of each.causes) {
      let best: CorrelatedIncident | undefined
      for (const cause of known) {
        if (cause.kind !== kind || (cause.programXid && kindOf(effect.kind).ofCard === true) || !fits(each, cause, effect)) continue
        if (best === undefined || cause.startedAt > best.startedAt || (cause.startedAt === best.startedAt && cause.id < best.id)) best = cause
      }
      if (best !== undefined) return best
    }
  }
  return undefined
}
