// The simulated host through the detectors of driver and access: each scenario has its one incident, a healthy host none, also with samples missing.
import { expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { simulate } from '../simulated/simulate.ts'
import { DETECTORS } from './driver-scene.ts'

function incidentsOf(scenario: string, seconds: number, heard: (event: Event) => boolean = () => true): readonly string[] {
  const found = new Map<string, Incident>()
  const failures: unknown[] = []
  const diagnosis = createHeardDiagnosis({
    judge: () => [],
    detection: createDetection({ definitions: DETECTORS, onFailure: (_, error) => void failures.push(error) }),
    hostname: 'gpu-host',
    onChange: (incident) => found.set(incident.id, incident),
  })
  for (const { events } of simulate(scenario, seconds)) for (const event of events) if (heard(event)) diagnosis.ingest(event)
  diagnosis.flush()
  expect(failures).toEqual([])
  const kinds = new Set(DETECTORS.flatMap((detector): readonly string[] => detector.kinds))
  return [...found.values()].filter(({ kind }) => kinds.has(kind)).map(({ kind, subject, status }) => `${kind} ${subject.gpu?.index ?? 'host'} ${status}`)
}

/** Two of a hundred, the same on each run (Park and Miller's generator). */
function createLoss(): () => boolean {
  let state = 42
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647 > 0.02
  }
}

test.each(['healthy', 'mig', 'throttling'])('%s: none', (scenario) => {
  expect(incidentsOf(scenario, 600)).toEqual([])
})

test('healthy, with two samples of a hundred missing: none', () => {
  expect(incidentsOf('healthy', 900, createLoss())).toEqual([])
})

test('hung-driver: that GPU, once, until it answers', () => {
  expect(incidentsOf('hung-driver', 100)).toEqual(['driver_hung 3 firing'])
  expect(incidentsOf('hung-driver', 200)).toEqual(['driver_hung 3 resolved'])
  expect(incidentsOf('hung-driver', 200, createLoss())).toEqual(['driver_hung 3 resolved'])
})

test('lost-gpu: that GPU, once, until it is back', () => {
  expect(incidentsOf('lost-gpu', 100)).toEqual(['gpu_missing 5 firing'])
  expect(incidentsOf('lost-gpu', 250)).toEqual(['gpu_missing 5 resolved'])
  expect(incidentsOf('lost-gpu', 250, createLoss())).toEqual(['gpu_missing 5 resolved'])
})
