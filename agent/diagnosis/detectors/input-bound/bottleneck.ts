// What keeps a job's input back, by what the kernel counts: its CPU limit, the host's CPUs, storage, memory. Means of the last minutes.
import { containerCpuLimitCores, containerCpuSecondsTotal, containerPressureWaitingSecondsTotal } from '../../../metrics/container.ts'
import { hostDiskBusySecondsTotal } from '../../../metrics/host-io.ts'
import { hostCpuSecondsTotal, hostPressureWaitingSecondsTotal } from '../../../metrics/host.ts'
import type { Present } from '../parts/present.ts'
import { createRates } from '../parts/rates.ts'

const CONTAINER_CPU = containerCpuSecondsTotal.name
const CONTAINER_LIMIT = containerCpuLimitCores.name
const CONTAINER_PRESSURE = containerPressureWaitingSecondsTotal.name
const HOST_CPU = hostCpuSecondsTotal.name
const HOST_PRESSURE = hostPressureWaitingSecondsTotal.name
const DISK_BUSY = hostDiskBusySecondsTotal.name
export const BOTTLENECK_METRICS = [CONTAINER_CPU, CONTAINER_LIMIT, CONTAINER_PRESSURE, HOST_CPU, HOST_PRESSURE, DISK_BUSY] as const

export type BottleneckLimits = {
  /** Share of the limit, or of the host's CPUs, from which on they are the bottleneck. */
  readonly cpuRatio: number
  /** Share of the time in which tasks waited for I/O, CPU or memory (PSI, "some"). */
  readonly pressureRatio: number
}
export type Bottlenecks = {
  /** Strongest first, as text with figures. */
  readonly found: readonly string[]
  /** Whether anything of CPU and of storage could be read at all: without both "none" is not known. */
  readonly known: boolean
  readonly cores: number | undefined
}
export type BottleneckFinder = { readonly note: (t: number) => void; readonly of: (t: number, containerId: string | undefined) => Bottlenecks }

const share = (ratio: number): string => `${Math.round(100 * Math.min(1, ratio))} %`
const figure = (cores: number): string => String(Math.round(cores * 10) / 10)
/** A disk that is never without a request; for one that takes many at once it says only that it is used, so pressure must agree where it can be read. */
const DISK_RATIO = 0.95
const SOME_PRESSURE = 0.1

export function createBottlenecks(present: Present, windowMs: number, limits: BottleneckLimits): BottleneckFinder {
  const rates = createRates(windowMs)
  const cpuLimits = new Map<string, number>()
  const disks = new Set<string>()
  return {
    note(t) {
      for (const { series, value } of present.of(CONTAINER_CPU)) rates.note(t, `cpu ${series.labels['container_id']}`, value)
      for (const { series, value } of present.of(CONTAINER_PRESSURE))
        if (series.labels['kind'] === 'some') rates.note(t, `wait ${series.labels['resource']} ${series.labels['container_id']}`, value)
      for (const { series, value } of present.of(HOST_CPU)) rates.note(t, `host cpu ${series.labels['mode']}`, value)
      for (const { series, value } of present.of(HOST_PRESSURE))
        if (series.labels['kind'] === 'some') rates.note(t, `host wait ${series.labels['resource']}`, value)
      disks.clear()
      for (const { series, value } of present.of(DISK_BUSY)) {
        const device = series.labels['device'] ?? ''
        disks.add(device)
        rates.note(t, `disk ${device}`, value)
      }
      cpuLimits.clear()
      for (const { series, value } of present.of(CONTAINER_LIMIT)) cpuLimits.set(series.labels['container_id'] ?? '', value)
    },
    of(t, containerId) {
      const found: { readonly text: string; readonly ratio: number }[] = []
      const add = (ratio: number | undefined, least: number, text: (ratio: number) => string): void => {
        if (ratio !== undefined && ratio >= least) found.push({ text: text(ratio), ratio })
      }
      const cores = containerId === undefined ? undefined : rates.of(t, `cpu ${containerId}`)
      const limit = containerId === undefined ? undefined : cpuLimits.get(containerId)
      if (cores !== undefined && limit !== undefined && limit > 0)
        add(cores / limit, limits.cpuRatio, () => `the CPU limit of the container (${figure(cores)} of ${figure(limit)} cores in use)`)

      const mode = (name: string): number | undefined => rates.of(t, `host cpu ${name}`)
      const [user = 0, nice = 0, system, idle, iowait = 0] = [mode('user'), mode('nice'), mode('system'), mode('idle'), mode('iowait')]
      const [irq = 0, softirq = 0, steal = 0] = [mode('irq'), mode('softirq'), mode('steal')]
      const busy = system === undefined || idle === undefined ? undefined : user + nice + system + irq + softirq + steal
      const hostCpu = busy === undefined || idle === undefined ? undefined : busy / (busy + idle + iowait)
      add(hostCpu, limits.cpuRatio, (ratio) => `the CPUs of the host (${share(ratio)} busy)`)

      // The container's own pressure is nearer to the job than the host's.
      const pressure = (resource: string): number | undefined =>
        (containerId === undefined ? undefined : rates.of(t, `wait ${resource} ${containerId}`)) ?? rates.of(t, `host wait ${resource}`)
      // Of the host it would be everybody's.
      const ownCpu = containerId === undefined ? undefined : rates.of(t, `wait cpu ${containerId}`)
      add(ownCpu, limits.pressureRatio, (ratio) => `CPU (its tasks waited for one in ${share(ratio)} of the time)`)
      const io = pressure('io')
      add(io, limits.pressureRatio, (ratio) => `storage (tasks waited for it in ${share(ratio)} of the time)`)
      add(pressure('memory'), limits.pressureRatio, (ratio) => `host memory (tasks waited for it in ${share(ratio)} of the time)`)
      if (io === undefined || io >= SOME_PRESSURE)
        for (const device of disks) add(rates.of(t, `disk ${device}`), DISK_RATIO, (ratio) => `disk ${device} (busy in ${share(ratio)} of the time)`)

      found.sort((a, b) => b.ratio - a.ratio)
      return { found: found.map(({ text }) => text), known: hostCpu !== undefined && (io !== undefined || disks.size > 0), cores }
    },
  }
}
