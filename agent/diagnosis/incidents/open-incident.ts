// One incident while it is open, and the form in which it is published.
import { createHash } from 'node:crypto'
import { redactDeep } from '../../lib/redact.ts'
import type { Fault, Remedy } from '../../model/fault.ts'
import type {
  ContainerSettings,
  Incident,
  IncidentLink,
  IncidentLogLine,
  IncidentProcess,
  IncidentSeries,
  IncidentStatus,
  IncidentSubject,
  Occurrence,
} from '../../model/incident.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { confidenceOf } from '../confidence.ts'
import { withoutLost, type LostSoFar } from './lost-time.ts'
import { countOf, hasMessage, toConsequence, type GroupedFault } from './grouped-faults.ts'

export type OpenIncident = {
  readonly id: string
  status: IncidentStatus
  /** Root first. */
  grouped: GroupedFault[]
  readonly crashKeys: Set<string>
  readonly gpus: Set<string>
  readonly startedAt: number
  firedAt: number | undefined
  resolvedAt: number | undefined
  lastSeenAt: number
  /** The newest occurrence began; equal to `startedAt` where it is the first. */
  occurredAt: number
  /** Occurrences before it, newest first. */
  earlier: readonly Occurrence[]
  /** These two are on the tracker's own clock, which no jump of the wall clock moves. */
  evidenceFrom: number
  quietFrom: number
  /** A detector says that it holds, and will say when it does not: quiet alone does not resolve it. */
  held: boolean
  /** On the tracker's clock: when it was last published. */
  reportedAt: number
  /** Why it is over, where that is not plain. */
  resolution: string | undefined
  /** GPU time, by its crashes. */
  lost: LostSoFar | undefined
  /** Of the container: when and how its first process ended. */
  exitCode: number | undefined
  logLines: readonly IncidentLogLine[]
  /** Lines of these logs that come now belong to the evidence. */
  readonly logs: Set<string>
  series: readonly IncidentSeries[]
  processes: readonly IncidentProcess[]
  container: ContainerSettings | undefined
  /** The time after the fault has passed and its readings are in. */
  complete: boolean
  /** Not yet published in this form. */
  changed: boolean
  /** Id of the first incident of the causal chain, and the neighbours there. */
  story: string | undefined
  partOf: IncidentLink | undefined
  ledTo: readonly IncidentLink[]
  /** Counted on top by what was known before a restart of the agent. */
  readonly countBefore: number
}

/** From what it is about, so that a recording always gives the same. */
export function incidentId(kind: IncidentKind, subject: IncidentSubject, startedAt: number): string {
  const { gpu, container, process, host } = subject
  const about = [kind, startedAt, gpu?.uuid ?? gpu?.pci_bus_id ?? gpu?.index, container?.id ?? container?.name, process?.pid, host?.name]
  return createHash('sha256').update(about.join('|')).digest('hex').slice(0, 16)
}

export const rootOf = ({ grouped }: OpenIncident): GroupedFault => {
  const root = grouped[0]
  if (root === undefined) throw new Error('an incident: expected at least one fault, came none')
  return root
}

export function subjectOf(open: OpenIncident): IncidentSubject {
  const { subject } = rootOf(open)
  // The root may know the GPU and a consequence the container (an Xid and the program that died of it), where there is only one of them.
  const containers = new Map(
    open.grouped.flatMap((member) => (member.subject.container === undefined ? [] : [[member.subject.container.name, member] as const])),
  )
  const [only] = containers.size === 1 ? [...containers.values()] : []
  const found = {
    ...(only?.subject.container === undefined ? {} : { container: only.subject.container }),
    ...(only?.subject.process === undefined ? {} : { process: only.subject.process }),
    ...subject,
  }
  const gpu = subject.gpu ?? open.grouped.find((member) => member.subject.gpu?.uuid !== undefined && containers.size <= 1)?.subject.gpu
  const whole: IncidentSubject = { ...found, ...(gpu === undefined ? {} : { gpu }) }
  if (whole.host === undefined || Object.keys(whole).length === 1) return whole
  const { host: _host, ...named } = whole
  return named
}

/** A program counts the GPUs that it sees; an operator counts the host's. Both are named where they differ. */
function hostNumber(text: string, inside: number | undefined, { gpu, container }: IncidentSubject, explain: boolean): string {
  if (inside === undefined || gpu?.uuid === undefined || gpu.index === undefined || gpu.index < 0 || gpu.index === inside) return text
  // Kept incidents come back with it.
  if (text.includes(`(GPU ${inside} `)) return text
  const where = container === undefined ? 'for the program' : 'inside the container'
  return text.replace(new RegExp(`\\bGPU ${inside}\\b`), `GPU ${gpu.index}${explain ? ` (GPU ${inside} ${where})` : ''}`)
}

/** What the root says, in the host's numbers of GPUs. */
export function saidOf(open: OpenIncident): { readonly title: string; readonly verdict: string } {
  const { title, verdict, facts } = rootOf(open).fault
  const subject = subjectOf(open)
  return {
    title: redactDeep(hostNumber(title, facts.gpu_index, subject, false)),
    verdict: redactDeep(hostNumber(open.lost === undefined ? verdict : `${withoutLost(verdict)} ${open.lost.text}`, facts.gpu_index, subject, true)),
  }
}

/** What the text did not name and the incident knows: the GPU (nvidia-smi takes its number, or its address) and the container. */
function filled(remedies: readonly Remedy[], { gpu, container }: IncidentSubject): readonly Remedy[] {
  const which = gpu?.uuid !== undefined && gpu.index !== undefined && gpu.index >= 0 ? String(gpu.index) : gpu?.pci_bus_id
  return remedies.map((remedy) => {
    if (remedy.command?.includes('<') !== true) return remedy
    const command = which === undefined ? remedy.command : remedy.command.replaceAll('<GPU>', which)
    return { ...remedy, command: container?.name === undefined ? command : command.replaceAll('<CONTAINER>', container.name) }
  })
}

export function toIncident(open: OpenIncident): Incident {
  const root = rootOf(open)
  const fault: Fault<IncidentKind> = root.fault
  const facts = {
    ...fault.facts,
    ...(open.exitCode === undefined || fault.facts.exit_code !== undefined ? {} : { exit_code: open.exitCode }),
    ...(open.lost === undefined ? {} : { gpu_seconds_lost: Math.round(open.lost.seconds) }),
  }
  const { kind, severity, remedies } = fault
  const subject = subjectOf(open)
  return {
    id: open.id,
    kind,
    severity,
    status: open.status,
    subject,
    ...saidOf(open),
    // Of what was kept over a restart of the agent only the kind tells who saw it.
    confidence: root.counts.size === 0 ? confidenceOf(fault) : confidenceOf(fault, !hasMessage(root)),
    facts: redactDeep(facts),
    remedies: filled(remedies, subject),
    started_at: open.startedAt,
    ...(open.firedAt === undefined ? {} : { fired_at: open.firedAt }),
    ...(open.resolvedAt === undefined ? {} : { resolved_at: open.resolvedAt }),
    ...(open.resolution === undefined ? {} : { resolution: open.resolution }),
    last_seen_at: open.lastSeenAt,
    ...(open.occurredAt === open.startedAt ? {} : { occurred_at: open.occurredAt }),
    ...(open.earlier.length === 0 ? {} : { occurrences: open.earlier }),
    count: open.countBefore === 0 ? countOf(root) : open.countBefore + Math.max(0, ...root.counts.values()),
    consequences: redactDeep(open.grouped.slice(1).map(toConsequence)),
    ...(open.story === undefined ? {} : { story: open.story }),
    ...(open.partOf === undefined ? {} : { part_of: open.partOf }),
    ...(open.ledTo.length === 0 ? {} : { led_to: open.ledTo }),
    evidence: {
      log_lines: open.logLines,
      series: open.series,
      processes: open.processes,
      ...(open.container === undefined ? {} : { container: open.container }),
    },
  }
}
