// By what a job is looked at: its rhythm where that is known, else what its processes do; for jobs known by their log, and by their GPUs alone.
import { describe, expect, test } from 'vitest'
import type { GpuState } from '../../../agent/sources/hangs/gpu-loads.ts'
import { jobsNow } from '../../../agent/sources/hangs/jobs.ts'
import { createEntry, dueOf, follow } from '../../../agent/sources/hangs/watch.ts'
import type { RunningRun } from '../../../agent/model/job.ts'

const AFTER = 20_000
type Load = Pick<GpuState, 'busy' | 'memory' | 'spins'>
const WORKS: Load = { busy: 0.97, memory: 0.4, spins: false }
const SPINS: Load = { busy: 1, memory: 0, spins: true }
const IDLES: Load = { busy: 0, memory: 0, spins: false }

const run: RunningRun = { job_id: '00000000000000a1', job: 'train', gpus: [{ uuid: 'GPU-1' }] }
/** Each 2 s the load of its GPU; when it was due, and by what. */
function byGpu(loads: readonly Load[]): readonly string[] {
  let entry: ReturnType<typeof createEntry> | undefined
  let worked = 0
  return loads.flatMap((load, i) => {
    const t = i * 2_000
    if (load === WORKS) worked += 2_000
    const [job] = jobsNow(t, [], [run], new Map([['GPU-1', { ...load, uuid: 'GPU-1', gpu: '0', worked }]]))
    if (job === undefined) throw new Error('expected a job')
    entry ??= createEntry(job, t, AFTER)
    entry.job = job
    follow(entry, t)
    const due = dueOf(entry, t)
    return due === undefined ? [] : [`${due.by} ${t / 1000}`]
  })
}
const many = (load: Load, count: number): Load[] => Array.from({ length: count }, () => load)

describe('a job that says nothing', () => {
  test('is not looked at while its GPU computes', () => {
    expect(byGpu(many(WORKS, 100))).toEqual([])
  })
  test('whose GPU idles is looked at by what its processes do', () => {
    expect(byGpu(many(IDLES, 11))).toEqual(['quiet 20'])
    expect(byGpu([...many(IDLES, 5), WORKS, ...many(IDLES, 9)])).toEqual([])
  })
  test('whose GPU only waits is looked at by what its processes do in its first steps, and by its silence later', () => {
    expect(byGpu([...many(IDLES, 5), ...many(SPINS, 6)])).toEqual(['quiet 20'])
    expect(byGpu([...many(WORKS, 40), ...many(SPINS, 10)])).toEqual(['still 98'])
  })
})

test('steps that follow each other faster than anyone looks count one by one', () => {
  const finds = { verdict: 'hang', confidence: 'computed', place: 'train.py load', doing: ['lock'], waited_for: false, complete: true, culprits: [0] } as const
  const alarmAt = (rises: number, busyWith?: string): number | undefined => {
    const job = {
      name: 'train.log',
      by: 'log',
      key: 'train.log',
      done: false,
      progressedAt: 1_000,
      rises,
      ...(busyWith === undefined ? {} : { busyWith }),
    } as const
    const entry = createEntry(job, 0, AFTER)
    for (let t = 2_000; t < 600_000; t += 2_000) {
      follow(entry, t)
      if (dueOf(entry, t)?.by === 'quiet' && entry.quiet.looked(t, { ...finds, work: { cpuSeconds: 4, bytes: 9_000 } })) return t
    }
    return undefined
  }
  expect(alarmAt(1)).toBeLessThanOrEqual(60_000)
  // Its only step, or parts of what it loads.
  expect(alarmAt(0)).toBeUndefined()
  expect(alarmAt(4, 'loading')).toBeUndefined()
})

describe('a job that says its steps', () => {
  const due = (steps: readonly number[], t: number) => {
    const job = { name: 'train.log', by: 'log', key: 'train.log', done: false } as const
    const entry = createEntry({ ...job, progressedAt: steps[0] ?? 0 }, 0, AFTER)
    for (const at of steps) follow({ ...entry, job: { ...job, progressedAt: at } }, at)
    return dueOf(entry, t)
  }
  test.each([
    [[10_000, 15_000], 34_000, undefined],
    [[10_000, 15_000], 36_000, { by: 'quiet', silentMs: 21_000 }],
    [[10_000, 11_000, 12_000, 13_000, 14_000], 34_000, { by: 'still', silentMs: 20_000 }],
    // Of slow steps three are waited for, and nothing else is asked meanwhile.
    [[10_000, 60_000, 110_000, 160_000], 200_000, undefined],
  ])('at %j, at %i', (steps, t, said) => {
    expect(due(steps, t)).toEqual(said)
  })
})
