// `warpwatch jobs` has a Slurm job's number, account and partition beside its name, and no such columns where no job is of Slurm.
import { expect, test } from 'vitest'
import { jobsCsv, jobsText } from '../../../agent/cli/jobs/tables.ts'
import type { JobRow } from '../../../agent/model/job.ts'
import { JOB, RUN } from '../http/job-fixture.ts'

const slurmJob = (id: string): JobRow => ({
  ...JOB,
  job: 'pretrain',
  last: { ...RUN, job: 'pretrain', kind: 'slurm', slurm_job: id, account: 'vision', partition: 'gpu' },
})

test('two jobs of one name by their numbers, with account and partition', () => {
  const [head = '', ...rows] = jobsText([slurmJob('48101'), slurmJob('48102'), JOB], 'the agent').split('\n')
  expect(head).toMatch(/^JOB +SLURM +ID .* USER +ACCOUNT +PARTITION$/)
  expect(rows[0]).toMatch(/^pretrain +48101 .* ada +vision +gpu$/)
  expect(rows[1]).toMatch(/^pretrain +48102 /)
  expect(rows[2]).toMatch(/^train {2,}0123456789abcdef .* ada$/)
})
test('a narrow terminal keeps the number', () => {
  const [head = ''] = jobsText([slurmJob('48101')], 'the agent', { columns: 80 }).split('\n')
  expect(head).toMatch(/^JOB +SLURM +/)
  expect(head).not.toContain('PARTITION')
  expect(head.length).toBeLessThanOrEqual(80)
})
test('no such columns without Slurm', () => {
  expect(jobsText([JOB], 'the agent').split('\n')[0]).not.toMatch(/SLURM|ACCOUNT|PARTITION/)
})
test('CSV has them at its end', () => {
  const [head = '', row = ''] = jobsCsv([slurmJob('48101')]).split('\r\n')
  expect(head).toMatch(/,energy_joules,slurm_job,account,partition$/)
  expect(row).toMatch(/,48101,vision,gpu$/)
})
