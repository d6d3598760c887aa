// What people say of incidents: silence, acknowledgement, and that something is repaired. It changes who is called, never what is judged.
import type { Facts } from './facts.ts'
import type { Severity } from './severity.ts'
import type { IncidentKind } from './kinds.ts'

/** What a silence covers: every part that is there must fit; none at all covers the whole host. */
export type SilenceScope = {
  readonly kind?: IncidentKind
  /** Index or UUID. */
  readonly gpu?: string
  /** Name, or id of at least 12 characters. */
  readonly container?: string
  readonly severity?: Severity
}
export type Silence = SilenceScope & {
  readonly id: string
  /** Unix ms, as all times here. */
  readonly created_at: number
  readonly until: number
  readonly reason: string
  readonly by?: string
}
export type NewSilence = Omit<Silence, 'id' | 'created_at'>

/** By which silence an incident is silenced now. */
export type Silenced = { readonly until: number; readonly id: string }
/** Who says something of an incident, and what. */
export type Word = { readonly by?: string; readonly note?: string }
export type Acknowledgement = Word & { readonly at: number }

/** What was present when a user marked an incident as resolved: the same, unchanged, does not fire again. */
export type BaselineEntry = {
  readonly kind: IncidentKind
  /** The GPU's UUID, the container's name, or the host. */
  readonly whose: string
  readonly severity: Severity
  readonly facts: Facts
  readonly at: number
}
