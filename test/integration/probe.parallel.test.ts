// The probe in real containers with their own network and pid namespaces, through the mounted directory and without any mount, and an agent that comes and goes.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { h100, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'

const PYTHON = '/usr/bin/python3'
const missing = dockerMissing ?? (existsSync(PYTHON) ? undefined : 'needs python3')
const here = import.meta.dirname
const GIB = 2 ** 30
/** What the stand-in for torch says that its device is. */
const UUID = 'GPU-00000000-1111-2222-3333-000000000000'

const incidents = z.array(
  z.looseObject({
    kind: z.string(),
    status: z.string(),
    count: z.number(),
    subject: z.looseObject({ container: z.looseObject({ name: z.string() }).optional() }),
  }),
)
const rows = z.array(
  z.looseObject({ pid: z.number(), container: z.string().optional(), uuid: z.string(), reserved_bytes: z.number(), headroom_bytes: z.number() }),
)

type Job = { readonly name: string; readonly id: string; readonly pid: number; readonly folder: string; readonly tmp: string }

describe.skipIf(missing !== undefined)(`probes in containers${missing === undefined ? '' : `; ${missing}`}`, () => {
  let docker: TestDocker
  let home = ''
  let agent: RunningAgent | undefined
  const jobs: Job[] = []

  const startJob = async (name: string, mounted: boolean): Promise<Job> => {
    const [folder, tmp] = [join(home, name), join(home, `${name}-tmp`)]
    for (const path of [folder, tmp]) mkdirSync(path)
    chmodSync(tmp, 0o1777)
    const Binds = [
      ...['/usr', '/lib', '/lib64'].map((path) => `${path}:${path}:ro`),
      `${join(here, '../../probe/python')}:/probe:ro`,
      `${join(here, '../probe/standin')}:/standin:ro`,
      `${join(here, 'probe-job.py')}:/job.py:ro`,
      `${folder}:/job`,
      `${tmp}:/tmp`,
      ...(mounted ? [`${join(home, 'run')}:/run/warpwatch`] : []),
    ]
    // Two lines of a compose file: the folder that switches the probe on, and (for one of them) the mount of the socket's directory.
    const env = ['PYTHONPATH=/probe/sitecustomize:/probe:/standin', 'PYTHONDONTWRITEBYTECODE=1', 'WARPWATCH_PROBE=1']
    const id = await docker.run({ name, command: [PYTHON, '/job.py', '/job'], env, host: { Binds } })
    await poll(() => existsSync(join(folder, 'start-done')), {
      what: () => `${name} to start`,
      deadlineMs: 20_000,
    }).catch(async (error: unknown) => {
      const log = await docker.call('GET', `/containers/${id}/logs?stdout=1&stderr=1`)
      throw new Error(`${name}: ${log.body}`, { cause: error })
    })
    const job = { name, id, pid: await docker.inspectPid(id), folder, tmp }
    jobs.push(job)
    return job
  }
  const ask = (job: Job, what: string): void => writeFileSync(join(job.folder, what), '')
  const done = async (job: Job, what: string): Promise<string> => {
    const path = join(job.folder, `${what}-done`)
    await poll(() => existsSync(path), { what: `${job.name} to do: ${what}`, deadlineMs: 20_000 })
    const text = readFileSync(path, 'utf8')
    rmSync(path)
    return text
  }
  const host = (): FakeScenario => {
    const processes = jobs.map(({ pid }) => ({ pid, bytes: 9 * GIB, type: 'C' as const }))
    return { values: { driver: '580.95.05' }, gpus: [h100(0, { uuid: UUID, mem_used: 20 * GIB }, processes)] }
  }
  const start = async (): Promise<RunningAgent> => {
    agent = await startAgent({
      scenario: host(),
      dataDir: join(home, 'data'),
      env: {
        WARPWATCH_CONTAINERS__ENGINES: docker.socketPath,
        WARPWATCH_ALLOCATOR__ENABLED: 'true',
        WARPWATCH_ALLOCATOR__SOCKET: join(home, 'run/probe.sock'),
      },
    })
    return agent
  }
  const allocators = async () => rows.parse(await agent?.json('/api/v1/allocators'))
  const ooms = async (): Promise<number> => (await agent?.metrics())?.value('warpwatch_agent_events_total', { type: 'allocator_oom' }) ?? 0
  const heard = (names: readonly string[]) =>
    poll(
      async () => {
        const found = await allocators()
        return names.every((name) => found.some(({ container }) => container === name)) && found
      },
      { what: () => `rows of ${names.join(', ')}; the agent said: ${agent?.stderr() ?? ''}`, deadlineMs: 30_000, everyMs: 200 },
    )

  beforeAll(async () => {
    docker = await startDocker()
    home = mkdtempSync(join(tmpdir(), 'ww-'))
    mkdirSync(join(home, 'run'))
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await docker?.close()
    rmSync(home, { recursive: true, force: true })
  })

  test('are heard through the mount and without it; an agent that is killed and comes back has lost no OOM', async () => {
    const [mounted, bare] = [await startJob('mounted', true), await startJob('bare', false)]
    await start()
    const found = await heard(['mounted', 'bare'])
    expect(found).toHaveLength(2)
    for (const job of [mounted, bare])
      expect(found.find(({ container }) => container === job.name)).toMatchObject({
        pid: job.pid,
        uuid: UUID,
        gpu: '0',
        container_id: job.id.slice(0, 12),
        allocated_bytes: 4 * GIB,
        reserved_bytes: 8 * GIB,
        unreleasable_bytes: 8 * GIB,
      })
    // Through the mount there is no socket of its own, without it there is one.
    expect(readdirSync(mounted.tmp)).toEqual([])
    expect(readdirSync(bare.tmp)).toHaveLength(1)

    for (const job of [mounted, bare]) {
      ask(job, 'oom')
      await done(job, 'oom')
    }
    await poll(async () => (await ooms()) === 2, { what: 'both OOMs', everyMs: 100 })

    // Nobody listens while both run out of memory again.
    await agent?.kill()
    for (const job of [mounted, bare]) {
      ask(job, 'oom')
      await done(job, 'oom')
    }
    await start()
    await heard(['mounted', 'bare'])
    await poll(async () => (await ooms()) >= 2, { what: 'the OOMs that nobody heard', everyMs: 100, deadlineMs: 20_000 })
    const page = await agent?.metrics()
    expect(page?.value('warpwatch_allocator_ooms_total', { container: 'mounted' })).toBe(2)
    expect(page?.value('warpwatch_allocator_ooms_total', { container: 'bare' })).toBe(2)
    expect(page?.samples.filter(({ name, value }) => name === 'warpwatch_agent_probe_refusals_total' && value > 0)).toEqual([])
  })

  test('a forked child has neither thread nor connection, and its parent goes on', async () => {
    const [mounted] = jobs
    if (mounted === undefined) throw new Error('expected the job of the test before')
    ask(mounted, 'fork')
    expect(await done(mounted, 'child')).toBe('1 0')
    await done(mounted, 'fork')
    const page = await agent?.metrics()
    expect(page?.value('warpwatch_agent_probe_connections')).toBe(2)
    await heard(['mounted'])
  })

  test('a crash is one incident that counts once, though log, probe and exception tell of it; no file is left', async () => {
    const job = await startJob('crashing', false)
    agent?.tell(host())
    await heard(['crashing'])
    ask(job, 'crash')
    const its = async () => incidents.parse(await agent?.json('/api/v1/incidents')).filter(({ subject }) => subject.container?.name === 'crashing')
    // All three speak, each when it can: the engine's log, the allocator's observer and the exception.
    const ended = async () => {
      const found = await its()
      const said = JSON.stringify(found)
      return said.includes('exit_code') && said.includes('Traceback') ? found : undefined
    }
    const found = await poll(ended, { what: 'the incident, with the exception and the end of the container', everyMs: 100, deadlineMs: 20_000 })
    expect(found.map(({ kind, status, count }) => ({ kind, status, count }))).toEqual([{ kind: 'cuda_oom', status: 'firing', count: 1 }])
    await poll(async () => (await allocators()).every(({ container }) => container !== 'crashing'), { what: 'its row to be gone', everyMs: 200 })
    await poll(() => readdirSync(job.tmp).length === 0, { what: 'its socket to be gone' })
  })

  test('killed processes leave the metrics, their connections are gone', async () => {
    const [mounted] = jobs
    if (mounted === undefined) throw new Error('expected the job of the first test')
    for (const { id } of jobs) await docker.call('POST', `/containers/${id}/kill?signal=KILL`)
    await poll(async () => (await allocators()).length === 0, { what: 'no row', everyMs: 200 })
    await poll(async () => (await agent?.metrics())?.value('warpwatch_agent_probe_connections') === 0, {
      what: 'no connection',
      everyMs: 200,
      deadlineMs: 15_000,
    })
    expect(readdirSync(mounted.tmp)).toEqual([])
    await agent?.terminate()
    expect(readdirSync(join(home, 'run'))).toEqual([])
  })
})
