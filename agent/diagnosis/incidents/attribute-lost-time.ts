// Attributes the GPU time that a crash lost to the open incident that the job crashed of.
import type { IncidentKind } from '../../model/kinds.ts'
import { addLoss, isFatal, type Death } from './lost-time.ts'
import { rootOf, type OpenIncident } from './open-incident.ts'
import { CRASH_WINDOW_MS } from './rules.ts'

/** The kind that it is counted under; undefined while no incident is known for it. */
export function attributeLoss(incidents: readonly OpenIncident[], { t, crashKey, pid, loss, sameCrash }: Death): IncidentKind | undefined {
  const open = incidents.findLast(({ status, grouped, crashKeys, lastSeenAt }) => {
    if (status !== 'firing' || !grouped.some(({ fault }) => isFatal(fault.kind)) || Math.abs(t - lastSeenAt) > CRASH_WINDOW_MS) return false
    const its = grouped.some(({ subject, fault }) => pid !== undefined && (subject.process?.pid === pid || fault.facts.pid === pid))
    return its || (crashKey !== undefined && crashKeys.has(crashKey))
  })
  if (open === undefined) return undefined
  open.lost = addLoss(open.lost, loss, sameCrash)
  open.changed = true
  return rootOf(open).fault.kind
}
