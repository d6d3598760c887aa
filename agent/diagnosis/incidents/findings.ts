// What detectors say becomes incidents: one per kind and key, which holds until its detector says that it is over. Pure.
import type { Fault } from '../../model/fault.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import { isLogKind } from '../../model/log-kinds.ts'
import type { Finding } from '../../model/finding.ts'
import type { AcknowledgedBaseline } from './acknowledged-baseline.ts'
import type { Via } from './grouped-faults.ts'
import type { OpenIncident } from './open-incident.ts'
import { isHeldLogKind } from './rules.ts'
import type { Place, Resolved } from './subject.ts'
import type { Tracker } from './tracker.ts'

export type FindingsOptions = {
  readonly tracker: Tracker
  readonly resolve: (fault: Fault<IncidentKind>, place: Place) => Resolved
  readonly baseline: AcknowledgedBaseline
  readonly sighted: (fault: Fault<IncidentKind>, via: Via, place: Place, line: undefined, more: { readonly key?: string }) => void
  readonly tell: (open: OpenIncident) => void
}

/** Why an incident is over that someone declared healthy. */
export const resolutionText = (by: string | undefined, note: string | undefined): string =>
  `set healthy${by === undefined ? '' : ` by ${by}`}${note === undefined ? '' : `: ${note}`}`

export function createFindings({ tracker, resolve, baseline, sighted, tell }: FindingsOptions): (finding: Finding, t: number) => void {
  return (finding, t) => {
    if (finding.state === 'unknown') return
    const { kind, about } = finding
    if (finding.state === 'healthy') baseline.forget(finding)
    else if (baseline.covers(finding)) return
    // What a log may tell too is one story with it: it joins, counts and ends as the log's incident does.
    const asLog = !isHeldLogKind(kind) && isLogKind(kind)
    if (asLog && finding.state === 'healthy') return
    // An Xid that the driver goes on telling is the incident that the kernel's line made, and is over when the driver says so.
    const key = isHeldLogKind(kind) ? finding.key : `${kind} @ ${finding.key}`
    const place: Place = {
      t,
      stream: 'numbers',
      ...(about.uuid === undefined ? {} : { uuid: about.uuid }),
      ...(about.container === undefined ? {} : { container: about.container }),
      ...(about.containerId === undefined ? {} : { containerId: about.containerId }),
    }
    if (finding.state === 'faulty') {
      const { severity, title, verdict, remedies } = finding
      const facts = about.pid === undefined ? finding.facts : { pid: about.pid, ...finding.facts }
      sighted({ kind, severity, title, verdict, facts, remedies, evidence: [] }, 'detector', place, undefined, asLog ? {} : { key })
      return
    }
    if (!tracker.open().some(({ grouped }) => grouped.some(({ fault }) => fault.kind === kind))) return
    const facts = about.pid === undefined ? {} : { pid: about.pid }
    const { subject } = resolve({ kind, severity: 'info', title: '', verdict: '', facts, remedies: [], evidence: [] }, place)
    const { named } = about
    const closed = tracker.clear(
      { key, kind, subject, ...(named === undefined ? {} : { named }), ...(finding.why === undefined ? {} : { why: finding.why }) },
      t,
    )
    if (closed !== undefined) tell(closed)
  }
}
