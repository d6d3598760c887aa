// Who holds a GPU, in one line of a small card.
import { expect, test } from 'vitest'
import { holdersOf, holdersText } from '../../../dashboard/src/features/overview/dense/holders.ts'
import { holderName } from '../../../dashboard/src/text/names.ts'
import { RUN } from '../http/job-fixture.ts'
import { container, frame, GIB, gpu } from './helpers.ts'

test('containers and what runs outside of them, the largest first', () => {
  const processes = [
    { pid: 1, process: 'python', uuid: 'GPU-0', gpu_memory_bytes: 3 * GIB },
    { pid: 2, process: 'python', uuid: 'GPU-0', gpu_memory_bytes: GIB },
    { pid: 3, process: 'inner', uuid: 'GPU-0', container_id: 'train-id', gpu_memory_bytes: 9 * GIB },
    { pid: 4, process: 'other', uuid: 'GPU-1', gpu_memory_bytes: 9 * GIB },
  ].map((row) => ({ gpu: '0', ...row }))
  const found = holdersOf(frame(0, [gpu(0), gpu(1)], [container('train', { 'GPU-0': 9 * GIB }), container('small', { 'GPU-0': GIB / 2 })], processes), 'GPU-0')
  expect(found).toEqual([
    { name: 'train', bytes: 9 * GIB },
    { name: 'python', bytes: 4 * GIB },
    { name: 'small', bytes: GIB / 2 },
  ])
  expect(holdersText(found, 2)).toBe('train 9.0 GiB, python 4.0 GiB, 1 more')
  expect(holdersText(found.slice(0, 2), 2)).toBe('train 9.0 GiB, python 4.0 GiB')
  expect(holdersOf(frame(0, [gpu(2)]), 'GPU-2')).toEqual([])
})

test('a Slurm job by its name and number, and by its number while nobody has told its name', () => {
  const jobs = [
    { slurm_job: '7', job: 'pretrain' },
    { slurm_job: '8', job: 'job 8' },
  ]
  expect(['slurm:7', 'slurm:8', 'slurm:9', 'unit:ollama.service', 'train'].map((key) => holderName(key, jobs))).toEqual([
    'pretrain (Slurm job 7)',
    'Slurm job 8',
    'Slurm job 9',
    'ollama.service',
    'train',
  ])
  const processes = [{ pid: 1, process: 'python', uuid: 'GPU-0', gpu: '0', slurm_job: '7', gpu_memory_bytes: GIB }]
  const { job_id, kind, run, started_at, seen_at, gpus, gpu_seconds, incidents } = RUN
  const running = { job_id, kind, run, started_at, seen_at, gpus, gpu_seconds, incidents, job: 'pretrain', slurm_job: '7' }
  expect(holdersOf({ ...frame(0, [gpu(0)], [], processes), jobs: [running] }, 'GPU-0')).toEqual([{ name: 'pretrain (Slurm job 7)', bytes: GIB }])
})
