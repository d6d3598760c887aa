// Jobs that stop in real containers, each with a Python of another release: noticed by the container's output, looked at from outside, and not harmed.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { findPythons } from '../setup/pythons.ts'
import { rounds } from '../setup/rounds.ts'
import { fuseUnavailable } from '../setup/silent-fuse.ts'

const PROGRAM = join(import.meta.dirname, '../fakes/hang/job.py')
const lineOf = (mark: string): number =>
  readFileSync(PROGRAM, 'utf8')
    .split('\n')
    .findIndex((line) => line.endsWith(`# ${mark}`)) + 1
const PAUSE_SECONDS = rounds({ full: 20, quick: 13 })
const DEADLINE_MS = 180_000
/** What a container needs to mount a file system of its own. */
const FUSE = {
  CapAdd: ['SYS_ADMIN'],
  Devices: [{ PathOnHost: '/dev/fuse', PathInContainer: '/dev/fuse', CgroupPermissions: 'rwm' }],
  SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
}

const nameOf = (way: string): string => `job-${way.replaceAll('_', '-')}`
const listed = z.array(z.looseObject({ id: z.string(), kind: z.string() }))
const whole = z.looseObject({
  id: z.string(),
  status: z.string(),
  facts: z.looseObject({
    job: z.string(),
    stands_at: z.optional(z.array(z.string())),
    culprit_ranks: z.optional(z.array(z.string())),
    ranks: z.array(z.looseObject({ rank: z.number(), pid: z.optional(z.number()), waits_for: z.optional(z.string()), container: z.optional(z.string()) })),
  }),
})
type Incident = z.infer<typeof whole>
const inspected = z.looseObject({ State: z.looseObject({ Status: z.string(), Pid: z.number() }) })

type Hang = readonly [way: string, waits: string, mark: string | undefined, rank: number]
const QUICK: readonly Hang[] = [
  ['lock', 'a lock', 'lock', 0],
  ['terminal', 'input from a terminal', 'terminal', 0],
  ['stopped', 'is stopped by a signal', 'stopped', 0],
  ['one_elsewhere', 'a lock', 'lock', 1],
  ['first_steps_one_elsewhere', 'a lock', 'lock', 1],
]
const MORE: readonly Hang[] = [
  ['file_lock', 'a lock', 'file_lock', 0],
  ...(dockerMissing === undefined && fuseUnavailable() === undefined ? [['fuse', 'a file system', 'fuse', 0] as const] : []),
  ['gil', 'is in a C extension that keeps the GIL', 'gil', 0],
  ['loop', 'computes on the CPU without end', 'loop', 0],
  ['network', 'the network', 'network', 0],
  ['worker', 'data', 'worker', 0],
  ['dead_peer', 'ended', undefined, 1],
  ['uneven', 'the other ranks', 'uneven', 1],
]
const HANGS = rounds({ full: 1, quick: 0 }) === 1 ? [...QUICK, ...MORE] : QUICK
const PAUSES = ['save_checkpoint', 'compile_model'] as const

const pythons = dockerMissing === undefined ? findPythons() : []
const missing = dockerMissing ?? (pythons.length === 0 ? 'needs Python 3' : undefined)

describe.skipIf(missing !== undefined)(`jobs in containers that stop${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent

  /** The container has this machine's programs, read only. */
  const start = async (way: string, path: string): Promise<void> => {
    const folders = new Set(['/usr', '/lib', '/lib64', dirname(dirname(path)), dirname(PROGRAM)])
    const program = `${path} ${PROGRAM} ${way} ${PAUSE_SECONDS}`
    await docker.run({
      name: nameOf(way),
      // A pipe that stays open is a terminal at which no one types.
      command: ['sh', '-c', way === 'terminal' ? `sleep 100000 | ${program}` : program],
      // The same address in each, and another network: these are no ranks of one job.
      env: ['MASTER_ADDR=localhost', 'MASTER_PORT=29500'],
      host: { Binds: [...folders].map((folder) => `${folder}:${folder}:ro`), Tmpfs: { '/tmp': '' }, ...(way === 'fuse' ? FUSE : {}) },
    })
  }
  const found = async (): Promise<readonly Incident[]> => {
    const ids = listed.parse(await agent.json('/api/v1/incidents?limit=200')).flatMap(({ id, kind }) => (kind === 'job_hang' ? [id] : []))
    return Promise.all(ids.map(async (id) => whole.parse(await agent.json(`/api/v1/incidents/${id}`))))
  }
  const state = async (way: string) => inspected.parse(JSON.parse(await docker.must('GET', `/containers/${nameOf(way)}/json`))).State
  const output = async (way: string): Promise<string> => (await docker.call('GET', `/containers/${nameOf(way)}/logs?stdout=1&stderr=1&tail=5`)).body

  beforeAll(async () => {
    docker = await startDocker()
    agent = await startAgent({
      config: 'hangs: { after: 4s, look: 500ms }\n',
      env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath, WARPWATCH_LOGS__CONTAINERS: 'true' },
    })
    for (const [i, way] of [...HANGS.map(([name]) => name), ...PAUSES].entries()) await start(way, pythons[i % pythons.length]?.path ?? '')
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await docker?.close()
  })

  test.each(HANGS)('%s', async (way, waits, mark, rank) => {
    const incident = await poll(async () => (await found()).find(({ facts }) => facts.job === nameOf(way)), {
      what: () => `an incident of ${way}: ${agent.stderr().slice(-2_000)}`,
      everyMs: 500,
      deadlineMs: DEADLINE_MS,
    }).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await output(way)}`, { cause: error })
    })
    expect(incident.status).toBe('firing')
    expect(incident.facts.culprit_ranks).toEqual([String(rank)])
    expect(incident.facts.ranks[0]).toMatchObject({ rank, waits_for: waits, ...(mark === undefined ? {} : { container: nameOf(way) }) })
    expect((incident.facts.stands_at ?? []).map((place) => place.replace(/ \w+$/, ''))).toEqual(
      mark === undefined ? [] : [`rank ${rank}: ${PROGRAM}:${lineOf(mark)}`],
    )
    expect((await state(way)).Status).toBe('running')
    // One that has ended has no process.
    const status = mark === undefined ? 'TracerPid:\t0' : readFileSync(`/proc/${incident.facts.ranks[0]?.pid ?? 0}/status`, 'utf8')
    expect(status, 'nothing traces it').toMatch(/^TracerPid:\s+0$/m)
    await docker.must('POST', `/containers/${nameOf(way)}/kill`)
    // Nothing is left to look at, and the incident still says who was where.
    const after = await poll(
      async () => {
        const now = whole.parse(await agent.json(`/api/v1/incidents/${incident.id}`))
        return now.status === 'resolved' ? now : undefined
      },
      { what: () => `the incident of ${way} to be resolved: ${agent.stderr().slice(-2_000)}`, everyMs: 500, deadlineMs: DEADLINE_MS },
    )
    expect(after.facts.stands_at).toEqual(incident.facts.stands_at)
    expect(after.facts.ranks.map(({ rank, pid, waits_for: waitsFor }) => [rank, pid, waitsFor])).toEqual(
      incident.facts.ranks.map(({ rank, pid, waits_for: waitsFor }) => [rank, pid, waitsFor]),
    )
  })

  test('what only pauses is no incident, and goes on', async () => {
    for (const way of PAUSES) {
      const step = async () => Number(/step (\d+)\/\d+ [^\n]*\n$/.exec(await output(way))?.[1] ?? 0)
      await poll(async () => ((await step()) > 55 ? true : undefined), { what: `${way} to go on`, everyMs: 500, deadlineMs: DEADLINE_MS })
    }
    const names = PAUSES.map(nameOf)
    expect((await found()).filter(({ facts }) => names.includes(facts.job))).toEqual([])
  })
})
