// The verdict of an out-of-memory incident as text: what was asked, why it failed, what grew before, and where the figures come from.
import { gib } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { upperFirst } from '../../../text/grammar.ts'
import { roughSpan } from '../../../text/span.ts'
import { gpuName } from '../../faults/cuda-oom/causes.ts'
import type { Decision } from './decide.ts'
import type { Growth, MemoryPast } from './past.ts'
import type { Neighbour, OomState } from './state.ts'

export function neighbourName({ pid, container, process, sameContainer }: Neighbour): string {
  const number = pid === undefined ? undefined : `process ${pid}`
  if (sameContainer === true) return `${number ?? 'another process'} of the same container`
  const parts = container === undefined ? [number, process] : [`container ${container}`, number]
  return parts.filter((part) => part !== undefined).join(', ') || 'a process without a name'
}

const lately = (ms: number): string => `most of it within the last ${ms <= 60_000 ? 'minute' : roughSpan(ms)}`

/** Of a rise of minutes a rate by the hour means nothing. */
const SHORT_MS = 1_800_000
/** What jumped has no rate. */
const grewText = ({ bytes, perHour, overMs, jumpedInMs }: Growth): string =>
  jumpedInMs === undefined
    ? `${gib(Math.round(bytes))} in the ${roughSpan(overMs)} before${overMs < SHORT_MS ? '' : ` (${gib(Math.round(perHour))} an hour)`}`
    : `${gib(Math.round(bytes))}, ${lately(jumpedInMs)}`
const grewSentence = (what: string, growth: Growth): string => `${what} grew by ${grewText(growth)}.`

/** `gpu`: the number that the message gave, which is the program's own, or else the host's. */
export function verdictOf(gpu: number | undefined, state: OomState, decision: Decision, past: MemoryPast | undefined, mig = false): string {
  const asked = `PyTorch asked for ${gib(state.requested)} on ${gpuName(gpu)} and ${gib(state.free)} was free.`
  const source = state.from === 'probe' ? 'Figures reported by PyTorch when it failed.' : 'The figures are from the message.'
  return [asked, reason(state, decision, mig), ...history(state, decision, past), source].join(' ')
}

function reason(state: OomState, { causes, othersBytes, holds, enoughWasFree, hiddenCap, lacking }: Decision, mig: boolean): string {
  const { total, limit, allocated, reserved, stranded, neighbours } = state
  switch (causes[0]) {
    case 'oversized_request':
      return `A single request of this size does not fit ${limit < total ? `the ${gib(limit)} that this process may use` : `a GPU with ${gib(total)}`}, even an empty one: look for a wrong shape or batch size.`
    case 'fraction_cap':
      return hiddenCap
        ? 'That was enough, and the driver saw as much free just before: a memory fraction that the message does not name limits this process.'
        : `The card had memory left, but this process may only use ${gib(limit)} and holds ${gib(reserved)}: a memory fraction is set.`
    case 'fragmentation':
      return `PyTorch itself holds ${gib(stranded)} (${percent(stranded / Math.max(1, limit))} of what it may use) in pieces between blocks that are in use (fragmentation); without them the request would have fitted with ${gib(spareOf(holds, 'fragmentation'))} to spare.`
    case 'private_pools':
      return `${gib(state.pools)} are kept in private pools (CUDA graphs), which nothing else may use.`
    case 'other_process': {
      const [biggest] = neighbours ?? []
      const more = (neighbours?.length ?? 0) > 1 ? `, ${gib(biggest?.bytes ?? 0)} of it ${neighbourName(biggest ?? { bytes: 0 })}` : ''
      const who = neighbours?.length === 1 && biggest !== undefined ? upperFirst(neighbourName(biggest)) : 'Other processes'
      return `${who} ${neighbours?.length === 1 ? 'holds' : 'hold'} ${gib(othersBytes)} of the ${gib(total)} on the same GPU${more}; without that the request would have fitted.`
    }
    case 'non_pytorch_memory':
      return `This process holds ${gib(state.outside ?? 0)} outside PyTorch (CUDA context, NCCL, other libraries, a second framework); without what is unusual of it the request would have fitted.`
    case 'capacity':
    case undefined:
      break
  }
  if (enoughWasFree) return 'That was enough: another process that freed memory since, or a limit that nobody named, was in the way.'
  const own = allocated === undefined ? `${gib(reserved)} reserved by PyTorch` : `${gib(allocated)} in use`
  return `The job itself has ${own}, ${limit < total ? `of the ${gib(limit)} that it may use` : `on a ${mig ? 'MIG instance' : 'card'} with ${gib(limit)}`}: ${gib(lacking)} short.`
}

function history({ neighbours }: OomState, { causes, grew, rose, holds }: Decision, past: MemoryPast | undefined): readonly string[] {
  if (past === undefined) return []
  if (grew !== undefined) {
    const { what, growth } = grew
    const wanted = causes[0] === 'capacity' ? causes[1] : causes[0]
    const also = holds.find(({ cause }) => cause === wanted)
    const delay =
      what === 'own' && also !== undefined && Number.isFinite(also.longerMs)
        ? [`Without ${NAMES[also.cause] ?? also.cause} it would have failed about ${roughSpan(also.longerMs)} later.`]
        : []
    if (what === 'own') return [grewSentence(`What the job ${past.peakBytes === undefined ? 'holds' : 'has in use'}`, growth), ...earlierRuns(past), ...delay]
    // The sentence before names them.
    if (what === 'others' && causes[0] === 'other_process') return [`${neighbours?.length === 1 ? 'It' : 'They'} took ${grewText(growth)}.`]
    if (what === 'others') return [`Other processes took ${grewText(growth)}.`]
    return [grewSentence('What is outside PyTorch', growth)]
  }
  if (rose !== undefined)
    return [
      `What the job ${past.peakBytes === undefined ? 'holds' : 'has in use'} rose by ${gib(Math.round(rose.bytes))} above its highest of the ${roughSpan(rose.overMs)} before, ${lately(rose.withinMs)}.`,
      ...earlierRuns(past),
    ]
  if (causes[0] === 'fragmentation' && past.minutes >= 8) return ['What the job has in use did not grow before.']
  return []
}
/** Whether runs before this one ended alike. */
function earlierRuns({ earlierRuns: runs }: MemoryPast): readonly string[] {
  if (runs === undefined || runs.grew === 0) return []
  return [
    runs.count === 1
      ? 'The run before grew too.'
      : runs.grew === runs.count
        ? `${runs.count === 2 ? 'Both' : `All ${runs.count}`} runs before grew too.`
        : `${runs.grew} of the ${runs.count} runs before grew too.`,
  ]
}
const NAMES: Readonly<Record<string, string>> = {
  fragmentation: 'the pieces between its blocks',
  other_process: 'the other processes',
  non_pytorch_memory: 'what is outside PyTorch',
  private_pools: 'the private pools',
}

const spareOf = (holds: Decision['holds'], wanted: string): number => holds.find(({ cause }) => cause === wanted)?.spare ?? 0
