// A served host whose incidents are judged from events and can be silenced, acknowledged and declared healthy: all parts real, the disk a temporary one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createDiagnosis } from '../../../agent/diagnosis/diagnosis.ts'
import { incidentReport } from '../../../agent/diagnosis/incidents/report.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { IncidentSummary } from '../../../agent/model/incident.ts'
import type { HttpServerOptions } from '../../../agent/http/server.ts'
import { createIncidentStore } from '../../../agent/store/incidents.ts'
import { createIncidentService } from '../../../agent/store/incident-service.ts'
import { createMaintenanceStore } from '../../../agent/store/maintenance.ts'
import { createOperator } from '../../../agent/store/operator.ts'
import { createPipeline } from '../../../agent/pipeline.ts'
import { line, secondOf, T, xidText } from '../incidents/scene.ts'
import { get, runServer, type Answer } from './running.ts'

export const quietLog = { info: () => {}, warn: () => {}, error: () => {} }
export function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-maintenance-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export async function runOperatedHost(http: Partial<HttpServerOptions> = {}, directory = place()) {
  const reported: IncidentSummary[] = []
  const recorded: Event[] = []
  const clock = { now: T }
  const incidents = createIncidentStore({ directory, log: quietLog })
  const maintenance = createMaintenanceStore({ directory, log: quietLog })
  const diagnosis = createDiagnosis({ judge: createLogJudge(logScanner()).judge, hostname: 'gpu-01', onBaseline: maintenance.keepBaseline })
  const now = (): number => clock.now
  const service = createIncidentService({ store: incidents, maintenance, figures: diagnosis.figures, now })
  const outputs = {
    events: [{ name: 'recorded', ingest: (event: Event) => recorded.push(event) }],
    incidents: [{ name: 'told', incident: (incident: IncidentSummary) => reported.push(incident) }],
  }
  const pipeline = createPipeline({ stores: [], diagnosis, incidents: service, outputs, ticks: [] }, quietLog)
  const feed = (...events: readonly Event[]): void => events.forEach(pipeline.ingest)
  const operator = createOperator({ incidents: service, maintenance, pipeline, now })
  diagnosis.restore(incidents.unresolved(), maintenance.baseline())
  const running = await runServer({
    http: {
      incidents: { incidents: service.view, report: (incident) => incidentReport(incident, 'gpu-01') },
      maintenance: operator,
      now: () => clock.now,
      ...http,
    },
  })
  return {
    ...running,
    directory,
    reported,
    recorded,
    clock,
    service,
    operator,
    diagnosis,
    feed,
    /** An Xid 79 on this GPU; the id of its incident. */
    lose(index: number): string {
      feed(...secondOf(clock.now, []), line(clock.now, 'kernel', xidText(index, 79)))
      const id = diagnosis.firing().at(-1)?.id
      if (id === undefined) throw new Error('expected an incident, came none')
      return id
    },
    send: (method: 'POST' | 'DELETE', path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
      get(
        `${running.url}${path}`,
        {
          ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(JSON.stringify(body))) }),
          ...headers,
        },
        method,
        body === undefined ? undefined : JSON.stringify(body),
      ),
    [Symbol.asyncDispose]: async () => {
      await running.server.close()
      incidents.close()
      maintenance.close()
    },
  }
}
