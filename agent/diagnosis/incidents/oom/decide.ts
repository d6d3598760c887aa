// Why a request failed, decided from the state and from what grew before: for each possible cause, what would have happened without it.
import type { OomCause } from '../../../model/facts.ts'
import type { Growth, MemoryPast, Rise } from './past.ts'
import type { OomState } from './state.ts'

const GIB = 2 ** 30
/** From this share on a cause may lead, from this one on it is mentioned (measured on simulated failures whose cause is known). */
const LEADS = 0.1
const MENTIONED = 0.05
/** The context of a process, cuBLAS and cuDNN are ordinary; what is above is something else. */
const CONTEXT_USUAL = GIB
const OUTSIDE_UNUSUAL = 2 * GIB
/** A rise of less is noise. */
const GROWTH_COUNTS = 0.01
const HIDDEN_CAP_SPARE = 0.1
/** Share of the highest use so far from which on a job is at its usual peak. */
const USUAL = 0.8

/** One thing that, had it not been there, would have let the request succeed. */
export type Hold = {
  readonly cause: OomCause
  readonly bytes: number
  /** What would have been left after the request. */
  readonly spare: number
  /** How much longer the job would have gone on at its growth; Infinity where it does not grow. */
  readonly longerMs: number
}
export type Decision = {
  readonly causes: readonly OomCause[]
  readonly holds: readonly Hold[]
  readonly othersBytes: number
  /** What grew the most before, if anything did. */
  readonly grew?: { readonly what: 'own' | 'others' | 'outside'; readonly growth: Growth }
  /** Without a trend: what came to the job's own memory in its last minutes, where that filled the card. */
  readonly rose?: Rise
  /** A limit that nobody told of: enough was free, as the driver says too. */
  readonly hiddenCap: boolean
  readonly enoughWasFree: boolean
  /** Of the card and of the limit, whichever is more. */
  readonly lacking: number
}

export function decide(state: OomState, past: MemoryPast | undefined): Decision {
  const { requested, total, limit, capped, free, reserved, stranded, pools, outside, neighbours, rounding } = state
  const lackingOnCard = requested - free
  const lackingOfLimit = capped ? reserved + requested - limit : -Infinity
  const lacking = Math.max(lackingOnCard, lackingOfLimit)
  const enoughWasFree = lackingOnCard + 2 * rounding <= 0
  const othersBytes = (neighbours ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
  const beyondContext = Math.max(0, (outside ?? 0) - CONTEXT_USUAL)
  const hiddenCap = isHiddenCap(state, enoughWasFree)
  const overLimit = capped && lackingOfLimit > 0
  const grew = strongestGrowth(past, total, beyondContext)
  const own = grew?.what === 'own' ? grew.growth : undefined

  const hold = (cause: OomCause, bytes: number, needs: number): Hold | undefined => {
    const spare = bytes - needs
    if (bytes <= 0 || spare < 0) return undefined
    // A load that has asked for more before will ask for it again.
    const again = Math.max(0, (past?.peakBytes ?? 0) - (state.allocated ?? Infinity) - requested)
    const longerMs = own === undefined ? Infinity : (Math.max(0, spare - again) / own.perHour) * 3_600_000
    return { cause, bytes, spare, longerMs }
  }
  // Memory of others does not help against a limit of one's own, nor where enough was free.
  const foreign = (cause: OomCause, bytes: number): Hold | undefined => (overLimit || enoughWasFree ? undefined : hold(cause, bytes, lackingOnCard))
  const ofPyTorch = (cause: OomCause, bytes: number): Hold | undefined => (enoughWasFree && !overLimit ? undefined : hold(cause, bytes, lacking))
  const holds = {
    stranded: ofPyTorch('fragmentation', stranded),
    pools: ofPyTorch('private_pools', pools),
    others: foreign('other_process', othersBytes),
    outside: foreign('non_pytorch_memory', beyondContext),
  }
  const oversized = requested >= 0.9 * limit || requested > total - 1.5 * GIB
  const cap = (overLimit && lackingOnCard <= rounding) || hiddenCap

  /** Without it the job would have gone on for at least as long again as it has run. */
  const lasts = ({ longerMs }: Hold): boolean => longerMs >= (past?.ageMs ?? 0)
  const leading: Hold[] = []
  const mentioned: OomCause[] = []
  const consider = (held: Hold | undefined, mayLead: boolean, mayBeMentioned: boolean): void => {
    if (held === undefined) return
    if (mayLead) leading.push(held)
    else if (mayBeMentioned) mentioned.push(held.cause)
  }
  // Of a new kind of demand more is to come: pieces that would have served this request, but not the next one like it, only hasten it.
  const next = isNewDemand(state, past) ? requested : 0
  const piecesLead = holds.stranded !== undefined && stranded >= LEADS * limit && holds.stranded.spare >= next && lasts(holds.stranded)
  consider(holds.stranded, piecesLead, stranded >= MENTIONED * limit)
  consider(holds.pools, holds.pools !== undefined && pools >= LEADS * limit && lasts(holds.pools), pools >= MENTIONED * limit)
  const othersGrew = grew?.what === 'others' && grew.growth.bytes >= lackingOnCard
  consider(holds.others, holds.others !== undefined && (othersGrew || (othersBytes >= LEADS * total && lasts(holds.others))), othersBytes >= MENTIONED * total)
  const outsideGrew = grew?.what === 'outside' && grew.growth.bytes >= lackingOnCard
  const muchOutside = beyondContext >= OUTSIDE_UNUSUAL && beyondContext >= LEADS * total
  consider(holds.outside, holds.outside !== undefined && (outsideGrew || (muchOutside && lasts(holds.outside))), beyondContext >= GIB)

  const grown: OomCause | undefined = othersGrew ? 'other_process' : outsideGrew ? 'non_pytorch_memory' : undefined
  leading.sort((a, b) => Number(b.cause === grown) - Number(a.cause === grown) || b.spare - a.spare)
  const first: OomCause[] = [
    ...(oversized ? (['oversized_request'] as const) : []),
    ...(cap ? (['fraction_cap'] as const) : []),
    ...leading.map(({ cause }) => cause),
  ]
  if (first.length === 0 || (cap && own !== undefined && !oversized)) first.push('capacity')
  const rose = grew === undefined && first[0] === 'capacity' && (past?.rose?.bytes ?? 0) >= LEADS * limit ? past?.rose : undefined
  const found = Object.values(holds).flatMap((one) => one ?? [])
  return {
    causes: oversized ? first.filter((cause) => cause === 'oversized_request' || cause === 'fraction_cap') : [...first, ...mentioned],
    holds: found,
    othersBytes,
    ...(grew === undefined ? {} : { grew }),
    ...(rose === undefined ? {} : { rose }),
    hiddenCap,
    enoughWasFree,
    lacking: Math.max(0, lacking),
  }
}

/** Asked for while less than usual was in use, and going beyond all that was ever in use: not the peak of what the job always does. */
function isNewDemand({ allocated, requested }: OomState, past: MemoryPast | undefined): boolean {
  const peak = past?.peakBytes
  return peak !== undefined && allocated !== undefined && allocated < USUAL * peak && allocated + requested > peak
}

/** PyTorch 2.1 to 2.8 do not print a memory fraction; that much was free, and the driver saw it before too. */
function isHiddenCap({ capped, free, requested, total, driverFree }: OomState, enoughWasFree: boolean): boolean {
  const spare = Math.max(GIB, HIDDEN_CAP_SPARE * total)
  return !capped && enoughWasFree && free - requested >= spare && driverFree !== undefined && driverFree - requested >= spare / 2
}

function strongestGrowth(past: MemoryPast | undefined, total: number, beyondContext: number): Decision['grew'] {
  if (past === undefined) return undefined
  const { own, others, outside } = past.peakBytes === undefined ? dividedGrowth(past, beyondContext) : past
  const candidates = [
    { what: 'own', growth: own },
    { what: 'others', growth: others },
    { what: 'outside', growth: outside },
  ] as const
  const found = candidates.flatMap(({ what, growth }) => (growth === undefined || growth.bytes < GROWTH_COUNTS * total ? [] : [{ what, growth }]))
  return found.toSorted((a, b) => b.growth.bytes - a.growth.bytes)[0]
}

/** Without a probe only the process as a whole was seen to grow: what is unusual outside PyTorch now is what grew, the rest is PyTorch's. */
function dividedGrowth({ own, others }: MemoryPast, beyondContext: number): Pick<MemoryPast, 'own' | 'others' | 'outside'> {
  if (own === undefined) return others === undefined ? {} : { others }
  const share = Math.min(1, beyondContext / own.bytes)
  const part = (by: number): Growth => ({ bytes: own.bytes * by, perHour: own.perHour * by, overMs: own.overMs })
  return { ...(others === undefined ? {} : { others }), ...(share < 1 ? { own: part(1 - share) } : {}), ...(share > 0 ? { outside: part(share) } : {}) }
}
