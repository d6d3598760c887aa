// GPU time that a crash threw away: from the last state that the job saved, or from its first sight on the GPU, to its end, on each GPU that it held.
import type { ContainerEvent, LogLine } from '../../model/event.ts'
import type { GpuSecondsLost } from '../../model/incident.ts'
import { kindOf, type IncidentKind } from '../../model/kinds.ts'
import { isLogKind } from '../../model/log-kinds.ts'
import { gpuTimeText, roughSpan } from '../../text/span.ts'
import type { Track, Tracks } from '../detectors/parts/tracks.ts'
import { isProgressMark } from '../progress-marks.ts'
import { RESTART_MS } from './rules.ts'

/** What one crash lost. */
export type Loss = {
  readonly perGpu: readonly { readonly uuid: string; readonly gpu: string; readonly from: number; readonly seconds: number }[]
  readonly seconds: number
  /** How long the longest-held GPU had worked for nothing. */
  readonly spanMs: number
  readonly since: 'saved' | 'start'
  /** The job ran before the agent did. */
  readonly atLeast: boolean
}
export type Death = {
  readonly t: number
  readonly loss: Loss
  readonly pid?: number
  readonly container?: string
  crashKey?: string
  /** Another process of the same run, whose crash is counted. */
  readonly sameCrash?: true
}

/** Time of a GPU that a crash of the last minute was charged with. */
type Claim = { readonly uuid: string; readonly from: number; readonly to: number }

/** A container that ends soon after a fault that is not fatal did not end because of it. */
export const isFatal = (kind: IncidentKind): boolean => isLogKind(kind) && kindOf(kind).crash?.fatal !== false
export type LostTimeBook = {
  /** Of a line that shows no fault. */
  readonly line: (line: LogLine) => void
  readonly died: (event: ContainerEvent, crashKey: string) => void
  /** Ends of processes that no engine tells of. */
  readonly tick: (t: number) => void
  /** Gives each end of the last minute to `take`, until it says that an incident was found for it. */
  readonly settle: (t: number, take: (death: Death) => IncidentKind | undefined) => void
  readonly totals: () => readonly GpuSecondsLost[]
}

/** A death belongs to a fault that was told within so long of it; logs come later than engines. */
const KEPT_MS = 60_000
/** The driver's list is up to so much older than the end of the container. */
const LISTED_WITHIN_MS = 20_000
/** What was there when the first events came may have been there for long. */
const AGENT_START_MS = 15_000
const MAX_MARKS = 2_000

/** `indexOf`: of a GPU, as the host counts. */
export function createLostTimeBook(tracks: Tracks, indexOf: (uuid: string) => number | undefined): LostTimeBook {
  const marks = new Map<string, number>()
  const charged = new WeakSet<Track>()
  const totals = new Map<string, { kind: IncidentKind; uuid: string; gpu: string; seconds: number }>()
  let deaths: Death[] = []
  let claims: Claim[] = []
  let crashed: Death[] = []
  let firstT: number | undefined

  const lossOf = (held: readonly Track[], t: number, markedAt: number | undefined): Loss | undefined => {
    const starts = new Map<string, number>()
    for (const track of held) {
      charged.add(track)
      starts.set(track.uuid, Math.min(starts.get(track.uuid) ?? Infinity, track.firstT))
    }
    if (starts.size === 0) return undefined
    const earliest = Math.min(...starts.values())
    const saved = markedAt !== undefined && markedAt > earliest && markedAt <= t
    const perGpu = [...starts].map(([uuid, start]) => {
      const from = saved ? Math.max(start, markedAt) : start
      return { uuid, gpu: String(indexOf(uuid) ?? tracks.gpu(uuid)?.index ?? ''), from, seconds: Math.max(0, t - from) / 1_000 }
    })
    return {
      perGpu,
      seconds: perGpu.reduce((sum, { seconds }) => sum + seconds, 0),
      spanMs: t - (saved ? markedAt : earliest),
      since: saved ? 'saved' : 'start',
      atLeast: !saved && firstT !== undefined && earliest - firstT <= AGENT_START_MS,
    }
  }
  const add = (t: number, who: Pick<Death, 'crashKey' | 'pid' | 'container'>, loss: Loss | undefined): void => {
    if (loss !== undefined && loss.seconds > 0) deaths.push({ t, ...who, loss })
  }

  return {
    line({ t, origin, text }) {
      const whose = origin.container_id ?? origin.container
      if (whose === undefined || !isProgressMark(text)) return
      marks.delete(whose)
      marks.set(whose, t)
      const oldest = marks.size > MAX_MARKS ? marks.keys().next().value : undefined
      if (oldest !== undefined) marks.delete(oldest)
    },
    died({ t, container, container_id: id, exit_code: code }, crashKey) {
      const held: Track[] = []
      for (const track of tracks.all()) {
        const its = track.containerId === undefined ? track.container === container : track.containerId === id.slice(0, 12)
        if (its && !charged.has(track) && (track.endedT === undefined || Math.abs(t - (track.nvml?.t ?? track.endedT)) <= LISTED_WITHIN_MS)) held.push(track)
      }
      const loss = lossOf(held, t, marks.get(id) ?? marks.get(container))
      // What ended well has lost nothing; a process that was missed first has found its end.
      deaths = deaths.filter((death) => code !== 0 || death.container !== container)
      for (const death of deaths) if (death.container === container) death.crashKey ??= crashKey
      if (code !== 0) add(t, { crashKey }, loss)
    },
    tick(t) {
      firstT ??= t
      for (const track of tracks.all()) {
        const { endedT, container, containerId, pid } = track
        if (endedT === undefined || charged.has(track)) continue
        const ofPid: Track[] = []
        for (const other of tracks.all()) if (other.pid === pid && other.endedT !== undefined && !charged.has(other)) ofPid.push(other)
        const mark = marks.get(containerId ?? '') ?? marks.get(container ?? '')
        add(endedT, { pid, ...(container === undefined ? {} : { container }) }, lossOf(ofPid, track.nvml?.t ?? endedT, mark))
      }
    },
    settle(t, take) {
      if (deaths.length === 0) return
      deaths = deaths.filter((death) => {
        claims = claims.filter((claim) => Math.abs(death.t - claim.to) <= KEPT_MS)
        crashed = crashed.filter((other) => Math.abs(death.t - other.t) <= KEPT_MS)
        const loss = withoutClaimed(death, claims)
        // Without an engine's event, each process of a run is a death of its own: the crash counts once.
        const counted = crashed.some((other) => isSameRun(other, death))
        const kind = take({ ...death, loss, ...(counted && { sameCrash: true }) })
        if (kind === undefined) return Math.abs(t - death.t) <= KEPT_MS
        crashed.push(death)
        for (const { uuid, gpu, from, seconds } of loss.perGpu) {
          claims.push({ uuid, from, to: death.t })
          const key = `${kind} ${uuid}`
          const total = totals.get(key) ?? { kind, uuid, gpu, seconds: 0 }
          total.seconds += seconds
          totals.set(key, total)
        }
        return false
      })
    },
    totals: () => [...totals.values()],
  }
}

/** The engine may report an end after the first of its processes was missed. */
const isSameRun = (one: Death, other: Death): boolean =>
  Math.abs(one.t - other.t) < RESTART_MS &&
  (one.crashKey !== undefined && other.crashKey !== undefined
    ? one.crashKey === other.crashKey
    : one.container !== undefined && one.container === other.container)

/** Jobs that share a GPU and die with it have lost its time once. */
function withoutClaimed({ t, loss }: Death, claims: readonly Claim[]): Loss {
  const perGpu = loss.perGpu.map((one) => {
    const twice = claims.map(({ uuid, from, to }) => (uuid === one.uuid ? Math.max(0, Math.min(t, to) - Math.max(one.from, from)) : 0))
    return { ...one, seconds: one.seconds - Math.max(0, ...twice) / 1_000 }
  })
  return { ...loss, perGpu, seconds: perGpu.reduce((sum, { seconds }) => sum + seconds, 0) }
}

/** What an incident has lost so far. */
export type LostSoFar = { readonly seconds: number; readonly crashes: number; readonly text: string; readonly uuids?: readonly string[] }

export function addLoss(before: LostSoFar | undefined, { seconds, spanMs, since, atLeast, perGpu }: Loss, sameCrash = false): LostSoFar {
  const total = (before?.seconds ?? 0) + seconds
  const crashes = (before?.crashes ?? 0) + (sameCrash && before !== undefined ? 0 : 1)
  const uuids = [...new Set([...(before?.uuids ?? []), ...perGpu.map(({ uuid }) => uuid)])]
  const gpus = uuids.length === 1 ? 'one GPU' : `${uuids.length} GPUs`
  const from = since === 'saved' ? 'since the last state that was saved' : 'since the job was first seen there'
  const text =
    crashes === 1
      ? `The crash lost ${atLeast ? 'at least ' : ''}${gpuTimeText(total)} (${gpus}, ${roughSpan(spanMs)} ${from}).`
      : `The ${crashes} crashes lost ${gpuTimeText(total)} in all.`
  return { seconds: total, crashes, text, uuids }
}

/** The sentence of `addLoss` is at the end of a verdict that was kept. */
export const withoutLost = (verdict: string): string => verdict.replace(/ The (?:crash|\d+ crashes) lost .*$/, '')
