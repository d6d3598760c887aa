// A simulated host: GPUs, containers and jobs whose scrapes and events are those of the real sources (`gpu`, `containers`, `host`), so that
// everything behind them is the same. The seed and the start decide all of it.
import { setImmediate } from 'node:timers/promises'
import type { Config } from '../config/schema.ts'
import type { Event } from '../model/event.ts'
import type { Source } from '../model/source.ts'
import { createGpuScraper } from './simulated/gpu-scrapes.ts'
import { createHostJobs } from './simulated/host-jobs.ts'
import { createHostScraper } from './simulated/host-scrapes.ts'
import { createProcessDetails } from './simulated/process-details.ts'
import { createProbes } from './simulated/probes.ts'
import { createRandom } from './simulated/random.ts'
import type { Scenario } from './simulated/scenario.ts'
import * as registry from './simulated/scenarios/index.ts'
import { createStage } from './simulated/stage.ts'
import { createWorld } from './simulated/world.ts'
import { defineSource } from './definition.ts'

export const SCENARIOS: ReadonlyMap<string, Scenario> = new Map(Object.values(registry).map((scenario) => [scenario.name, scenario]))

export type SimulatedOptions = {
  /** A name of SCENARIOS. */
  readonly scenario: string
  readonly seed: number
  /** Simulated seconds per second. */
  readonly speed?: number
  /** How long a healthy past is emitted at the start, as scrapes with past times, so that charts are not empty. */
  readonly backfillMs?: number
  readonly now?: () => number
  readonly hostname?: string
  readonly gpus?: number
  readonly processes?: number
  readonly containers?: number
}

export type Simulation = {
  /** Moves the simulation on to `t`, and returns everything that the sources would emit. */
  readonly tick: (t: number) => readonly Event[]
}

/** So long the host has run before its first scrape: caches are warm, cards are hot. */
const WARM_UP_S = 420
const TICK_MS = 1_000
/** After a longer pause (a laptop that slept) the simulation goes on without emitting what was missed. */
const MAX_CATCH_UP = 10
/** Back-filling lets others run after so many seconds of the past. */
const BACKFILL_BATCH = 20

/** The simulation without a clock: `firstT` is the time of the first tick, the scenario begins after `healthyTicks` more. */
export function createSimulation(options: SimulatedOptions, firstT: number, healthyTicks: number): Simulation {
  const { seed, speed = 1, gpus = 8, processes = 18, containers = 10 } = options
  const scenario = SCENARIOS.get(options.scenario)
  if (scenario === undefined)
    throw new Error(`simulation: expected a scenario of ${[...SCENARIOS.keys()].join(', ')}, came ${JSON.stringify(options.scenario)}`)
  const world = createWorld({ seed, gpus, processes, containers, mig: scenario.mig ?? false, cluster: scenario.cluster })
  const stage = createStage(world)
  const gpuScrapes = createGpuScraper(world)
  const hostScrapes = createHostScraper(world, createRandom(seed, 'host'), firstT, options.hostname ?? 'gpu-host')
  const details = createProcessDetails(world, speed)
  const probes = createProbes(world)
  const hostJobs = createHostJobs(world)
  const act = scenario.begin(stage)
  const wallSeconds = 1 / speed

  let second = -WARM_UP_S - healthyTicks * speed
  const ages = createRandom(seed, 'ages')
  const born = new Map(world.boxes.map((box) => [box, second - 60 - Math.floor(ages() * 600)]))
  for (const process of world.processes) process.startedAt = (process.owner && born.get(process.owner)) ?? second - 600
  const step = (t: number): void => {
    stage.enter(second, t)
    if (second >= 0) act(second)
    stage.step(wallSeconds)
    second += 1
  }
  for (let warm = 0; warm < WARM_UP_S; warm++) step(firstT - TICK_MS)
  stage.takeEvents() // the warm-up is not emitted

  let ticks = 0
  return {
    tick(t) {
      for (let n = 0; n < speed; n++) step(t)
      const scrapes = [...gpuScrapes(ticks, t), ...details(ticks, second, t), ...hostScrapes(t)]
      ticks += 1
      return [...stage.takeEvents(), ...hostJobs(t), ...scrapes, ...probes(t)]
    },
  }
}

export function createSimulatedSource(options: SimulatedOptions): Source {
  const { now = Date.now, backfillMs = 0 } = options
  let stopEvery: (() => void) | undefined
  let stopped = false
  const isStopped = (): boolean => stopped
  return {
    id: 'simulated',
    metrics: [],
    async start({ emit, every, log }) {
      const last = Math.floor(now() / TICK_MS) * TICK_MS
      const healthyTicks = Math.floor(backfillMs / TICK_MS)
      const firstT = last - healthyTicks * TICK_MS
      const simulation = createSimulation(options, firstT, healthyTicks)
      let emittedT = firstT - TICK_MS
      const advance = (t: number): void => {
        // The simulation moves by whole seconds, emitted or not.
        const missed = (t - emittedT) / TICK_MS
        for (let n = missed - 1; n >= 0; n--) {
          const events = simulation.tick(t - n * TICK_MS)
          if (n < MAX_CATCH_UP) for (const event of events) emit(event)
        }
        if (missed > 0) emittedT = t
      }
      for (let n = 0; n <= healthyTicks; n++) {
        if (isStopped()) return
        advance(firstT + n * TICK_MS)
        if (n % BACKFILL_BATCH === BACKFILL_BATCH - 1) await setImmediate()
      }
      if (isStopped()) return
      log.info(`simulated scenario ${options.scenario}: ${SCENARIOS.get(options.scenario)?.shows ?? ''}`)
      stopEvery = every(TICK_MS, advance)
    },
    stop() {
      stopped = true
      stopEvery?.()
    },
  }
}

export const simulatedOptions = ({
  simulate: { scenario, seed, speed, past },
  host_name: hostname,
}: Pick<Config, 'simulate' | 'host_name'>): SimulatedOptions => ({
  scenario,
  seed,
  speed,
  hostname,
  backfillMs: past,
})

export const simulated = defineSource({
  id: 'simulated',
  metrics: [],
  needs: ['config'],
  create: ({ config }) => (config.simulate.scenario === 'off' ? undefined : createSimulatedSource(simulatedOptions(config))),
})
