// Why PyTorch's request failed, from the figures of its message: every cause whose removal alone would have let it succeed.
import type { Facts, OomCause } from '../../../model/facts.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'

const GIB = 2 ** 30
/** A process without a name of its own in the message is ours when it holds what PyTorch holds, plus context and libraries. */
const CONTEXT_AT_MOST = 4 * GIB
/** No CUDA context is smaller. */
const CONTEXT_AT_LEAST = GIB / 8
/** Context, cuBLAS, cuDNN and NCCL of one process: 0.3 to 2 GiB are ordinary. */
const CONTEXT_USUAL = GIB
const NON_PYTORCH_UNUSUAL = 3 * GIB
/** Without the card's size: a request that only the largest GPUs could hold at all, and none beside a model. */
const HUGE = 128 * GIB
/** No batch and no setting asks for so much: an address or garbage was taken for a size. */
export const IMPOSSIBLE = 2 ** 46
/** From this share of the card on a cause may lead; measured on simulated failures whose cause is known. */
const LEADS = 0.1
const MENTIONED = 0.05
/** Below this share of the card what is left beside the request counts for nothing: the driver gives memory in pages of 2 MiB, and keeps some. */
const TRACE = 0.01

export type Judged = {
  readonly causes: readonly OomCause[]
  /** What other processes hold, themselves named or only missed in the sum. */
  readonly others?: { readonly bytes: number; readonly named: boolean; readonly pids: readonly number[] }
  /** What this process holds beside PyTorch's memory. */
  readonly besideBytes?: number
  /** What is neither free nor PyTorch's nor, where the message says so, this process's: other processes, the desktop, this process's own context. */
  readonly outsideBytes?: number
  /** Enough was free and the request failed all the same. */
  readonly enoughWasFree: boolean
  /** No more than a trace beside the request was free: the card was full, and free memory is rarely all in one piece. */
  readonly barelyFree?: boolean
  /** More than the card has: Windows and WSL2 lend host memory. */
  readonly spilled: boolean
}

/** Half of the last digit that was printed: amounts from 1 GiB on are rounded to 0.01 GiB. */
const rounding = (bytes: number): number => (bytes >= GIB ? 0.005 * GIB : 0.005 * 2 ** 20)

/** What PyTorch holds: allocated and cached. What is unused in private pools is printed beside, and counted in the first (CUDACachingAllocator.cpp). */
function held(facts: Facts): number | undefined {
  if (facts.reserved_bytes !== undefined) return facts.reserved_bytes
  if (facts.allocated_bytes === undefined) return undefined
  return facts.allocated_bytes + (facts.reserved_unallocated_bytes ?? 0)
}

/** Under WSL 2, and where the driver hides processes, PyTorch prints 0 bytes for its own: that is no figure. */
export function withoutHidden(facts: Facts): Facts {
  const { process_bytes: bytes, ...others } = facts
  return bytes !== undefined && bytes < 0.5 * (held(facts) ?? 0) ? others : facts
}

/** Those of which a figure is given: where the driver hides processes, all have 0 bytes. */
const listedIn = (facts: Facts): NonNullable<Facts['other_processes']> => (facts.other_processes ?? []).filter(({ bytes }) => bytes > 0)

/** The processes beside the failing one. In a container it is not named "this process" but is one of the list, by its host's pid. */
function withoutSelf(facts: Facts): readonly { readonly pid?: number; readonly bytes: number }[] {
  const listed = listedIn(facts)
  if (facts.process_bytes !== undefined || listed.length === 0) return listed
  const own = held(facts)
  // What PyTorch holds here, its context and what that process holds are more than the card has: then they are one.
  const room = (facts.total_bytes ?? Infinity) - (facts.free_bytes ?? 0) - CONTEXT_AT_LEAST
  const both = own === undefined ? undefined : listed.find(({ bytes }) => bytes >= own && bytes + own > room)
  if (both !== undefined) return listed.filter((process) => process !== both)
  const bySize = [...listed].sort((a, b) => a.bytes - b.bytes)
  const self =
    own === undefined
      ? bySize[0] // nothing tells which: a lone process is the failing one, of several not the biggest
      : bySize.find((process) => process.bytes >= own - rounding(own) * 3 && process.bytes <= own + CONTEXT_AT_MOST)
  return listed.filter((process) => process !== self)
}

/** In a container the failing process is one of those listed. */
function selfIn(facts: Facts): { readonly bytes: number } | undefined {
  const others = withoutSelf(facts)
  return held(facts) === undefined ? undefined : listedIn(facts).find((process) => !others.includes(process))
}

function othersOf(facts: Facts): Judged['others'] {
  const listed = withoutSelf(facts)
  const named = listed.reduce((sum, process) => sum + process.bytes, 0)
  if (named > 0) return { bytes: named, named: true, pids: listed.flatMap(({ pid }) => (pid === undefined ? [] : [pid])) }
  // Generations before 2.1, HIP, and containers name nobody: someone holds what is neither free nor ours.
  const own = facts.process_bytes ?? (held(facts) === undefined ? undefined : (held(facts) ?? 0) + CONTEXT_USUAL)
  if (own === undefined || facts.total_bytes === undefined || facts.free_bytes === undefined || listedIn(facts).length > 0) return undefined
  const missing = facts.total_bytes - facts.free_bytes - own
  const pids = (facts.other_processes ?? []).flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  return missing > GIB ? { bytes: missing, named: false, pids } : undefined
}

function outsideOf(facts: Facts): number | undefined {
  const own = facts.process_bytes ?? held(facts)
  if (own === undefined || facts.total_bytes === undefined || facts.free_bytes === undefined) return undefined
  // In a container the failing process is one of the list: then the list tells who is outside.
  if (facts.process_bytes === undefined && listedIn(facts).length > 0) return othersOf(facts)?.bytes ?? 0
  return Math.max(0, facts.total_bytes - facts.free_bytes - own)
}

export function judgeCauses(facts: Facts): Judged {
  const { requested_bytes: requested, total_bytes: total, free_bytes: free, allowed_bytes: allowed } = facts
  const spilled = total !== undefined && (facts.allocated_bytes ?? 0) > total
  const nothing: Judged = { causes: [], enoughWasFree: false, spilled }
  const others = spilled ? undefined : othersOf(facts)
  const outside = spilled ? undefined : outsideOf(facts)
  const withOthers = { ...(others === undefined ? {} : { others }), ...(outside === undefined ? {} : { outsideBytes: outside }) }
  if (requested !== undefined && total === undefined && requested >= HUGE) return { ...nothing, ...withOthers, causes: ['oversized_request'] }
  if (requested === undefined || total === undefined) return { ...nothing, ...withOthers }
  const limit = allowed ?? total
  const own = held(facts) ?? 0
  const unallocated = facts.reserved_unallocated_bytes ?? Math.max(0, (facts.reserved_bytes ?? 0) - (facts.allocated_bytes ?? 0))
  const enough = free !== undefined && free - rounding(free) >= requested + rounding(requested)
  const barelyFree = enough && free - requested < TRACE * total
  const enoughWasFree = enough && !barelyFree
  // What was lacking: of the card's memory, and of the limit that the program set itself.
  const lackingOnCard = free === undefined ? requested : requested - free
  const lackingOfLimit = allowed === undefined ? -Infinity : own + requested - allowed
  const lacking = Math.max(lackingOnCard, lackingOfLimit)
  /** By how much the request would have fitted without it. */
  const spare = new Map<OomCause, number>()

  if (allowed !== undefined && free !== undefined && free + rounding(free) >= requested && lackingOfLimit + rounding(allowed) > 0)
    spare.set('fraction_cap', free - requested)
  if (unallocated >= LEADS * limit && (unallocated >= requested || (lacking > 0 && unallocated >= lacking))) spare.set('fragmentation', unallocated - lacking)
  const pools = facts.private_pools_bytes ?? 0
  if (pools >= LEADS * limit && pools >= lacking) spare.set('private_pools', pools - lacking)
  const process = facts.process_bytes ?? selfIn(facts)?.bytes
  const beside = process === undefined || held(facts) === undefined ? undefined : process - own
  if (beside !== undefined && beside > NON_PYTORCH_UNUSUAL && beside - CONTEXT_USUAL >= lacking)
    spare.set('non_pytorch_memory', beside - CONTEXT_USUAL - lacking)
  const foreign = others?.bytes ?? 0
  const minor = foreign >= MENTIONED * total && foreign < LEADS * total && foreign >= lackingOnCard
  if (foreign >= LEADS * total && foreign >= lackingOnCard && !enoughWasFree) spare.set('other_process', foreign - lackingOnCard)
  const oversized = requested >= 0.9 * limit || (requested > total - 1.5 * GIB && requested > total / 2)

  const causes = [...spare].sort((a, b) => b[1] - a[1]).map(([cause]) => cause)
  // The request itself: leads where nothing else would have helped, since no card of this size can serve it.
  if (oversized) causes.push('oversized_request')
  if (causes.length === 0) causes.push('capacity')
  if (minor && !enoughWasFree) causes.push('other_process')
  return { causes, ...withOthers, ...(beside === undefined ? {} : { besideBytes: beside }), enoughWasFree, ...(barelyFree ? { barelyFree } : {}), spilled }
}

/** Without figures, which are those of one failure: an incident may have several. */
export const oomTitle = (gpu: number | undefined): string => `Out of GPU memory${gpu === undefined ? '' : ` on GPU ${gpu}`}`
/** `GPU 3` where its number is known. */
export const gpuName = (gpu: number | undefined): string => (gpu === undefined ? 'the GPU' : `GPU ${gpu}`)

/** Held and in no tensor; older messages print only the sum. */
export const cachedOf = (facts: Facts): number => facts.reserved_unallocated_bytes ?? Math.max(0, (facts.reserved_bytes ?? 0) - (facts.allocated_bytes ?? 0))

/** One of several that holds most of what they hold. */
function largest(facts: Facts, all: number): string {
  const top = withoutSelf(facts).reduce<{ readonly pid?: number; readonly bytes: number } | undefined>(
    (most, one) => (most === undefined || one.bytes > most.bytes ? one : most),
    undefined,
  )
  return top?.pid !== undefined && top.bytes > all / 2 ? `, most of it process ${top.pid} (${gib(top.bytes)})` : ''
}
function neighboursSentence(facts: Facts, judged: Judged): string {
  const total = facts.total_bytes === undefined ? '' : ` of its ${gib(facts.total_bytes)}`
  const bytes = gib(judged.others?.bytes ?? 0)
  const pids = judged.others?.pids ?? []
  if (judged.others?.named !== true)
    return `Computed: about ${bytes}${total} is held by something outside this process.${pids.length === 0 ? '' : ` On the same GPU: processes ${pids.join(', ')}.`}`
  return pids.length === 1
    ? `Process ${pids[0]} holds ${bytes}${total} on the same GPU.`
    : `${pids.length} other processes (${pids.join(', ')}) hold ${bytes}${total} on the same GPU${largest(facts, judged.others.bytes)}.`
}

const spilledSentence = ({ allocated_bytes: allocated = 0, total_bytes: total = 0 }: Facts): string =>
  `${gib(allocated)} is allocated, more than the card's ${gib(total)}: it has spilled into system memory (Windows, WSL2), and that is full too.`

/** What the figures prove of a job that simply needs more than there is. */
function capacitySentence(facts: Facts, judged: Judged): string {
  const { requested_bytes: requested, free_bytes: free, total_bytes: total } = facts
  if (judged.spilled) return spilledSentence(facts)
  const outside = judged.outsideBytes ?? 0
  const own = facts.process_bytes ?? selfIn(facts)?.bytes ?? held(facts)
  const apart =
    total !== undefined && outside >= LEADS * total
      ? ` ${gib(outside)} is held outside PyTorch: other processes, the desktop, or this process's own CUDA context.`
      : ''
  if (judged.enoughWasFree)
    return `${gib(free ?? 0)} was free, so the card itself was not full: a limit of the program, the driver or the host refused the request.${apart}`
  if (requested === undefined || total === undefined) return 'The job needs more memory than the GPU has left.'
  const short = free === undefined ? undefined : requested - free
  const holds = own === undefined ? '' : `; this process holds ${gib(own)} of the card's ${gib(total)}`
  if (judged.barelyFree === true) return `That is hardly more than the request, and free memory is rarely all in one piece${holds}.${apart}`
  return short === undefined || short <= 0
    ? `The card has ${gib(total)}${holds.replace(/ of the card's .*$/, '')}.${apart}`
    : `${gib(short)} short${holds}.${apart}`
}

export function causeSentence(facts: Facts, judged: Judged): string {
  const short = (facts.requested_bytes ?? 0) - (facts.free_bytes ?? 0)
  const enough = judged.others?.named === true && short > 0 && judged.others.bytes >= short && !judged.causes.includes('oversized_request')
  const minor = judged.causes[0] !== 'other_process' && (judged.causes.includes('other_process') || enough) ? ` ${neighboursSentence(facts, judged)}` : ''
  const limit =
    facts.allowed_bytes !== undefined && facts.total_bytes !== undefined && facts.allowed_bytes < facts.total_bytes && judged.causes[0] !== 'fraction_cap'
      ? ` The program may use only ${gib(facts.allowed_bytes)} (a memory fraction is set).`
      : ''
  const spilled = judged.spilled && judged.causes[0] !== 'capacity' ? ` ${spilledSentence(facts)}` : ''
  return `${mainSentence(facts, judged)}${spilled}${minor}${limit}`
}

function mainSentence(facts: Facts, judged: Judged): string {
  const { requested_bytes: requested, total_bytes: total } = facts
  switch (judged.causes[0]) {
    case 'fragmentation':
      return `PyTorch holds ${gib(cachedOf(facts))}${facts.free_bytes === undefined && total !== undefined ? ` of the card's ${gib(total)}` : ''} in its cache that it cannot use for this request. Computed from its figures: fragmentation.`
    case 'other_process':
      return neighboursSentence(facts, judged)
    case 'fraction_cap':
      return `The card had memory left (${gib(facts.free_bytes ?? 0)} free), but this process may only use ${gib(facts.allowed_bytes ?? 0)}: a memory fraction is set.`
    case 'oversized_request': {
      if (total === undefined) return `This one request is larger than nearly every GPU. Likely a wrong shape, batch, resolution or sequence length.`
      const card = `the card's ${gib(total)}`
      if (requested !== undefined && requested > IMPOSSIBLE)
        return `No GPU has that much: the size was computed wrong, by an overflow, a wrong shape, or a compiled extension that does not fit this PyTorch or GPU.`
      if (requested !== undefined && requested < total - 2 ** 28)
        return `This one request takes nearly all of ${card}. Likely a batch, sequence or shape that is too large.`
      const likely =
        requested !== undefined && requested < 1.5 * total ? 'a batch, sequence or shape that is too large' : 'a wrong shape, batch or sequence length'
      return `This one request is larger than ${card}, so it would fail on an empty card too. Likely ${likely}.`
    }
    case 'private_pools':
      return `${gib(facts.private_pools_bytes ?? 0)} is kept in private pools (CUDA graphs), which nothing else can use.`
    case 'non_pytorch_memory':
      return `This process holds ${gib(judged.besideBytes ?? 0)} outside PyTorch (other libraries, NCCL, a second framework).`
    case 'capacity':
    case undefined:
      break
  }
  return capacitySentence(facts, judged)
}
