// Runs that ended: who hears of them, once over restarts, never together with incidents, and what each type of receiver is sent.
import { expect, test } from 'vitest'
import type { Route } from '../../../agent/model/alert-settings.ts'
import type { Outcome, Run } from '../../../agent/model/job.ts'
import type { RunMessage } from '../../../agent/model/notification.ts'
import { createOutbox, type Outbox } from '../../../agent/store/outbox.ts'
import { routeDefaults } from '../../../agent/config/sections/routes.ts'
import { buildNotifier, type BuiltNotifier } from '../../../alerts/build.ts'
import { createFinishedRuns, type FinishedRuns } from '../../../alerts/finished-runs.ts'
import { plainRuns } from '../../../alerts/messages/run-text.ts'
import { asOutgoing, DAY, folder, HOUR, incident, kept, MINUTE, T } from '../../setup/alert-scene.ts'

const GIB = 2 ** 30
const run = (more: Partial<Run> = {}): Run => ({
  job_id: '0123456789abcdef',
  job: 'train-7',
  kind: 'container',
  container: 'train-7',
  user: 'ada',
  run: 3,
  started_at: T - 2 * HOUR - 5 * MINUTE,
  saved_at: T - 30 * MINUTE,
  ended_at: T,
  seen_at: T,
  outcome: 'out_of_memory',
  reason: 'The kernel killed it: its memory limit of 64 GiB was reached',
  exit_code: 137,
  signal: 'SIGKILL',
  gpus: [0, 1, 2, 3].map((gpu) => ({ uuid: `GPU-${gpu}`, gpu: `${gpu}`, share: 1, held_seconds: 7_500 })),
  gpu_seconds: { active: 20_000, idle: 10_000, lost: 7_200 },
  energy_joules: 9e6,
  memory_peak_bytes: 64 * GIB,
  gpu_memory_peak_bytes: 70 * GIB,
  incidents: [{ id: 'aaaaaaaaaaaaaaaa', kind: 'host_memory', title: 'Host OOM killer killed a process in train-7' }],
  ...more,
})
const common = { timeout_ms: 1_000, max_messages_per_minute: 20, expire_ms: DAY, ca_file: '' }
const built = (type: string, options: object): Promise<BuiltNotifier> =>
  buildNotifier({ name: type, type, shown: {}, options: { name: type, type, ...common, ...options } })
const webhook = () => built('webhook', { url: 'http://ops/', secret: 's', headers: {} })
const alertmanager = () => built('alertmanager', { url: 'http://am/', username: '', password: '', token: '', labels: {}, heartbeat: false })
const slack = () => built('slack', { url: 'https://hooks.slack.com/x', token: '', channel: '', api: 'https://slack.com/api', compatible: false })
const template = (body: string) =>
  built('template', { url: 'http://t/', method: 'POST', headers: {}, content_type: 'application/json', body, secrets: {}, max_items: 20 })
const route = (match: Route['match'], more: Partial<Route> = {}): Route => ({ ...routeDefaults, to: ['webhook'], match, ...more })

type Scene = { readonly outbox: Outbox; readonly runs: FinishedRuns }
async function scene(routes: readonly Route[], directory = folder()): Promise<Scene> {
  const outbox = createOutbox({ directory, log: kept().log, now: () => T })
  const notifiers = [await webhook(), await alertmanager()]
  return { outbox, runs: createFinishedRuns({ routes, notifiers, outbox, delivery: { wake: () => {} }, now: () => T }) }
}
const LATER = T + MINUTE
const formed = ({ outbox }: Scene, key: string, anyGroup = false) =>
  outbox.form({ notifier: 'webhook', key, now: LATER, most: 9, anyGroup }) ? outbox.load(key) : undefined
const message = (...runs: readonly Run[]): RunMessage => ({ key: 'k', t: T, host: 'gpu-01', local_url: 'http://127.0.0.1:9839', runs })

test.each<[string, Route['match'], Partial<Run>, boolean]>([
  ['its outcome', { outcome: ['failed', 'out_of_memory'] }, {}, true],
  ['another outcome', { outcome: ['failed'] }, {}, false],
  ['any outcome', { outcome: ['*'] }, { outcome: 'completed' }, true],
  ['the name of its job', { outcome: ['*'], job: ['train-*'] }, {}, true],
  ['another job', { outcome: ['*'], job: ['serve-*'] }, {}, false],
  ['who started it', { outcome: ['*'], user: ['bob', 'ada'] }, {}, true],
  ['what is not known of it', { outcome: ['*'], namespace: ['*'] }, {}, false],
  ['incidents', { severity: ['critical'] }, {}, false],
  ['all incidents', {}, {}, false],
])('a route that asks for %s', async (_name, match, more, gets) => {
  const it = await scene([route(match)])
  it.runs.ended(run(more))
  expect(formed(it, 'k')?.runs?.length).toBe(gets ? 1 : undefined)
})

test('each run is sent once: when more is known of it, after a restart, and when exec asks for it too', async () => {
  const directory = folder()
  const first = await scene([route({ outcome: ['*'] })], directory)
  first.runs.ended(run({ outcome: 'failed', reason: 'It ended with exit code 1' }))
  first.runs.ended(run())
  expect(first.runs.send(run(), 'webhook')).toBeUndefined()
  first.outbox.close()
  const second = await scene([route({ outcome: ['*'] })], directory)
  // The run was open in the store of the agent that was killed: it ends again, and nobody knows how.
  second.runs.ended(run({ outcome: 'unknown', reason: 'It ended while the agent did not run' }))
  expect(formed(second, 'k')?.runs).toMatchObject([{ run: 3, outcome: 'out_of_memory' }])
  expect(formed(second, 'k2')).toBeUndefined()
  second.outbox.delivered('webhook', 'k', T, undefined)
  second.runs.ended(run())
  second.runs.ended(run({ run: 4 }))
  expect(formed(second, 'k3')?.runs).toMatchObject([{ run: 4 }])
})

test('a run waits for what explains it, and never shares a message with incidents', async () => {
  const it = await scene([route({ outcome: ['*'] })])
  it.runs.ended(run())
  expect(it.outbox.nextDue('webhook', T)).toBe(T + 3_000)
  it.outbox.put(asOutgoing(incident('a')), [{ notifier: 'webhook', group: 'g', event: 'firing', reason: 'new', dueAt: T }], T)
  it.runs.ended(run({ run: 4, outcome: 'completed' }))
  expect(formed(it, 'k1', true)).toMatchObject({ items: [{ event: 'firing' }] })
  expect(it.outbox.load('k1')?.runs).toBeUndefined()
  expect(formed(it, 'k2', true)).toMatchObject({ items: [], runs: [{ run: 3 }, { run: 4 }] })
})

test('exec names a notifier: one that is there gets the run without a route, else it is said why not', async () => {
  const it = await scene([])
  it.runs.ended(run())
  expect(formed(it, 'k')).toBeUndefined()
  expect(it.runs.send(run(), 'alertmanager')).toBe('the notifier alertmanager is of type alertmanager, which takes incidents only')
  expect(it.runs.send(run(), 'webhok')).toBe('no notifier is called webhok; there are webhook')
  expect(it.runs.send(run(), 'webhook')).toBeUndefined()
  expect(formed(it, 'k')?.runs).toHaveLength(1)
})

test('a message says what became of the run, why, how long it took, what it used and lost, and where its report is', () => {
  expect(plainRuns(message(run())).split('\n')).toEqual([
    'train-7 ran out of memory after 2 h 5 min on gpu-01',
    'Why: The kernel killed it: its memory limit of 64 GiB was reached',
    'Outcome: out of memory, exit code 137, SIGKILL',
    'Job: train-7, run 3, of ada, on gpu-01',
    'When: 2026-11-22 00:55:00 UTC to 2026-11-22 03:00:00 UTC, 2 h 5 min',
    'GPUs: 0–3: 5.6 GPU hours with work, 2.8 GPU hours without',
    'Peak memory: 70.0 GiB on GPUs, 64.0 GiB on the host',
    'Energy: 2.50 kWh',
    'Lost: 2.0 GPU hours, since the last saved state',
    'Incidents: Host OOM killer killed a process in train-7 (aaaaaaaaaaaaaaaa)',
    'Report: on gpu-01: warpwatch jobs 0123456789abcdef --markdown',
  ])
  const many = plainRuns(message(run({ outcome: 'completed', job: 'a', reason: 'It ended with exit code 0' }), run({ job: 'b' })))
  expect(many.split('\n').map((line) => line.split(' after')[0])).toEqual(['gpu-01: 2 runs ended, 1 of them badly', '• b ran out of memory', '• a completed'])
})

test.each<Outcome>(['completed', 'failed', 'killed', 'cancelled', 'out_of_memory', 'time_limit', 'preempted', 'lost_gpu', 'unknown'])(
  '%s of a run of which nothing else is known has no empty line',
  (outcome) => {
    const {
      user: _user,
      energy_joules: _energy,
      memory_peak_bytes: _memory,
      gpu_memory_peak_bytes: _gpuMemory,
      exit_code: _code,
      signal: _signal,
      ...rest
    } = run()
    const text = plainRuns(message({ ...rest, outcome, gpus: [], incidents: [], gpu_seconds: { active: 0, idle: 0, lost: 0 } }))
    expect(text).not.toMatch(/undefined|NaN|: *$/m)
    expect(text.split('\n')).toHaveLength(6)
  },
)

test('each type of receiver gets it in its own form; Alertmanager gets none', async () => {
  const hook = (await webhook()).notifier.finished?.(message(run(), run({ run: 4 })))
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({
    version: 1,
    event: 'finished',
    host: 'gpu-01',
    run: { run: 3, outcome: 'out_of_memory' },
    count: 2,
    others: [{ run: 4 }],
  })
  expect(hook?.headers['X-Warpwatch-Signature']).toMatch(/^sha256=[0-9a-f]{64}$/)
  const hostile = run({ job: '<!channel> *x*', reason: '<@U1> "quoted" [a](http://evil.example)' })
  const blocks = (await slack()).notifier.finished?.(message(hostile))?.body ?? ''
  expect(JSON.parse(blocks)).toMatchObject({ blocks: [{ type: 'header' }, { type: 'section' }] })
  expect(blocks).not.toContain('<!channel>')
  expect(blocks).not.toContain('<@U1>')
  const own = await template(
    '{"e":"{{ event }}","s":"{{ severity }}","h":"{{ headline }}","t":"{{ message | plain: 400 }}","i":[{% for i in items %}"{{ i.run.outcome }} {{ i.verdict }}"{% endfor %}]}',
  )
  expect(JSON.parse(own.notifier.finished?.(message(hostile))?.body ?? '')).toMatchObject({
    e: 'finished',
    s: 'warning',
    i: [`out_of_memory ${hostile.reason ?? ''}`],
  })
  expect((await alertmanager()).notifier.finished).toBeUndefined()
})
