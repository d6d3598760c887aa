// A report as a host with a failure, a warning and much that is well gives it.
import type { DoctorReport } from '../../../agent/model/doctor.ts'

export const REPORT: DoctorReport = {
  version: 1,
  t: 1_763_600_000_000,
  host: 'gpu-01',
  status: 'fail',
  counts: { pass: 2, warn: 1, fail: 1, skipped: 2 },
  checks: [
    {
      id: 'gpu-on-bus',
      group: 'host',
      title: 'the GPUs are there',
      status: 'pass',
      duration_ms: 2,
      findings: [{ status: 'pass', summary: '8 NVIDIA GPUs on the bus' }],
    },
    {
      id: 'driver-library-match',
      group: 'host',
      title: 'one version',
      status: 'fail',
      duration_ms: 3,
      findings: [
        {
          status: 'fail',
          summary: 'expected one version, came two',
          detail: 'The packages were updated.',
          remedies: [
            { text: 'Drain the machine and reboot.', command: 'sudo reboot' },
            { text: 'Exchange the module.', command: 'sudo rmmod nvidia\nsudo modprobe nvidia' },
          ],
        },
      ],
    },
    { id: 'nouveau', group: 'host', title: 'no nouveau', status: 'pass', duration_ms: 1, findings: [{ status: 'pass', summary: 'no GPU is held by nouveau' }] },
    {
      id: 'container-memory',
      group: 'container',
      title: 'enough memory',
      status: 'warn',
      duration_ms: 9,
      findings: ['trainer', 'server'].map((subject) => ({ status: 'warn', subject, summary: 'its memory limit is small', remedies: [{ text: 'Raise it.' }] })),
    },
    { id: 'wsl-version', group: 'wsl2', title: 'WSL is new', status: 'skipped', duration_ms: 0, findings: [{ status: 'skipped', summary: 'this is not WSL' }] },
    { id: 'wsl-dxg', group: 'wsl2', title: 'dxg is there', status: 'skipped', duration_ms: 0, findings: [{ status: 'skipped', summary: 'this is not WSL' }] },
  ],
  duration_ms: 640,
}
