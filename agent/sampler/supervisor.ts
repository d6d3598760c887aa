// Keeps a sampler child alive whatever the driver does: respawns it, leaves out what hangs, and tries that again in a child of its own.
import type { MetricDef } from '../model/metric.ts'
import type { Gap } from '../model/reading.ts'
import { secondsText } from '../text/span.ts'
import { createUnkillableChildren } from './unkillable-children.ts'
import { createBackoff, doubling } from './backoff.ts'
import type { ConnectInside } from './connections.ts'
import { CHILD_FLAGS } from './child-process.ts'
import { startChild, type ChildEnd, type ChildHandlers, type Sample, type SamplerChild } from './child-handle.ts'
import { createHangPolicy } from './hang-policy.ts'
import { createProber, whenNext } from './prober.ts'
import { RATES, type CardsRequest, type Hello, type Rate } from './protocol.ts'
import { createSeriesInterner } from './series-table.ts'
import { childEndText } from './end-text.ts'

export type RestartReason = 'hang' | 'crash' | 'stopped' | 'garbage' | 'failed' | 'returned'
export const RESTART_REASONS: readonly RestartReason[] = ['hang', 'crash', 'stopped', 'garbage', 'failed', 'returned']

/** One GPU cannot be sampled now. */
export type GpuTrouble = { readonly index: number; readonly function: string; readonly crashed: boolean; readonly detail: string; readonly first: boolean }
/** Nothing can be sampled now. */
export type SamplerDown = { readonly reason: Gap['reason']; readonly code?: number; readonly detail: string }

export type SupervisorEvents = {
  readonly hello: (hello: Hello) => void
  readonly sample: (sample: Sample) => void
  /** All samples of the request of time `t` have come. */
  readonly done: (t: number) => void
  readonly trouble: (trouble: GpuTrouble) => void
  readonly down: (down: SamplerDown) => void
  readonly restarted: (reason: RestartReason, detail: string) => void
  readonly complain: (problem: string) => void
}

export type SupervisorOptions = {
  /** The child's program: dist/sampler-child.js, or agent/sampler/child-main.ts where Node strips types. */
  readonly childEntry: string | URL
  /** Paths or sonames of the library, in the order in which they are tried. */
  readonly libraries: readonly string[]
  readonly metrics: readonly MetricDef[]
  /** Cards that are read from files, instead of NVIDIA's. */
  readonly cards?: CardsRequest
  readonly peakHz?: number
  readonly deadlineMs?: number
  /** A call on a GPU that takes so long has another child begun without that GPU, lest the others wait for the deadline. A quarter of the deadline when absent. */
  readonly lateMs?: number
  readonly startDeadlineMs?: number
  /** Killed children that may be stuck at a time; then no new one is begun. */
  readonly maxUnkillable?: number
  readonly respawnDelaysMs?: readonly number[]
  readonly failedDelaysMs?: readonly number[]
  /** Whether anything speaks for it that a try could succeed where the last one said that it cannot; each costs a process. Always when absent. */
  readonly mayWork?: () => boolean
  readonly probeDelaysMs?: readonly number[]
  readonly hangWindowMs?: number
  readonly execArgv?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export type Supervisor = {
  readonly start: () => void
  /** Asks for a scrape. False when none could be asked for now; the rates are then asked for with the next one. */
  readonly ask: (rates: readonly Rate[], t: number) => boolean
  /** GPUs that are not in the main child, or not in the one that takes its place, because a call on them hangs. */
  readonly leftOut: () => readonly number[]
  readonly unkillable: () => number
  readonly pid: () => number | undefined
  /** Through the child, which may die: to be in another namespace is nothing for the main process. */
  readonly connect: ConnectInside
  readonly stop: () => Promise<void>
}

const HEALTHY_MS = 60_000
const GRACE_MS = 500
/** Tried all the same, whatever `mayWork` says: a driver may show itself in a way that we do not know. */
const TRIED_ANYWAY_MS = 30 * 60_000
export function createSupervisor(options: SupervisorOptions, events: SupervisorEvents): Supervisor {
  const { deadlineMs = 2_000, startDeadlineMs = 30_000, maxUnkillable = 4, peakHz = 10, libraries, childEntry } = options
  const { lateMs = deadlineMs / 4, hangWindowMs = 600_000 } = options
  const now = (): number => performance.now()
  const interner = createSeriesInterner(options.metrics)
  const policy = createHangPolicy({ windowMs: hangWindowMs, probeDelaysMs: options.probeDelaysMs ?? doubling(5_000, 60_000) })
  const respawn = createBackoff({ delaysMs: options.respawnDelaysMs ?? [0, ...doubling(1_000, 60_000)], healthyMs: HEALTHY_MS })
  const retry = createBackoff({ delaysMs: options.failedDelaysMs ?? doubling(5_000, 60_000), healthyMs: HEALTHY_MS })
  const unkillable = createUnkillableChildren((stuckMs) => {
    if (stopped) return
    // One that was truly stuck has come free: whatever held it may be over.
    if (stuckMs > 1_000) policy.probeSoon(now())
    if (waitingForRoom) launch()
    prober.schedule()
  })
  let stopped = false
  let waitingForRoom = false
  /** The child that answers, and the one that is to take its place as soon as it has opened the GPUs. */
  let active: SamplerChild | undefined
  let starting: SamplerChild | undefined
  /** Children that wait in a call on a GPU, which the child that takes their place leaves out; each has until its deadline. */
  const late = new Map<SamplerChild, number>()
  /** A late call that returned: the next ones get the whole deadline, so that a slow driver does not cost a child each time. */
  let patientUntil = 0
  let timer: NodeJS.Timeout | undefined
  const pending = new Set<Rate>()
  /** Whose first scrape, which begins off the ticks, is on its way. */
  let greeted: SamplerChild | undefined

  const cards = options.cards === undefined ? {} : { cards: options.cards }
  const spawn = (only: number | undefined, handlers: ChildHandlers): SamplerChild =>
    startChild(
      {
        entry: childEntry,
        execArgv: options.execArgv ?? CHILD_FLAGS,
        env: options.env ?? process.env,
        start: only === undefined ? { libraries, peakHz, leaveOut: leftOut(), ...cards } : { libraries, peakHz: 0, only, leaveOut: [], ...cards },
        deadlineMs,
        lateMs,
        startDeadlineMs,
        interner,
        unkillable,
      },
      handlers,
    )
  const request = (rates: Iterable<Rate>, t: number): boolean => {
    for (const rate of rates) pending.add(rate)
    if (active === undefined || !active.ready() || active.busy()) return false
    active.scrape([...pending], t)
    pending.clear()
    return true
  }

  const launch = (): void => {
    clearTimeout(timer)
    timer = undefined
    waitingForRoom = false
    if (stopped || starting !== undefined) return
    if (unkillable.alive() >= maxUnkillable) {
      waitingForRoom = true
      const detail = `${unkillable.alive()} sampler processes hang in the driver and cannot be ended; none is begun until one of them ends (usually only a reset of the GPU or a reboot helps)`
      return active === undefined ? events.down({ reason: 'timeout', detail }) : events.complain(detail)
    }
    const child: SamplerChild = spawn(undefined, {
      hello(hello) {
        const takesOver = starting === child
        if (takesOver) {
          if (active !== undefined && !late.has(active)) void active.retire(GRACE_MS)
          active = child
          starting = undefined
        }
        forgetMoved(hello)
        events.hello(hello)
        // New or not, the set of GPUs is a fresh one: everything of it at once, not at the next tick.
        for (const rate of RATES) pending.add(rate)
        if (takesOver && request([], Date.now())) greeted = child
        if (!sameLeftOut(child)) launch() // what is left out changed while this one began
        prober.schedule()
      },
      sample: events.sample,
      done(t) {
        events.done(t)
        const first = greeted === child
        greeted = undefined
        // A tick that found the first scrape on its way is made good at once: its second would have no reading.
        if (first && pending.size > 0) request([], Date.now())
      },
      complain: events.complain,
      late: (gpu) => waits(child, gpu),
      answered: () => answered(child),
      end: (end) => ended(child, end),
    })
    starting = child
  }
  const leftOut = (): readonly number[] => [...new Set([...policy.leftOut(), ...late.values()])].sort((a, b) => a - b)
  const waits = (child: SamplerChild, gpu: number): void => {
    if (stopped || child !== active || starting !== undefined || now() < patientUntil || !room()) return
    late.set(child, gpu)
    launch()
  }
  const answered = (child: SamplerChild): void => {
    if (!late.delete(child)) return
    patientUntil = now() + hangWindowMs
    if (child === active) {
      void starting?.retire(GRACE_MS)
      starting = undefined
    } else void child.retire(GRACE_MS) // the one that took its place lacks the GPU that answers after all
    if (active !== undefined && !sameLeftOut(active)) launch()
  }
  const room = (): boolean => unkillable.alive() < maxUnkillable - 1 // the last place is the main child's
  const prober = createProber({
    policy,
    room,
    spawn,
    events,
    returned: (gpu) => {
      policy.recovered(gpu)
      events.restarted('returned', `GPU ${gpu} answers again and is sampled with the others`)
      launch()
    },
  })

  /** A left-out GPU that now is at another index answers there; its old index belongs to another GPU, which must not be left out for it. */
  const known = new Map<number, string>()
  const forgetMoved = (hello: Hello): void => {
    for (const gpu of hello.gpus) {
      for (const [index, uuid] of known) {
        if (uuid !== gpu.uuid || index === gpu.index) continue
        known.delete(index)
        policy.forget(index)
      }
      known.set(gpu.index, gpu.uuid)
    }
  }
  const sameLeftOut = (child: SamplerChild): boolean => String(child.start.leaveOut) === String(leftOut())

  const ended = (child: SamplerChild, end: ChildEnd): void => {
    if (stopped) return
    late.delete(child)
    const workedMs = child.ready() ? now() - child.startedAt : 0
    if (active === child) active = undefined
    if (starting === child) starting = undefined
    events.restarted(end.kind, childEndText(end).detail)
    if (end.kind === 'failed') {
      if (active === undefined) events.down({ ...end.failed })
      return retryLater(retry.fail(workedMs))
    }
    const { gpu, function: name, detail } = childEndText(end)
    if (gpu !== undefined) {
      const next = whenNext(policy.hang(gpu, now()), room())
      events.trouble({ index: gpu, function: name, crashed: end.kind === 'crash', detail: `${detail}; ${next}`, first: true })
      prober.schedule()
      if (active !== undefined && sameLeftOut(active)) return // the one that works already does without this GPU
      return again(0) // what is asked of the next child differs, so there is no point in waiting
    }
    const delay = respawn.fail(workedMs)
    if (active === undefined && (end.kind === 'hang' || delay > 0)) {
      events.down({
        reason: end.kind === 'hang' ? 'timeout' : 'driver_error',
        detail: `${detail}; ${delay === 0 ? 'tried again at once' : `retried in ${secondsText(delay)}`}`,
      })
    }
    again(delay)
  }
  const retryLater = (delayMs: number, failedAt = now()): void => {
    if (stopped || starting !== undefined) return
    clearTimeout(timer)
    timer = setTimeout(() => (options.mayWork?.() === false && now() - failedAt < TRIED_ANYWAY_MS ? retryLater(delayMs, failedAt) : launch()), delayMs)
    timer.unref()
  }
  const again = (delayMs: number): void => {
    if (stopped || starting !== undefined) return
    clearTimeout(timer)
    if (delayMs === 0) return launch()
    timer = setTimeout(launch, delayMs)
    timer.unref()
  }

  return {
    start: launch,
    ask: request,
    leftOut,
    unkillable: unkillable.alive,
    pid: () => active?.pid,
    async connect(place) {
      const child = active ?? starting
      if (child === undefined) throw new Error('the child that makes connections does not run, because NVML does not')
      return child.connect(place)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      const children = [...late.keys(), active, starting].filter((child) => child !== undefined)
      await Promise.all([...children.map((child) => child.retire(GRACE_MS)), prober.stop(GRACE_MS)])
    },
  }
}
