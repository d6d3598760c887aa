// Incidents and routes for the tests of the router, and a book of what was reported.
import type { Route } from '../../../agent/model/alert-settings.ts'
import { summaryOf, type IncidentSummary } from '../../../agent/model/incident.ts'
import type { LastNotification } from '../../../agent/model/notification.ts'
import type { Known, Plan, Router } from '../../../alerts/routing/definition.ts'
import { routeDefaults } from '../../../agent/config/sections/routes.ts'

export const T0 = Date.UTC(2026, 5, 3, 10)
export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000

/** A warning about a leak in the container `train-7` on the host's GPU 3, which fires. */
export function incident(given: Partial<IncidentSummary> = {}): IncidentSummary {
  return {
    ...summaryOf({
      id: 'a',
      kind: 'memory_leak',
      severity: 'warning',
      status: 'firing',
      title: 'A process keeps more and more GPU memory',
      verdict: 'It grows.',
      facts: {},
      remedies: [],
      subject: {
        gpu: { index: 3, uuid: 'GPU-3', name: 'NVIDIA H100', pci_bus_id: '0000:3b:00' },
        container: { name: 'train-7', id: '0123456789ab', image: 'team/trainer:1', namespace: 'ml', pod: 'train-7-0' },
        process: { pid: 7, name: 'python3' },
      },
      started_at: T0,
      fired_at: T0,
      last_seen_at: T0,
      count: 1,
      consequences: [],
      evidence: { log_lines: [], series: [], processes: [] },
    }),
    ...given,
  }
}

export const route = (given: Partial<Route> = {}): Route => ({ ...routeDefaults, to: ['team'], match: {}, ...given })

/** What was reported, kept as the dispatcher keeps it. */
export function createBook() {
  const reported = new Map<string, LastNotification>()
  const incidents = new Map<string, IncidentSummary>()
  const known: Known = { lastNotification: (id, notifier) => reported.get(`${notifier} ${id}`), incident: (id) => incidents.get(id) }
  return {
    known,
    /** Plans, and keeps that it was reported. */
    tell(router: Router, what: IncidentSummary, t: number): readonly Plan[] {
      incidents.set(what.id, what)
      const plans = router.plan(what, known, t)
      for (const { notifier, event } of plans) reported.set(`${notifier} ${what.id}`, { event, severity: what.severity, at: t })
      return plans
    },
  }
}
