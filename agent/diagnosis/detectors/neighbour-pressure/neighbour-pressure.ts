// Other processes on the card take the room that one process needs: its own need is as before, what is left for it shrinks.
import type { TypedFinding } from '../../../model/finding.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { highest, lowest, MINUTE_MS } from '../parts/minutes.ts'
import { createRooms, KEPT_MINUTES, ROOM_MINUTES, SETTLE_MS, type Rooms } from './room.ts'
import { calmOf, squeezeOf, type Calm, type Squeeze } from './squeeze.ts'
import { aboutOf, gpuText, processText } from '../parts/who.ts'
import type { Track, Tracks } from '../parts/tracks.ts'

const LEAST_MINUTES = 6
/** Others must have grown so much more than the process itself. */
const MORE_THAN_OWN = 4
/** What is left, as a share of the card, from which there is pressure; and with so much more it is over. */
const OVER_FACTOR = 2
/** Of the card: with less than this free at times, the process lives on what it gives back itself. */
const FULL = 0.03

/** The level before the growth, and what each neighbour held then: kept while the incident is open, else it would leave the hour that is remembered. */
type Begun = { readonly calm: Calm; readonly held: ReadonlyMap<Track, number> }
type Grower = { readonly track: Track; readonly grown: number; readonly bytes: number }

function heldAt(tracks: Tracks, rooms: Rooms, victim: Track, calm: Calm, t: number): ReadonlyMap<Track, number> {
  const held = new Map<Track, number>()
  for (const track of tracks.onGpu(victim.uuid)) {
    const before = (rooms.of(track)?.minutes.over(t, KEPT_MINUTES) ?? []).filter(({ minute }) => (minute + 1) * MINUTE_MS <= calm.t).slice(-3)
    if (track !== victim && before.length > 0) held.set(track, highest(before, 'own'))
  }
  return held
}

/** Which other processes grew since then; what no process holds is unattributed. */
function growersOf(
  tracks: Tracks,
  rooms: Rooms,
  victim: Track,
  grown: number,
  held: Begun['held'],
  t: number,
): { readonly growers: readonly Grower[]; readonly unattributed: number } {
  const found: Grower[] = []
  let explained = 0
  for (const track of tracks.onGpu(victim.uuid)) {
    const minutes = rooms.of(track)?.minutes.over(t, 3) ?? []
    if (track === victim || minutes.length === 0) continue
    const bytes = lowest(minutes.slice(-2), 'own')
    const own = bytes - (held.get(track) ?? 0)
    explained += own
    if (own > 0.05 * grown) found.push({ track, grown: own, bytes })
  }
  return { growers: found.sort((a, b) => b.grown - a.grown || a.track.pid - b.track.pid), unattributed: Math.max(0, grown - explained) }
}

function remedies(growers: readonly Grower[]): readonly Remedy[] {
  const [first] = growers
  const move: Remedy =
    first === undefined
      ? {
          text: 'Find who holds the memory: no process in the driver’s list has it (another container’s or a hidden process).',
          command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
        }
      : {
          text: `Move or end ${processText(first.track)}, which frees ${gib(first.bytes)}; look first whose it is.`,
          command: first.track.container === undefined ? `ps -o pid,user,lstart,args -p ${first.track.pid}` : `docker top ${first.track.container}`,
        }
  return [
    move,
    {
      text: 'Give each job a card or a MIG instance of its own: CUDA_VISIBLE_DEVICES chooses among those that the program sees, --gpus device=N gives a container another one.',
    },
    { text: 'Or cap the neighbour: torch.cuda.set_per_process_memory_fraction, --gpu-memory-utilization (vLLM), XLA_PYTHON_CLIENT_MEM_FRACTION (JAX).' },
  ]
}

export const neighbourPressure = defineDetector({
  id: 'neighbour-pressure',
  kinds: ['neighbour_pressure'],
  title: 'Other processes take the memory that this one needs',
  severity: 'warning',
  watches: [],
  everyMs: 5_000,
  options: {
    grown_share: { default: 0.03, min: 0.01, max: 0.9, help: 'share of the card by which others must have grown within the hour' },
    left_share: { default: 0.05, min: 0, max: 0.5, help: 'share of the card that may be left beside the highest need so far' },
    lasts_minutes: { default: 30, min: 1, max: 240, help: 'or how many minutes the rest must last when the growth goes on' },
  },
  expression: { none: 'it compares, over an hour, what one process needs with what all others of its card hold' },
  create: ({ grown_share: grownShare, left_share: leftShare, lasts_minutes: lastsMinutes }, { tracks }) => {
    const rooms = createRooms(tracks)
    const raised = new Map<Track, Begun>()
    let judged = -1

    const faulty = (track: Track, squeeze: Squeeze, held: Begun['held'], capacity: number, t: number): TypedFinding => {
      const { calm, grown, ownGrown, peak, left, lastsMs, othersNow, free } = squeeze
      const { growers, unattributed } = growersOf(tracks, rooms, track, grown, held, t)
      const where = gpuText(tracks, track.uuid)
      const who = [
        ...growers.slice(0, 3).map((grower) => `${processText(grower.track)} by ${gib(grower.grown)} to ${gib(grower.bytes)}`),
        ...(unattributed > 0.2 * grown ? [`${gib(unattributed)} belong to no process that the driver lists`] : []),
      ].join('; ')
      const rest =
        left <= 0
          ? `only ${gib(Math.max(0, capacity - othersNow))} remain for it now, so it would no longer fit`
          : `${gib(left)} (${percent(left / capacity)} of the card) would be left${lastsMs === undefined ? '' : `, and at this pace nothing in about ${spanText(Math.max(MINUTE_MS, lastsMs))}`}`
      return {
        kind: 'neighbour_pressure',
        key: track.key,
        about: aboutOf(track),
        state: 'faulty',
        severity: 'warning',
        title: `Neighbours take the GPU memory that ${processText(track)} needs`,
        verdict: `Other processes on ${where} hold ${gib(grown)} more than ${spanText(t - calm.t)} ago (${who === '' ? 'who is not known' : who}), while ${processText(track)} needs ${ownGrown < 0.01 * capacity ? 'no more than before' : `only ${gib(ownGrown)} more than before`}. It needed up to ${gib(peak)} so far; if it does again, ${rest}. At times of the last minutes only ${gib(free)} of the card were free.`,
        facts: {
          grown_bytes: grown,
          since_ms: calm.t,
          peak_bytes: peak,
          process_bytes: track.nvml?.bytes ?? peak,
          total_bytes: capacity,
          free_bytes: Math.max(0, capacity - othersNow - (track.nvml?.bytes ?? peak)),
          other_processes: growers.map((grower) => ({ pid: grower.track.pid, bytes: grower.bytes })),
        },
        remedies: remedies(growers),
      }
    }

    const judgeOne = (track: Track, t: number): TypedFinding | undefined => {
      const said = { kind: 'neighbour_pressure', key: track.key, about: aboutOf(track) } as const
      if (track.endedT !== undefined) return raised.delete(track) ? { ...said, state: 'healthy', why: 'the process has ended' } : undefined
      const room = rooms.of(track)
      const gpu = tracks.gpu(track.uuid)
      if (room === undefined || gpu === undefined) return undefined
      const minutes = room.minutes.over(t, ROOM_MINUTES).filter(({ minute }) => minute * MINUTE_MS >= room.sinceT + SETTLE_MS)
      const newest = minutes.at(-1)
      if (minutes.length < LEAST_MINUTES || newest === undefined) return { ...said, state: 'unknown', why: 'too few minutes are known' }
      if (t - (newest.minute + 1) * MINUTE_MS > 2 * MINUTE_MS) return { ...said, state: 'unknown', why: 'the card was not read lately' }
      const capacity = gpu.used + gpu.free
      const begun = raised.get(track)
      const calm = begun?.calm ?? calmOf(minutes, capacity)
      if (calm === undefined) return { ...said, state: 'unknown', why: 'too few minutes are known' }
      const squeeze = squeezeOf(minutes, room.peak, capacity, calm)
      const { grown, ownGrown, left, lastsMs, asks, stalled, free } = squeeze
      const full = free < FULL * capacity
      const scarce = full || left < leftShare * capacity || (lastsMs !== undefined && lastsMs < lastsMinutes * MINUTE_MS)
      if (grown >= grownShare * capacity && grown >= MORE_THAN_OWN * ownGrown && asks && scarce) {
        const held = begun?.held ?? heldAt(tracks, rooms, track, calm, t)
        raised.set(track, { calm, held })
        return faulty(track, squeeze, held, capacity, t)
      }
      const roomy = !full && left >= OVER_FACTOR * leftShare * capacity
      const over = grown < (grownShare / OVER_FACTOR) * capacity || (roomy && stalled) || !asks
      if (!over) return { ...said, state: 'unknown', why: 'neither clearly squeezed nor clearly not' }
      raised.delete(track)
      return { ...said, state: 'healthy', ...(asks ? {} : { why: 'it asks for no memory any more' }) }
    }

    return {
      judge(t) {
        rooms.sample(t)
        const minute = Math.floor(t / MINUTE_MS)
        if (minute === judged) return []
        judged = minute
        const found: TypedFinding[] = []
        for (const track of tracks.all()) {
          const finding = judgeOne(track, t)
          if (finding !== undefined) found.push(finding)
        }
        return found
      },
    }
  },
})
