// The readings around a fault as charts: which series share one, on whole seconds, against which limit. Pure.
import type { Incident, IncidentEvidence, IncidentSeries } from '../../../../../agent/model/incident.ts'
import type { IncidentKind } from '../../../../../agent/model/kinds.ts'
import { containerKey } from '../../../text/names.ts'
import { lastSeconds } from './course.ts'
import { lineUp, readSeconds, sumUp, type EvidenceLine, type Window } from './lines.ts'

export type Unit = 'bytes' | 'ratio' | 'watts' | 'celsius' | 'hertz' | 'count'
export type EvidenceChart = {
  readonly id: string
  readonly title: string
  readonly unit: Unit
  /** The one that shows the fault best, which is first, is drawn large. */
  readonly large: boolean
  readonly lines: readonly EvidenceLine[]
  readonly limit?: { readonly label: string; readonly value: number }
}

/** Of whole GPUs, or of one MIG instance, whose series carry its number as `gi`. */
const metricOf = (series: readonly IncidentSeries[], name: string, instance = ''): readonly IncidentSeries[] =>
  series.filter(({ metric, labels }) => metric === `warpwatch_${name}` && (labels['gi'] ?? '') === instance)

/** The MIG instance on which the process, else the container, of the incident held memory; `''` where there is none, or more than one. */
function instanceOf({ evidence: { series }, facts, subject }: Incident): string {
  const held = series.filter(({ labels }) => (labels['gi'] ?? '') !== '' && (subject.gpu?.uuid === undefined || labels['uuid'] === subject.gpu.uuid))
  const pid = facts.pid ?? subject.process?.pid
  const own = held.filter(({ labels }) => pid !== undefined && labels['pid'] === String(pid))
  const of = own.length > 0 ? own : held.filter(({ labels }) => subject.container !== undefined && labels['container'] === subject.container.name)
  const [first, ...others] = new Set(of.map(({ labels }) => labels['gi'] ?? ''))
  return first !== undefined && others.length === 0 && metricOf(series, 'gpu_memory_used_bytes', first).length > 0 ? first : ''
}

const gpuName = ({ labels }: IncidentSeries): string => `GPU ${labels['gpu'] ?? '?'}`
const last = (series: readonly IncidentSeries[]): number | undefined => series.at(-1)?.value.at(-1)
const limited = (label: string, value: number | undefined): Pick<EvidenceChart, 'limit'> => (value === undefined ? {} : { limit: { label, value } })

/** Who holds the card's memory: containers, and processes outside of them. */
function holders(series: readonly IncidentSeries[], window: Window, instance: string): readonly EvidenceLine[] {
  const read = readSeconds(series)
  const containers = metricOf(series, 'container_gpu_memory_bytes', instance).map((one) => lineUp(one, window, containerKey(one.labels), 'container', read))
  const alone = metricOf(series, 'process_gpu_memory_bytes', instance)
    .filter(({ labels }) => labels['container'] === undefined)
    .map((one) => lineUp(one, window, `${one.labels['process'] ?? 'process'} ${one.labels['pid'] ?? ''}`, 'other', read))
  return [...containers, ...alone].toSorted((a, b) => b.highest - a.highest)
}

function memoryChart(incident: Incident, window: Window, totalOf: (uuid: string) => number | undefined): EvidenceChart | undefined {
  const { series } = incident.evidence
  const instance = instanceOf(incident)
  const ofInstance = metricOf(series, 'gpu_memory_used_bytes', instance)
  // Two GPUs may each have an instance of that number.
  const used = instance === '' ? ofInstance : ofInstance.filter(({ labels }) => labels['uuid'] === (incident.subject.gpu?.uuid ?? labels['uuid']))
  const [first] = used
  if (first === undefined) return undefined
  const one = used.length === 1
  const ofWhole = instance === '' ? totalOf(first.labels['uuid'] ?? '') : last(metricOf(series, 'gpu_memory_total_bytes', instance))
  const total = one ? (ofWhole ?? incident.facts.total_bytes) : undefined
  return {
    id: 'memory',
    title: one ? `Memory of ${instance === '' ? '' : `MIG instance ${instance} on `}${gpuName(first)}` : 'GPU memory',
    unit: 'bytes',
    large: true,
    lines: one
      ? [lineUp(first, window, 'in use', 'main'), ...holders(series, window, instance)]
      : used.map((each) => lineUp(each, window, gpuName(each), 'other')),
    ...limited('total', total),
  }
}

/** A probe's figures: of the process that it hit, else of each container over its restarts, and of each process outside of them. */
function allocatorChart({ kind, evidence, facts, subject }: Incident, window: Window): EvidenceChart | undefined {
  const hit = kind === 'oom_restart_loop' ? [] : evidence.series.filter(({ labels }) => labels['pid'] === String(subject.process?.pid))
  const series = metricOf(hit, 'allocator_reserved_bytes').length > 0 ? hit : evidence.series
  const ownerOf = ({ labels }: IncidentSeries): string => containerKey(labels) || `pid ${labels['pid'] ?? '?'}`
  const [reserved, allocated] = [metricOf(series, 'allocator_reserved_bytes'), metricOf(series, 'allocator_allocated_bytes')]
  const owners = [...new Set([...reserved, ...allocated].map(ownerOf))]
  // A colour for each figure: which line is whose, the legend says for the second looked at.
  const linesOf = (word: string, all: readonly IncidentSeries[], colour: number): readonly EvidenceLine[] =>
    owners.flatMap((owner) => {
      const own = all.filter((one) => ownerOf(one) === owner).map((one) => lineUp(one, window, word, 'other'))
      return own.length === 0 ? [] : [sumUp(own, owners.length > 1 ? `${word}, ${owner}` : word, colour)]
    })
  const lines = [...linesOf('reserved', reserved, 0), ...linesOf('in use', allocated, 1)]
  if (lines.length === 0) return undefined
  return { id: 'allocator', title: 'PyTorch’s allocator', unit: 'bytes', large: false, lines, ...limited('allowed', facts.allowed_bytes) }
}

type Plain = {
  readonly id: string
  readonly title: string
  readonly unit: Unit
  readonly metrics: Readonly<Record<string, string>>
  readonly keep?: (series: IncidentSeries) => boolean
  /** Drawn for these kinds alone. */
  readonly only?: ReadonlySet<IncidentKind>
}
/** What a full /dev/shm makes of a job. */
const SHARED_MEMORY: ReadonlySet<IncidentKind> = new Set(['shm_exhausted', 'bus_error', 'worker_died', 'nccl_error'])
const PLAIN: readonly Plain[] = [
  { id: 'utilization', title: 'Utilisation', unit: 'ratio', metrics: { gpu_utilization_ratio: 'busy' } },
  { id: 'power', title: 'Power', unit: 'watts', metrics: { gpu_power_watts: 'draw' } },
  { id: 'temperature', title: 'Temperature', unit: 'celsius', metrics: { gpu_temperature_celsius: 'chip', gpu_memory_temperature_celsius: 'memory' } },
  { id: 'clock', title: 'SM clock', unit: 'hertz', metrics: { gpu_clock_hertz: 'SM' }, keep: ({ labels }) => labels['domain'] === 'sm' },
  { id: 'container-memory', title: 'Host memory of the container', unit: 'bytes', metrics: { container_memory_bytes: 'held' } },
  { id: 'oom-kills', title: 'OOM kills', unit: 'count', metrics: { container_oom_kills_total: 'kills' }, keep: ({ value }) => new Set(value).size > 1 },
  { id: 'host-memory', title: 'Host memory available', unit: 'bytes', metrics: { host_memory_available_bytes: 'available' } },
  { id: 'shm', title: 'Shared memory of the host', unit: 'bytes', metrics: { host_shm_used_bytes: 'in use' }, only: SHARED_MEMORY },
]

function plainChart(
  { kind, evidence: { series }, facts }: Incident,
  window: Window,
  { id, title, unit, metrics, keep, only }: Plain,
): EvidenceChart | undefined {
  if (only?.has(kind) === false) return undefined
  const found = Object.entries(metrics).flatMap(([metric, word]) => metricOf(series, metric).flatMap((one) => (keep?.(one) === false ? [] : [{ one, word }])))
  const gpus = new Set(found.map(({ one }) => one.labels['uuid']))
  const label = (one: IncidentSeries, word: string): string =>
    gpus.size <= 1 ? word : Object.keys(metrics).length === 1 ? gpuName(one) : `${gpuName(one)} ${word}`
  const lines = found.map(({ one, word }, i) => lineUp(one, window, label(one, word), i === 0 && gpus.size <= 1 ? 'main' : 'other'))
  if (lines.length === 0) return undefined
  const limits: Readonly<Record<string, Pick<EvidenceChart, 'limit'>>> = {
    power: limited('limit', facts.power_limit_watts),
    temperature: limited('limit', facts.temperature_limit_celsius),
    clock: limited('at most', facts.sm_clock_max_hertz),
    'container-memory': limited('limit', last(metricOf(series, 'container_memory_limit_bytes'))),
    'host-memory': {},
  }
  return { id, title, unit, large: false, lines, ...limits[id] }
}

/** Where memory is not what it is about: the chart that shows it, large, and what belongs beside it. */
const LEADS: Readonly<Record<string, readonly string[]>> = {
  throttling: ['clock', 'temperature', 'power'],
  power_brake: ['clock', 'power', 'temperature'],
  job_hang: ['utilization', 'power'],
}

/** Only what was read is drawn; `totalOf` gives a card's memory. */
export function evidenceCharts(incident: Incident, window: Window, totalOf: (uuid: string) => number | undefined): readonly EvidenceChart[] {
  const charts = [
    memoryChart(incident, window, totalOf),
    allocatorChart(incident, window),
    ...PLAIN.map((plain) => plainChart(incident, window, plain)),
  ].filter((chart) => chart !== undefined)
  const leads = LEADS[incident.kind] ?? ['memory']
  const rank = ({ id }: EvidenceChart): number => (leads.includes(id) ? leads.indexOf(id) : leads.length)
  // Without what should lead the first of the others does.
  return charts.toSorted((a, b) => rank(a) - rank(b)).map((chart, place) => ({ ...chart, large: place === 0 }))
}

/** Without a label it is one more of the same. */
export type Mark = { readonly second: number; readonly label?: string }
const FAILS: Readonly<Record<string, string>> = {
  cuda_oom: 'out of memory',
  oom_restart_loop: 'loop seen',
  host_oom_kill: 'killed',
  gpu_lost: 'lost',
  gpu_missing: 'missing',
  driver_hung: 'not responding',
  throttling: 'throttled',
  job_hang: 'hangs',
  progress_stalled: 'stalled',
}

/** What happened when, within the window: the fault itself, what followed from it in other seconds, and each time that it came again. */
export function marksOf(incident: Incident, { from, to }: Window): readonly Mark[] {
  const { kind, facts, started_at: startedAt, occurred_at: occurredAt = startedAt, consequences, resolved_at, evidence } = incident
  const own = kind === 'xid' && facts.xid !== undefined ? `Xid ${facts.xid}` : (FAILS[kind] ?? 'fault')
  const times = [occurredAt, ...(incident.occurrences ?? []).map(({ at }) => at)]
  const marks = new Map<number, string | undefined>(times.map((at) => [Math.round(at / 1000), own]))
  for (const { first_seen_at: first, kind: other } of consequences) {
    const second = Math.round(first / 1000)
    if (!marks.has(second)) marks.set(second, FAILS[other] ?? other.replaceAll('_', ' '))
  }
  if (resolved_at !== undefined && !marks.has(Math.round(resolved_at / 1000))) marks.set(Math.round(resolved_at / 1000), 'resolved')
  const again = logOf(evidence).flatMap(({ t, matched }) => (matched === true ? [Math.round(t / 1000)] : []))
  for (const second of [...again, ...lastSeconds(incident).map((last) => last + 1)]) if (!marks.has(second)) marks.set(second, undefined)
  return [...marks]
    .filter(([second]) => second >= from && second <= to)
    .toSorted(([a], [b]) => a - b)
    .map(([second, label]) => (label === undefined ? { second } : { second, label }))
}

/**
 * What was logged, in the order of its times: the agent gathers it log by log. Of a fault that the numbers told, the agent keeps its first verdict in
 * their place, which is no log and has old figures.
 */
export const logOf = ({ log_lines: lines }: Pick<IncidentEvidence, 'log_lines'>): IncidentEvidence['log_lines'] =>
  lines.filter(({ stream }) => stream !== 'numbers').toSorted((a, b) => a.t - b.t)
