// What an aspect of the host is: a few metrics and how they are read from the files of the kernel.
import type { MetricDef } from '../../model/metric.ts'
import type { Gap, GapReason, Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'
import type { Labels, Series } from '../../model/series.ts'
import { codeOf, errnoOf, messageOf } from '../../text/error.ts'

export type HostPaths = {
  readonly proc: string
  readonly sys: string
  /** Put before paths of the host's mount namespace: empty on the host, `/host/proc/1/root` in a container that sees the host's /proc there. */
  readonly root: string
}

export type HostOutput = {
  readonly reading: (series: Series, value: number) => void
  readonly gap: (metric: MetricDef, labels: Labels, reason: GapReason, code?: number, detail?: string) => void
}

export type ReadAspect = (out: HostOutput) => void | Promise<void>

/** fast: each second; slow: each ten seconds. */
export type Aspect = {
  readonly id: string
  readonly rate: 'fast' | 'slow'
  readonly metrics: readonly MetricDef[]
  readonly create: (paths: HostPaths) => ReadAspect
}

export const collect = (): HostOutput & { readonly readings: Reading[]; readonly gaps: Gap[] } => {
  const readings: Reading[] = []
  const gaps: Gap[] = []
  return {
    readings,
    gaps,
    reading: (series, value) => void readings.push({ series, value }),
    gap: (metric, labels, reason, code, detail) =>
      void gaps.push({ metric: metric.name, labels, reason, ...(code === undefined ? {} : { code }), ...(detail === undefined ? {} : { detail }) }),
  }
}

const NOT_SUPPORTED = new Set(['ENOENT', 'ENOTDIR', 'EOPNOTSUPP', 'ENOTSUP', 'ENODEV', 'ENOSYS'])
const NO_PERMISSION = new Set(['EACCES', 'EPERM'])

/** What an error of node:fs means as a gap. */
export function reasonOf(error: unknown): { readonly reason: GapReason; readonly code?: number; readonly detail: string } {
  const name = codeOf(error) ?? ''
  const code = errnoOf(error)
  const reason = NOT_SUPPORTED.has(name) ? 'not_supported' : NO_PERMISSION.has(name) ? 'no_permission' : 'driver_error'
  return { reason, ...(code === undefined ? {} : { code }), detail: messageOf(error) }
}

/** Runs a part of a reading; when it throws, its metrics become gaps with the reason. */
export function attempt(out: HostOutput, metrics: readonly MetricDef[], read: () => void): void {
  try {
    read()
  } catch (error) {
    const { reason, code, detail } = reasonOf(error)
    for (const metric of metrics) out.gap(metric, {}, reason, code, detail)
  }
}

/** One series per label value, made once. */
export function seriesBy(metric: MetricDef, labels: (key: string) => Labels): (key: string) => Series {
  const known = new Map<string, Series>()
  return (key) => {
    let series = known.get(key)
    if (series === undefined) {
      // Devices and mounts come and go; a bound keeps a host that makes thousands of them a day from filling the memory.
      if (known.size >= 1_024) known.clear()
      series = makeSeries(metric, labels(key))
      known.set(key, series)
    }
    return series
  }
}

/** A whole number of the kernel's, or undefined. */
export const wholeNumber = (text: string | undefined): number | undefined => (text !== undefined && /^\d{1,19}$/.test(text) ? Number(text) : undefined)
