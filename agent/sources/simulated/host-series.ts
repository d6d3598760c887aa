// The readings of the simulated host itself: CPU, memory, pressure, load, disks, /dev/shm, network.
import {
  hostDiskAvailableBytes,
  hostDiskFreeBytes,
  hostDiskTotalBytes,
  hostNetworkReceiveBytesTotal,
  hostNetworkTransmitBytesTotal,
} from '../../metrics/host-io.ts'
import {
  hostBootTimeSeconds,
  hostCpuCores,
  hostCpuSecondsTotal,
  hostInfo,
  hostLoad1,
  hostLoad15,
  hostLoad5,
  hostMemoryAvailableBytes,
  hostMemoryCachedBytes,
  hostMemoryFreeBytes,
  hostMemoryTotalBytes,
  hostOomKillsTotal,
  hostPressureRatio,
  hostPressureWaitingSecondsTotal,
  hostShmTotalBytes,
  hostShmUsedBytes,
  hostSwapFreeBytes,
  hostSwapTotalBytes,
} from '../../metrics/host.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import { GIB } from './allocator.ts'
import type { Random } from './random.ts'
import { appendTo, type Append } from './append-reading.ts'
import type { World } from './world.ts'

const CORES = 128
const MEMORY_BYTES = 1_024 * GIB
const BOOTED_BEFORE_S = 23 * 86_400
const DISKS = [
  { labels: { mountpoint: '/', device: '/dev/nvme0n1p2', fstype: 'ext4' }, totalBytes: 894 * GIB, usedBytes: 212 * GIB },
  { labels: { mountpoint: '/data', device: '/dev/md0', fstype: 'xfs' }, totalBytes: 28_600 * GIB, usedBytes: 19_400 * GIB },
]
/** Pressure by resource and kind, as a share of the last ten seconds. */
const PRESSURE = [
  ['cpu', 'some', 0.006],
  ['memory', 'some', 0],
  ['memory', 'full', 0],
  ['io', 'some', 0.018],
  ['io', 'full', 0.011],
] as const

function busyCores(world: World): number {
  let cores = 0
  for (const process of world.processes) cores += process.cpuCores
  for (const box of world.boxes) if (box.running) cores += box.cores
  return cores
}

export function hostReader(world: World, random: Random, startT: number, hostname: string): (readings: Reading[]) => void {
  const host = (metric: MetricDef, labels: Labels = {}): Append => appendTo(metric, labels)
  const fixed: readonly (readonly [Append, number])[] = [
    [host(hostInfo, { hostname, kernel: '6.8.0-simulated', os: 'Simulated Linux', architecture: 'x86_64' }), 1],
    [host(hostCpuCores), CORES],
    [host(hostBootTimeSeconds), Math.floor(startT / 1000) - BOOTED_BEFORE_S],
    [host(hostMemoryTotalBytes), MEMORY_BYTES],
    [host(hostSwapTotalBytes), 0],
    [host(hostSwapFreeBytes), 0],
    [host(hostShmTotalBytes), MEMORY_BYTES / 2],
    [host(hostOomKillsTotal), 0],
    ...DISKS.flatMap(({ labels, totalBytes, usedBytes }): readonly (readonly [Append, number])[] => [
      [host(hostDiskTotalBytes, labels), totalBytes],
      [host(hostDiskFreeBytes, labels), totalBytes - usedBytes],
      [host(hostDiskAvailableBytes, labels), totalBytes - usedBytes],
    ]),
  ]
  const modes = {
    user: host(hostCpuSecondsTotal, { mode: 'user' }),
    system: host(hostCpuSecondsTotal, { mode: 'system' }),
    idle: host(hostCpuSecondsTotal, { mode: 'idle' }),
  }
  const seconds = { user: 9.1e6, system: 8.4e5, idle: CORES * BOOTED_BEFORE_S - 9.94e6 }
  const loads = (
    [
      [1, hostLoad1],
      [5, hostLoad5],
      [15, hostLoad15],
    ] as const
  ).map(([minutes, metric]) => ({ put: host(metric), minutes, value: 20 }))
  const pressures = PRESSURE.map(([resource, kind, level]) => ({
    ratio: host(hostPressureRatio, { resource, kind }),
    waiting: host(hostPressureWaitingSecondsTotal, { resource, kind }),
    level,
    waited: 0,
  }))
  const [available, free, cached] = [host(hostMemoryAvailableBytes), host(hostMemoryFreeBytes), host(hostMemoryCachedBytes)]
  const shmUsed = host(hostShmUsedBytes)
  const network = { received: host(hostNetworkReceiveBytesTotal, { interface: 'eno1' }), sent: host(hostNetworkTransmitBytesTotal, { interface: 'eno1' }) }
  const bytes = { received: 4.1e12, sent: 2.3e12 }

  const readCpu = (readings: Reading[]): void => {
    const busy = busyCores(world) + 2 + random()
    seconds.user += busy * 0.9
    seconds.system += busy * 0.1
    seconds.idle += CORES - busy
    for (const mode of ['user', 'system', 'idle'] as const) modes[mode](readings, Math.round(seconds[mode] * 100) / 100)
    for (const load of loads) {
      load.value += (busy - load.value) / (60 * load.minutes)
      load.put(readings, Math.round(load.value * 100) / 100)
    }
  }
  const readMemory = (readings: Reading[]): void => {
    const used = world.boxes.reduce((sum, box) => sum + (box.running ? box.memoryBytes : 0), 24 * GIB)
    available(readings, MEMORY_BYTES - used)
    free(readings, Math.floor((MEMORY_BYTES - used) * 0.4))
    cached(readings, Math.floor((MEMORY_BYTES - used) * 0.58))
    shmUsed(readings, Math.floor(6 * GIB + GIB * random()))
  }
  return (readings) => {
    for (const [put, value] of fixed) put(readings, value)
    readCpu(readings)
    readMemory(readings)
    for (const pressure of pressures) {
      const level = Math.round(pressure.level * (0.5 + random()) * 10_000) / 10_000
      pressure.waited += level
      pressure.ratio(readings, level)
      pressure.waiting(readings, Math.round(pressure.waited * 1e6) / 1e6)
    }
    bytes.received += 2.2e8 * (0.7 + 0.6 * random())
    bytes.sent += 4e7 * (0.7 + 0.6 * random())
    network.received(readings, Math.round(bytes.received))
    network.sent(readings, Math.round(bytes.sent))
  }
}
