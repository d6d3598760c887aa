// One occurrence of an incident out of several: which there are, and the incident as it was at that one. Pure.
import type { Incident, Occurrence } from '../../../../../agent/model/incident.ts'
import { gpuMemoryUsedBytes } from '../../../text/metric-names.ts'

export type Choice = {
  /** Unix ms; in the address. */
  readonly at: number
  readonly pid?: number | undefined
  /** The most that the GPU, or the process that failed, held around it. */
  readonly peakBytes?: number | undefined
}

const newestOf = ({ occurred_at: occurred, started_at: started }: Incident): number => occurred ?? started

function peakOf(series: Occurrence['series'], pid: number | undefined): number | undefined {
  const own = pid === undefined ? [] : series.filter(({ labels }) => labels['pid'] === String(pid))
  const of = own.length > 0 ? own : series.filter(({ metric }) => metric === gpuMemoryUsedBytes)
  const values = of.flatMap(({ value }) => value)
  return values.length === 0 ? undefined : values.reduce((a, b) => Math.max(a, b))
}

/** Newest first. */
export function choicesOf(incident: Incident): readonly Choice[] {
  const { occurrences = [], facts, subject, evidence } = incident
  const uuid = subject.gpu?.uuid
  const pid = facts.pid ?? subject.process?.pid
  const own = evidence.series.filter(({ labels }) => uuid === undefined || labels['uuid'] === uuid)
  return [
    { at: newestOf(incident), pid, peakBytes: peakOf(own, pid) },
    ...occurrences.map(({ at, pid: of, series }): Choice => ({ at, pid: of, peakBytes: peakOf(series, of) })),
  ]
}

/** Of many the newest are kept. The first began with the incident; that it was reported more often than it occurred says nothing. */
export const areAllKept = ({ occurrences = [], started_at: started }: Incident): boolean => (occurrences.at(-1)?.at ?? started) <= started

/** With the title, verdict, figures, log and readings of that occurrence; the newest where the address names none that is kept. */
export function atOccurrence(incident: Incident, asked: string | undefined): { readonly incident: Incident; readonly earlier: boolean } {
  const found = incident.occurrences?.find(({ at }) => String(at) === asked)
  if (found === undefined) return { incident, earlier: false }
  const { at, pid, title, verdict, facts, log_lines, series } = found
  const { process: _newest, ...subject } = incident.subject
  const { confidence: _of, ...rest } = incident
  return {
    earlier: true,
    incident: {
      ...rest,
      title,
      verdict,
      facts,
      occurred_at: at,
      consequences: [],
      subject: pid === undefined ? subject : { ...subject, process: { pid } },
      evidence: { ...incident.evidence, log_lines, series, processes: [] },
    },
  }
}
