// A host whose use is known, for the whole agent: processes of their own sessions on two cards of the fake NVML, stepped each second, with the truth summed up beside.
import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { h100, type FakeGpu, type FakeSample, type FakeScenario } from '../fakes/nvml/scenario.ts'

const GIB = 2 ** 30
const IDLE_WATTS = 60
const BUSY_WATTS = 540
/** Of the first card while all hold it: 16 of 5 % each. */
export const PERCENT = 5
export const SLOTS = 16
/** Samples are kept so long, and are so far apart at least. */
const [SAMPLED_MS, PERIOD_MS] = [1_200, 30]
const PHASES = [125, 375, 625, 875] as const

export type Truth = { heldMs: number; activeMs: number }
type Held = { readonly child: ChildProcess; readonly job: string; readonly card: 0 | 1; readonly percent: number }

/** The name is the job's: what a session is called is its command. */
function start(seconds: number): { readonly child: ChildProcess; readonly job: string } {
  return { child: spawn('sleep', [String(seconds)], { detached: true, stdio: 'ignore' }), job: `sleep ${seconds}` }
}

export type UseScene = {
  readonly truth: ReadonlyMap<string, Truth>
  /** What the counters of both cards have risen by. */
  readonly joules: () => number
  /** What the fake tells now. */
  readonly scenario: () => FakeScenario
  /** `phase` milliseconds into a second of the clock, next time, the step before is over, and what `change` makes of the host begins. */
  readonly step: (change?: () => void, phase?: number) => Promise<void>
  /** One after the other, for each slot, at moments spread over the second: whoever looks each second is early for one by what it is late for another. */
  readonly spread: (change: (slot: number) => void) => Promise<void>
  /** `SLOTS` is the only one on the second card. */
  readonly enter: (slot: number) => void
  readonly leave: (slot: number) => void
  readonly lost: (is: boolean) => void
  /** A process that no look finds among the holders, as it lasts less than a second: the driver's samples have it all the same. */
  readonly brief: () => void
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
  const energy = [5e6, 7e6]
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
  const percentOn = (card: number): number =>
    [...held.values()].reduce((sum, one) => sum + (one.card === card ? one.percent : 0), card === 0 ? briefPercent : 0)

  /** As the driver shows it: the mean of the newest two periods. */
  const shown = [0, 0]
  const gpuOf = (index: 0 | 1): FakeGpu => {
    const own = [...held.values()].filter(({ card }) => card === index)
    const busy = percentOn(index)
    const gpu = h100(
      index,
      {
        util: Math.round(shown[index] ?? 0),
        energy: Math.round((energy[index] ?? 0) * 1_000),
        power: (IDLE_WATTS + (BUSY_WATTS * busy) / 100) * 1_000,
        ...(index === 1 && isLost ? { lost: 1 } : {}),
      },
      own.map(({ child }) => ({ pid: child.pid ?? 0, bytes: 2 * GIB })),
    )
    return { ...gpu, samples: samples.filter(({ card }) => card === index) }
  }
  const scenario = (): FakeScenario => ({ values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 }, gpus: [gpuOf(0), gpuOf(1)] })
  /** The time since the last step, as the host was during it. */
  const settle = (): void => {
    const now = Date.now()
    const ms = now - (at ?? now)
    at = now
    for (const { job, percent } of held.values()) {
      const sums = truth.get(job) ?? { heldMs: 0, activeMs: 0 }
      truth.set(job, { heldMs: sums.heldMs + ms, activeMs: sums.activeMs + (ms * percent) / 100 })
    }
    for (const card of [0, 1]) {
      const rise = ((IDLE_WATTS + (BUSY_WATTS * percentOn(card)) / 100) * ms) / 1_000
      energy[card] = (energy[card] ?? 0) + rise
      joules += rise
    }
  }
  const take = (slot: number, seconds: number, card: 0 | 1, percent: number): void => void coming.push([slot, { ...start(seconds), card, percent }])
  const drop = (slot: number): void => void going.push(slot)
  /** The driver no longer lists who goes, then it ends. */
  const move = (): void => {
    const t = Date.now()
    sample(t - PERIOD_MS)
    const before = [percentOn(0), percentOn(1)]
    const gone = going.flatMap((slot) => held.get(slot) ?? [])
    for (const slot of going) held.delete(slot)
    for (const [slot, one] of coming) held.set(slot, one)
    briefPercent = comingBrief
    if (briefPercent > 0) briefPid++
    ;[coming, going, comingBrief] = [[], [], 0]
    sample(t)
    for (const card of [0, 1]) shown[card] = ((before[card] ?? 0) + percentOn(card)) / 2
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
      for (let slot = 0; slot <= SLOTS; slot++) await step(() => change(slot), PHASES[slot % PHASES.length])
    },
    enter: (slot) => (slot === SLOTS ? take(slot, 60_000, 1, 50) : take(slot, 50_000 + slot, 0, PERCENT)),
    leave: drop,
    lost: (is) => (isLost = is),
    brief: () => (comingBrief = 10),
    shares: () => new Map([...held.values()].flatMap(({ child, card: on, percent }) => (on === 0 ? [[child.pid ?? 0, percent / 100] as const] : []))),
    end: () => held.forEach(({ child }) => child.kill('SIGKILL')),
  }
}
