// Cases of the check own-actions.
import type { CheckCase } from '../scene.ts'

const action = { name: 'drain', match: { kind: 'gpu_lost' }, command: ['/usr/bin/drain', 'now'] }

export const cases: readonly CheckCase[] = [
  { about: 'none', scene: {}, status: 'skipped', says: /changes nothing/ },
  {
    about: 'a signal',
    scene: { config: { actions: [{ name: 'save', match: { kind: 'memory_leak' }, signal: 'SIGUSR1' }] } },
    status: 'pass',
    says: /on memory_leak: SIGUSR1 to the job/,
  },
  {
    about: 'a program',
    scene: {
      files: { '/usr/bin/drain': { text: '#!/bin/sh\n', mode: 0o755 } },
      config: { actions: [{ ...action, match: { kind: ['gpu_lost', 'gpu_missing'], container: 'train-*' } }] },
    },
    status: 'pass',
    says: /on gpu_lost or gpu_missing, container train-\*: \/usr\/bin\/drain now/,
  },
  { about: 'a program that is not there', scene: { config: { actions: [action] } }, status: 'warn', says: /not there/ },
  {
    about: 'a dry run',
    scene: { config: { actions: [{ name: 'save', match: { kind: 'memory_leak' }, signal: 'SIGUSR1', dry_run: true }] } },
    status: 'pass',
    says: /on memory_leak: dry run of SIGUSR1 to the job/,
  },
]
