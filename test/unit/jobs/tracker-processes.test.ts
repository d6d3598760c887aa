// Runs of processes on the host, of Slurm and of `exec`; the incidents of a run.
import { describe, expect, test } from 'vitest'
import type { ProcessEvent } from '../../../agent/model/event.ts'
import { incident } from './incident.ts'
import { A, GIB, T, useTracker } from './tracker-scene.ts'

const { tracker, event, second, rows, named } = useTracker()

describe('processes on the host', () => {
  const seen = (t: number, more: Partial<ProcessEvent> = {}): void =>
    tracker().ingest({
      type: 'process',
      t,
      action: 'seen',
      pid: 70,
      root: { pid: 60, start_ticks: 1_000, started_at: T - 60_000, command: 'torchrun train.py' },
      ancestors: [60, 50],
      user: 'ada',
      ...more,
    })
  const exit = (t: number): void =>
    tracker().ingest({ type: 'process', t, action: 'exit', pid: 60, root: { pid: 60, start_ticks: 1_000, command: '' }, ancestors: [] })

  test('each unknown pid is asked for once, and ends with the process that a person started', () => {
    second(T, 1, 100, [[{ pid: '70' }, GIB]])
    second(T + 1_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(tracker().strangers()).toEqual([70])
    second(T + 2_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(tracker().strangers()).toEqual([])
    seen(T + 2_000)
    second(T + 3_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(rows()).toMatchObject([{ job: 'torchrun train.py', kind: 'session', user: 'ada', started_at: T - 60_000, pid: 60 }])
    expect(tracker().roots()).toEqual([{ pid: 60, startTicks: 1_000 }])
    exit(T + 9_000)
    expect(rows()).toMatchObject([{ ended_at: T + 9_000, outcome: 'unknown' }])
    expect(tracker().roots()).toEqual([])
  })

  test('is listed with its GPU or not at all: a series without one would stay in Prometheus beside the right one', () => {
    const reported = () => tracker().figures().running
    second(T, 1, 100, [[{ pid: '70' }, GIB]])
    seen(T, { unit: 'trainer.service' })
    expect([named('trainer.service').length, reported()]).toEqual([1, []])
    second(T + 1_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(reported()).toMatchObject([{ job: 'trainer.service', gpus: [{ gpu: '0' }] }])
  })

  test('a kernel line that tells of its signal explains the end, also when it is read later', () => {
    seen(T)
    exit(T + 5_000)
    tracker().incident(
      incident({
        id: 'a'.repeat(16),
        kind: 'cuda_oom',
        title: 'GPU memory ran out',
        subject: { process: { pid: 70 } },
        started_at: T + 4_900,
        last_seen_at: T + 4_900,
      }),
    )
    expect(rows()).toMatchObject([{ outcome: 'out_of_memory', incidents: [{ kind: 'cuda_oom' }] }])
  })

  test('a Slurm job is one run however many of its processes begin; a unit is known by its name', () => {
    seen(T, { slurm_job: '4711', slurm_name: 'llama' })
    seen(T, { slurm_job: '4711', pid: 71, root: { pid: 61, start_ticks: 1_001, command: 'python train.py' } })
    seen(T, { unit: 'ollama.service', pid: 72, root: { pid: 62, start_ticks: 5, command: 'ollama serve' } })
    expect(rows()).toMatchObject([
      { job: 'llama', kind: 'slurm', slurm_job: '4711' },
      { job: 'ollama.service', kind: 'unit' },
    ])
    exit(T + 1_000)
    expect(named('llama')[0]?.outcome).toBeUndefined()
  })

  test('a command under exec is named by it, and says itself how it ended', () => {
    tracker().ingest({ type: 'exec', t: T, action: 'start', id: 'e1', pid: 50, start_ticks: 7, name: 'night run', command: 'torchrun train.py' })
    seen(T + 1_000)
    second(T + 2_000, 1, 100, [[{ pid: '70' }, GIB]])
    tracker().ingest({ type: 'exec', t: T + 3_000, action: 'end', id: 'e1', pid: 50, command: 'torchrun train.py', signal: 'SIGSEGV' })
    expect(rows()).toMatchObject([{ job: 'night run', kind: 'exec', outcome: 'failed', signal: 'SIGSEGV', gpu_memory_peak_bytes: GIB }])
  })

  test('a command that held a GPU before exec was heard is that of exec from then on', () => {
    second(T, 1, 100, [[{ pid: '70' }, GIB]])
    expect(tracker().strangers()).toEqual([70])
    seen(T)
    second(T + 1_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(rows()).toMatchObject([{ kind: 'session', gpu_memory_peak_bytes: GIB }])
    expect(tracker().strangers()).toEqual([])
    tracker().ingest({ type: 'exec', t: T + 2_000, action: 'start', id: 'e1', pid: 50, start_ticks: 7, name: 'night run', command: 'torchrun train.py' })
    second(T + 3_000, 1, 100, [[{ pid: '70' }, 2 * GIB]])
    expect(tracker().strangers()).toEqual([70])
    seen(T + 4_000)
    second(T + 5_000, 1, 100, [[{ pid: '70' }, 2 * GIB]])
    expect(named('night run')).toMatchObject([{ kind: 'exec', gpu_memory_peak_bytes: 2 * GIB }])
  })

  test('what exec read in its output is why it ended', () => {
    const reported = (id: string, more: object) => {
      tracker().ingest({ type: 'exec', t: T, action: 'start', id, pid: 50, start_ticks: 7, name: id, command: 'python3 train.py' })
      tracker().ingest({ type: 'exec', t: T + 1_000, action: 'end', id, pid: 50, command: 'python3 train.py', exit_code: 1, ...more })
      return rows().find(({ job }) => job === id)
    }
    expect(reported('e1', { cause_kind: 'python_exception', cause_title: 'KeyError at train.py:4' })).toMatchObject({
      outcome: 'failed',
      reason: 'KeyError at train.py:4 (exit code 1)',
    })
    expect(reported('e2', { cause_kind: 'cuda_oom', cause_title: 'Out of GPU memory' })?.outcome).toBe('out_of_memory')
    expect(reported('e3', { cause_kind: 'made_up', cause_title: 'Anything' })?.reason).toBe('Failed with exit code 1')
  })

  test('a wrapper that was killed says nothing: its run ends all the same', () => {
    tracker().ingest({ type: 'exec', t: T, action: 'start', id: 'e1', pid: 60, start_ticks: 1_000, command: 'train.sh' })
    exit(T + 1_000)
    tracker().tick(T + 2_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker().tick(T + 5_000)
    expect(rows()).toMatchObject([{ outcome: 'unknown', ended_at: T + 1_000 }])
  })
})

describe('incidents', () => {
  test('belong to the run in which they fell, causes first', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 1 })
    event(A, 'start', T + 6_000)
    const subject = { container: { name: 'train', id: A.container_id } }
    tracker().incident(
      incident({
        id: 'b'.repeat(16),
        kind: 'nccl_error',
        title: 'NCCL',
        subject,
        started_at: T + 4_000,
        last_seen_at: T + 4_000,
        part_of: { id: 'a'.repeat(16), kind: 'cuda_oom' },
      }),
    )
    tracker().incident(incident({ id: 'a'.repeat(16), kind: 'cuda_oom', title: 'OOM', subject, started_at: T + 4_500, last_seen_at: T + 4_500 }))
    const [second, first] = named('train')
    expect(first?.incidents.map(({ kind }) => kind)).toEqual(['cuda_oom', 'nccl_error'])
    expect(first?.outcome).toBe('out_of_memory')
    expect(second?.incidents).toEqual([])
  })

  test('belong to the run in which they were reported, though they are last seen in the one after it', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 1 })
    event(A, 'start', T + 5_100)
    const oom = { id: 'a'.repeat(16), kind: 'cuda_oom', title: 'OOM', subject: { container: { name: 'train', id: A.container_id } } } as const
    tracker().incident(incident({ ...oom, started_at: T + 4_900, last_seen_at: T + 5_200 }))
    expect(named('train').map(({ run, outcome, incidents }) => [run, outcome, incidents.length])).toEqual([
      [2, undefined, 0],
      [1, 'out_of_memory', 1],
    ])
  })
  test('of the millisecond in which a run begins belong to the one before', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 1 })
    event(A, 'start', T + 5_000)
    const oom = { id: 'a'.repeat(16), kind: 'cuda_oom', title: 'OOM', subject: { container: { name: 'train', id: A.container_id } } } as const
    tracker().incident(incident({ ...oom, started_at: T + 5_000, last_seen_at: T + 5_000 }))
    expect(named('train').map(({ run, outcome, incidents }) => [run, outcome, incidents.length])).toEqual([
      [2, undefined, 0],
      [1, 'out_of_memory', 1],
    ])
  })
  test('that come again belong to the run in which they did, though they are last seen in the one after it', () => {
    for (const [began, ended] of [
      [0, 5_000],
      [6_000, 11_000],
    ] as const) {
      event(A, 'start', T + began)
      event(A, 'die', T + ended, { exit_code: 1 })
    }
    event(A, 'start', T + 11_100)
    const oom = { id: 'a'.repeat(16), kind: 'cuda_oom', title: 'OOM', subject: { container: { name: 'train', id: A.container_id } } } as const
    tracker().incident(incident({ ...oom, started_at: T + 4_900, occurred_at: T + 10_900, last_seen_at: T + 11_200 }))
    expect(named('train').map(({ run, outcome, incidents }) => [run, outcome, incidents.length])).toEqual([
      [3, undefined, 0],
      [1, 'out_of_memory', 1],
      [2, 'out_of_memory', 1],
    ])
  })
})
