// Whether an answer of the agent is an incident: looked at before it is believed. Apart from the readers, which load the store.
import type { IncidentSummary } from '../../model/incident.ts'
import { isIncidentKind } from '../../model/kinds.ts'

export const isSummary = (value: unknown): value is IncidentSummary =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  typeof value.id === 'string' &&
  'kind' in value &&
  typeof value.kind === 'string' &&
  isIncidentKind(value.kind) &&
  'subject' in value &&
  'evidence' in value
