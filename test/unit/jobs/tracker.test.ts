// Jobs and runs by the events of the pipeline: starts, ends, GPU time, shares, restarts of the agent.
import { beforeEach, describe, expect, test } from 'vitest'
import { containerJob } from '../../../agent/jobs/identity.ts'
import { rowOf } from '../../../agent/jobs/live-run.ts'
import { jobReport } from '../../../agent/jobs/report.ts'
import { createJobTracker, type JobTracker } from '../../../agent/jobs/tracker.ts'
import { containerInfo, containerMemoryBytes, containerOomKillsTotal } from '../../../agent/metrics/container.ts'
import { gpuUtilizationRatio } from '../../../agent/metrics/gpu-load.ts'
import { gpuPowerWatts } from '../../../agent/metrics/gpu-power.ts'
import { processGpuMemoryBytes } from '../../../agent/metrics/process.ts'
import type { ContainerEvent, ProcessEvent } from '../../../agent/model/event.ts'
import type { StoredRun } from '../../../agent/model/job.ts'
import type { MetricDef } from '../../../agent/model/metric.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'
import { incident } from './incident.ts'

const T = 1_800_000_000_000
const GIB = 2 ** 30
const A = { container: 'train', container_id: 'aaaaaaaaaaaa' }
const B = { container: 'serve', container_id: 'bbbbbbbbbbbb' }
const GPU = { gpu: '0', uuid: 'GPU-0' }

let tracker: JobTracker
let numbers: Map<string, number>
const make = (): JobTracker =>
  createJobTracker({
    nextRun(id) {
      numbers.set(id, (numbers.get(id) ?? 0) + 1)
      return numbers.get(id) ?? 1
    },
  })
beforeEach(() => {
  numbers = new Map()
  tracker = make()
})

const event = (of: typeof A, action: string, t: number, more: Partial<ContainerEvent> = {}): void =>
  tracker.ingest({ type: 'container', t, action, ...of, ...more })
const reading = (metric: MetricDef, labels: Labels, value: number): Reading => ({ series: makeSeries(metric, labels), value })
const scrape = (source: string, group: string, t: number, readings: readonly Reading[]): void =>
  tracker.ingest({ type: 'scrape', t, source, group, ttlMs: 3_000, durationMs: 0, readings, gaps: [] })
/** One second of a GPU: how busy, at how many watts, and who holds how much of it. */
const second = (t: number, ratio: number, watts: number, held: readonly (readonly [Labels, number])[]): void => {
  scrape('gpu', '0/fast', t, [reading(gpuUtilizationRatio, GPU, ratio), reading(gpuPowerWatts, GPU, watts)])
  scrape(
    'gpu',
    '0/processes',
    t,
    held.map(([labels, bytes]) => reading(processGpuMemoryBytes, { ...GPU, ...labels }, bytes)),
  )
}
const rows = () => tracker.live().map(rowOf)
const named = (name: string) => rows().filter(({ job }) => job === name)

describe('containers', () => {
  test('each start is a run with a number, under the id of the job', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 1 })
    event(A, 'start', T + 6_000)
    expect(named('train')).toMatchObject([
      { run: 2, started_at: T + 6_000 },
      { run: 1, started_at: T, ended_at: T + 5_000, outcome: 'failed', exit_code: 1 },
    ])
    expect(new Set(named('train').map(({ job_id: id }) => id)).size).toBe(1)
  })

  test('compose services and pods are jobs, whatever their containers are called', () => {
    const of = (labels: Labels) => containerJob({ container_id: 'cccccccccccc', ...labels })
    const service = of({ container: 'shop-web-1', compose_project: 'shop', compose_service: 'web' })
    expect(service).toMatchObject({ job: 'web', kind: 'container' })
    expect(of({ container: 'shop-web-2', compose_project: 'shop', compose_service: 'web' })?.job_id).toBe(service?.job_id)
    expect(of({ container: 'shop-web-1', compose_project: 'test', compose_service: 'web' })?.job_id).not.toBe(service?.job_id)
    expect(of({ container: 'main', pod: 'train-0', namespace: 'ml' })).toMatchObject({ job: 'train-0', kind: 'pod', namespace: 'ml' })
    expect(containerJob({ container: 'x' })).toBeUndefined()
  })

  test('a stop through the engine is no failure, and two words of one end are one run', () => {
    event(A, 'start', T)
    event(A, 'kill', T + 1_000, { signal: 15 })
    event(A, 'die', T + 2_000, { exit_code: 143 })
    event(A, 'die', T + 2_000, { exit_code: 143 })
    expect(rows()).toMatchObject([{ run: 1, outcome: 'cancelled', sent_by: 'container engine' }])
  })

  test('an OOM kill is seen by the counter, by the event before the end and by the one after it', () => {
    event(A, 'start', T)
    scrape('containers', 'numbers', T + 1_000, [reading(containerOomKillsTotal, A, 0)])
    scrape('containers', 'numbers', T + 2_000, [reading(containerOomKillsTotal, A, 1)])
    event(A, 'die', T + 2_500, { exit_code: 137 })
    event(B, 'start', T)
    event(B, 'die', T + 3_000, { exit_code: 137 })
    expect(named('serve')).toMatchObject([{ outcome: 'killed' }])
    event(B, 'oom', T + 3_000)
    expect(rows().map(({ outcome }) => outcome)).toEqual(['out_of_memory', 'out_of_memory'])
  })

  test('without an engine it begins when it is seen, and ends as unknown when it is not listed any more', () => {
    scrape('containers', 'identity', T, [reading(containerInfo, A, 1)])
    scrape('containers', 'numbers', T, [reading(containerMemoryBytes, A, 3 * GIB)])
    expect(rows()).toMatchObject([{ started_at: T, started_before: true, memory_peak_bytes: 3 * GIB }])
    scrape('containers', 'identity', T + 10_000, [])
    tracker.tick(T + 11_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker.tick(T + 14_000)
    expect(rows()).toMatchObject([{ ended_at: T + 10_000, outcome: 'unknown' }])
  })

  test('a list that was made before the end opens nothing', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 0 })
    scrape('containers', 'identity', T + 5_001, [reading(containerInfo, { ...A, started: String(T / 1_000) }, 1)])
    second(T + 5_001, 1, 300, [[{ ...A, pid: '7' }, GIB]])
    expect(rows()).toHaveLength(1)
  })

  test('one that could not be started is a run that failed', () => {
    event(A, 'create', T)
    event(A, 'die', T + 10, { exit_code: 127 })
    expect(rows()).toMatchObject([{ outcome: 'failed', reason: 'Its command was not found (exit code 127)' }])
  })
})

describe('what a run uses', () => {
  test('time with work, without work, energy and peaks; split with whom it shares the GPU', () => {
    event(A, 'start', T)
    event(B, 'start', T)
    for (let s = 0; s <= 10; s++) second(T + s * 1_000, 0.75, 400, [[{ ...A, pid: '7' }, 10 * GIB]])
    for (let s = 11; s <= 20; s++)
      second(T + s * 1_000, 0.5, 200, [
        [{ ...A, pid: '7' }, 20 * GIB],
        [{ ...B, pid: '8' }, 2 * GIB],
      ])
    const [train, serve] = [named('train')[0], named('serve')[0]]
    expect(train?.gpu_seconds).toEqual({ active: 10 * 0.75 + 10 * 0.25, idle: 10 * 0.25 + 10 * 0.25, lost: 0 })
    expect(train).toMatchObject({ energy_joules: 10 * 400 + 10 * 100, gpu_memory_peak_bytes: 20 * GIB })
    expect(train?.gpus).toMatchObject([{ ...GPU, share: 0.75, held_seconds: 20, memory_peak_bytes: 20 * GIB }])
    expect(serve?.gpus).toMatchObject([{ share: 0.5, held_seconds: 9 }])
  })

  test('several processes of one run hold its GPU once; a gap in the readings counts as nothing', () => {
    event(A, 'start', T)
    for (const s of [0, 1, 2, 60, 61])
      second(T + s * 1_000, 1, 100, [
        [{ ...A, pid: '7' }, GIB],
        [{ ...A, pid: '9' }, GIB],
      ])
    expect(rows()[0]).toMatchObject({ gpu_seconds: { active: 3, idle: 0 }, gpu_memory_peak_bytes: 2 * GIB })
    expect(rows()[0]?.gpus).toMatchObject([{ share: 1, held_seconds: 3 }])
  })

  test('a MIG instance has no utilization of its own: the time is held, not worked', () => {
    event(A, 'start', T)
    for (let s = 0; s <= 3; s++) second(T + s * 1_000, 1, 100, [[{ ...A, pid: '7', gi: '3', ci: '0' }, GIB]])
    expect(rows()[0]?.gpus).toEqual([{ ...GPU, gi: '3', ci: '0', share: 1, held_seconds: 3, memory_peak_bytes: GIB }])
    expect(rows()[0]?.energy_joules).toBeUndefined()
  })

  test('a bad end loses what came after the last saved state; a good one nothing', () => {
    for (const of of [A, B]) event(of, 'start', T)
    for (let s = 0; s <= 10; s++)
      second(T + s * 1_000, 1, 100, [
        [{ ...A, pid: '7' }, GIB],
        [{ ...B, pid: '8' }, GIB],
      ])
    tracker.ingest({ type: 'log', t: T + 6_000, stream: 'container', origin: A, text: 'Saving model checkpoint to out/checkpoint-500' })
    event(A, 'die', T + 10_000, { exit_code: 1 })
    event(B, 'die', T + 10_000, { exit_code: 0 })
    expect(named('train')[0]?.gpu_seconds.lost).toBe(2)
    expect(named('train')[0]?.saved_at).toBe(T + 6_000)
    const [train] = named('train')
    const report = train === undefined ? '' : jobReport([train], 'gpu-01')
    expect(report).toContain('| Saved its state | last at 2027-01-15T08:00:06Z, 4 s before the end |')
    expect(report).toContain('| Lost: since the last saved state | 2 GPU seconds |')
    expect(report).toContain('| Would have been lost without the saved state | 5 GPU seconds |')
    expect(named('serve')[0]?.gpu_seconds.lost).toBe(0)
  })
})

describe('processes on the host', () => {
  const seen = (t: number, more: Partial<ProcessEvent> = {}): void =>
    tracker.ingest({
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
    tracker.ingest({ type: 'process', t, action: 'exit', pid: 60, root: { pid: 60, start_ticks: 1_000, command: '' }, ancestors: [] })

  test('each unknown pid is asked for once, and ends with the process that a person started', () => {
    second(T, 1, 100, [[{ pid: '70' }, GIB]])
    second(T + 1_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(tracker.strangers()).toEqual([70])
    second(T + 2_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(tracker.strangers()).toEqual([])
    seen(T + 2_000)
    second(T + 3_000, 1, 100, [[{ pid: '70' }, GIB]])
    expect(rows()).toMatchObject([{ job: 'torchrun train.py', kind: 'session', user: 'ada', started_at: T - 60_000, pid: 60 }])
    expect(tracker.roots()).toEqual([{ pid: 60, startTicks: 1_000 }])
    exit(T + 9_000)
    expect(rows()).toMatchObject([{ ended_at: T + 9_000, outcome: 'unknown' }])
    expect(tracker.roots()).toEqual([])
  })

  test('a kernel line that tells of its signal explains the end, also when it is read later', () => {
    seen(T)
    exit(T + 5_000)
    tracker.incident(
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
    tracker.ingest({ type: 'exec', t: T, action: 'start', id: 'e1', pid: 50, start_ticks: 7, name: 'night run', command: 'torchrun train.py' })
    seen(T + 1_000)
    second(T + 2_000, 1, 100, [[{ pid: '70' }, GIB]])
    tracker.ingest({ type: 'exec', t: T + 3_000, action: 'end', id: 'e1', pid: 50, command: 'torchrun train.py', signal: 'SIGSEGV' })
    expect(rows()).toMatchObject([{ job: 'night run', kind: 'exec', outcome: 'failed', signal: 'SIGSEGV', gpu_memory_peak_bytes: GIB }])
  })

  test('a wrapper that was killed says nothing: its run ends all the same', () => {
    tracker.ingest({ type: 'exec', t: T, action: 'start', id: 'e1', pid: 60, start_ticks: 1_000, command: 'train.sh' })
    exit(T + 1_000)
    tracker.tick(T + 2_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker.tick(T + 5_000)
    expect(rows()).toMatchObject([{ outcome: 'unknown', ended_at: T + 1_000 }])
  })
})

describe('incidents', () => {
  test('belong to the run in which they fell, causes first', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 1 })
    event(A, 'start', T + 6_000)
    const subject = { container: { name: 'train', id: A.container_id } }
    tracker.incident(
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
    tracker.incident(incident({ id: 'a'.repeat(16), kind: 'cuda_oom', title: 'OOM', subject, started_at: T + 4_500, last_seen_at: T + 4_500 }))
    const [second, first] = named('train')
    expect(first?.incidents.map(({ kind }) => kind)).toEqual(['cuda_oom', 'nccl_error'])
    expect(first?.outcome).toBe('out_of_memory')
    expect(second?.incidents).toEqual([])
  })
})

describe('a restart of the agent', () => {
  const restarted = (): readonly StoredRun[] => {
    const stored = tracker.changed(true)
    tracker = make()
    tracker.restore(stored)
    return stored
  }
  test('what still runs goes on with what it had used', () => {
    event(A, 'start', T)
    for (let s = 0; s <= 10; s++) second(T + s * 1_000, 1, 100, [[{ ...A, pid: '7' }, GIB]])
    restarted()
    expect(tracker.unconfirmed()).toEqual([A.container_id])
    scrape('containers', 'identity', T + 30_000, [reading(containerInfo, { ...A, started: String(T / 1_000) }, 1)])
    expect(tracker.unconfirmed()).toEqual([])
    for (let s = 30; s <= 40; s++) second(T + s * 1_000, 1, 100, [[{ ...A, pid: '7' }, GIB]])
    expect(rows()).toMatchObject([{ run: 1, started_at: T, gpu_seconds: { active: 20 }, energy_joules: 2_000 }])
  })

  test('what was started again meanwhile is a new run; the end of the old one is unknown', () => {
    event(A, 'start', T)
    tracker.tick(T + 1_000)
    restarted()
    scrape('containers', 'identity', T + 60_000, [reading(containerInfo, { ...A, started: String(T / 1_000 + 30) }, 1)])
    expect(named('train')).toMatchObject([
      { run: 2, started_at: T + 30_000 },
      { run: 1, ended_at: T, outcome: 'unknown' },
    ])
  })

  test('what nobody has seen again within a minute has gone', () => {
    event(A, 'start', T)
    restarted()
    tracker.tick(T + 100_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker.tick(T + 161_000)
    expect(rows()).toMatchObject([{ outcome: 'unknown' }])
  })
})

test('outcomes are counted when late words can no longer change them', () => {
  event(A, 'start', T)
  event(A, 'die', T + 1_000, { exit_code: 1 })
  const failed = () => tracker.figures().totals.get('train')?.runs.get('failed')
  tracker.tick(T + 2_000)
  expect(failed()).toBeUndefined()
  tracker.tick(T + 12_000)
  expect(failed()).toBe(1)
  tracker.tick(T + 13_000)
  expect(failed()).toBe(1)
})
