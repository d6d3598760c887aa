// One process's allocator on one GPU as readings; its series are made once.
import { createReservedThen, createStranded, headroom as headroomOf, unreleasable as unreleasableOf } from '../../allocator/measures.ts'
import type { AllocatorOom, AllocatorSample, AllocatorStats } from '../../model/event.ts'
import type { ProcessIdentity } from '../../model/identity.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'
import * as metrics from '../../metrics/process.ts'

/** Where on the host: a GPU, and the instance of it under MIG. */
export type GpuPlace = { readonly gpu: string; readonly uuid: string; readonly migUuid?: string; readonly gi?: string; readonly ci?: string }
/** Used and free of one scrape of the GPU or its instance, and what the driver counts for the process. */
export type DriverMemory = { readonly t: number; readonly usedBytes: number; readonly freeBytes: number; readonly processBytes?: number }

export type AllocatorReadings = {
  readonly take: (sample: AllocatorSample, driver: DriverMemory | undefined) => void
  readonly oom: (oom: AllocatorOom, sample: AllocatorSample | undefined, driver: DriverMemory | undefined) => void
  /** Appends what the newest sample says. `who` is the same object as long as nothing about the process changed. */
  readonly report: (out: Reading[], who: ProcessIdentity, sample: AllocatorSample, driver: DriverMemory | undefined) => void
}

const PLAIN = [
  [metrics.allocatorAllocatedBytes, 'allocated_bytes'],
  [metrics.allocatorReservedBytes, 'reserved_bytes'],
  [metrics.allocatorActiveBytes, 'active_bytes'],
  [metrics.allocatorInactiveSplitBytes, 'inactive_split_bytes'],
  [metrics.allocatorRequestedBytes, 'requested_bytes'],
  [metrics.allocatorRetriesTotal, 'num_alloc_retries'],
  [metrics.allocatorOomsTotal, 'num_ooms'],
] as const satisfies readonly (readonly [unknown, keyof AllocatorStats])[]
/** All that a process's allocator is read for. */
export const READING_METRICS = [
  ...PLAIN.map(([metric]) => metric),
  metrics.allocatorUnreleasableBytes,
  metrics.allocatorHeadroomBytes,
  metrics.allocatorStrandedRatio,
] as const

type SeriesSet = {
  readonly plain: readonly { readonly key: keyof AllocatorStats; readonly series: Series }[]
  readonly unreleasable: Series
  readonly headroom: Series
  readonly stranded: Series
}

function labelsOf(who: ProcessIdentity, place: GpuPlace): Labels {
  const { container } = who
  const all: Record<string, string | undefined> = {
    gpu: place.gpu,
    uuid: place.uuid,
    gi: place.gi,
    ci: place.ci,
    pid: String(who.pid),
    process: who.name,
    inner_pid: who.innerPid === undefined ? undefined : String(who.innerPid),
    container: container?.name,
    container_id: container?.id.slice(0, 12),
    image: container?.image,
    compose_project: container?.composeProject,
    compose_service: container?.composeService,
    namespace: container?.namespace,
    pod: container?.pod,
    slurm_job: who.slurmJob,
    unit: who.unit,
  }
  const labels: Record<string, string> = {}
  for (const [name, value] of Object.entries(all)) if (value !== undefined && value !== '') labels[name] = value
  return labels
}

function seriesOf(who: ProcessIdentity, place: GpuPlace): SeriesSet {
  const labels = labelsOf(who, place)
  return {
    plain: PLAIN.map(([metric, key]) => ({ key, series: makeSeries(metric, labels) })),
    unreleasable: makeSeries(metrics.allocatorUnreleasableBytes, labels),
    headroom: makeSeries(metrics.allocatorHeadroomBytes, labels),
    stranded: makeSeries(metrics.allocatorStrandedRatio, labels),
  }
}

const capacityOf = (driver: DriverMemory | undefined): number | undefined => (driver === undefined ? undefined : driver.usedBytes + driver.freeBytes)

export function createAllocatorReadings(place: GpuPlace): AllocatorReadings {
  const strandedFold = createStranded()
  const reservedThen = createReservedThen()
  let known: { readonly who: ProcessIdentity; readonly series: SeriesSet } | undefined

  return {
    take: (sample, driver) => void strandedFold.take(sample, capacityOf(driver)),
    oom(oom, sample, driver) {
      // What the event does not say of the allocator its last sample does.
      const { backend, expandable, limit_bytes: limit } = sample ?? {}
      const state = {
        stats: oom.stats,
        ...(backend === undefined ? {} : { backend }),
        ...(expandable === undefined ? {} : { expandable }),
        ...(limit === undefined ? {} : { limit_bytes: limit }),
      }
      strandedFold.take(state, capacityOf(driver))
    },
    report(out, who, sample, driver) {
      if (known?.who !== who) known = { who, series: seriesOf(who, place) }
      const { plain, unreleasable, headroom, stranded } = known.series
      const { stats } = sample
      for (const { key, series } of plain) {
        const value = stats[key]
        if (value !== undefined) out.push({ series, value })
      }
      const held = unreleasableOf(sample)
      if (held !== undefined) out.push({ series: unreleasable, value: held })
      if (driver !== undefined) {
        const room = headroomOf(sample, driver.freeBytes, reservedThen.take(sample.t, stats, driver.t, driver.processBytes))
        if (room !== undefined) out.push({ series: headroom, value: room })
      }
      const share = strandedFold.value()
      if (share !== undefined) out.push({ series: stranded, value: share })
    },
  }
}
