// How an incident stands: its severity as a shape and a word while it fires, never by its colour alone.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'

const SHAPES: Readonly<Record<string, string>> = { critical: '▲', warning: '◆', info: '●' }

export function StateMark({ incident: { severity, status, silenced } }: { readonly incident: Pick<IncidentSummary, 'severity' | 'status' | 'silenced'> }) {
  return (
    <span class="state-mark" data-severity={severity} data-status={status}>
      <span aria-hidden="true">{status === 'resolved' ? '○' : (SHAPES[severity] ?? '●')}</span>
      {status === 'firing' ? severity : status}
      {silenced !== undefined && <span class="tag">silenced</span>}
    </span>
  )
}
