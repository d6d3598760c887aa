// This host in one row, and what is believed of a row that another agent sends.
import * as z from 'zod/mini'
import type { HostSummary } from '../model/hosts.ts'
import type { IncidentSummary } from '../model/incident.ts'
import type { GpuRow } from '../model/live.ts'
import { SEVERITIES, type Severity } from '../model/severity.ts'

/** A GPU whose newest sample is older does not answer. */
const STALE_S = 5
const MAX_TEXT = 300
const MAX_SILENT = 64

export type Present = {
  readonly host: string
  readonly version: string
  readonly simulated: boolean
  readonly gpus: readonly GpuRow[]
  readonly firing: readonly IncidentSummary[]
  readonly running: number
}

export function summaryOf({ host, version, simulated, gpus, firing, running }: Present, t: number): HostSummary {
  const sum = (measure: 'memory_used_bytes' | 'memory_total_bytes'): number => gpus.reduce((total, gpu) => total + (gpu[measure] ?? 0), 0)
  const ratios = gpus.flatMap(({ utilization_ratio: ratio }) => ratio ?? [])
  const watts = gpus.flatMap(({ power_watts: power }) => power ?? [])
  const loud = firing.filter(({ silenced }) => silenced === undefined)
  const count = (severity: Severity): number => loud.filter((incident) => incident.severity === severity).length
  const [worst] = loud.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity) || b.started_at - a.started_at)
  return {
    host,
    t,
    version,
    simulated,
    gpus: gpus.length,
    memory_used_bytes: sum('memory_used_bytes'),
    memory_total_bytes: sum('memory_total_bytes'),
    ...(ratios.length === 0 ? {} : { utilization_ratio: ratios.reduce((total, ratio) => total + ratio, 0) / ratios.length }),
    ...(watts.length === 0 ? {} : { power_watts: watts.reduce((total, power) => total + power, 0) }),
    silent: gpus.filter(({ sample_age_seconds: age = 0 }) => age > STALE_S).map(({ index }) => index),
    jobs_running: running,
    firing: { info: count('info'), warning: count('warning'), critical: count('critical') },
    ...(worst === undefined ? {} : { worst: { id: worst.id, kind: worst.kind, severity: worst.severity, title: worst.title, started_at: worst.started_at } }),
  }
}

/** A figure that is no such thing means none. */
const orElse = z.catch
const text = z.pipe(
  z.string(),
  z.transform((value) => value.slice(0, MAX_TEXT)),
)
const amount = z.number().check(z.minimum(0))
const orAbsent = <T>(schema: z.ZodMiniType<T>) => orElse(z.optional(schema), undefined)
const count = orElse(amount, 0)
const summary = z.object({
  host: text,
  t: amount,
  version: text,
  simulated: orElse(z.boolean(), false),
  gpus: amount,
  memory_used_bytes: amount,
  memory_total_bytes: amount,
  utilization_ratio: orAbsent(amount),
  power_watts: orAbsent(amount),
  silent: orElse(z.array(z.unknown()), []),
  jobs_running: amount,
  firing: orElse(z.object({ info: count, warning: count, critical: count }), { info: 0, warning: 0, critical: 0 }),
  worst: orAbsent(z.object({ id: text, kind: text, severity: z.enum(SEVERITIES), title: text, started_at: amount })),
})

/** Only the fields that are known, each bounded: another host may send anything. undefined: it is no summary. */
export function parseSummary(value: unknown): HostSummary | undefined {
  const parsed = summary.safeParse(value)
  if (!parsed.success) return undefined
  const { utilization_ratio: ratio, power_watts: watts, worst, silent, ...rest } = parsed.data
  return {
    ...rest,
    ...(ratio === undefined ? {} : { utilization_ratio: ratio }),
    ...(watts === undefined ? {} : { power_watts: watts }),
    silent: silent.slice(0, MAX_SILENT).flatMap((index) => amount.safeParse(index).data ?? []),
    ...(worst === undefined ? {} : { worst }),
  }
}
