// Links each new incident with what led to it and with what followed from it: the API's `story`, `part_of`, `led_to`. Pure; bounded memory.
import { rootOf, type OpenIncident } from './open-incident.ts'
import { isDecisiveXid } from './rules.ts'
import { causeOf, type CorrelatedIncident } from './correlation.ts'

/** UUIDs of the GPUs that a container was given. */
export type GivenGpus = (containerId: string) => readonly string[] | undefined

export type CausalChains = {
  /** An incident that fires, or has another root than before; the others whose links this changed. */
  readonly place: (open: OpenIncident) => readonly OpenIncident[]
  /** One from before a restart of the agent: its links are kept, it can have new ones. */
  readonly restore: (open: OpenIncident) => void
}

/** Of those that are over; no rule looks back further. Each holds its evidence, a hundred kilobytes at most. */
const KEPT_MS = 60 * 60_000
const MAX_OVER = 60
const MAX_LINKS = 50

function partOf(open: OpenIncident, given: GivenGpus): CorrelatedIncident {
  const { fault, subject } = rootOf(open)
  const { kind, facts } = fault
  const { id, crashKeys: containers, startedAt, lastSeenAt } = open
  const box = subject.container?.id
  // A service that does not answer is about no GPU, but its container holds some.
  const gpus = open.gpus.size > 0 || box === undefined ? open.gpus : new Set(given(box))
  return { id, kind, programXid: kind === 'xid' && !isDecisiveXid(facts.xid), gpus, containers, startedAt, lastSeenAt }
}

export function createCausalChains(given: GivenGpus = () => undefined): CausalChains {
  const recent = new Map<string, OpenIncident>()
  /** The kind and subjects that each was placed with: most changes of an incident touch neither. */
  const placed = new Map<string, string>()
  const signOf = (open: OpenIncident): string => `${rootOf(open).fault.kind} ${open.gpus.size} ${open.crashKeys.size}`

  const trim = (t: number): void => {
    let over = 0
    for (const { status } of recent.values()) if (status === 'resolved') over++
    for (const [id, { status, resolvedAt = t }] of recent) {
      if (status !== 'resolved' || (over <= MAX_OVER && t - resolvedAt <= KEPT_MS)) continue
      drop(id)
      over--
    }
  }
  const drop = (id: string): void => {
    recent.delete(id)
    placed.delete(id)
  }
  const link = (cause: OpenIncident, effect: OpenIncident, changed: Set<OpenIncident>): void => {
    const root = cause.story ?? cause.id
    // Kinds lead to no kind that leads to them, but roots of incidents can change: never round in a circle.
    if (root === effect.id || root === effect.story) return
    const old = effect.story ?? effect.id
    for (const one of recent.values()) {
      if (one.story !== old) continue
      one.story = root
      changed.add(one)
    }
    effect.story = root
    effect.partOf = { id: cause.id, kind: rootOf(cause).fault.kind }
    cause.story = root
    if (cause.ledTo.length < MAX_LINKS) cause.ledTo = [...cause.ledTo, { id: effect.id, kind: rootOf(effect).fault.kind }]
    changed.add(cause).add(effect)
  }

  return {
    place(open) {
      const sign = signOf(open)
      if (placed.get(open.id) === sign) return []
      placed.set(open.id, sign)
      recent.set(open.id, open)
      trim(open.lastSeenAt)
      if (recent.size === 1) return []
      const own = [partOf(open, given)]
      const changed = new Set<OpenIncident>()
      const parts = [...recent.values()].map((each) => partOf(each, given))
      // What came before explains it; and it may explain what came before, where its detector took longer.
      for (const effect of recent.values()) {
        if (effect.partOf !== undefined) continue
        const cause = causeOf(partOf(effect, given), effect === open ? parts : own)
        const from = cause === undefined ? undefined : recent.get(cause.id)
        if (from !== undefined) link(from, effect, changed)
      }
      changed.delete(open)
      return [...changed]
    },
    restore(open) {
      recent.set(open.id, open)
      placed.set(open.id, signOf(open))
    },
  }
}
