// What cgroups, the engine and /proc would report of the simulated containers and their host.
import {
  containerCpuSecondsTotal,
  containerGpuRequested,
  containerInfo,
  containerMemoryBytes,
  containerMemoryLimitBytes,
  containerOomKillsTotal,
  containerPids,
  containerRestartsTotal,
} from '../../metrics/container.ts'
import type { Scrape } from '../../model/event.ts'
import type { Reading } from '../../model/reading.ts'
import { GIB } from './allocator.ts'
import { hostReader } from './host-series.ts'
import type { Random } from './random.ts'
import { appendTo } from './append-reading.ts'
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

function boxReader(world: World, box: Box): (readings: Reading[]) => void {
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
  const info = appendTo(containerInfo, {
    ...labels,
    runtime: world.cluster === 'kubernetes' ? 'containerd' : 'docker',
    state: 'running',
  })
  const [cpu, memory, oomKills] = [containerCpuSecondsTotal, containerMemoryBytes, containerOomKillsTotal].map((metric) => appendTo(metric, labels))
  const [limit, restarts, pids] = [containerMemoryLimitBytes, containerRestartsTotal, containerPids].map((metric) => appendTo(metric, labels))
  const requested = [...new Set(its.map((process) => process.card))].map((card) =>
    appendTo(containerGpuRequested, {
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
    for (const put of requested) put(readings, 1)
  }
}

export type HostScraper = (t: number) => readonly Scrape[]

/** Containers and host each second; every call means one second of the wall clock. */
export function createHostScraper(world: World, random: Random, startT: number, hostname: string): HostScraper {
  const boxes = world.boxes.map((box) => boxReader(world, box))
  const readHost = hostReader(world, random, startT, hostname)
  return (t) => {
    const [ofBoxes, ofHost]: readonly [Reading[], Reading[]] = [[], []]
    for (const read of boxes) read(ofBoxes)
    readHost(ofHost)
    return [scrape('containers', t, ofBoxes), scrape('host', t, ofHost)]
  }
}
