// `warpwatch jobs` shows how far the running jobs are, and no such columns where none says anything.
import { expect, test } from 'vitest'
import { jobsText } from '../../../agent/cli/jobs/tables.ts'
import type { JobRow, Run } from '../../../agent/model/job.ts'

const START = Date.UTC(2026, 0, 1)
const none = { active: 0, idle: 0, lost: 0 }
function jobOf(job: string, outcome?: Run['outcome']): JobRow {
  const run: Run = {
    job_id: '0123456789abcdef',
    job,
    kind: 'container',
    container: `${job}-1`,
    run: 1,
    started_at: START,
    seen_at: START + 60_000,
    gpus: [],
    gpu_seconds: none,
    incidents: [],
    ...(outcome === undefined ? {} : { outcome }),
  }
  return { job_id: run.job_id, job, kind: run.kind, runs: 1, running: outcome === undefined ? 1 : 0, outcomes: {}, gpu_seconds: none, last: run }
}
const lineOf = (text: string, job: string): string => text.split('\n').find((line) => line.startsWith(job)) ?? ''

test('step, rate and time left of jobs that run', () => {
  const progress = [
    { job: 'finetune', step: 1_200, steps: 5_000, step_rate: 2.52, tokens_rate: 41_000, eta_seconds: 1_508 },
    { job: 'slow-1', step: 7, step_rate: 0.25 },
    { job: 'serve', tokens_rate: 1_840 },
    { job: 'old', step: 10, steps: 10 },
  ]
  const text = jobsText([jobOf('finetune'), jobOf('slow'), jobOf('serve'), jobOf('quiet'), jobOf('old', 'completed')], 'the agent', { progress })
  expect(text.split('\n')[0]).toMatch(/ {2}STEP +RATE +LEFT +GPU H/)
  expect(lineOf(text, 'finetune')).toMatch(/running +1,200 of 5,000 +2\.52 steps\/s +25 min 8 s +0/)
  expect(lineOf(text, 'slow')).toMatch(/running +7 +4 s\/step +0/)
  expect(lineOf(text, 'serve')).toMatch(/running +1,840 tokens\/s +0/)
  expect(lineOf(text, 'quiet')).toMatch(/running +0/)
  expect(lineOf(text, 'old')).not.toContain('10 of 10')
})
test('no columns where no job says anything', () => {
  expect(jobsText([jobOf('quiet')], 'the agent').split('\n')[0]).not.toContain('STEP')
})
