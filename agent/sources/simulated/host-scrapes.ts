// What cgroups, the engine and /proc would tell of the simulated containers and their host.
import type { Scrape } from '../../model/event.ts'
import type { Reading } from '../../model/reading.ts'
import { GIB } from './allocator.ts'
import { hostReader } from './host-series.ts'
import type { Random } from './random.ts'
import type { Teller } from './teller.ts'
import type { Box, World } from './world.ts'

const scrape = (source: string, t: number, readings: readonly Reading[]): Scrape => ({
  type: 'scrape',
  t,
  source,
  group: 'simulated',
  ttlMs: 3_000,
  durationMs: 0,
  readings,
  gaps: [],
})

function boxReader(world: World, box: Box, teller: Teller): (readings: Reading[]) => void {
  const { identity } = box
  const labels = {
    container: identity.name,
    container_id: box.id.slice(0, 12),
    image: box.image,
    compose_project: identity.composeProject ?? '',
    compose_service: identity.composeService ?? '',
    namespace: identity.namespace ?? '',
    pod: identity.pod ?? '',
  }
  const its = world.processes.filter((process) => process.owner === box)
  const info = teller.series('container_info', {
    ...labels,
    runtime: world.cluster === 'kubernetes' ? 'containerd' : 'docker',
    state: 'running',
  })
  const [cpu, memory, oomKills] = ['container_cpu_seconds_total', 'container_memory_bytes', 'container_oom_kills_total'].map((name) =>
    teller.series(name, labels),
  )
  const [limit, restarts, pids] = ['container_memory_limit_bytes', 'container_restarts_total', 'container_pids'].map((name) => teller.series(name, labels))
  const requested = [...new Set(its.map((process) => process.card))].map((card) =>
    teller.series('container_gpu_requested', {
      ...labels,
      gpu: String(card.index),
      uuid: card.uuid,
      by: world.cluster === 'kubernetes' ? 'device_nodes' : 'device_request',
    }),
  )
  return (readings) => {
    if (!box.running) return
    info(readings, 1)
    cpu?.(readings, Math.round(box.cpuSeconds * 1e6) / 1e6)
    memory?.(readings, box.memoryBytes)
    if (box.limitGib !== undefined) limit?.(readings, box.limitGib * GIB)
    oomKills?.(readings, box.oomKills)
    restarts?.(readings, box.restarts)
    pids?.(readings, 8 + 12 * its.length)
    for (const tell of requested) tell(readings, 1)
  }
}

export type HostScraper = (t: number) => readonly Scrape[]

/** Containers and host each second; every call stands for one second of the wall clock. */
export function createHostScraper(world: World, teller: Teller, random: Random, startT: number, hostname: string): HostScraper {
  const boxes = world.boxes.map((box) => boxReader(world, box, teller))
  const readHost = hostReader(world, teller, random, startT, hostname)
  return (t) => {
    const [ofBoxes, ofHost]: readonly [Reading[], Reading[]] = [[], []]
    for (const read of boxes) read(ofBoxes)
    readHost(ofHost)
    return [scrape('containers', t, ofBoxes), scrape('host', t, ofHost)]
  }
}
