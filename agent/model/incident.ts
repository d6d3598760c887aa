// What an incident is: a fault (or several of one crash) with who it hit, when, how often, and what was seen around it.
import type { ActionResult } from './action.ts'
import type { Forecast } from './finding.ts'
import type { Facts } from './facts.ts'
import type { Fault } from './fault.ts'
import type { IncidentKind } from './kinds.ts'
import type { Severity } from './severity.ts'
import type { Acknowledgement, Silenced } from './maintenance.ts'
import type { Labels } from './series.ts'

export const INCIDENT_STATUSES = ['pending', 'firing', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

/** Whom it hit; a part that is not known is absent. `host` is alone: nothing smaller could be named. */
export type IncidentSubject = {
  /** `index` is the host's when `uuid` is there, else the number that the message gave. */
  readonly gpu?: { readonly index?: number; readonly uuid?: string; readonly name?: string; readonly pci_bus_id?: string }
  readonly container?: { readonly name: string; readonly id?: string; readonly image?: string; readonly namespace?: string; readonly pod?: string }
  readonly process?: { readonly pid: number; readonly inner_pid?: number; readonly name?: string }
  readonly host?: { readonly name: string }
}

/** What followed from the root: other faults of the same crash. */
export type Consequence = {
  readonly kind: IncidentKind
  readonly severity: Severity
  readonly title: string
  readonly verdict: string
  readonly facts: Facts
  readonly container?: string
  readonly first_seen_at: number
  readonly last_seen_at: number
  readonly count: number
}

/** `line` marks a line that shows the fault. */
export type IncidentLogLine = { readonly t: number; readonly stream: string; readonly origin?: string; readonly text: string; readonly matched?: true }
/** A series at full resolution; both arrays are of one length. */
export type IncidentSeries = { readonly metric: string; readonly labels: Labels; readonly t: readonly number[]; readonly value: readonly number[] }
export type IncidentProcess = {
  readonly pid: number
  readonly inner_pid?: number
  readonly process?: string
  readonly gpu?: string
  readonly uuid?: string
  readonly container?: string
  /** Of the pod that the container is in. */
  readonly namespace?: string
  readonly pod?: string
  /** Of one outside of containers. */
  readonly slurm_job?: string
  readonly unit?: string
  readonly gpu_memory_bytes: number
}
/** The settings of a container that matter to a fault; what the engine does not report is absent. */
export type ContainerSettings = {
  readonly memory_limit_bytes?: number
  readonly shm_size_bytes?: number
  readonly ipc_mode?: string
  readonly runtime?: string
  readonly privileged?: boolean
  readonly gpu_request?: string
  /** UUIDs of the GPUs that it was given. */
  readonly gpus?: readonly string[]
  /** CUDA, PyTorch, NCCL and such variables only, secrets removed. */
  readonly env?: Readonly<Record<string, string>>
}
export type IncidentEvidence = {
  readonly log_lines: readonly IncidentLogLine[]
  readonly series: readonly IncidentSeries[]
  readonly processes: readonly IncidentProcess[]
  readonly container?: ContainerSettings
}

/** Of a fault that the numbers told, its first verdict stands among the lines: no log wrote it, and its figures are old. */
export const writtenLines = <Line extends { readonly stream: string }>(lines: readonly Line[]): readonly Line[] =>
  lines.filter(({ stream }) => stream !== 'numbers')

/** One earlier time that the same fault was seen: its own process, figures, log lines and memory. */
export type Occurrence = {
  /** Unix ms. */
  readonly at: number
  readonly pid?: number
  readonly title: string
  readonly verdict: string
  readonly facts: Facts
  readonly log_lines: readonly IncidentLogLine[]
  readonly series: readonly IncidentSeries[]
}

/** Another incident of the same story. */
export type IncidentLink = { readonly id: string; readonly kind: IncidentKind }

export type Incident = Omit<Fault<IncidentKind>, 'evidence'> & {
  readonly id: string
  readonly status: IncidentStatus
  readonly subject: IncidentSubject
  /** Unix ms. */
  readonly started_at: number
  readonly fired_at?: number
  readonly resolved_at?: number
  /** Why it is over, where that is not plain: "the process has ended". */
  readonly resolution?: string
  readonly last_seen_at: number
  /** When the newest occurrence began, which title, verdict, figures and evidence are of; absent where it is the first. */
  readonly occurred_at?: number
  /** Those before it, newest first; the oldest are let go. */
  readonly occurrences?: readonly Occurrence[]
  readonly count: number
  readonly consequences: readonly Consequence[]
  /** Id of the incident with which its story began, which may be itself; absent where it is alone. */
  readonly story?: string
  /** What led to it. */
  readonly part_of?: IncidentLink
  readonly led_to?: readonly IncidentLink[]
  /** Silence and acknowledgement; added when it is published, not part of the diagnosis. */
  readonly silenced?: Silenced
  readonly acknowledged?: Acknowledgement
  /** What was done about it; added when one incident is read. */
  readonly actions?: readonly ActionResult[]
  readonly evidence: IncidentEvidence
}
/** An incident as lists and the stream show it: of the evidence only the log lines. */
export type IncidentSummary = Omit<Incident, 'evidence' | 'occurrences'> & { readonly evidence: Pick<IncidentEvidence, 'log_lines'> }

export function summaryOf({ evidence, occurrences: _earlier, ...rest }: Incident): IncidentSummary {
  return { ...rest, evidence: { log_lines: evidence.log_lines } }
}

export type IncidentFilter = {
  readonly status?: IncidentStatus
  readonly kind?: IncidentKind
  /** Last seen at or after, Unix ms. */
  readonly since?: number
  readonly limit: number
}
/** How readers ask for incidents. */
export type IncidentsView = {
  /** Newest first. */
  readonly list: (filter: IncidentFilter) => readonly IncidentSummary[]
  readonly get: (id: string) => Incident | undefined
}

export type GpuSecondsLost = { readonly kind: IncidentKind; readonly uuid: string; readonly gpu: string; readonly seconds: number }

/** What the metrics report. */
export type IncidentFigures = {
  /** By crashes since the agent started, for each kind and GPU that had one. */
  readonly lost: readonly GpuSecondsLost[]
  readonly firing: readonly IncidentSummary[]
  /** Incidents that fired since the agent started, by kind. */
  readonly totals: ReadonlyMap<IncidentKind, number>
  /** Unix ms of the newest sighting, by kind. */
  readonly lastSeen: ReadonlyMap<IncidentKind, number>
  /** The current forecasts of when memory runs out. */
  readonly forecasts: readonly Forecast[]
  /** How many of those that fire are silenced; absent where silences are not available. */
  readonly silenced?: number
}

export type IncidentMessage = { readonly type: 'incident'; readonly incident: IncidentSummary }

/** The number that an alert of kind xid names, as labels; other kinds may have an Xid among their facts, which is not what they are about. */
export function xidLabels(kind: IncidentKind, { xid, sxid }: Facts): Readonly<Record<string, string>> {
  if (kind !== 'xid') return {}
  return { ...(xid === undefined ? {} : { xid: String(xid) }), ...(sxid === undefined ? {} : { sxid: String(sxid) }) }
}
