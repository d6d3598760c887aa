// Versions of driver and library that differ: what the detector holds and what logs say is one incident, which ends when the versions fit.
import { expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { nvmlDriverMismatch } from '../../../agent/diagnosis/detectors/index.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { LogLine } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { reading, scrape, T } from './scene.ts'

const TEXT = 'Failed to initialize NVML: Driver/library version mismatch'

test.each<[name: string, at: number, origin: LogLine['origin'], stream: LogLine['stream']]>([
  ['of the host, before', 5, { path: '/var/log/jobs/a.log' }, 'file'],
  ['of a container, before', 5, { container: 'trainer', container_id: '0123456789ab' }, 'container'],
  ['of a container, after', 40, { container: 'trainer', container_id: '0123456789ab' }, 'container'],
])('a log %s the detector', (_, at, origin, stream) => {
  const found = new Map<string, Incident>()
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    detection: createDetection({ definitions: [nvmlDriverMismatch] }),
    hostname: 'gpu-host',
    onChange: (incident) => found.set(incident.id, incident),
  })
  const compared = (differ: boolean) =>
    reading('driver_library_mismatch', { kernel_version: '550.90.07', library_version: differ ? '560.35.03' : '550.90.07' }, differ ? 1 : 0)
  for (let second = 0; second < 120; second++) {
    diagnosis.ingest(scrape(T + second * 1_000, 'driver-version', [compared(second < 100)]))
    if (second === at) diagnosis.ingest({ type: 'log', t: T + at * 1_000 + 500, stream, origin, text: TEXT })
  }
  diagnosis.flush()
  expect([...found.values()].map(({ kind, status, resolution }) => [kind, status, resolution])).toEqual([
    ['nvml_driver_mismatch', 'resolved', 'libraries and kernel module are of one version'],
  ])
})
