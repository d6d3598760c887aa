// Actions: which incidents call for them, once and not too often, without a shell and with no variable but those that were named.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { execute } from '../../../agent/actions/execute.ts'
import { fill } from '../../../agent/actions/plan.ts'
import { createActions } from '../../../agent/actions/service.ts'
import { loadConfig } from '../../../agent/config/load.ts'
import { actions as actionsField } from '../../../agent/config/sections/actions.ts'
import type { Action } from '../../../agent/model/action.ts'
import type { IncidentSummary } from '../../../agent/model/incident.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { actionsInFile, createActionStore } from '../../../agent/store/actions.ts'
import { createActionsOutput } from '../../../agent/wiring/actions.ts'
import { incident } from '../jobs/incident.ts'

const T = 1_800_000_000_000
const quiet = { info() {}, warn() {}, error() {} }
const action = (more: Partial<Action>): Action => ({
  name: 'act',
  match: { kind: ['gpu_lost'] },
  command: [],
  dryRun: false,
  cooldownMs: 0,
  perHour: 100,
  timeoutMs: 5_000,
  env: [],
  ...more,
})
const lost = (id: string, more: Partial<IncidentSummary> = {}): IncidentSummary =>
  incident({
    id,
    kind: 'gpu_lost',
    title: 'GPU 3 is lost',
    subject: { gpu: { index: 3, uuid: 'GPU-3' }, container: { name: 'train', id: 'abc' } },
    started_at: T,
    last_seen_at: T,
    ...more,
  })

function scene(actions: readonly Action[], env: Readonly<Record<string, string>> = {}) {
  const store = createActionStore({ directory: mkdtempSync(join(tmpdir(), 'warpwatch-actions-')), log: quiet })
  const sent: string[] = []
  const time = { now: T }
  const service = createActions({
    actions,
    store,
    host: 'gpu-01',
    env,
    signal(of, signal) {
      sent.push(`${signal} ${of.id}`)
      return { done: true, text: `${signal} sent to process 7` }
    },
    log: quiet,
    now: () => time.now,
  })
  return { store, sent, service, time }
}

test('an incident that fires is acted upon once, one that is silenced or a consequence never', () => {
  const { service, sent, store } = scene([action({ signal: 'SIGUSR1' })])
  for (let again = 0; again < 3; again++) service.incident(lost('a'))
  service.incident(lost('b', { status: 'pending' }))
  service.incident(lost('c', { silenced: { id: 's', until: T + 1 } }))
  service.incident(lost('d', { part_of: { id: 'a', kind: 'xid' } }))
  service.incident(lost('e', { kind: 'memory_leak' }))
  expect(sent).toEqual(['SIGUSR1 a'])
  expect(store.of('a')).toEqual([{ action: 'act', at: T, state: 'done', text: 'SIGUSR1 sent to process 7' }])
  store.close()
})

test('cooldown and the limit of an hour are kept, and the incident says why nothing was done', () => {
  const { service, sent, store, time } = scene([action({ signal: 'SIGUSR1', cooldownMs: 60_000, perHour: 2 })])
  service.incident(lost('a'))
  time.now = T + 30_000
  service.incident(lost('b'))
  time.now = T + 90_000
  service.incident(lost('c'))
  time.now = T + 300_000
  service.incident(lost('d'))
  time.now = T + 3_700_000
  service.incident(lost('e'))
  expect(sent.map((one) => one.at(-1))).toEqual(['a', 'c', 'e'])
  expect([store.of('b')[0]?.text, store.of('d')[0]?.text]).toEqual([
    'not done: it was done 30 s ago, which is within its cooldown',
    'not done: it was done 2 times within the last hour, which is its limit',
  ])
  store.close()
})

test('a dry run says what it would do', () => {
  const { service, sent, store } = scene([action({ command: ['/usr/bin/drain', '{host}', '{gpu}'], dryRun: true })])
  service.incident(lost('a'))
  expect(sent).toEqual([])
  expect(store.of('a')[0]).toMatchObject({ state: 'dry_run', text: 'would do: /usr/bin/drain gpu-01 3' })
  store.close()
})

test('a command gets its incident and the variables that were named, no others', async () => {
  const { service, store } = scene([action({ command: ['/usr/bin/env'], env: ['WANTED', 'ABSENT'] })], { WANTED: 'yes', HF_TOKEN: 'hunter2', HOME: '/root' })
  service.incident(lost('a'))
  await service.settled()
  const [result] = store.of('a')
  expect(result).toMatchObject({ state: 'done', exit_code: 0 })
  const names = (result?.output ?? '').split('\n').map((line) => line.slice(0, line.indexOf('=')))
  expect(names.filter((name) => !name.startsWith('WARPWATCH_')).toSorted()).toEqual(['LC_ALL', 'PATH', 'WANTED'])
  expect(result?.output).toContain('WARPWATCH_CONTAINER=train')
  store.close()
})

test('no shell reads the arguments, and no name passes for an option', () => {
  expect(fill(['/bin/echo', '$(id)', 'a {container};b', '{unknown}'], lost('a'), 'h')).toEqual({ argv: ['/bin/echo', '$(id)', 'a train;b', '{unknown}'] })
  expect(fill(['/bin/kill', '{pid}'], lost('a'), 'h')).toEqual({ missing: 'pid' })
  expect(fill(['/bin/rm', '{container}'], lost('a', { subject: { container: { name: '-rf' } } }), 'h')).toEqual({ missing: 'container' })
})

test('a command that hangs is ended with all that it started', async () => {
  const script = 'trap "" TERM; sleep 600 & echo $!; wait; sleep 600'
  const found = await execute({ argv: ['/bin/sh', '-c', script], env: {}, timeoutMs: 150, graceMs: 150 })
  expect(found).toMatchObject({ state: 'timeout', text: 'ended after 150 ms' })
  const child = Number(found.output)
  expect(child).toBeGreaterThan(1)
  // Gone, or dead and not yet reaped by the host's first process.
  const state = () => /\) (\w) /.exec(existsSync(`/proc/${child}/stat`) ? readFileSync(`/proc/${child}/stat`, 'latin1') : ') X ')?.[1]
  await expect.poll(state).toMatch(/[XZ]/)
})

test.each([
  ['a program that is not there', ['/nonexistent/x'], 'failed', /ENOENT/],
  ['a program that fails', ['/bin/false'], 'failed', /exit code 1/],
  ['one that is killed', ['/bin/sh', '-c', 'kill -9 $$'], 'failed', /SIGKILL/],
] as const)('%s', async (_, argv, state, text) => {
  const found = await execute({ argv, env: {}, timeoutMs: 5_000 })
  expect(found.state).toBe(state)
  expect(found.text).toMatch(text)
})

test('after a start, what fires and was begun is not done again; what is old is left alone', () => {
  const { service, sent, store } = scene([action({ signal: 'SIGUSR1' })])
  store.claim('a', { action: 'act', at: T - 5_000, state: 'started', text: 'SIGUSR1 to the job' })
  service.recover([lost('a'), lost('b'), lost('c', { started_at: T - 3_600_000 })])
  expect(sent).toEqual(['SIGUSR1 b'])
  expect(store.of('a')[0]?.state).toBe('interrupted')
  store.close()
})

test.each([
  ['no list', 'x', /list of actions/],
  ['neither', [{ name: 'a', match: { kind: 'gpu_lost' } }], /either command or signal/],
  ['both', [{ name: 'a', match: { kind: 'gpu_lost' }, command: ['/bin/a'], signal: 'SIGHUP' }], /either command or signal/],
  ['a relative program', [{ name: 'a', match: { kind: 'gpu_lost' }, command: ['a'] }], /absolute path/],
  ['a shell string', [{ name: 'a', match: { kind: 'gpu_lost' }, command: 'reboot' }], /list of a program/],
  ['every incident', [{ name: 'a', match: {}, command: ['/bin/a'] }], /at least the kind/],
  ['an unknown kind', [{ name: 'a', match: { kind: 'gpu_lots' }, command: ['/bin/a'] }], /nearest valid one is gpu_lost/],
  ['runs', [{ name: 'a', match: { outcome: 'failed' }, command: ['/bin/a'] }], /no action/],
  ['an unknown signal', [{ name: 'a', match: { kind: 'gpu_lost' }, signal: 'SIGSEGV' }], /one of SIGUSR1/],
  ['two of one name', [1, 2].map(() => ({ name: 'a', match: { kind: 'gpu_lost' }, signal: 'SIGHUP' })), /two actions called a/],
] as const)('the configuration refuses %s', (_, value, text) => {
  const found = actionsField.read?.(value)
  expect(JSON.stringify(found)).toMatch(text)
  expect(found).toHaveProperty('problems')
})

test('with a simulated host an action is only said, whatever is configured', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-actions-'))
  const env = { WARPWATCH_DATA_DIR: folder, WARPWATCH_SIMULATE__SCENARIO: 'healthy' }
  const { config } = await loadConfig({ env, cwd: folder })
  const made = join(folder, 'made')
  const present = { latest: createLatestStore() }
  const configured = { ...config, actions: [action({ command: ['/usr/bin/touch', made] })] }
  const output = createActionsOutput({ config: configured, present, log: quiet })
  output.start([], { roots: () => [] })
  output.incident(lost('a'))
  expect(output.of('a')).toMatchObject([{ state: 'dry_run' }])
  await output.stop()
  expect(existsSync(made)).toBe(false)
})

test('what was done can be read while no agent runs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-actions-'))
  const store = createActionStore({ directory, log: quiet })
  store.claim('a', { action: 'act', at: T, state: 'done', text: 'SIGUSR1 sent to process 7' })
  store.close()
  expect(actionsInFile(directory, 'a')).toMatchObject([{ action: 'act', state: 'done' }])
  expect(actionsInFile(directory, 'b')).toEqual([])
})
