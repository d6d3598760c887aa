// Slurm jobs by the name that their submitter gave: in headings, in the table's order and search, and by number while nobody has told it.
import { describe, expect, test } from 'vitest'
import type { Run } from '../../../../agent/model/job.ts'
import { aboutSlurm, fullTitleOf, slurmJobs, titleOf } from '../../../../dashboard/src/features/jobs/slurm.ts'
import { arranged, fits, parseSort, rowsOf } from '../../../../dashboard/src/features/jobs/table/rows.ts'
import { jobsOf } from '../../../../dashboard/src/features/jobs/running.ts'
import { jobOf } from '../../../../dashboard/src/parts/job/identity.ts'
import { RUN } from '../../http/job-fixture.ts'
import { frame, GIB, gpu } from '../helpers.ts'

const { container: _container, container_id: _id, namespace: _namespace, ...outside } = RUN
const run = (slurm_job: string, job: string, more: Partial<Run> = {}): Run => ({ ...outside, kind: 'slurm', slurm_job, job, ...more })
const RUNS = [run('48101', 'pretrain', { account: 'vision', partition: 'gpu' }), run('48102', 'job 48102'), RUN]
const [named, unnamed, stranger] = ['48101', '48102', '48103'].map((slurm_job) => jobOf({ slurm_job }))

describe('a Slurm job', () => {
  test('has its name above its number, user, account and partition', () => {
    const jobs = slurmJobs(RUNS)
    if (named === undefined || unnamed === undefined || stranger === undefined) throw new Error('expected three names')
    expect([titleOf(named, jobs), fullTitleOf(named, jobs), aboutSlurm(named, jobs)]).toEqual([
      'pretrain',
      'pretrain (48101)',
      ['Slurm job 48101', 'ada', 'account vision', 'partition gpu'],
    ])
    expect(aboutSlurm(named, jobs, true)).toEqual(['Slurm job 48101', 'ada', 'vision', 'gpu'])
    expect([titleOf(unnamed, jobs), fullTitleOf(unnamed, jobs), aboutSlurm(unnamed, jobs)]).toEqual(['48102', '48102', ['Slurm job', 'ada']])
    expect([titleOf(stranger, jobs), fullTitleOf(stranger, jobs), aboutSlurm(stranger, jobs)]).toEqual(['48103', '48103', ['Slurm job']])
    const container = jobOf({ container: '48101' })
    expect([titleOf(container, jobs), fullTitleOf(container, jobs), aboutSlurm(container, jobs)]).toEqual(['48101', '48101', []])
  })

  test('keeps what the list said of it until the stream says more', () => {
    const older = slurmJobs([run('7', 'old'), run('8', 'before')])
    expect([...slurmJobs([run('8', 'now')], older)].map(([id, { name }]) => [id, name])).toEqual([
      ['7', 'old'],
      ['8', 'now'],
    ])
  })

  test('is found and sorted by its name', () => {
    const process = (pid: number, slurm_job: string) => ({ pid, process: 'python', uuid: 'GPU-0', gpu: '0', gpu_memory_bytes: GIB, slurm_job })
    const jobs = jobsOf({ ...frame(0, [gpu(0)]), processes: [process(1, '48101'), process(2, '48102')] })
    const rows = rowsOf(jobs, undefined, [], slurmJobs(RUNS))
    expect(rows.filter((row) => fits(row, 'vision pretrain')).map(({ job }) => job.name)).toEqual(['48101'])
    expect(arranged(rows, '', parseSort('-job')).map(({ job }) => job.name)).toEqual(['48101', '48102'])
  })
})
