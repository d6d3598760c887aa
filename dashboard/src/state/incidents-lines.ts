// Readings around a fault on whole seconds: lines for the charts, and who held how much at one of those seconds.
import type { IncidentEvidence, IncidentSeries } from '../../../agent/model/incident.ts'

/** Whole Unix seconds, both ends included. */
export type Window = { readonly from: number; readonly to: number }
export type EvidenceLine = {
  readonly label: string
  /** `main` is what the chart is about, `container` has that container's colour. */
  readonly kind: 'main' | 'container' | 'other'
  /** A value per second of the window; null where nothing was read. */
  readonly values: readonly (number | null)[]
  readonly highest: number
}

/** Evidence is cut from 120 s before the fault to 30 s after it (agent/diagnosis/incidents/evidence.ts). */
const BEFORE_S = 120
const AFTER_S = 30
export function windowOf(startedAtMs: number): Window {
  const fault = Math.round(startedAtMs / 1000)
  return { from: fault - BEFORE_S, to: fault + AFTER_S }
}

export function lineUp({ t, value }: IncidentSeries, { from, to }: Window, label: string, kind: EvidenceLine['kind']): EvidenceLine {
  const values: (number | null)[] = Array.from({ length: to - from + 1 }, () => null)
  let highest = 0
  for (const [i, ms] of t.entries()) {
    const at = Math.round(ms / 1000) - from
    const one = value[i]
    if (one === undefined || at < 0 || at >= values.length) continue
    values[at] = one
    highest = Math.max(highest, one)
  }
  // A lone missed second is drawn over, not cut out: thinner than a pixel on a phone.
  for (let at = 1; at + 1 < values.length; at++)
    if (values[at] === null && values[at - 1] !== null && values[at + 1] !== null) values[at] = values[at - 1] ?? null
  return { label, kind, values, highest }
}

export const valueAt = ({ values }: EvidenceLine, { from }: Window, second: number): number | undefined => values[second - from] ?? undefined

export type ProcessThen = {
  readonly key: string
  readonly pid: number
  readonly innerPid: number | undefined
  readonly process: string | undefined
  readonly container: string | undefined
  readonly gpu: string | undefined
  /** undefined: it held nothing then, or was not there. */
  readonly bytes: number | undefined
  /** Why there are no bytes. */
  readonly absent: 'not yet' | 'ended' | undefined
}

const PROCESS_BYTES = 'warpwatch_process_gpu_memory_bytes'
/** A reading holds until the next; one that is older than this is of a process that has gone. */
const HOLDS_S = 1

/** Processes with what each held at that second; at the fault itself the table that the agent took then. Rows keep their places over all seconds. */
export function processesAt({ processes, series }: Pick<IncidentEvidence, 'processes' | 'series'>, second: number, fault: number): readonly ProcessThen[] {
  const rows = new Map<string, ProcessThen & { readonly highest: number }>()
  const keyOf = (pid: number, gpu: string | undefined): string => `${pid} ${gpu ?? ''}`
  for (const { metric, labels, t, value } of series) {
    if (metric !== PROCESS_BYTES) continue
    const pid = Number(labels['pid'])
    const seconds = t.map((ms) => Math.round(ms / 1000))
    const at = seconds.findLastIndex((each) => each <= second)
    const there = at >= 0 && second - (seconds[at] ?? 0) <= HOLDS_S
    rows.set(keyOf(pid, labels['gpu']), {
      key: keyOf(pid, labels['gpu']),
      pid,
      innerPid: labels['inner_pid'] === undefined ? undefined : Number(labels['inner_pid']),
      process: labels['process'],
      container: labels['container'],
      gpu: labels['gpu'],
      bytes: there ? value[at] : undefined,
      absent: there ? undefined : at < 0 ? 'not yet' : 'ended',
      highest: Math.max(...value),
    })
  }
  for (const { pid, inner_pid: inner, process, gpu, container, gpu_memory_bytes: bytes } of processes) {
    const key = keyOf(pid, gpu)
    const known = rows.get(key)
    if (known !== undefined && second !== fault) continue
    const then = second === fault ? { bytes, absent: undefined } : { bytes: undefined, absent: undefined }
    rows.set(key, { ...(known ?? { key, pid, innerPid: inner, process, container, gpu, highest: bytes }), ...then })
  }
  return [...rows.values()].toSorted((a, b) => b.highest - a.highest || a.pid - b.pid)
}
