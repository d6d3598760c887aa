// What cgroups, the engine and /proc would tell of the simulated containers and their host.
import type { Scrape } from '../../model/event.ts'
import type { Reading } from '../../model/reading.ts'
import { GIB } from './allocator.ts'
import type { Random } from './random.ts'
import type { Teller } from './teller.ts'
import type { Box, World } from './world.ts'

const CORES = 128
const MEMORY_BYTES = 1_024 * GIB
const BOOTED_BEFORE_S = 23 * 86_400

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
  const labels = {
    container: box.name,
    container_id: box.id.slice(0, 12),
    image: box.image,
    compose_project: box.project ?? '',
    compose_service: box.service ?? '',
  }
  const its = world.processes.filter((process) => process.owner === box)
  const info = teller.series('container_info', {
    ...labels,
    runtime: 'docker',
    state: 'running',
  })
  const [cpu, memory, oomKills] = ['container_cpu_seconds_total', 'container_memory_bytes', 'container_oom_kills_total'].map((name) =>
    teller.series(name, labels),
  )
  const [limit, restarts, pids] = ['container_memory_limit_bytes', 'container_restarts_total', 'container_pids'].map((name) => teller.series(name, labels))
  const requested = [...new Set(its.map((process) => process.card))].map((card) =>
    teller.series('container_gpu_requested', { ...labels, gpu: String(card.index), uuid: card.uuid, by: 'device_request' }),
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

export type HostScraper = (t: number, wallSeconds: number) => readonly Scrape[]

export function createHostScraper(world: World, teller: Teller, random: Random, startT: number): HostScraper {
  const boxes = world.boxes.map((box) => boxReader(world, box, teller))
  const host = (name: string, labels = {}) => teller.series(`host_${name}`, labels)
  const [cores, booted, total, available, free, swapTotal, swapFree] = [
    host('cpu_cores'),
    host('boot_time_seconds'),
    host('memory_total_bytes'),
    host('memory_available_bytes'),
    host('memory_free_bytes'),
    host('swap_total_bytes'),
    host('swap_free_bytes'),
  ]
  const modes = {
    user: host('cpu_seconds_total', { mode: 'user' }),
    system: host('cpu_seconds_total', { mode: 'system' }),
    idle: host('cpu_seconds_total', { mode: 'idle' }),
  }
  const seconds = { user: 9.1e6, system: 8.4e5, idle: CORES * BOOTED_BEFORE_S - 9.94e6 }
  const loads = ([1, 5, 15] as const).map((minutes) => ({ tell: host(`load${minutes}`), minutes, value: 20 }))
  const [shmTotal, shmUsed] = [host('shm_total_bytes'), host('shm_used_bytes')]
  return (t, wallSeconds) => {
    const ofBoxes: Reading[] = []
    for (const read of boxes) read(ofBoxes)
    const busy = busyCores(world) + 2 + random()
    seconds.user += busy * 0.9 * wallSeconds
    seconds.system += busy * 0.1 * wallSeconds
    seconds.idle += (CORES - busy) * wallSeconds
    const used = world.boxes.reduce((sum, box) => sum + (box.running ? box.memoryBytes : 0), 24 * GIB)
    const ofHost: Reading[] = []
    cores(ofHost, CORES)
    booted(ofHost, Math.floor(startT / 1000) - BOOTED_BEFORE_S)
    for (const mode of ['user', 'system', 'idle'] as const) modes[mode](ofHost, Math.round(seconds[mode] * 100) / 100)
    total(ofHost, MEMORY_BYTES)
    available(ofHost, MEMORY_BYTES - used)
    free(ofHost, Math.floor((MEMORY_BYTES - used) * 0.4))
    swapTotal(ofHost, 0)
    swapFree(ofHost, 0)
    for (const load of loads) {
      load.value += ((busy - load.value) * wallSeconds) / (60 * load.minutes)
      load.tell(ofHost, Math.round(load.value * 100) / 100)
    }
    shmTotal(ofHost, MEMORY_BYTES / 2)
    shmUsed(ofHost, Math.floor(6 * GIB + GIB * random()))
    return [scrape('containers', t, ofBoxes), scrape('host', t, ofHost)]
  }
}

function busyCores(world: World): number {
  let cores = 0
  for (const process of world.processes) cores += process.cpuCores
  for (const box of world.boxes) if (box.running) cores += box.cores
  return cores
}
