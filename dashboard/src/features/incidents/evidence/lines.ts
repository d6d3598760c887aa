// Readings around a fault on whole seconds: lines for the charts, and who held how much at one of those seconds.
import type { IncidentEvidence, IncidentSeries } from '../../../../../agent/model/incident.ts'
import { containerKey } from '../../../text/names.ts'
import { containerGpuMemoryBytes, gpuMemoryUsedBytes, processGpuMemoryBytes } from '../../../text/metric-names.ts'

/** Whole Unix seconds, both ends included. */
export type Window = { readonly from: number; readonly to: number }
export type EvidenceLine = {
  readonly label: string
  /** `main` is what the chart is about, `container` has that container's colour. */
  readonly kind: 'main' | 'container' | 'other'
  /** A value per second of the window; null where nothing was read. */
  readonly values: readonly (number | null)[]
  readonly highest: number
  /** Which of the palette's colours, where its place among the lines does not say it. */
  readonly colour?: number
}

/** Evidence is cut from 120 s before the fault to 30 s after it (agent/diagnosis/incidents/evidence.ts). */
const BEFORE_S = 120
const AFTER_S = 30
export function windowOf(startedAtMs: number): Window {
  const fault = Math.round(startedAtMs / 1000)
  return { from: fault - BEFORE_S, to: fault + AFTER_S }
}

export const PROCESS_BYTES = processGpuMemoryBytes
const OF_THE_CARD: ReadonlySet<string> = new Set([PROCESS_BYTES, gpuMemoryUsedBytes, containerGpuMemoryBytes])

/** Seconds at which the card's memory was read; of every card where none is named. Who is missing at one of them held nothing then. */
export function readSeconds(series: readonly IncidentSeries[], uuid?: string): ReadonlySet<number> {
  const own = series.filter(({ metric, labels }) => OF_THE_CARD.has(metric) && (uuid === undefined || labels['uuid'] === uuid))
  return new Set(own.flatMap(({ t }) => t.map((ms) => Math.round(ms / 1000))))
}

/** `read`: seconds at which it would have been read, had it been there. */
export function lineUp(
  { t, value }: IncidentSeries,
  { from, to }: Window,
  label: string,
  kind: EvidenceLine['kind'],
  read?: ReadonlySet<number>,
): EvidenceLine {
  const values: (number | null)[] = Array.from({ length: to - from + 1 }, () => null)
  let highest = 0
  for (const [i, ms] of t.entries()) {
    const at = Math.round(ms / 1000) - from
    const one = value[i]
    if (one === undefined || at < 0 || at >= values.length) continue
    values[at] = one
    highest = Math.max(highest, one)
  }
  // A lone second that nobody read is drawn over, not cut out: thinner than a pixel on a phone.
  for (let at = 1; at + 1 < values.length; at++)
    if (values[at] === null && values[at - 1] !== null && values[at + 1] !== null && read?.has(from + at) !== true) values[at] = values[at - 1] ?? null
  return { label, kind, values, highest }
}

export const valueAt = ({ values }: EvidenceLine, { from }: Window, second: number): number | undefined => values[second - from] ?? undefined

/** Several as one: what those hold together that are there. */
export function sumUp(lines: readonly EvidenceLine[], label: string, colour: number): EvidenceLine {
  const values = (lines[0]?.values ?? []).map((_, at) =>
    lines.reduce<number | null>((sum, line) => {
      const one = line.values[at] ?? null
      return one === null ? sum : (sum ?? 0) + one
    }, null),
  )
  return { label, kind: 'other', values, highest: Math.max(0, ...values.map((value) => value ?? 0)), colour }
}

export type ProcessThen = {
  readonly key: string
  readonly pid: number
  readonly innerPid: number | undefined
  readonly process: string | undefined
  readonly container: string | undefined
  /** A Slurm job or unit, of one outside of containers, with the key of its page. */
  readonly outside: { readonly key: string; readonly name: string } | undefined
  readonly gpu: string | undefined
  /** undefined: it held nothing then, or was not there. */
  readonly bytes: number | undefined
  /** Why there are no bytes. */
  readonly absent: 'not yet' | 'ended' | 'not read' | undefined
}

type Outside = { readonly slurm_job?: string | undefined; readonly unit?: string | undefined }
function outsideOf({ slurm_job: slurm = '', unit = '' }: Outside): ProcessThen['outside'] {
  if (slurm !== '') return { key: `slurm:${slurm}`, name: `Slurm job ${slurm}` }
  return unit === '' ? undefined : { key: `unit:${unit}`, name: unit }
}

/** Whether a moment's figures are known for any process: of a fault that is not about a GPU only the agent's own table is. */
export const areRecorded = (series: readonly IncidentSeries[]): boolean => series.some(({ metric }) => metric === PROCESS_BYTES)

/** Nobody has gone because the card was not read: it must have been, without this process. */
function absence(second: number, own: readonly number[], read: ReadonlySet<number>): ProcessThen['absent'] {
  const first = own[0] ?? Number.POSITIVE_INFINITY
  const last = own.at(-1) ?? Number.NEGATIVE_INFINITY
  const seen = [...read]
  if (second > last && seen.some((each) => each > last && each <= second)) return 'ended'
  return second < first && seen.some((each) => each < first && each >= second) ? 'not yet' : 'not read'
}

/** Processes with what each held at that second; at the fault itself the table that the agent took then. Rows keep their places over all seconds. */
export function processesAt(
  { processes, series }: Pick<IncidentEvidence, 'processes' | 'series'>,
  second: number,
  fault: number | undefined,
): readonly ProcessThen[] {
  const rows = new Map<string, ProcessThen & { readonly highest: number }>()
  const keyOf = (pid: number, gpu: string | undefined): string => `${pid} ${gpu ?? ''}`
  for (const { metric, labels, t, value } of series) {
    if (metric !== PROCESS_BYTES) continue
    const pid = Number(labels['pid'])
    const seconds = t.map((ms) => Math.round(ms / 1000))
    const read = readSeconds(series, labels['uuid'])
    // As in the charts: a lone second that nobody read holds what was read before it.
    const bridged = !read.has(second) && seconds.includes(second + 1) ? seconds.indexOf(second - 1) : -1
    const at = Math.max(seconds.indexOf(second), bridged)
    rows.set(keyOf(pid, labels['gpu']), {
      key: keyOf(pid, labels['gpu']),
      pid,
      innerPid: labels['inner_pid'] === undefined ? undefined : Number(labels['inner_pid']),
      process: labels['process'],
      container: containerKey(labels) || undefined,
      outside: outsideOf(labels),
      gpu: labels['gpu'],
      bytes: value[at],
      absent: at < 0 ? absence(second, seconds, read) : undefined,
      highest: Math.max(...value),
    })
  }
  const isTable = second === fault || !areRecorded(series)
  for (const row of processes) {
    const { pid, inner_pid: inner, process, gpu, gpu_memory_bytes: bytes } = row
    const container = row.container === undefined ? undefined : containerKey(row)
    const key = keyOf(pid, gpu)
    const known = rows.get(key)
    if (known !== undefined && !isTable) continue
    const then = { bytes: isTable ? bytes : undefined, absent: undefined }
    rows.set(key, { ...(known ?? { key, pid, innerPid: inner, process, container, outside: outsideOf(row), gpu, highest: bytes }), ...then })
  }
  return [...rows.values()].toSorted((a, b) => b.highest - a.highest || a.pid - b.pid)
}
