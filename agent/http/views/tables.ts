// The tables of rows of one tick: each reading and each gap goes to the row that it speaks of.
import { metricNamed } from '../../catalogue.ts'
import { containerCpuSecondsTotal } from '../../metrics/container.ts'
import { IDENTITY_LABELS } from '../../metrics/labels.ts'
import type { Subject } from '../../model/metric.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import { dimensionOf, enterGap, enterIdentity, enterMeasure, type MutableRow } from './builder.ts'

export type Tables = {
  readonly reading: (reading: Reading, t: number) => void
  readonly gap: (gap: Gap) => void
  readonly gpus: ReadonlyMap<string, MutableRow>
  readonly migs: ReadonlyMap<string, MutableRow>
  readonly containers: ReadonlyMap<string, MutableRow>
  readonly processes: ReadonlyMap<string, MutableRow>
  readonly allocators: ReadonlyMap<string, MutableRow>
  readonly servers: ReadonlyMap<string, MutableRow>
  readonly progress: ReadonlyMap<string, MutableRow>
  readonly host: MutableRow
  /** Unix ms of the scrape that brought a container's CPU seconds. */
  readonly cpuTimes: ReadonlyMap<string, number>
}

export function createTables(hostname: string): Tables {
  const gpus = new Map<string, MutableRow>()
  const migs = new Map<string, MutableRow>()
  const containers = new Map<string, MutableRow>()
  const processes = new Map<string, MutableRow>()
  const allocators = new Map<string, MutableRow>()
  const servers = new Map<string, MutableRow>()
  const progress = new Map<string, MutableRow>()
  const host: MutableRow = { hostname }
  const cpuTimes = new Map<string, number>()

  const at = (rows: Map<string, MutableRow>, key: string, create: () => MutableRow): MutableRow => {
    let row = rows.get(key)
    if (row === undefined) {
      row = create()
      rows.set(key, row)
    }
    return row
  }
  const gpuRow = (labels: Labels): MutableRow | undefined => {
    const { uuid, gpu, gi, ci } = labels
    if (uuid === undefined) return undefined
    const whole = at(gpus, uuid, () => ({ uuid, index: -1 }))
    if (gpu !== undefined) whole['index'] = Number(gpu)
    if (gi === undefined && ci === undefined) return whole
    return at(migs, `${uuid}|${gi ?? ''}|${ci ?? ''}`, () => ({ gi: gi ?? '', ci: ci ?? '' }))
  }
  const containerRow = (labels: Labels): MutableRow | undefined => {
    const id = labels['container_id']
    if (id === undefined) return undefined
    const row = at(containers, id, () => ({ container_id: id, container: labels['container'] ?? id }))
    enterIdentity(row, 'container', labels)
    return row
  }
  const processRow = (rows: Map<string, MutableRow>, subject: Subject, labels: Labels): MutableRow | undefined => {
    const { pid, uuid } = labels
    if (pid === undefined || uuid === undefined) return undefined
    const row = at(rows, `${pid}|${uuid}|${labels['gi'] ?? ''}|${labels['ci'] ?? ''}`, () => ({
      pid: Number(pid),
      process: labels['process'] ?? '',
      uuid,
      gpu: labels['gpu'] ?? '',
    }))
    enterIdentity(row, subject, labels, ['pid'])
    return row
  }
  const serverRow = (labels: Labels): MutableRow | undefined => {
    const { name, pid } = labels
    if (name === undefined) return undefined
    const row = at(servers, `${name}|${labels['container'] ?? ''}|${pid ?? ''}`, () => ({
      name,
      ...(pid === undefined || pid === '' ? {} : { pid: Number(pid) }),
    }))
    enterIdentity(row, 'inference', labels, ['pid'])
    return row
  }
  const progressRow = (labels: Labels): MutableRow | undefined => {
    const { job, rank } = labels
    if (job === undefined) return undefined
    return at(progress, `${job}|${rank ?? ''}`, () => ({ job, ...(rank === undefined ? {} : { rank }) }))
  }
  const rowOf = (subject: Subject, labels: Labels): MutableRow | undefined => {
    switch (subject) {
      case 'gpu':
      case 'mig':
        return gpuRow(labels)
      case 'container':
        return containerRow(labels)
      case 'process':
        return processRow(processes, subject, labels)
      case 'allocator':
        return processRow(allocators, subject, labels)
      case 'inference':
        return serverRow(labels)
      case 'host':
        return host
      case 'job':
        return progressRow(labels)
      case 'driver':
      case 'target':
      case 'incident':
      case 'agent':
        break
    }
    return undefined
  }

  return {
    gpus,
    migs,
    containers,
    processes,
    allocators,
    servers,
    progress,
    host,
    cpuTimes,
    reading({ series, value }, t) {
      const { labels, metric } = series
      const { subject, field, kind } = metric
      if (field === undefined) return
      const row = rowOf(subject, labels)
      if (row === undefined) return
      if (kind === 'info') {
        // The value of an info is always 1; what it says is in its labels.
        const identity = IDENTITY_LABELS[subject]
        for (const label in labels) if (!identity.has(label) && row[label] === undefined && labels[label] !== '') row[label] = labels[label]
        return
      }
      enterMeasure(row, field, dimensionOf(metric, labels), value, subject === 'container' && labels['gi'] !== undefined)
      if (metric.name === containerCpuSecondsTotal.name) cpuTimes.set(labels['container_id'] ?? '', t)
    },
    gap(gap) {
      const { labels } = gap
      const def = metricNamed(gap.metric)
      const subject = def?.subject
      const row =
        (subject === 'inference' ? serverRow(labels) : undefined) ??
        (labels['pid'] === undefined ? undefined : rowOf(subject === 'allocator' ? subject : 'process', labels)) ??
        (subject === 'gpu' || subject === 'mig' ? undefined : containerRow(labels)) ??
        gpuRow(labels) ??
        host
      enterGap(row, gap, def)
    },
  }
}
