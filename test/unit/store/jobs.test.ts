// The store of jobs: runs survive the agent, sums by job, user and GPU, a bound, and a disk that cannot be written.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Outcome, Run, StoredRun } from '../../../agent/model/job.ts'
import { createJobStore, type JobStore } from '../../../agent/store/jobs.ts'
import { openJobFile } from '../../../agent/store/jobs/file.ts'

const T = 1_800_000_000_000
const log = { info: () => {}, warn: () => {}, error: () => {} }
const open = (directory = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-')), maxRuns?: number): JobStore =>
  createJobStore({ directory, log, ...(maxRuns === undefined ? {} : { maxRuns }) })

const stored = (job: string, run: number, outcome: Outcome | undefined, more: Partial<Run> = {}): StoredRun => ({
  key: `c:${job}`,
  roots: [{ pid: 7, startTicks: 9 }],
  row: {
    job_id: Buffer.from(job.padEnd(8)).toString('hex').slice(0, 16),
    job,
    kind: 'container',
    run,
    started_at: T + run * 1_000,
    seen_at: T + run * 1_000 + 500,
    ...(outcome === undefined ? {} : { outcome, ended_at: T + run * 1_000 + 500 }),
    gpus: [{ uuid: 'GPU-0', gpu: '0', share: 1, held_seconds: 4, active_seconds: 3, idle_seconds: 1, energy_joules: 100 }],
    gpu_seconds: { active: 3, idle: 1, lost: outcome === 'failed' ? 2 : 0 },
    energy_joules: 100,
    incidents: [],
    ...more,
  },
})

test('a run that turned out to be another job’s leaves no row behind, whether or not it was on disk', () => {
  for (const isOnDisk of [true, false]) {
    const directory = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-'))
    if (!isOnDisk) mkdirSync(join(directory, 'jobs.db'))
    const store = open(directory)
    const before = stored('0123456789ab', 1, undefined)
    store.save([before])
    store.save([{ ...stored('web', 4, undefined), former: [before.row] }])
    store.save([stored('web', 4, 'completed')])
    expect(store.list({ limit: 10 }).map(({ job, last: { run, outcome } }) => [job, run, outcome])).toEqual([['web', 4, 'completed']])
    store.close()
  }
})

test('what was saved is there after a restart, the running apart from the ended', () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-'))
  const before = open(directory)
  before.save([stored('a', 1, 'failed'), stored('a', 2, undefined), stored('b', 1, 'completed')])
  // Not closed: the agent was killed.
  const after = open(directory)
  expect(after.open()).toEqual([stored('a', 2, undefined)])
  expect(after.runs('a', 10).map(({ run, outcome }) => [run, outcome])).toEqual([
    [2, undefined],
    [1, 'failed'],
  ])
  const id = after.list({ limit: 10 })[0]?.job_id ?? ''
  expect(after.runs(id, 1)).toHaveLength(1)
  expect([after.nextRun(id), after.nextRun(id), after.nextRun('0'.repeat(16))]).toEqual([3, 4, 1])
  for (const store of [before, after]) store.close()
})

test('until: without runs that started or ended later, with those that go on', () => {
  const store = open()
  const ran = (job: string, from: number, to: number, outcome?: Outcome): StoredRun =>
    stored(job, 1, outcome, { started_at: T + from, seen_at: T + to, ...(outcome === undefined ? {} : { ended_at: T + to }) })
  store.save([ran('before', -20, -10, 'failed'), ran('in', 10, 20, 'failed'), ran('over', 10, 200, 'failed'), ran('on', 10, 200), ran('late', 150, 160)])
  const within = store.list({ since: T, until: T + 100, limit: 10 })
  expect(within.map(({ job }) => job).toSorted()).toEqual(['in', 'on'])
  store.close()
})

test('kill -9 loses no run that ended, and of the running one only what came after its last second', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-'))
  let said: readonly string[] = []
  for (let round = 0; round < 5; round++) {
    const next = said.length === 0 ? 0 : Number(said.at(-1)?.split(' ')[0]) + 1
    const child = spawn(process.execPath, [join(import.meta.dirname, 'jobs-child.ts'), directory, String(next)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [text, errors] = ['', '']
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const closed = once(child, 'close')
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        if (text.split('\n').length > 20 + round * 13) resolve()
      })
    })
    child.kill('SIGKILL')
    await closed
    expect(errors).toBe('')
    said = [...said, ...text.slice(0, text.lastIndexOf('\n')).split('\n')]
  }
  const file = openJobFile(directory)
  const kept = new Map(file.list({ limit: 100_000 }).map(({ job, last }) => [job, last]))
  file.close()
  const lost = said.filter((line) => {
    const [n = '', held = '', state] = line.split(' ')
    const run = kept.get(`job-${n}`)
    return run === undefined || run.gpu_seconds.active < Number(held) || (state === 'failed' && run.outcome !== 'failed')
  })
  expect(lost).toEqual([])
  expect(said.filter((line) => line.endsWith('failed')).length).toBeGreaterThan(20)
})

test('jobs with their sums: the running first, then the newest', () => {
  const store = open()
  store.save([stored('a', 1, 'failed'), stored('a', 2, 'completed'), stored('b', 9, 'failed', { user: 'ada' }), stored('c', 1, undefined, { user: 'ada' })])
  expect(store.list({ limit: 10 }).map(({ job }) => job)).toEqual(['c', 'b', 'a'])
  expect(store.list({ limit: 10 })[2]).toMatchObject({
    runs: 2,
    running: 0,
    outcomes: { failed: 1, completed: 1 },
    gpu_seconds: { active: 6, idle: 2, lost: 2 },
    energy_joules: 200,
    last: { run: 2, outcome: 'completed' },
  })
  expect(store.list({ since: T + 5_000, limit: 10 }).map(({ job }) => job)).toEqual(['b'])
  expect(store.groups('user', {})).toMatchObject([
    { by: 'user', runs: 2, running: 0 },
    { by: 'user', key: 'ada', runs: 2, running: 1 },
  ])
  expect(store.groups('gpu', {})).toMatchObject([{ key: '0', runs: 4, running: 1, gpu_seconds: { active: 12, idle: 4, lost: 4 }, energy_joules: 400 }])
  expect(store.groups('account', {})).toMatchObject([{ runs: 4 }])
  store.close()
})

test('the oldest that have ended go first', () => {
  const store = open(undefined, 3)
  store.save([stored('a', 1, undefined), ...[2, 3, 4, 5].map((run) => stored('a', run, 'completed'))])
  store.maintain(T)
  expect(store.runs('a', 10).map(({ run }) => run)).toEqual([5, 4, 1])
  store.close()
})

test('without a disk jobs are known all the same, and written when it is there', () => {
  const directory = join(mkdtempSync(join(tmpdir(), 'warpwatch-jobs-')), 'file')
  writeFileSync(directory, 'no directory')
  const store = open(directory)
  store.save([stored('a', 1, 'failed')])
  expect(store.list({ limit: 10 })).toMatchObject([{ job: 'a', outcomes: { failed: 1 } }])
  store.close()
})
