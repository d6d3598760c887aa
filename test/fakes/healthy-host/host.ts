// Eight hours of a host on which nothing goes wrong, as the events of its sources: day and night, restarts, evaluations. The seed decides all of it.
import type { Event } from '../../../agent/model/event.ts'
import { createGpuScraper } from '../../../agent/sources/simulated/gpu-scrapes.ts'
import { createHostScraper } from '../../../agent/sources/simulated/host-scrapes.ts'
import { createProbes } from '../../../agent/sources/simulated/probes.ts'
import { createRandom } from '../../../agent/sources/simulated/random.ts'
import { createStage } from '../../../agent/sources/simulated/stage.ts'
import { createWorld } from '../../../agent/sources/simulated/world.ts'
import { createExtras, createOddities } from './extras.ts'
import { healthyWorkload, type Clock } from './jobs.ts'

export type HealthyHost = { readonly tick: (t: number) => readonly Event[]; readonly restarts: () => number }

/** When which container is set up again, on purpose: it exits with 0 and comes again. */
const RESTARTS: readonly (readonly [box: string, eachS: number, firstS: number])[] = [
  ['finetune-lora', 9_000, 5_400],
  ['pretrain-trainer-1', 14_400, 9_100],
  ['search-embedder-1', 7_200, 3_000],
  ['chat-vllm-1', 20_000, 12_345],
]
const KERNEL_EACH_S = 4_100

export type HealthyHostOptions = { readonly processes?: number; readonly containers?: number; readonly mig?: boolean }

export function createHealthyHost(seed: number, firstT: number, { processes = 18, containers = 10, mig = false }: HealthyHostOptions = {}): HealthyHost {
  const clock: Clock = { second: 0 }
  const base = createWorld({ seed, gpus: 8, processes, containers, mig })
  const world = { ...base, processes: base.processes.map((process) => ({ ...process, workload: healthyWorkload(process, clock) })) }
  const stage = createStage(world)
  const gpuScrapes = createGpuScraper(world)
  const hostScrapes = createHostScraper(world, createRandom(seed, 'host'), firstT, 'gpu-host')
  const probes = createProbes(world)
  const extras = createExtras(world, createRandom(seed, 'extras'))
  const oddities = createOddities(createRandom(seed, 'oddities'))
  const shift = Math.floor(createRandom(seed, 'shift')() * 900)
  let restarts = 0

  const act = (second: number): void => {
    for (const [name, each, first] of RESTARTS) {
      if (second < first + shift || (second - first - shift) % each !== 0) continue
      const box = world.boxes.find((candidate) => candidate.name === name)
      if (box === undefined) throw new Error(`expected a container of the simulated host, came ${name}`)
      stage.die(box, 0)
      restarts++
    }
    if (second % KERNEL_EACH_S === shift) for (const process of stage.processesOf('notebook-lab-1')) stage.restart(process)
  }
  return {
    restarts: () => restarts,
    tick(t) {
      const { second } = clock
      stage.enter(second, t)
      act(second)
      stage.step(1)
      const events: Event[] = [...stage.takeEvents()]
      for (const scrape of gpuScrapes(second, t)) events.push(oddities(scrape))
      events.push(...hostScrapes(t), ...extras(second, t), ...probes(t))
      clock.second++
      return events
    },
  }
}
