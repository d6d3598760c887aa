// What an operator marked as resolved though it still shows: counters and flags that stay until a reset. They fire again only when they change. Pure.
import type { Facts } from '../../model/facts.ts'
import type { Severity } from '../../model/severity.ts'
import type { Faulty, Finding } from '../../model/finding.ts'
import type { IncidentSubject } from '../../model/incident.ts'
import { kindOf, type IncidentKind } from '../../model/kinds.ts'
import type { NewWhen } from '../../model/kinds/kind.ts'
import type { BaselineEntry } from '../../model/maintenance.ts'

const RANK: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 }
/** More than all GPUs and containers of a host that were ever repaired. */
const MAX_KEPT = 1_000

export type AcknowledgedBaseline = {
  readonly accept: (fault: { readonly kind: IncidentKind; readonly severity: Severity; readonly facts: Facts }, subject: IncidentSubject, t: number) => void
  /** Whether this is what was accepted, unchanged. */
  readonly covers: (finding: Faulty) => boolean
  /** It is really over: what comes then is new. */
  readonly forget: (finding: Finding) => void
  readonly restore: (all: readonly BaselineEntry[]) => void
}

const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function isNews({ above = [], below = [], other = [], more = [] }: NewWhen, before: Facts, now: Facts): boolean {
  const beyond = (name: keyof Facts, sign: 1 | -1): boolean => {
    const [was, is] = [number(before[name]), number(now[name])]
    return is !== undefined && (was === undefined || (is - was) * sign > 0)
  }
  return (
    above.some((name) => beyond(name, 1)) ||
    below.some((name) => beyond(name, -1)) ||
    other.some((name) => now[name] !== undefined && now[name] !== before[name]) ||
    more.some((name) => list(now[name]).some((each) => !list(before[name]).includes(each)))
  )
}

const whoseOf = (kind: IncidentKind, uuid: string | undefined, container: string | undefined, { gpu_index: index }: Facts): string =>
  kind === 'container_lost_gpu' ? (container ?? 'host') : (uuid ?? (kind === 'gpu_missing' && index !== undefined ? `GPU ${index}` : 'host'))

export function createAcknowledgedBaseline(onChange: (all: readonly BaselineEntry[]) => void): AcknowledgedBaseline {
  const known = new Map<string, BaselineEntry>()
  const keyOf = (kind: IncidentKind, whose: string): string => `${kind} ${whose}`
  const changed = (): void => onChange([...known.values()])
  return {
    accept({ kind, severity, facts }, { gpu, container }, t) {
      const news = kindOf(kind).newWhen
      if (news === undefined || (kind === 'xid' && facts.recovery_action === undefined)) return
      const whose = whoseOf(kind, gpu?.uuid, container?.name, facts)
      const judged = [...(news.above ?? []), ...(news.below ?? []), ...(news.other ?? []), ...(news.more ?? [])]
      const kept = Object.fromEntries(judged.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])))
      const key = keyOf(kind, whose)
      known.delete(key)
      known.set(key, { kind, whose, severity, facts: kept, at: t })
      const oldest = known.size > MAX_KEPT ? known.keys().next().value : undefined
      if (oldest !== undefined) known.delete(oldest)
      changed()
    },
    covers({ kind, about, facts, severity }) {
      const news = known.size === 0 ? undefined : kindOf(kind).newWhen
      if (news === undefined) return false
      const key = keyOf(kind, whoseOf(kind, about.uuid, about.container, facts))
      const before = known.get(key)
      if (before === undefined) return false
      if (RANK[severity] <= RANK[before.severity] && !isNews(news, before.facts, facts)) return true
      known.delete(key)
      changed()
      return false
    },
    forget({ kind, about }) {
      if (known.size === 0) return
      // A card that was lost before it told its UUID is told healthy without its number: all such are then over.
      const whose = whoseOf(kind, about.uuid, about.container, {})
      const gone = [...known].filter(([, one]) => one.kind === kind && (one.whose === whose || (whose === 'host' && one.whose.startsWith('GPU '))))
      for (const [key] of gone) known.delete(key)
      if (gone.length > 0) changed()
    },
    restore(all) {
      for (const one of all) known.set(keyOf(one.kind, one.whose), one)
    },
  }
}
