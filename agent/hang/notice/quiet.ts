// When a job whose rhythm is not known is to be looked at, and whether what was found is an alarm: one that hangs in its first steps, or whose GPUs
// idle. Its silence says nothing, since loading, compiling and downloading take long too; but whoever does them uses CPU time or reads. So it is an
// alarm only where looks over some time find the same place and no work at all. Pure: times come with the calls, Unix ms.
import type { LoopLook } from '../live/request.ts'
import { createLoopWatch, LOOP_SILENT, type Loop } from './loop.ts'
import type { Found } from './standstill.ts'

export type FoundQuiet = Found & {
  /** What those do that hold it up. */
  readonly doing: readonly string[]
  /** Others wait for them. */
  readonly waited_for: boolean
  /** All ranks of the job were seen. */
  readonly complete: boolean
  readonly culprits: readonly number[]
  readonly work: { readonly cpuSeconds: number; readonly bytes: number }
  /** A process that only computes on the CPU. */
  readonly loop?: LoopLook | undefined
}
export type QuietWatch = {
  /** When it last did something that can be counted: a step, computing on a GPU. `steps`: how many of them are known. */
  readonly active: (at: number, steps: number) => void
  /** How long it has been quiet when its processes should be looked at; undefined: not now. */
  readonly due: (t: number) => number | undefined
  /** `begunAt`: when the look began; on a busy host it takes long, and the next one is not later for it. */
  readonly looked: (t: number, found: FoundQuiet, begunAt?: number) => boolean
  readonly later: (t: number) => void
  readonly hangs: () => boolean
  /** It computes in a loop that does not end. */
  readonly loops: () => Loop | undefined
}

/** Looks follow each other ever more rarely: after half of the time that it has been quiet. */
const SHARE = 0.5
const MOST_AGAIN_MS = 3_600_000
const HUNG_AGAIN_MS = 45_000
const LOOPS_AGAIN_MS = 120_000
/** Where it is alone, or serves, nothing that is found is an alarm. */
const REST_MS = 600_000
/** Looks that agree; between the first and the last of them lies as much time as before the first look at all. */
const LOOKS = 3
/**
 * Quiet for so many times of that: where it has made steps before (40 s as a rule), where it has made one and all its ranks are seen, and where it is
 * alone and has made steps (48 s), where it has made none (2 min), and where no rank is missing or it waits for something outside (5 min).
 */
const STEPPED = 2
const STEPPED_ONCE = 2.4
const STEPPED_ALONE = 2.4
const NEVER_STEPPED = 6
/** One that is alone must also have been quiet for so many times of its last pause. */
const PAUSES = 4
const FROM_OUTSIDE = 15
/** Threads that only wake up now and then; each rank has some. */
const IDLE_SHARE = 0.03
const IDLE_BYTES_PER_SECOND = 4_096
/** Waits that end by themselves as a rule, or that the stack alone does not explain. */
const OUTSIDE: ReadonlySet<string> = new Set(['network', 'child', 'sleep', 'code', 'unknown', 'gil', 'teardown'])
/** Waits that are not usual for a process on which no other waits. */
const ALONE: ReadonlySet<string> = new Set(['lock', 'file', 'data', 'stopped'])
const SERVES = 'requests'

type Past = { readonly steps: number; readonly lastPause: number }

/** For how long it must have been quiet for this to be a hang, ms; undefined: it never is. */
function needed(found: FoundQuiet, { steps, lastPause }: Past, afterMs: number): number | undefined {
  const times = timesNeeded(found, steps)
  if (times === undefined) return undefined
  return Math.max(times * afterMs, found.waited_for || found.confidence === 'read' ? 0 : PAUSES * lastPause)
}

/** The same in times of `hangs.after`. */
function timesNeeded({ doing, waited_for: waitedFor, complete, culprits, confidence }: FoundQuiet, steps: number): number | undefined {
  if (doing.includes(SERVES)) return undefined
  const base = steps > 1 ? STEPPED : steps === 1 && complete ? STEPPED_ONCE : NEVER_STEPPED
  if (confidence === 'read') return base
  // All wait: for the connection between them, or for ranks that are started later on another host.
  if (culprits.length === 0) return complete ? FROM_OUTSIDE : undefined
  if (!waitedFor) return steps > 1 && doing.every((one) => ALONE.has(one)) ? STEPPED_ALONE : undefined
  return doing.some((one) => OUTSIDE.has(one)) ? FROM_OUTSIDE : base
}

type Seen = { readonly at: number; readonly found: FoundQuiet }

/** Nothing was done between the two; those that wait for a collective spin, and their CPU time says nothing. */
function idle(before: Seen, now: Seen): boolean {
  const seconds = (now.at - before.at) / 1000
  const many = Math.max(1, now.found.culprits.length)
  const cpu = now.found.culprits.length === 0 ? 0 : now.found.work.cpuSeconds - before.found.work.cpuSeconds
  const bytes = now.found.work.bytes - before.found.work.bytes
  return cpu <= many * IDLE_SHARE * seconds && bytes <= many * IDLE_BYTES_PER_SECOND * seconds
}

export function createQuietWatch(afterMs: number): QuietWatch {
  let since: number | undefined
  let known = 0
  let agreeing: Seen[] = []
  let nextLook = 0
  let restsUntil = 0
  /** The time between its last two signs of what it does, and the longest for which it was quiet while it was looked at. */
  let lastPause = 0
  let harmless = 0
  let hangs = false
  const loop = createLoopWatch(afterMs)

  const agrees = (now: Seen): boolean => {
    const [first] = agreeing
    const before = agreeing.at(-1)
    if (first === undefined || before === undefined || now.found.verdict !== 'hang') return false
    const same = before.found.place === now.found.place && before.found.culprits.join() === now.found.culprits.join()
    // What a library or the end of a process says is no question of work.
    return same && (now.found.confidence === 'read' || (idle(before, now) && idle(first, now)))
  }
  /** When to look again after a look that decides nothing: `usual`, or earlier where the time is over then that is still missing. */
  const nextAfter = ({ at, found }: Seen, begunAt: number, least: number | undefined): number => {
    const quietSince = since ?? at
    const usual = begunAt + Math.min(MOST_AGAIN_MS, Math.max(SHARE * afterMs, SHARE * (begunAt - quietSince)))
    const [first] = agreeing
    const loopKnown = quietSince + LOOP_SILENT * afterMs
    if (found.loop !== undefined) return loopKnown > at ? Math.min(usual, loopKnown) : usual
    if (first === undefined || least === undefined || agreeing.length < LOOKS - 1) return usual
    // The next look takes as long as this one, and its end counts.
    return Math.min(usual, Math.max(quietSince + least, first.at + afterMs) - (at - begunAt) / 2)
  }

  return {
    active(at, steps) {
      if (steps !== known) restsUntil = 0
      known = steps
      if (since !== undefined && at <= since) return
      if (since !== undefined) lastPause = at - since
      if (since !== undefined && at - since >= afterMs) harmless = Math.max(harmless, at - since)
      since = at
      agreeing = []
      nextLook = 0
      hangs = false
      loop.reset()
    },
    due(t) {
      if (since === undefined || t < nextLook || t < restsUntil || t - since < Math.max(afterMs, harmless)) return undefined
      return t - since
    },
    looked(t, found, begunAt = t) {
      const now = { at: t, found }
      if (agrees(now)) agreeing.push(now)
      else {
        agreeing = found.verdict === 'hang' ? [now] : []
        hangs = false
      }
      const [first] = agreeing
      const silent = t - (since ?? t)
      const least = needed(found, { steps: known, lastPause }, afterMs)
      if (first !== undefined && least !== undefined && agreeing.length >= LOOKS && t - first.at >= afterMs && silent >= least) hangs = true
      loop.looked(t, silent, found.loop)
      if (least === undefined && found.loop === undefined) restsUntil = t + REST_MS
      nextLook = hangs ? t + HUNG_AGAIN_MS : loop.found() !== undefined ? t + LOOPS_AGAIN_MS : nextAfter(now, begunAt, least)
      return hangs
    },
    later(t) {
      nextLook = t + SHARE * afterMs
    },
    hangs: () => hangs,
    loops: () => (hangs ? undefined : loop.found()),
  }
}
