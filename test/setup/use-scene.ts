// A host whose use is known, for the whole agent: processes of their own sessions on three cards of the fake NVML, stepped each second, with the truth summed up beside.
// The first card is time-sliced, the second has one process, the third is partitioned (MIG) with a process in each of its two instances.
import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { h100, migH100, type FakeGpu, type FakeSample, type FakeScenario } from '../fakes/nvml/scenario.ts'

const GIB = 2 ** 30
const IDLE_WATTS = 60
const BUSY_WATTS = 540
/** Of the first card while all hold it: 16 of 5 % each. */
export const PERCENT = 5
export const SLOTS = 16
type Card = 0 | 1 | 2
/** Behind the slots of the first card: where their process runs and how busy it keeps that. `gi`: the MIG instance. */
const OTHERS: readonly { readonly card: Card; readonly percent: number; readonly gi?: number; readonly seconds: number }[] = [
  { card: 1, percent: 50, seconds: 60_000 },
  { card: 2, percent: 70, gi: 1, seconds: 70_001 },
  { card: 2, percent: 10, gi: 2, seconds: 70_002 },
]
export const ALL_SLOTS = SLOTS + OTHERS.length
/** How busy the instances are is read each ten seconds, so that who comes is counted as active up to so much later. */
export const isOnInstance = (job: string): boolean => OTHERS.some(({ gi, seconds }) => gi !== undefined && job === `sleep ${seconds}`)
/** Samples are kept so long, and are so far apart at least. */
const [SAMPLED_MS, PERIOD_MS] = [1_200, 30]
/** A step that is later than this left the host as it was: the driver goes on saying so. */
const LATE_MS = 1_100
const PHASES = [125, 375, 625, 875] as const

export type Truth = { heldMs: number; activeMs: number }
type Held = { readonly child: ChildProcess; readonly job: string; readonly card: Card; readonly gi?: number; readonly percent: number }

/** The name is the job's: what a session is called is its command. */
function start(seconds: number): { readonly child: ChildProcess; readonly job: string } {
  return { child: spawn('sleep', [String(seconds)], { detached: true, stdio: 'ignore' }), job: `sleep ${seconds}` }
}

export type UseScene = {
  readonly truth: ReadonlyMap<string, Truth>
  /** What the counters of all cards have risen by. */
  readonly joules: () => number
  /** What the fake tells now. */
  readonly scenario: () => FakeScenario
  /** `phase` milliseconds into a second of the clock, next time, the step before is over, and what `change` makes of the host begins. */
  readonly step: (change?: () => void, phase?: number) => Promise<void>
  /** One after the other, for each slot, at moments spread over the second: whoever looks each second is early for one by what it is late for another. */
  readonly spread: (change: (slot: number) => void) => Promise<void>
  /** From `SLOTS` on: the second card, then the instances of the third. */
  readonly enter: (slot: number) => void
  readonly leave: (slot: number) => void
  readonly lost: (is: boolean) => void
  /** A process that no look finds among the holders, as it lasts less than a second: the driver's samples have it all the same. */
  readonly brief: () => void
  /** How busy a job kept its card or instance while it held that, 0 to 1. */
  readonly busy: (job: string) => number
  /** How busy each holder keeps the first card, 0 to 1, by pid. */
  readonly shares: () => ReadonlyMap<number, number>
  /** Ends the processes, whatever the step. */
  readonly end: () => void
}

export function createUseScene(tell: (scenario: FakeScenario) => void): UseScene {
  const truth = new Map<string, Truth>()
  const held = new Map<number, Held>()
  /** What the step changes, all at one moment: programs run for a while before they hold a GPU, and starting sixteen takes a moment too. */
  let coming: (readonly [slot: number, Held])[] = []
  let going: number[] = []
  const energy = [5e6, 7e6, 9e6]
  let [joules, isLost, briefPercent, comingBrief, briefPid] = [0, false, 0, 0, 4_191_000]
  /** The clock starts with the first step: what the counters rose by before the agent's first look, no look finds. */
  let at: number | undefined
  /** The driver's, of each period since a while: the one that ends with a step, and the one that begins with it. */
  let samples: (FakeSample & { readonly card: number })[] = []
  const sample = (timeMs: number): void => {
    const here = [...held.values()].map(({ child, percent, card }) => ({ timeUs: timeMs * 1_000, pid: child.pid ?? 0, sm: percent, card }))
    const brief = briefPercent === 0 ? [] : [{ timeUs: timeMs * 1_000, pid: briefPid, sm: briefPercent, card: 0 }]
    samples = [...samples.filter(({ timeUs }) => timeUs > (timeMs - SAMPLED_MS) * 1_000), ...here, ...brief]
  }
  /** An instance is half of its card. */
  const percentOn = (card: number): number =>
    [...held.values()].reduce((sum, one) => sum + (one.card === card ? one.percent / (card === 2 ? 2 : 1) : 0), card === 0 ? briefPercent : 0)

  /** As the driver shows it: the mean of the newest two periods. */
  const shown = [0, 0, 0]
  const gpuOf = (index: Card): FakeGpu => {
    const own = [...held.values()].filter(({ card }) => card === index)
    const busy = percentOn(index)
    const busyOf = (gi: number): number => own.find((one) => one.gi === gi)?.percent ?? 0
    const gpu = h100(
      index,
      {
        ...(index === 2 ? { mig_mode: 1, 'gpm.1.1': busyOf(1), 'gpm.1.2': busyOf(2) } : {}),
        util: Math.round(shown[index] ?? 0),
        sample_every: LATE_MS,
        energy: Math.round((energy[index] ?? 0) * 1_000),
        power: (IDLE_WATTS + (BUSY_WATTS * busy) / 100) * 1_000,
        ...(index === 1 && isLost ? { lost: 1 } : {}),
      },
      own.map(({ child, gi }) => ({ pid: child.pid ?? 0, bytes: 2 * GIB, ...(gi === undefined ? {} : { gi, ci: 0 }) })),
    )
    return { ...gpu, ...(index === 2 ? { mig: migH100(index).mig ?? [] } : {}), samples: samples.filter(({ card }) => card === index) }
  }
  const scenario = (): FakeScenario => ({ values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 }, gpus: [gpuOf(0), gpuOf(1), gpuOf(2)] })
  /** The time since the last step, as the host was during it. */
  const settle = (): void => {
    const now = Date.now()
    const ms = now - (at ?? now)
    at = now
    for (const { job, percent } of held.values()) {
      const sums = truth.get(job) ?? { heldMs: 0, activeMs: 0 }
      truth.set(job, { heldMs: sums.heldMs + ms, activeMs: sums.activeMs + (ms * percent) / 100 })
    }
    for (const card of [0, 1, 2]) {
      const rise = ((IDLE_WATTS + (BUSY_WATTS * percentOn(card)) / 100) * ms) / 1_000
      energy[card] = (energy[card] ?? 0) + rise
      joules += rise
    }
  }
  const enter = (slot: number): void => {
    const { seconds, ...where } = OTHERS[slot - SLOTS] ?? { card: 0, percent: PERCENT, seconds: 50_000 + slot }
    coming.push([slot, { ...start(seconds), ...where }])
  }
  const drop = (slot: number): void => void going.push(slot)
  /** The driver no longer lists who goes, then it ends. */
  const move = (): void => {
    const t = Date.now()
    sample(t - PERIOD_MS)
    const before = [percentOn(0), percentOn(1), percentOn(2)]
    const gone = going.flatMap((slot) => held.get(slot) ?? [])
    for (const slot of going) held.delete(slot)
    for (const [slot, one] of coming) held.set(slot, one)
    briefPercent = comingBrief
    if (briefPercent > 0) briefPid++
    ;[coming, going, comingBrief] = [[], [], 0]
    sample(t)
    for (const card of [0, 1, 2]) shown[card] = ((before[card] ?? 0) + percentOn(card)) / 2
    tell(scenario())
    for (const { child } of gone) child.kill('SIGKILL')
  }
  const step = async (change?: () => void, phase = 500): Promise<void> => {
    await delay(1_000 - ((Date.now() + 1_000 - phase) % 1_000))
    change?.()
    settle()
    move()
  }
  return {
    truth,
    joules: () => joules,
    scenario,
    step,
    async spread(change) {
      for (let slot = 0; slot < ALL_SLOTS; slot++) await step(() => change(slot), PHASES[slot % PHASES.length])
    },
    enter,
    leave: drop,
    lost: (is) => (isLost = is),
    brief: () => (comingBrief = 10),
    busy(job) {
      const { heldMs, activeMs } = truth.get(job) ?? { heldMs: 0, activeMs: 0 }
      return heldMs === 0 ? 0 : activeMs / heldMs
    },
    shares: () => new Map([...held.values()].flatMap(({ child, card: on, percent }) => (on === 0 ? [[child.pid ?? 0, percent / 100] as const] : []))),
    end: () => held.forEach(({ child }) => child.kill('SIGKILL')),
  }
}
