// The scenario oom-forecast through all detectors: the forecast fires minutes before the job runs out of memory, and the failure comes when it was foreseen.
import { expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import * as detectors from '../../../agent/diagnosis/detectors/index.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { deaths, simulate, START } from './simulate.ts'

const secondOf = (t: number): number => Math.round((t - START) / 1_000) - 10

test('oom-forecast: the forecast fires before the OOM, on the GPU of the job, with an interval that holds', { timeout: 120_000 }, () => {
  const heard: { readonly incident: Incident; readonly second: number }[] = []
  const failures: string[] = []
  let second = 0
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    detection: createDetection({ definitions: Object.values(detectors), onFailure: (id, error) => void failures.push(`${id}: ${String(error)}`) }),
    hostname: 'gpu-host',
    onChange: (incident) => heard.push({ incident, second }),
  })
  const story = simulate('oom-forecast', 1_150)
  for (const reported of story) {
    second = reported.second
    reported.events.forEach(diagnosis.ingest)
  }
  expect(failures).toEqual([])
  const [died] = deaths(story)
  expect(died?.container).toBe('finetune-lora')
  const first = (kind: string) => heard.find(({ incident }) => incident.kind === kind && incident.status === 'firing')
  const [forecast, oom] = [first('memory_exhaustion_forecast'), first('cuda_oom')]
  if (forecast === undefined || oom === undefined || died === undefined)
    throw new Error(`expected a forecast and a memory error, came ${heard.map(({ incident }) => incident.kind).join(', ') || 'nothing'}`)
  expect(forecast.incident.subject).toMatchObject({ gpu: { index: 6 }, container: { name: 'finetune-lora' } })
  expect(oom.second - forecast.second).toBeGreaterThan(180)
  const { earliest_ms: earliest, latest_ms: latest } = forecast.incident.facts
  expect(secondOf(Number(earliest))).toBeLessThanOrEqual(died.second)
  expect(secondOf(Number(latest))).toBeGreaterThanOrEqual(died.second)
})
