// The simulated host through the hardware detectors: a healthy one has no fault, also with samples missing; the scenarios have theirs.
import { expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import {
  eccUncorrected,
  nvlinkErrors,
  pcieDegraded,
  powerBrake,
  recoveryAction,
  rowRemapFailure,
  throttling,
} from '../../../agent/diagnosis/detectors/index.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { simulate } from '../simulated/simulate.ts'

const definitions = [eccUncorrected, nvlinkErrors, pcieDegraded, powerBrake, recoveryAction, rowRemapFailure, throttling]

function incidentsOf(scenario: string, seconds: number, heard: (event: Event) => boolean = () => true): readonly Incident[] {
  const found = new Map<string, Incident>()
  const failures: unknown[] = []
  const diagnosis = createHeardDiagnosis({
    judge: () => [],
    detection: createDetection({ definitions, onFailure: (_, error) => void failures.push(error) }),
    hostname: 'gpu-host',
    onChange: (incident) => found.set(incident.id, incident),
  })
  for (const { events } of simulate(scenario, seconds)) for (const event of events) if (heard(event)) diagnosis.ingest(event)
  diagnosis.flush()
  expect(failures).toEqual([])
  return [...found.values()].filter(({ kind }) => kind !== 'host_oom_kill').sort((a, b) => a.started_at - b.started_at)
}
const inShort = (incidents: readonly Incident[]) => incidents.map(({ kind, subject, status }) => `${kind} ${subject.gpu?.index} ${status}`)

/** Two of a hundred, the same on each run (Park and Miller's generator). */
function createLoss(): (event: Event) => boolean {
  let state = 42
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647 > 0.02
  }
}

test('healthy: none', () => {
  expect(inShort(incidentsOf('healthy', 900))).toEqual([])
})

test('healthy, with two samples of a hundred missing: none', () => {
  expect(inShort(incidentsOf('healthy', 900, createLoss()))).toEqual([])
})

test('throttling: two hot cards, each once though one pauses, over when the air is free again; a cap that costs little is none', () => {
  const found = incidentsOf('throttling', 230)
  expect(inShort(found).toSorted()).toEqual(['throttling 0 resolved', 'throttling 1 resolved'])
  const of = (index: number) => found.find(({ subject }) => subject.gpu?.index === index)
  // Its memory was at its limit for a moment too.
  expect(of(0)?.facts).toMatchObject({ active_reasons: ['sw_thermal_slowdown', 'memory_temperature'], affected: [expect.any(String)] })
  expect(of(0)?.facts.speed_loss_ratio).toBeGreaterThan(0.2)
  const clocks = of(0)?.evidence.series.filter(({ metric }) => metric === 'warpwatch_gpu_clock_hertz')
  expect(clocks?.some(({ labels }) => labels['domain'] === 'sm')).toBe(true)
})

test('throttling, with samples missing: the same', () => {
  expect(inShort(incidentsOf('throttling', 230, createLoss())).toSorted()).toEqual(['throttling 0 resolved', 'throttling 1 resolved'])
})

test('xid: the events alone are incidents too, and the row waits for its reset', () => {
  const found = incidentsOf('xid', 200)
  expect(found.map(({ kind, facts }) => `${kind} ${facts.xid ?? ''}`)).toEqual(expect.arrayContaining(['xid 31', 'xid 63', 'row_remap_failure ']))
})
