// What the rules see of an incident: a label that nobody knows is not there, so that no alert names GPU "undefined".
import { expect, test } from 'vitest'
import { summaryOf, type IncidentSubject } from '../../../agent/model/incident.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { Event } from '../../../agent/model/event.ts'
import { createIncidentsSource } from '../../../agent/sources/incidents.ts'
import { sampleIncident } from '../../../alerts/sample.ts'

const T = 1_763_600_000_000

function activeSeries(subject: IncidentSubject, kind: 'gpu_missing' | 'xid' = 'gpu_missing', facts: Facts = {}): readonly string[] {
  const events: Event[] = []
  const firing = [summaryOf({ ...sampleIncident({ kind, t: T }), subject, facts })]
  void createIncidentsSource(() => ({ firing, totals: new Map(), lastSeen: new Map(), forecasts: [], lost: [] })).start({
    emit: (event) => void events.push(event),
    every: (_, run) => (run(T), () => {}),
    log: { info: () => {}, warn: () => {}, error: () => {} },
  })
  return events
    .flatMap((event) => (event.type === 'scrape' ? event.readings.map(({ series }) => series.key) : []))
    .filter((key) => key.includes('incident_active'))
}

test.each<readonly [IncidentSubject, string]>([
  [{ gpu: { index: 3, uuid: 'GPU-3' }, container: { name: 'trainer' } }, '{kind="gpu_missing",severity="critical",gpu="3",uuid="GPU-3",container="trainer"}'],
  [{ gpu: { uuid: 'GPU-3' } }, '{kind="gpu_missing",severity="critical",uuid="GPU-3"}'],
  // A number that only a message gave may be another card's on the host.
  [{ gpu: { index: 3 } }, '{kind="gpu_missing",severity="critical"}'],
  [{ host: { name: 'gpu-01' } }, '{kind="gpu_missing",severity="critical"}'],
])('%j', (subject, labels) => {
  expect(activeSeries(subject)).toEqual([`warpwatch_incident_active${labels}`])
})

test('an Xid has its number, and two of one GPU are two; other kinds have none', () => {
  const gpu = { gpu: { index: 3, uuid: 'GPU-3' } }
  expect(activeSeries(gpu, 'xid', { xid: 79 })).toEqual([expect.stringContaining('uuid="GPU-3",xid="79"}')])
  expect(activeSeries(gpu, 'xid', { sxid: 12_028 })).toEqual([expect.stringContaining('uuid="GPU-3",sxid="12028"}')])
  expect(activeSeries(gpu, 'gpu_missing', { xid: 79 })).toEqual(['warpwatch_incident_active{kind="gpu_missing",severity="critical",gpu="3",uuid="GPU-3"}'])
})
