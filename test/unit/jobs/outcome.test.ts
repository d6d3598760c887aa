// How a run ended, by what engine, kernel and incidents say of it.
import { describe, expect, test } from 'vitest'
import { outcomeOf, type EndFacts } from '../../../agent/jobs/outcome.ts'
import type { Outcome } from '../../../agent/model/job.ts'

const T = 1_800_000_000_000
const CASES: readonly (readonly [string, Omit<EndFacts, 't'>, Outcome])[] = [
  ['exit 0', { exitCode: 0 }, 'completed'],
  ['exit 0 though an error was in its log', { exitCode: 0, kinds: ['cuda_oom'] }, 'completed'],
  ['exit 0 after a worker was killed', { exitCode: 0, oomKilledAt: T - 5_000 }, 'completed'],
  ['exit 1', { exitCode: 1 }, 'failed'],
  ['exit 1 after GPU memory ran out', { exitCode: 1, kinds: ['cuda_oom', 'nccl_error'] }, 'out_of_memory'],
  ['exit 1 after a cause that says nothing of the end', { exitCode: 1, kinds: ['missing_dependency'] }, 'failed'],
  ['exit 1 soon after a worker was killed', { exitCode: 1, oomKilledAt: T - 2_000 }, 'out_of_memory'],
  ['exit 1 hours after a worker was killed', { exitCode: 1, oomKilledAt: T - 7_200_000 }, 'failed'],
  ['a killed worker and a segfault', { exitCode: 139, oomKilledAt: T - 2_000 }, 'failed'],
  ['137 with the kernel', { exitCode: 137, oomKilledAt: T }, 'out_of_memory'],
  ['137 with a kernel line only', { exitCode: 137, kinds: ['host_oom_kill'] }, 'out_of_memory'],
  ['137 alone is not memory', { exitCode: 137 }, 'killed'],
  ['137 after docker kill', { exitCode: 137, sent: [{ t: T - 10, signal: 9 }] }, 'killed'],
  [
    '137 after docker stop',
    {
      exitCode: 137,
      sent: [
        { t: T - 10_000, signal: 15 },
        { t: T - 10, signal: 9 },
      ],
    },
    'cancelled',
  ],
  ['137 by the kernel, removed a moment later', { exitCode: 137, oomKilledAt: T - 100, sent: [{ t: T - 10, signal: 9 }] }, 'out_of_memory'],
  ['docker stop while it saved its state', { exitCode: 1, sent: [{ t: T - 300_000, signal: 15 }] }, 'cancelled'],
  ['a signal of hours ago', { exitCode: 1, sent: [{ t: T - 7_200_000, signal: 15 }] }, 'failed'],
  ['told to reload', { exitCode: 1, sent: [{ t: T - 1_000, signal: 1 }] }, 'failed'],
  ['143 and nobody known', { exitCode: 143 }, 'killed'],
  ['130', { exitCode: 130 }, 'cancelled'],
  ['124', { exitCode: 124 }, 'time_limit'],
  ['a time limit in the log', { exitCode: 143, kinds: ['time_limit'] }, 'time_limit'],
  ['its GPU was lost', { exitCode: 134, kinds: ['gpu_lost', 'nccl_error'] }, 'lost_gpu'],
  ['a scheduler says it', { reported: { outcome: 'preempted', by: 'Slurm', words: 'PREEMPTED' }, exitCode: 0 }, 'preempted'],
  ['a signal without a code', { signal: 'SIGSEGV' }, 'failed'],
  ['nothing known', {}, 'unknown'],
  ['no code, but an error', { kinds: ['illegal_memory_access'] }, 'failed'],
]

describe('the outcome of a run', () => {
  test.each(CASES)('%s', (_name, facts, outcome) => {
    expect(outcomeOf({ t: T, ...facts }).outcome).toBe(outcome)
  })

  test('who sent a signal is said only where somebody saw it', () => {
    expect(outcomeOf({ t: T, exitCode: 137 })).toEqual({ outcome: 'killed', reason: 'Ended by SIGKILL (exit code 137); sender unknown', signal: 'SIGKILL' })
    expect(outcomeOf({ t: T, exitCode: 137, sent: [{ t: T, signal: 9 }] })).toMatchObject({ sentBy: 'container engine' })
    expect(outcomeOf({ t: T, exitCode: 137, oomKilledAt: T })).toMatchObject({ sentBy: 'OOM killer' })
  })

  test('codes say what they mean, no more', () => {
    const reasons = [1, 125, 126, 127, 128, 134, 135, 139, 255].map((exitCode) => outcomeOf({ t: T, exitCode }).reason)
    expect(reasons).toEqual([
      'Failed with exit code 1',
      'The container engine could not run it (exit code 125)',
      'Its command cannot be executed (exit code 126)',
      'Its command was not found (exit code 127)',
      'It could not be started (exit code 128)',
      'Crashed with SIGABRT (exit code 134)',
      'Crashed with SIGBUS (exit code 135)',
      'Crashed with SIGSEGV (exit code 139)',
      'Failed with exit code 255',
    ])
  })
})
