// This host in one row, and what is believed of a row that another agent sends.
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined)
const figure = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined)
const severityOf = (value: unknown): Severity | undefined => SEVERITIES.find((known) => known === value)

/** Only the fields that are known, each bounded: another host may send anything. undefined: it is no summary. */
export function parseSummary(value: unknown): HostSummary | undefined {
  if (!isObject(value)) return undefined
  const [host, t, version, gpus] = [text(value['host']), figure(value['t']), text(value['version']), figure(value['gpus'])]
  const [used, total, running] = [figure(value['memory_used_bytes']), figure(value['memory_total_bytes']), figure(value['jobs_running'])]
  if (
    host === undefined ||
    t === undefined ||
    version === undefined ||
    gpus === undefined ||
    used === undefined ||
    total === undefined ||
    running === undefined
  )
    return undefined
  const [ratio, watts] = [figure(value['utilization_ratio']), figure(value['power_watts'])]
  const firing: Readonly<Record<string, unknown>> = isObject(value['firing']) ? value['firing'] : {}
  const worst: Readonly<Record<string, unknown>> = isObject(value['worst']) ? value['worst'] : {}
  const [id, kind, title, severity, began] = [
    text(worst['id']),
    text(worst['kind']),
    text(worst['title']),
    severityOf(worst['severity']),
    figure(worst['started_at']),
  ]
  const silent = Array.isArray(value['silent']) ? value['silent'].slice(0, MAX_SILENT).flatMap((index) => figure(index) ?? []) : []
  return {
    host,
    t,
    version,
    simulated: value['simulated'] === true,
    gpus,
    memory_used_bytes: used,
    memory_total_bytes: total,
    ...(ratio === undefined ? {} : { utilization_ratio: ratio }),
    ...(watts === undefined ? {} : { power_watts: watts }),
    silent,
    jobs_running: running,
    firing: { info: figure(firing['info']) ?? 0, warning: figure(firing['warning']) ?? 0, critical: figure(firing['critical']) ?? 0 },
    ...(id === undefined || kind === undefined || title === undefined || severity === undefined || began === undefined
      ? {}
      : { worst: { id, kind, severity, title, started_at: began } }),
  }
}
