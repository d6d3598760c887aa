// Two jobs on one card, a process killed while its memory stays, a GPU that idles: real Docker containers, the fake NVML's process list, the whole agent.
// Long: about 60 s.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { fakeUuid, h100, type FakeProcess, type FakeScenario, type Values } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { watchIncidents, type WatchedIncident } from '../setup/incident-watch.ts'
import { poll } from '../setup/poll.ts'

const GIB = 1024 ** 3
const missing = dockerMissing ?? (compiler === undefined ? 'needs a C compiler' : undefined)
/** What takes minutes by default takes seconds here. */
const CONFIG = `detectors:
  unattributed-memory: { for_minutes: 0.05, clear_seconds: 2 }
  idle-gpu-held: { for_minutes: 0.1 }
  shared-gpu: { for_minutes: 0, clear_seconds: 2 }
  unused-gpu: { for_minutes: 0.2 }
`
const KINDS = new Set(['unattributed_memory', 'idle_gpu_held', 'shared_gpu', 'unused_gpu'])

const card = (index: number, util: number, usedGib: number, processes: readonly FakeProcess[], more: Values = {}) =>
  h100(index, { util, util_mem: util / 2, mem_used: usedGib * GIB, ...more }, processes)

describe.skipIf(missing !== undefined)(`who uses which GPU${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent
  let incidents: ReturnType<typeof watchIncidents>
  let ids: readonly string[]
  let pids: readonly number[]
  /** Nodes as the driver makes them (major 195), though no driver is behind them: what a container was given shows by them. */
  const nodes = mkdtempSync(join(tmpdir(), 'warpwatch-nodes-'))
  const given = (...minors: readonly number[]) => ({
    Devices: minors.map((minor) => ({ PathOnHost: join(nodes, `nvidia${minor}`), PathInContainer: `/dev/nvidia${minor}`, CgroupPermissions: 'rwm' })),
  })
  const host = (...gpus: FakeScenario['gpus']): FakeScenario => ({ values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 }, gpus })
  const pid = (index: number): number => pids[index] ?? 0
  const shared = (): FakeScenario =>
    host(
      card(0, 95, 30, [
        { pid: pid(0), bytes: 19 * GIB },
        { pid: pid(1), bytes: 10.5 * GIB },
      ]),
      card(1, 0, 0.1, []),
    )
  /** The first job is gone, its memory is not. */
  const left = (): FakeScenario => host(card(0, 60, 30, [{ pid: pid(1), bytes: 10.5 * GIB }]), card(1, 0, 0.1, []))

  beforeAll(async () => {
    docker = await startDocker()
    for (const minor of [0, 1]) execFileSync('mknod', [join(nodes, `nvidia${minor}`), 'c', '195', String(minor)])
    const start = (name: string, ...minors: readonly number[]) => docker.run({ name, command: ['sleep', '6000'], host: given(...minors) })
    ids = await Promise.all([start('job-a', 0), start('job-b', 0, 1), start('spare', 1)])
    pids = await Promise.all(ids.map((id) => docker.inspectPid(id)))
    agent = await startAgent({
      scenario: shared(),
      config: CONFIG,
      env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath },
    })
    incidents = watchIncidents(agent, KINDS)
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await docker?.close()
    rmSync(nodes, { recursive: true, force: true })
  })

  const find = async (what: string, holds: (reported: WatchedIncident) => boolean): Promise<WatchedIncident> => {
    const found = (await incidents.reached(what, (all) => all.some(holds))).find(holds)
    if (found === undefined) throw new Error(`expected ${what}, came none`)
    return found
  }
  const firing = (kind: string) => find(`${kind} to fire`, (reported) => reported.kind === kind && reported.status === 'firing')
  const resolved = (id: string) => find(`${id} to resolve`, (reported) => reported.id === id && reported.status === 'resolved')

  test('two jobs on one card while the other stands empty: told with the names of both containers', async () => {
    // A notice until it is known what each container was given.
    const reported = await find(
      'shared_gpu to warn, with what the containers were given',
      ({ kind, status, severity, verdict }) =>
        kind === 'shared_gpu' &&
        status === 'firing' &&
        severity === 'warning' &&
        verdict.includes('container job-a') &&
        verdict.includes('which one of them was given as well'),
    )
    expect(reported).toMatchObject({
      subject: { gpu: { index: 0, uuid: fakeUuid(0) } },
      facts: { gpus: ['0'], idle_gpus: ['1'], jobs: ['container job-a', 'container job-b'] },
    })
    expect(reported.verdict).toContain(`process sleep (${pid(0)}) of container job-a (19 GiB)`)
  })

  test('a container that was given a GPU and uses none, while the GPU stands empty: told with its name', async () => {
    expect(await firing('unused_gpu')).toMatchObject({
      severity: 'info',
      title: 'Container spare was given GPU 1 and uses none',
      subject: { gpu: { index: 1, uuid: fakeUuid(1) }, container: { name: 'spare' } },
      facts: { gpus: ['1'] },
    })
  })

  test('a process that is killed while its memory stays: told with the name of who left it, and the shared card is over', async () => {
    const pair = await firing('shared_gpu')
    await docker.call('POST', `/containers/${ids[0]}/kill`)
    agent.tell(left())
    const reported = await firing('unattributed_memory')
    expect(reported).toMatchObject({
      severity: 'warning',
      subject: { gpu: { index: 0, uuid: fakeUuid(0) } },
      facts: { pattern: 'held_by_nobody', left_by: `process sleep (${pid(0)}) of container job-a` },
    })
    expect(reported.facts.unattributed_bytes).toBeCloseTo(19.5 * GIB, -8)
    expect((await resolved(pair.id)).subject.gpu?.index).toBe(0)
  })

  test('a GPU that falls silent heals nothing; memory that is given back does', async () => {
    const { id } = await firing('unattributed_memory')
    agent.tell(host(card(0, 60, 30, [], { lost: 1 }), card(1, 0, 0.1, [])))
    await poll(async () => (await agent.metrics()).value('warpwatch_gpu_memory_unattributed_bytes', { gpu: '0' }) === undefined, { what: 'silence' })
    const from = Date.now()
    await poll(async () => Date.now() - from > 15_000 && (await agent.get('/healthz')).status === 200, {
      what: 'three looks',
      deadlineMs: 30_000,
      everyMs: 250,
    })
    expect((await incidents.all()).find((reported) => reported.id === id)?.status).toBe('firing')
    agent.tell(host(card(0, 60, 10.6, [{ pid: pid(1), bytes: 10.5 * GIB }]), card(1, 0, 0.1, [])))
    expect((await resolved(id)).count).toBeGreaterThan(0)
  })

  test('a GPU that is held and idle: told with the container, over with the first work', async () => {
    agent.tell(host(card(0, 0, 10.6, [{ pid: pid(1), bytes: 10.5 * GIB }]), card(1, 0, 0.1, [])))
    const reported = await find('the idle GPU 0', ({ kind, status, subject }) => kind === 'idle_gpu_held' && status === 'firing' && subject.gpu?.index === 0)
    expect(reported).toMatchObject({
      severity: 'info',
      subject: { gpu: { index: 0, uuid: fakeUuid(0) }, container: { name: 'job-b' }, process: { pid: pid(1) } },
      facts: { pattern: 'held_without_work', process_bytes: 10.5 * GIB },
    })
    agent.tell(host(card(0, 3, 10.6, [{ pid: pid(1), bytes: 10.5 * GIB }]), card(1, 0, 0.1, [])))
    expect((await resolved(reported.id)).resolved_at).toBeGreaterThan(reported.started_at)
  })
})
