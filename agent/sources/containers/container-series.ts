// The series of one container, made once and used in every tick, and how its numbers become readings and gaps.
import {
  containerCpuLimitCores,
  containerCpuModeSecondsTotal,
  containerCpuSecondsTotal,
  containerGpuRequested,
  containerInfo,
  containerMemoryBytes,
  containerMemoryLimitBytes,
  containerOomKillsTotal,
  containerPids,
  containerPressureWaitingSecondsTotal,
  containerRestartsTotal,
} from '../../metrics/container.ts'
import type { ContainerIdentity } from '../../model/identity.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'
import type { Labels, Series } from '../../model/series.ts'
import type { ContainerBounds, ContainerNumbers, ContainerPressure, CpuModes, Measured, Unread } from './cgroup-reader.ts'
import type { GpuRequest } from './gpu-request.ts'

/** All that a container is read for. */
export const containerMetrics = [
  containerInfo,
  containerCpuSecondsTotal,
  containerCpuModeSecondsTotal,
  containerCpuLimitCores,
  containerMemoryBytes,
  containerMemoryLimitBytes,
  containerOomKillsTotal,
  containerRestartsTotal,
  containerPids,
  containerPressureWaitingSecondsTotal,
  containerGpuRequested,
] as const

export type Output = { readonly readings: Reading[]; readonly gaps: Gap[] }

export type ContainerFacts = {
  readonly runtime?: string
  readonly state?: string
  readonly pid?: number
  readonly started?: string
  readonly restartCount?: number
  /** Who uses it, as one of its labels says. */
  readonly user?: string
}

export type ContainerSeries = {
  readonly numbers: (numbers: ContainerNumbers, out: Output) => void
  readonly bounds: (bounds: ContainerBounds, out: Output) => void
  /** All numbers are unknown for one reason. */
  readonly noNumbers: (why: Unread, out: Output) => void
  readonly pressure: (pressure: readonly ContainerPressure[], out: Output) => void
  readonly cpuModes: (modes: CpuModes, out: Output) => void
  readonly cpuLimit: (cores: Measured | 'unlimited', out: Output) => void
  readonly facts: (facts: ContainerFacts, out: Output) => void
  readonly gpus: (request: GpuRequest, out: Output) => void
}

export function containerLabels(identity: ContainerIdentity): Labels {
  const { image, composeProject, composeService, namespace, pod } = identity
  return {
    container: identity.name,
    container_id: identity.id.slice(0, 12),
    ...(image === undefined ? {} : { image }),
    ...(composeProject === undefined ? {} : { compose_project: composeProject }),
    ...(composeService === undefined ? {} : { compose_service: composeService }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(pod === undefined ? {} : { pod }),
  }
}

export function createContainerSeries(identity: ContainerIdentity): ContainerSeries {
  const labels = containerLabels(identity)
  const cpu = makeSeries(containerCpuSecondsTotal, labels)
  const memory = makeSeries(containerMemoryBytes, labels)
  const cpuLimit = makeSeries(containerCpuLimitCores, labels)
  const limit = makeSeries(containerMemoryLimitBytes, labels)
  const oom = makeSeries(containerOomKillsTotal, labels)
  const pids = makeSeries(containerPids, labels)
  const restarts = makeSeries(containerRestartsTotal, labels)
  /** Series with labels of their own, by their key. */
  const further = new Map<string, Series>()
  const seriesOf = (metric: MetricDef, own: Labels): Series => {
    const key = `${metric.name} ${Object.values(own).join(' ')}`
    const known = further.get(key)
    if (known !== undefined) return known
    const made = makeSeries(metric, { ...labels, ...own })
    further.set(key, made)
    return made
  }
  /** Its labels change with each restart. */
  const infoOf = ({ runtime, pid, state, started, user }: ContainerFacts): Reading => ({
    series: makeSeries(containerInfo, {
      ...labels,
      ...(runtime === undefined ? {} : { runtime }),
      ...(pid === undefined ? {} : { pid: String(pid) }),
      ...(state === undefined ? {} : { state }),
      ...(started === undefined ? {} : { started }),
      ...(user === undefined ? {} : { user }),
    }),
    value: 1,
  })
  let reported: ContainerFacts = {}
  let info = infoOf(reported)
  const gap = (metric: MetricDef, why: Unread, out: Output, own: Labels = labels): void => {
    out.gaps.push({ metric: metric.name, labels: own, reason: why.reason, detail: why.detail })
  }
  const last = new Map<Series, Reading>()
  const put = (series: Series, value: Measured, out: Output): void => {
    if (typeof value !== 'number') return gap(series.metric, value, out, series.labels)
    // One that has not changed is the same object again.
    let reading = last.get(series)
    if (reading?.value !== value) last.set(series, (reading = { series, value }))
    out.readings.push(reading)
  }

  return {
    numbers(numbers, out) {
      put(cpu, numbers.cpuSeconds, out)
      put(memory, numbers.memoryBytes, out)
      put(oom, numbers.oomKills, out)
    },
    bounds(bounds, out) {
      if (bounds.memoryLimitBytes !== 'unlimited') put(limit, bounds.memoryLimitBytes, out)
      put(pids, bounds.pids, out)
    },
    noNumbers(why, out) {
      for (const metric of [containerCpuSecondsTotal, containerMemoryBytes, containerMemoryLimitBytes, containerOomKillsTotal, containerPids])
        gap(metric, why, out)
    },
    pressure(pressure, out) {
      for (const { resource, kind, seconds } of pressure) put(seriesOf(containerPressureWaitingSecondsTotal, { resource, kind }), seconds, out)
    },
    cpuModes(modes, out) {
      for (const mode of ['user', 'system'] as const) put(seriesOf(containerCpuModeSecondsTotal, { mode }), modes[mode], out)
    },
    cpuLimit(cores, out) {
      if (cores !== 'unlimited') put(cpuLimit, cores, out)
    },
    facts(facts, out) {
      if (facts !== reported) info = infoOf(facts)
      reported = facts
      out.readings.push(info)
      if (facts.restartCount !== undefined) out.readings.push({ series: restarts, value: facts.restartCount })
    },
    gpus(request, out) {
      for (const gpu of request.gpus) {
        out.readings.push({ series: seriesOf(containerGpuRequested, { gpu: String(gpu.index), uuid: gpu.uuid, by: request.by }), value: 1 })
      }
      if (request.unknown.length > 0) {
        const detail = `asked for ${request.unknown.join(', ')}, which is none of the GPUs that this host shows now`
        gap(containerGpuRequested, { reason: 'gpu_lost', detail }, out)
      }
    },
  }
}
