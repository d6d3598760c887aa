// Costs by the user's own factors, and what was held and not used: told with its figures, and nothing where there is nothing to tell.
import { expect, test } from 'vitest'
import { costOf } from '../../../agent/jobs/ledger/costs.ts'
import { wasteOf, type HeldBy } from '../../../agent/jobs/ledger/waste.ts'
import type { JobRow, Run } from '../../../agent/model/job.ts'

const HOUR = 3_600_000
const NONE = { gpu_hour: 0, kwh: 0, currency: '', grams_per_kwh: 0 }
const ABOUT = { host: 'gpu-01', from: 0, to: 24 * HOUR }

test('nothing is priced without a factor, and nothing that needs one that is missing', () => {
  expect(costOf(NONE, 3_600, 3.6e6)).toEqual({})
  expect(costOf({ ...NONE, gpu_hour: 2.5, currency: 'EUR' }, 7_200, undefined)).toEqual({ price: 5, currency: 'EUR' })
  expect(costOf({ ...NONE, kwh: 0.3, grams_per_kwh: 400 }, 7_200, 7.2e6)).toEqual({ price: 0.6, co2_grams: 800 })
  expect(costOf({ ...NONE, kwh: 0.3 }, 7_200, undefined)).toEqual({})
})

const held = (key: string | undefined, idleHours: number, activeHours: number, whole = 0): HeldBy => ({
  key,
  heldMs: (idleHours + activeHours) * HOUR,
  activeMs: activeHours * HOUR,
  idleMs: idleHours * HOUR,
  wholeHoursMs: whole * HOUR,
  joules: 3.6e6,
})
const gpu = (active: number, peak: number) => ({
  uuid: `GPU-${active}`,
  gpu: '0',
  share: 1,
  held_seconds: 7_200,
  active_seconds: active,
  idle_seconds: 7_200 - active,
  memory_peak_bytes: peak * 2 ** 30,
  memory_total_bytes: 80 * 2 ** 30,
})
const job = (name: string, user: string, more: Partial<JobRow> & { readonly gpus?: Run['gpus']; readonly gpus_requested?: number } = {}): JobRow => {
  const { gpus = [], gpus_requested: asked, ...rest } = more
  const row = { job_id: name.padEnd(16, '0'), job: name, kind: 'slurm' as const, user, gpu_seconds: { active: 3_600, idle: 3_600, lost: 0 } }
  const last: Run = { ...row, run: 1, started_at: 0, seen_at: 1, gpus, incidents: [], ...(asked === undefined ? {} : { gpus_requested: asked }) }
  return { ...row, runs: 1, running: 0, outcomes: {}, last, ...rest }
}

test('idle and lost hours by user, the most first; who wasted nothing is not named', () => {
  const lost = { gpu_seconds: { active: 3_600, idle: 0, lost: 1_800 }, outcomes: { failed: 2, completed: 1 } }
  const { rows } = wasteOf([held('ada', 3, 7, 2), held('grace', 0, 10), held(undefined, 5, 0)], [job('train', 'ada', lost)], { ...NONE, gpu_hour: 2 }, ABOUT)
  expect(rows.map(({ user, gpu_hours_idle: idle, gpu_hours_lost: gone, gpu_hours_queueable: whole, price }) => [user, idle, gone, whole, price])).toEqual([
    [undefined, 5, 0, 0, 10],
    ['ada', 3, 0.5, 2, 7],
  ])
  expect(rows[1]?.died).toEqual([{ job: 'train', job_id: 'train00000000000', runs: 2, gpu_hours_lost: 0.5 }])
})

test('a Slurm job is named by its number too', () => {
  const { last, ...row } = job('train', 'ada', { gpu_seconds: { active: 3_600, idle: 0, lost: 1_800 }, outcomes: { failed: 1 } })
  const { rows } = wasteOf([held('ada', 3, 7)], [{ ...row, last: { ...last, slurm_job: '4711' } }], NONE, ABOUT)
  expect(rows[0]?.died).toEqual([{ job: 'train', job_id: 'train00000000000', slurm_job: '4711', runs: 1, gpu_hours_lost: 0.5 }])
})

test('by Slurm account, of its own runs alone', () => {
  const of = (account: string, lost: number): JobRow => {
    const { last, ...row } = job(`job-${account}`, 'ada', { gpu_seconds: { active: 3_600, idle: 0, lost }, outcomes: { failed: 1 } })
    return { ...row, last: { ...last, account } }
  }
  const { rows } = wasteOf([held('physics', 3, 7), held('biology', 1, 7)], [of('physics', 1_800), of('biology', 7_200)], NONE, ABOUT, 'account')
  expect(rows.map(({ user, account, gpu_hours_idle: idle, gpu_hours_lost: lost }) => [user, account, idle, lost])).toEqual([
    [undefined, 'physics', 3, 0.5],
    [undefined, 'biology', 1, 2],
  ])
})

test('jobs that asked for much more than they used', () => {
  const jobs = [
    job('four', 'ada', { gpus: [gpu(900, 60)], gpus_requested: 4 }),
    job('small', 'ada', { gpus: [gpu(7_000, 8)] }),
    job('fitting', 'ada', { gpus: [gpu(7_000, 60)], gpus_requested: 1 }),
  ]
  expect(wasteOf([held('ada', 0, 10)], jobs, NONE, ABOUT).rows[0]?.oversized.map(({ job: name, text }) => [name, text])).toEqual([
    ['four', 'used 1 of 4 GPUs'],
    ['small', 'at most 10 % of the GPU memory used'],
  ])
})

test('a run that has just begun does not say that its job asked for too much', () => {
  const { last, ...row } = job('restarts', 'ada', { gpus: [gpu(4, 8)] })
  const begun = { ...row, last: { ...last, gpu_seconds: { active: 4, idle: 1, lost: 0 } } }
  expect(wasteOf([held('ada', 3, 7)], [begun], NONE, ABOUT).rows[0]?.oversized).toEqual([])
})
