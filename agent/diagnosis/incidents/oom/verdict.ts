// Makes of a fault `cuda_oom` what all witnesses together say: the text, the probe, the driver's process table, and what grew before.
import type { AllocatorOom } from '../../../model/event.ts'
import type { Facts } from '../../../model/facts.ts'
import type { Fault } from '../../../model/fault.ts'
import type { ContainerSettings, IncidentSubject } from '../../../model/incident.ts'
import type { IncidentKind } from '../../../model/kinds.ts'
import { gib, memoryText } from '../../../text/bytes.ts'
import type { GpuMemory, Track, Tracks } from '../../detectors/parts/tracks.ts'
import { readSituation, type Situation } from '../../situation/situation.ts'
import { userLine } from '../../traceback/user-line.ts'
import type { KnowledgeOf } from '../knowledge.ts'
import { SAME_OOM_MS } from '../rules.ts'
import type { Place } from '../subject.ts'
import { decide } from './decide.ts'
import type { MemoryPast, Pasts } from './past.ts'
import { oomRemedies, type FreeGpu } from './remedies.ts'
import { oomStateOf, type Neighbour, type OomState } from './state.ts'
import { causeInShort, outOfMemory } from './title.ts'
import { neighbourName, verdictOf } from './text.ts'
import type { ReservedCaches } from './reserved-caches.ts'

export type OomVerdictOptions = {
  readonly tracks: Tracks
  readonly pasts: Pasts
  readonly settingsOf: (containerId: string) => ContainerSettings | undefined
  readonly knowledgeOf: KnowledgeOf
  readonly caches: Pick<ReservedCaches, 'sentence'>
}
/** `lines`: what the log said shortly before, newest last. */
export type OomVerdicts = (fault: Fault<IncidentKind>, place: Place, subject: IncidentSubject, lines?: readonly string[]) => Fault<IncidentKind>

const OUT_OF_MEMORY = /out of memory|OutOfMemory/i
/** Messages print two decimals of a GiB. */
const SAME_REQUEST_BYTES = 0.006 * 2 ** 30
/** A program that is told of less than the card has sees a part of it. */
const SLICE_BELOW = 0.9
/** A process that died of it was listed shortly before. */
const LISTED_WITHIN_MS = 20_000

/** More than the card has beside `own` were not there together: who ended gave its memory to who came, as in a neighbour's loop of restarts. */
function ofOneMoment(found: readonly { readonly readAt: number; readonly neighbour: Neighbour }[], own: number, card: GpuMemory | undefined): Neighbour[] {
  const held = found.reduce((sum, { neighbour }) => sum + neighbour.bytes, own)
  const last = Math.max(...found.map(({ readAt }) => readAt))
  const fits = card === undefined || held <= card.used + card.free
  return found.flatMap(({ readAt, neighbour }) => (fits || readAt === last ? [neighbour] : []))
}

export function createOomVerdicts({ tracks, pasts, settingsOf, knowledgeOf, caches }: OomVerdictOptions): OomVerdicts {
  const listedAt = (track: Track): number => Math.max(track.nvml?.t ?? 0, track.sample?.t ?? 0, track.oom?.t ?? 0)
  const present = (track: Track, t: number): boolean => track.endedT === undefined || Math.abs(t - listedAt(track)) <= LISTED_WITHIN_MS
  const ofContainer = (track: Track, { container, containerId }: Place): boolean =>
    containerId !== undefined && track.containerId !== undefined
      ? track.containerId === containerId.slice(0, 12)
      : container !== undefined && track.container === container

  /** The failing process: whose OOM the probe told, else the only one of its container (or the named one) on that GPU. */
  const trackOf = (fault: Fault<IncidentKind>, place: Place, { gpu, process, container }: IncidentSubject): Track | undefined => {
    const here: Place =
      container === undefined ? place : { ...place, container: container.name, ...(container.id === undefined ? {} : { containerId: container.id }) }
    const mine: Track[] = []
    for (const track of tracks.all()) {
      if (gpu?.uuid !== undefined && track.uuid !== gpu.uuid) continue
      if (!present(track, place.t)) continue
      if (ofContainer(track, here) || (process !== undefined && track.pid === process.pid) || track.pid === fault.facts.pid) mine.push(track)
    }
    const reported = mine.filter(({ oom }) => oom !== undefined && isOf(fault.facts, oom, place.t))
    if (reported.length === 1) return reported[0]
    const named = mine.filter(({ pid }) => pid === process?.pid || pid === fault.facts.pid)
    if (named.length === 1) return named[0]
    if (mine.length === 1) return mine[0]
    const listed = new Set((fault.facts.other_processes ?? []).map(({ pid }) => pid))
    const bySize = mine.filter(({ pid, nvml }) => listed.has(pid) && nvml !== undefined)
    return bySize.length === 1 ? bySize[0] : undefined
  }
  const neighboursOf = (uuid: string | undefined, track: Track | undefined, bytes: number, own: ReadonlySet<number>, t: number): readonly Neighbour[] => {
    if (uuid === undefined) return []
    const found: { readonly readAt: number; readonly neighbour: Neighbour }[] = []
    for (const other of tracks.all()) {
      if (other === track || other.uuid !== uuid || other.nvml === undefined || !present(other, t)) continue
      const { pid, container, process, nvml } = other
      const named = { ...(container === undefined ? {} : { container }), ...(process === undefined ? {} : { process }) }
      found.push({ readAt: nvml.t, neighbour: { pid, bytes: nvml.bytes, ...named, ...(own.has(pid) ? { sameContainer: true } : {}) } })
    }
    return ofOneMoment(found, bytes, tracks.gpu(uuid)).sort((a, b) => b.bytes - a.bytes)
  }

  const situationOf = ({ evidence }: Fault<IncidentKind>, { container, containerId }: Place, subject: IncidentSubject, lines: readonly string[]): Situation => {
    const [name, id] = [subject.container?.name ?? container, subject.container?.id ?? containerId]
    const origin = { ...(name === undefined ? {} : { container: name }), ...(id === undefined ? {} : { container_id: id }) }
    return readSituation([...lines, ...evidence.map(({ text }) => text), 'torch'].join('\n'), knowledgeOf(origin))
  }

  return (fault, place, subject, lines = []) => {
    const track = trackOf(fault, place, subject)
    const uuid = track?.uuid ?? subject.gpu?.uuid
    const oom = track?.oom !== undefined && isOf(fault.facts, track.oom, place.t) ? track.oom : undefined
    const card = uuid === undefined ? undefined : tracks.gpu(uuid)
    // Of a MIG instance the card's figures, and those of its other tenants, say nothing.
    const slice = isSlice(fault.facts, oom, track, card)
    const gpu = slice ? undefined : card
    const known = track === undefined ? undefined : pasts.of(track, oom?.t ?? place.t)
    const past = slice && known !== undefined ? ofSlice(known) : known
    const own = new Set<number>()
    for (const other of tracks.all()) if (ofContainer(other, place)) own.add(other.pid)
    const onCard = neighboursOf(uuid, track, fault.facts.process_bytes ?? track?.nvml?.bytes ?? 0, own, place.t)
    // In a MIG instance only those are neighbours that the message lists.
    const neighbours = slice ? onCard.filter(({ pid }) => fault.facts.other_processes?.some((listed) => listed.pid === pid)) : onCard
    const said = [...lines.flatMap((line) => line.split('\n')), ...fault.evidence.map(({ text }) => text)]
    const frame = fault.facts.frame ?? userLine(said, OUT_OF_MEMORY)
    const facts: Facts = { ...fault.facts, ...(frame === undefined ? {} : { frame }) }
    const state = oomStateOf({ facts, oom, track, gpu, moment: past?.last, neighbours, isOwn: (pid) => own.has(pid) })
    // Of what other frameworks say the families know more, unless PyTorch's own probe saw it.
    if (state === undefined) {
      const index = fault.facts.gpu_index ?? indexOf(subject)
      return { ...withDriver({ ...fault, facts }, track, neighbours, past?.last?.processBytes), title: titleOf(index, subject, track, frame) }
    }
    const decision = decide(state, past)
    const exact = oom === undefined ? {} : exactFacts(oom, state)
    const others = state.neighbours?.flatMap(({ pid, bytes }) => (pid === undefined ? [] : [{ pid, bytes }]))
    const reported: Facts = {
      ...facts,
      ...exact,
      ...(state.processBytes === undefined ? {} : { process_bytes: state.processBytes }),
      ...(others === undefined ? {} : { other_processes: others }),
      ...(facts.allowed_bytes === undefined && state.capped ? { allowed_bytes: state.limit } : {}),
      causes: decision.causes,
    }
    const number = facts.gpu_index ?? indexOf(subject)
    const reserved = slice ? undefined : caches.sentence(card?.index ?? number, state.total, state.requested)
    const mig = oom?.mig_uuid !== undefined || track?.sample?.mig_uuid !== undefined
    const full = mig && decision.causes[0] === 'capacity'
    const settings = subject.container?.id === undefined ? undefined : settingsOf(subject.container.id)
    const { other_processes: _listed, ...alone } = reported
    return {
      ...fault,
      title: titleOf(number, subject, track, frame, full ? `its MIG instance of ${memoryText(state.total)} is full` : causeInShort(state, decision)),
      verdict: [verdictOf(number, state, decision, past, mig), full ? roomBeside(card) : undefined, reserved].filter((text) => text !== undefined).join(' '),
      facts: others?.length === 0 ? alone : reported,
      remedies: oomRemedies({
        facts: reported,
        state,
        decision,
        past,
        expandable: track?.sample?.expandable ?? expandableIn(settings),
        backend: track?.sample?.backend,
        situation: situationOf(fault, place, subject, lines),
        batch: batchIn(lines),
        mig,
        contained: subject.container !== undefined || track?.container !== undefined,
        freest: slice ? undefined : freestOf(tracks, uuid, place.t, (state.processBytes ?? state.reserved) + state.requested),
      }),
    }
  }
}

/** What the whole card has free is of no use to one instance. */
const roomBeside = (card: GpuMemory | undefined): string | undefined =>
  card === undefined || card.free < 2 ** 30 ? undefined : `The GPU as a whole has ${gib(card.free)} free, which belongs to its other instances.`

const indexOf = ({ gpu }: IncidentSubject): number | undefined => (gpu?.uuid === undefined || (gpu.index ?? -1) < 0 ? undefined : gpu.index)
function titleOf(
  gpu: number | undefined,
  { container, process }: IncidentSubject,
  track: Track | undefined,
  frame: string | undefined,
  cause?: string,
): string {
  const name = process?.name ?? track?.process
  const pid = process?.pid ?? track?.pid
  const who = container?.name ?? track?.container ?? (name === undefined || pid === undefined ? undefined : `${name} (pid ${pid})`)
  return `${outOfMemory(who, gpu, frame)}${cause === undefined ? '' : `: ${cause}`}`
}

/** A failure that the program caught a moment before is another one: it asked for something else. */
function isOf({ requested_bytes: asked }: Facts, oom: AllocatorOom, t: number): boolean {
  return Math.abs(oom.t - t) <= SAME_OOM_MS && (asked === undefined || Math.abs(asked - oom.request_bytes) <= SAME_REQUEST_BYTES)
}

function isSlice({ total_bytes: total }: Facts, oom: AllocatorOom | undefined, track: Track | undefined, card: GpuMemory | undefined): boolean {
  if (oom?.mig_uuid !== undefined || track?.sample?.mig_uuid !== undefined) return true
  return total !== undefined && card !== undefined && total < SLICE_BELOW * (card.used + card.free)
}
function ofSlice({ others: _others, last, ...past }: MemoryPast): MemoryPast {
  return last === undefined ? past : { ...past, last: { ...last, othersBytes: 0, freeBytes: undefined } }
}

function exactFacts(oom: AllocatorOom, { total, free, pools }: OomState): Facts {
  const { allocated_bytes: allocated, reserved_bytes: reserved } = oom.stats
  return {
    requested_bytes: oom.request_bytes,
    free_bytes: free,
    total_bytes: total,
    ...(allocated === undefined ? {} : { allocated_bytes: allocated }),
    ...(reserved === undefined ? {} : { reserved_bytes: reserved }),
    ...(allocated === undefined || reserved === undefined ? {} : { reserved_unallocated_bytes: Math.max(0, reserved - allocated - pools) }),
    ...(pools === 0 ? {} : { private_pools_bytes: pools }),
  }
}

/** A message without figures: what the driver said of that GPU just before is beside it. */
function withDriver(
  fault: Fault<IncidentKind>,
  track: Track | undefined,
  neighbours: readonly Neighbour[],
  processBytes: number | undefined,
): Fault<IncidentKind> {
  if (track === undefined || fault.facts.other_processes !== undefined) return fault
  const [biggest] = neighbours
  const held = processBytes === undefined ? [] : [`The driver counted ${gib(processBytes)} for this process just before`]
  const others = biggest === undefined ? [] : [`${gib(biggest.bytes)} for ${neighbourName(biggest)} on the same GPU`]
  const said = [...held, ...others]
  return {
    ...fault,
    verdict: said.length < 1 ? fault.verdict : `${fault.verdict} ${held.length > 0 ? said.join(', and ') : `The driver counted ${said[0]}`}.`,
    facts: {
      ...fault.facts,
      ...(fault.facts.process_bytes === undefined && processBytes !== undefined ? { process_bytes: processBytes } : {}),
      ...(neighbours.length === 0 ? {} : { other_processes: neighbours.flatMap(({ pid, bytes }) => (pid === undefined ? [] : [{ pid, bytes }])) }),
    },
  }
}

/** What a UUID begins with tells the makers apart (`GPU-`, `amd-`, `pci-`): a program of one does not run on a GPU of another. */
const maker = (uuid: string): string => uuid.slice(0, uuid.indexOf('-'))

/** Another GPU that has room for the whole job. */
function freestOf(tracks: Tracks, own: string | undefined, t: number, needs: number): FreeGpu | undefined {
  const found: FreeGpu[] = []
  for (const [uuid, { t: readAt, index, free }] of tracks.gpus())
    if (uuid !== own && (own === undefined || maker(uuid) === maker(own)) && Math.abs(t - readAt) <= LISTED_WITHIN_MS && free >= needs)
      found.push({ uuid, index, free })
  return own === undefined ? undefined : found.sort((a, b) => b.free - a.free || a.index - b.index)[0]
}

function expandableIn(settings: ContainerSettings | undefined): boolean | undefined {
  const set = settings?.env?.['PYTORCH_CUDA_ALLOC_CONF'] ?? settings?.env?.['PYTORCH_ALLOC_CONF']
  return set === undefined ? undefined : /expandable_segments\s*:\s*true/i.test(set) ? true : undefined
}

const BATCH = /\b(?:(?:per_device_)?(?:train_)?(?:micro_)?batch[_ -]?size|batch)["']?\s{0,2}[=:]?\s{0,2}(\d{1,6})\b/gi

/** The newest batch size that the log names. */
function batchIn(lines: readonly string[]): number | undefined {
  for (const line of lines.toReversed()) {
    const found = [...line.matchAll(BATCH)].at(-1)?.[1]
    const value = found === undefined ? 0 : Number(found)
    if (value > 1) return value
  }
  return undefined
}
