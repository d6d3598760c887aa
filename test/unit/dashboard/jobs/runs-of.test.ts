// Which runs are a job's, and how they are shown.
import { expect, test } from 'vitest'
import type { ContainerRow } from '../../../../agent/model/live.ts'
import type { Run } from '../../../../agent/model/job.ts'
import { isRunOf, parseNewest, parseRuns, runRows } from '../../../../dashboard/src/features/jobs/page/runs-of.ts'
import { jobsOf } from '../../../../dashboard/src/features/jobs/running.ts'
import { container, frame, gpu } from '../helpers.ts'

const run = (more: Partial<Run>): Run => ({
  job_id: '00000000000000ab',
  job: 'trainer',
  kind: 'container',
  run: 1,
  started_at: 1_000,
  seen_at: 61_000,
  gpus: [],
  gpu_seconds: { active: 0, idle: 0, lost: 0 },
  incidents: [],
  ...more,
})
const jobOf = (more: Partial<ContainerRow>) => {
  const [job] = jobsOf(frame(0, [gpu(0)], [container('sweep-a', { 'GPU-0': 5 }, more)]))
  if (job === undefined) throw new Error('expected a job')
  return job
}

test('a container’s runs are those of its name, also of containers before it; a pod’s those of its containers', () => {
  const plain = jobOf({})
  expect(isRunOf(plain, run({ container: 'sweep-a', container_id: 'another' }))).toBe(true)
  expect(isRunOf(plain, run({ container: 'sweep-b' }))).toBe(false)
  const pod = jobOf({ namespace: 'research', pod: 'sweep-0' })
  expect(isRunOf(pod, run({ namespace: 'research', container: 'sweep-a', container_id: pod.containers[0]?.key ?? '' }))).toBe(true)
  expect(isRunOf(pod, run({ namespace: 'other', container: 'sweep-a', container_id: 'another' }))).toBe(false)
})

test('a Slurm job and a unit are known by their own names', () => {
  const base = { containers: [], processes: [] }
  expect(isRunOf({ ...base, kind: 'slurm', key: 'slurm:77', name: '77' }, run({ slurm_job: '77' }))).toBe(true)
  expect(isRunOf({ ...base, kind: 'slurm', key: 'slurm:77', name: '77' }, run({ slurm_job: '78' }))).toBe(false)
  expect(isRunOf({ ...base, kind: 'unit', key: 'unit:bench.service', name: 'bench.service' }, run({ unit: 'bench.service' }))).toBe(true)
})

test('the newest stands first; what ended badly is marked; one that runs lasted until it was seen', () => {
  const rows = runRows([
    run({ run: 1, outcome: 'out_of_memory', ended_at: 31_000 }),
    run({ run: 3, started_at: 90_000, seen_at: 95_000 }),
    run({ run: 2, started_at: 40_000, outcome: 'completed', ended_at: 80_000 }),
  ])
  expect(rows.map(({ key, outcome, bad, lastedMs }) => [key, outcome, bad, lastedMs])).toEqual([
    ['3', 'running', false, 5_000],
    ['2', 'completed', false, 40_000],
    ['1', 'out of memory', true, 30_000],
  ])
})

test('an answer that is none is refused', () => {
  expect(parseRuns([run({})])).toHaveLength(1)
  expect(parseNewest([{ last: run({}) }])).toHaveLength(1)
  expect(() => parseRuns([{ job: 'x' }])).toThrow(/list of runs/)
  expect(() => parseNewest({})).toThrow(/list of jobs/)
})
