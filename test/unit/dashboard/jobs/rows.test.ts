// What counts as one job, what it holds and uses, and which rows the table shows in which order.
import { describe, expect, test } from 'vitest'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import type { ProcessRow } from '../../../../agent/model/live.ts'
import { jobOf } from '../../../../dashboard/src/parts/job/identity.ts'
import { busyRatio, jobsOf, type Job } from '../../../../dashboard/src/features/jobs/running.ts'
import type { Span } from '../../../../dashboard/src/features/jobs/timeline/spans.ts'
import { arranged, DEFAULT_SORT, fits, jobKeyOf, parseSort, rowsOf, sortText, wasted } from '../../../../dashboard/src/features/jobs/table/rows.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'
import { container, frame, GIB, gpu, silentGpu } from '../helpers.ts'

const process = (pid: number, index: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  process: 'python',
  uuid: `GPU-${index}`,
  gpu: String(index),
  gpu_memory_bytes: GIB,
  ...more,
})
const named = (jobs: readonly Job[], key: string): Job => {
  const found = jobs.find((job) => job.key === key)
  if (found === undefined) throw new Error(`expected a job ${key}, came ${jobs.map((job) => job.key).join(', ')}`)
  return found
}
const { resolved_at: _over, resolution: _why, ...standing } = summaryOf(INCIDENT)
const incident = (id: string, more: Partial<IncidentSummary> = {}): IncidentSummary => ({
  ...standing,
  id,
  status: 'firing',
  facts: {},
  started_at: 5_000,
  last_seen_at: 5_000,
  ...more,
})

describe('a job', () => {
  test.each([
    [{ container: 'vllm', container_id: 'x' }, 'vllm', 'container'],
    [{ container: 'worker', pod: 'train-0', namespace: 'ml', slurm_job: '7' }, 'ml/train-0', 'pod'],
    [{ slurm_job: '4711', unit: 'slurmd.service', pid: '9' }, 'slurm:4711', 'slurm'],
    [{ unit: 'session-12.scope', pid: 9, container: '' }, 'unit:session-12.scope', 'unit'],
    [{ pid: 9, process: 'python' }, 'pid:9', 'process'],
  ] as const)('%j is %s', (labels, key, kind) => {
    expect(jobOf(labels)).toMatchObject({ key, kind })
  })

  test('a GPU that does not answer is named beside what is known of the others', () => {
    const row = container('a', { 'GPU-0': 5 }, { gpus_requested: 'GPU-0,GPU-1' })
    const [job] = jobsOf(frame(0, [gpu(0), silentGpu(1, 'timeout')], [row]))
    expect(job).toMatchObject({ gpuBytes: 5, unread: [1], silent: [1], unused: [] })
    expect(job?.busy.map(({ index }) => index)).toEqual([0])
  })

  test('a pod is one job: its containers’ figures together, by GPU', () => {
    const of = (name: string, bytes: number, more = {}) =>
      container(name, { 'GPU-1': bytes }, { namespace: 'ml', pod: 'p', cpu_cores: 1.5, memory_bytes: 10, memory_limit_bytes: 100, oom_kills_total: 1, ...more })
    const jobs = jobsOf(frame(0, [gpu(0), gpu(1)], [of('a', 5), of('b', 7, { restarts_total: 2 })]))
    expect(jobs).toHaveLength(1)
    expect(named(jobs, 'ml/p')).toMatchObject({
      holdings: [{ index: 1, bytes: 12 }],
      gpuBytes: 12,
      cores: 3,
      memoryBytes: 20,
      limitBytes: 200,
      oomKills: 2,
      restarts: 2,
    })
  })

  test('one container without a limit leaves the pod without one', () => {
    const row = { namespace: 'ml', pod: 'p', memory_bytes: 10 }
    const jobs = jobsOf(frame(0, [gpu(0)], [container('a', {}, { ...row, memory_limit_bytes: 100 }), container('b', {}, row)]))
    expect(named(jobs, 'ml/p')).toMatchObject({ memoryBytes: 20, limitBytes: undefined })
  })

  test('outside containers its processes are counted; what nobody measures is unknown, not zero', () => {
    const rows = [process(7, 0, { slurm_job: '42' }), process(7, 1, { slurm_job: '42' }), process(8, 1, { slurm_job: '42' })]
    const job = named(jobsOf(frame(0, [gpu(0), gpu(1)], [], rows)), 'slurm:42')
    expect(job.processes.map(({ pid }) => pid)).toEqual([7, 8])
    expect([job.gpuBytes, job.cores, job.memoryBytes, job.oomKills]).toEqual([3 * GIB, undefined, undefined, undefined])
    expect(job.holdings).toEqual([
      { index: 0, bytes: GIB },
      { index: 1, bytes: 2 * GIB },
    ])
  })

  test('what it holds in two instances of a GPU stays apart, and is one GPU where it is counted', () => {
    const rows = [process(7, 1, { slurm_job: '42', gi: '2' }), process(8, 1, { slurm_job: '42', gi: '1' })]
    const job = named(jobsOf(frame(0, [gpu(0), gpu(1, { utilization_ratio: 0.4 })], [], rows)), 'slurm:42')
    expect(job.holdings.map(({ index, gi }) => [index, gi])).toEqual([
      [1, '1'],
      [1, '2'],
    ])
    expect(job.busy).toEqual([{ index: 1, ratio: 0.4, shared: false }])
  })

  test('the GPUs that it holds say how busy they are, and whether others share them; a silent one says nothing', () => {
    const boxes = [container('a', { 'GPU-0': 5, 'GPU-1': 5, 'GPU-2': 5 }), container('b', { 'GPU-1': 5 })]
    const gpus = [gpu(0, { utilization_ratio: 0.2 }), gpu(1, { utilization_ratio: 0.8 }), silentGpu(2, 'timeout')]
    const job = named(jobsOf(frame(0, gpus, boxes)), 'a')
    expect(job.busy).toEqual([
      { index: 0, ratio: 0.2, shared: false },
      { index: 1, ratio: 0.8, shared: true },
    ])
    expect(job.silent).toEqual([2])
    expect(busyRatio(job)).toBeCloseTo(0.5)
    const recently = named(jobsOf(frame(0, gpus, boxes), { gpu: ({ index }) => index / 10, job: () => undefined }), 'a')
    expect(recently.busy.map(({ ratio }) => ratio)).toEqual([0, 0.1])
    expect(recently.silent).toEqual([2])
    expect(busyRatio({ busy: [] })).toBeUndefined()
  })

  test('of a GPU that several jobs hold each has what its own processes did, where the driver says', () => {
    const rows = [
      process(7, 0, { slurm_job: '42', gpu_utilization_ratio: 0.5 }),
      process(8, 0, { slurm_job: '42', gpu_utilization_ratio: 0.1 }),
      process(9, 0, { slurm_job: '43', gpu_utilization_ratio: 0.25 }),
      process(10, 1, { slurm_job: '42', gpu_utilization_ratio: 0.3 }),
    ]
    const gpus = [gpu(0, { utilization_ratio: 0.85 }), gpu(1, { utilization_ratio: 0.3 })]
    const jobs = jobsOf(frame(0, gpus, [], rows))
    expect(named(jobs, 'slurm:42').busy).toEqual([
      { index: 0, ratio: 0.6, shared: true, own: true },
      { index: 1, ratio: 0.3, shared: false },
    ])
    expect(named(jobs, 'slurm:43').busy).toEqual([{ index: 0, ratio: 0.25, shared: true, own: true }])
  })
})

describe('the table', () => {
  const jobs = jobsOf(frame(0, [gpu(0), gpu(1), gpu(10)], [container('train', { 'GPU-1': 5 }, { image: 'lab/llm' }), container('web', {})], [process(77, 10)]))
  const span = (key: string, to: number): Span => ({
    job: jobOf({ container: key }),
    uuid: 'GPU-0',
    gpu: 0,
    gi: undefined,
    from: 0,
    to,
    highest: 9,
    steps: [{ from: 0, to, bytes: 9 }],
  })
  const past = {
    from: 1_000,
    spans: [span('train', 400_000), span('gone', 3_000), span('gone', 2_000)],
    peaks: new Map([
      ['train', 4],
      ['gone', 9],
    ]),
    idle: new Map([['train', 60]]),
  }

  test('keeps who left a card, with when it left; the peak is never below what is held now', () => {
    const rows = rowsOf(jobs, past, [])
    expect(rows.map(({ job, endedAt, peak }) => [job.key, endedAt, peak])).toEqual([
      ['train', undefined, 5],
      ['web', undefined, undefined],
      ['pid:77', undefined, GIB],
      ['gone', 3_000, 9],
    ])
  })

  test('an incident is its container’s, else its process’s job’s; lost time counts within the range only', () => {
    const byPid = new Map([[9, 'slurm:4']])
    expect(jobKeyOf(incident('a', { subject: { container: { name: 'c', namespace: 'n', pod: 'p' } } }), byPid)).toBe('n/p')
    expect(jobKeyOf(incident('a', { subject: { process: { pid: 9 } } }), byPid)).toBe('slurm:4')
    expect(jobKeyOf(incident('a', { subject: { process: { pid: 8 } }, facts: { job_id: 4711 } }), byPid)).toBe('slurm:4711')
    expect(jobKeyOf(incident('a', { subject: { gpu: { index: 0 } } }), byPid)).toBeUndefined()
    const subject = { container: { name: 'train' } }
    const reported = [
      incident('now', { subject, facts: { gpu_seconds_lost: 100 } }),
      incident('over', { subject, status: 'resolved', facts: { gpu_seconds_lost: 7 } }),
      incident('long ago', { subject, status: 'resolved', started_at: 10, last_seen_at: 20, facts: { gpu_seconds_lost: 1_000 } }),
      incident('still', { subject, started_at: 10, last_seen_at: 20, facts: { gpu_seconds_lost: 1_000 } }),
    ]
    const [row] = rowsOf(jobs, past, reported)
    expect(row?.incidents.map(({ id }) => id)).toEqual(['now', 'over', 'still'])
    expect(row?.firing.map(({ id }) => id)).toEqual(['now', 'still'])
    expect([row?.lost, row === undefined ? undefined : wasted(row)]).toEqual([107, 167])
    expect(wasted({ idle: undefined, lost: 0 })).toBeUndefined()
  })

  test('a GPU that is throttled slows down all who hold its memory, as long as it is; of a GPU’s fault with a job of its own they have nothing', () => {
    const index = jobs.find(({ key }) => key === 'pid:77')?.holdings[0]?.index
    const gpu = { uuid: 'GPU-1', index: index ?? -1 }
    const hot = { kind: 'throttling', consequences: [] } as const
    const reported = [
      incident('hot', { ...hot, subject: { gpu } }),
      incident('was hot', { ...hot, subject: { gpu }, status: 'resolved' }),
      incident('elsewhere', { ...hot, subject: { gpu: { uuid: 'GPU-9', index: 99 } } }),
      incident('of another', { ...hot, subject: { gpu, container: { name: 'web' } } }),
    ]
    const rows = rowsOf(jobs, past, reported)
    const of = (key: string) => rows.find(({ job }) => job.key === key)?.incidents.map(({ id }) => id)
    expect(of('pid:77')).toEqual(['hot'])
    expect(of('web')).toEqual(['of another'])
    expect(of('gone')).toEqual([])
  })

  test('a GPU that did not answer stopped all who held its memory then, also once it answers again and while it names none', () => {
    const held = (key: string, from: number, to: number): Span => ({
      ...span(key, to),
      from,
      uuid: 'GPU-9',
      gpu: 9,
      steps: [{ from, to: from + 1_000, bytes: 9 }],
    })
    const spans = [held('train', 0, 400_000), held('web', 0, 19_500), held('gone', 0, 10_000), held('later', 31_000, 40_000)]
    const hung = { kind: 'driver_hung', consequences: [], started_at: 20_000, last_seen_at: 30_000, subject: { gpu: { uuid: 'GPU-9', index: 9 } } } as const
    const rows = rowsOf(jobs, { ...past, spans }, [
      incident('over', { ...hung, status: 'resolved', resolved_at: 30_000 }),
      incident('warm', { ...hung, kind: 'throttling', status: 'resolved', resolved_at: 30_000 }),
      incident('another', { ...hung, subject: { gpu: { uuid: 'GPU-8', index: 8 } } }),
    ])
    const of = (key: string) => rows.find(({ job }) => job.key === key)?.incidents.map(({ id }) => id)
    expect([of('train'), of('web'), of('gone'), of('later')]).toEqual([['over'], ['over'], [], []])
  })

  test('an incident is also theirs whom it hit beside its own job; the time that was lost is told once', () => {
    const followed = {
      kind: 'illegal_memory_access',
      severity: 'critical',
      title: '',
      verdict: '',
      facts: {},
      first_seen_at: 0,
      last_seen_at: 0,
      count: 1,
    } as const
    const consequences = [
      { ...followed, container: 'train' },
      { ...followed, container: 'web' },
      { ...followed, container: 'web' },
    ]
    const [train, web] = rowsOf(jobs, past, [incident('xid', { subject: { container: { name: 'train' } }, consequences, facts: { gpu_seconds_lost: 100 } })])
    expect([train?.firing.length, train?.lost]).toEqual([1, 100])
    expect([web?.job.key, web?.firing.length, web?.lost]).toEqual(['web', 1, 0])
  })

  test('finds by image, pid and GPU; GPU 1 is not GPU 10', () => {
    const found = (text: string) =>
      rowsOf(jobs, past, [])
        .filter((row) => fits(row, text))
        .map(({ job }) => job.key)
    expect(found('LLM')).toEqual(['train'])
    expect(found('77')).toEqual(['pid:77'])
    expect(found('gpu 1')).toEqual(['train'])
    expect(found('gpu 10 python')).toEqual(['pid:77'])
    expect(found('no such')).toEqual([])
    expect(found('')).toHaveLength(4)
  })

  test('those that run come first in every order; the address tells the order, and nonsense in it is the usual one', () => {
    const keys = (sort: string | undefined) => arranged(rowsOf(jobs, past, []), '', parseSort(sort)).map(({ job }) => job.key)
    expect(keys(undefined)).toEqual(['train', 'pid:77', 'web', 'gone'])
    expect(keys('-peak')).toEqual(['pid:77', 'train', 'web', 'gone'])
    expect(keys('job')).toEqual(['pid:77', 'train', 'web', 'gone'])
    expect(parseSort('constructor')).toEqual(DEFAULT_SORT)
    expect([sortText(DEFAULT_SORT), sortText(parseSort('-peak'))]).toEqual([undefined, '-peak'])
  })

  test('a job that restarts keeps its place, by the card that it held last, until it has been away for two minutes', () => {
    const keys = (now: number): readonly string[] =>
      arranged(rowsOf(jobs, { ...past, spans: [span('train', now), span('gone', 300_000)] }, []), '', DEFAULT_SORT).map(({ job }) => job.key)
    expect(keys(310_000)).toEqual(['gone', 'train', 'pid:77', 'web'])
    expect(keys(430_000)).toEqual(['train', 'pid:77', 'web', 'gone'])
    const waiting = jobsOf(frame(0, [gpu(0), gpu(1)], [container('train', { 'GPU-1': 5 }), container('crashes', {})]))
    const rows = rowsOf(waiting, { ...past, spans: [span('crashes', 3_000)] }, [])
    expect(arranged(rows, '', DEFAULT_SORT).map(({ job }) => job.key)).toEqual(['crashes', 'train'])
  })
})
