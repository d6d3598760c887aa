// Real jobs of PyTorch over Gloo, one rank in each of two containers, of which one stops: who holds it up, where, and that a save is no hang.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { findTorchPython } from '../setup/torch-python.ts'

const PROGRAM = join(import.meta.dirname, '../fakes/hang/gloo.py')
const lineOf = (mark: string): number =>
  readFileSync(PROGRAM, 'utf8')
    .split('\n')
    .findIndex((line) => line.endsWith(`# ${mark}`)) + 1
const python = dockerMissing === undefined ? findTorchPython() : undefined
const missing = dockerMissing ?? (python === undefined ? 'needs a Python with PyTorch: TORCH_PYTHON=/venv/bin/python' : undefined)
const SAVE_SECONDS = 30
const DEADLINE_MS = 240_000

const listed = z.array(z.looseObject({ id: z.string(), kind: z.string() }))
const whole = z.looseObject({
  status: z.string(),
  facts: z.looseObject({
    stands_at: z.optional(z.array(z.string())),
    culprit_ranks: z.optional(z.array(z.string())),
    ranks: z.array(z.looseObject({ rank: z.number(), culprit: z.optional(z.boolean()), waits_for: z.optional(z.string()), container: z.optional(z.string()) })),
  }),
})
const inspected = z.looseObject({ State: z.looseObject({ Status: z.string(), Pid: z.number() }) })

const HANGS = [
  ['lock', 'a lock'],
  ['file-lock', 'a lock'],
  ['program', 'a program that it started'],
  ['dataloader', 'data'],
] as const

describe.skipIf(missing !== undefined)(`jobs of PyTorch in two containers each${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent
  const nameOf = (way: string, rank: number): string => `${way}-${rank}`

  const start = async (way: string): Promise<void> => {
    const folders = new Set(['/usr', '/lib', '/lib64', ...(python?.folders ?? []), dirname(PROGRAM)])
    for (const rank of [0, 1])
      await docker.run({
        name: nameOf(way, rank),
        command: [python?.path ?? '', PROGRAM, way.replaceAll('-', '_'), String(SAVE_SECONDS)],
        env: [`RANK=${rank}`, 'WORLD_SIZE=2', 'MASTER_ADDR=127.0.0.1', 'MASTER_PORT=29500', 'GLOO_SOCKET_IFNAME=lo', 'OMP_NUM_THREADS=1'],
        // The two have one network, as the ranks of a host do.
        host: {
          Binds: [...folders].map((folder) => `${folder}:${folder}:ro`),
          Tmpfs: { '/tmp': '' },
          NetworkMode: rank === 0 ? 'none' : `container:${nameOf(way, 0)}`,
        },
      })
  }
  const found = async () => {
    const ids = listed.parse(await agent.json('/api/v1/incidents?limit=200')).flatMap(({ id, kind }) => (kind === 'job_hang' ? [id] : []))
    return Promise.all(ids.map(async (id) => whole.parse(await agent.json(`/api/v1/incidents/${id}`))))
  }
  const of = async (way: string) =>
    (await found()).find(({ facts }) => facts.ranks.length === 2 && facts.ranks.some(({ container }) => container === nameOf(way, 0)))
  const output = async (way: string, rank: number): Promise<string> =>
    (await docker.call('GET', `/containers/${nameOf(way, rank)}/logs?stdout=1&stderr=1&tail=5`)).body

  beforeAll(async () => {
    docker = await startDocker()
    agent = await startAgent({
      config: 'hangs: { after: 4s, look: 500ms }\n',
      env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath, WARPWATCH_LOGS__CONTAINERS: 'true' },
    })
    await start('save')
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await docker?.close()
  })

  test.each(HANGS)('%s', async (way, waits) => {
    await start(way)
    const incident = await poll(() => of(way), {
      what: () => `an incident of ${way}: ${agent.stderr().slice(-2_000)}`,
      everyMs: 500,
      deadlineMs: DEADLINE_MS,
    }).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await output(way, 0)}\n${await output(way, 1)}`, { cause: error })
    })
    expect(incident.status).toBe('firing')
    expect(incident.facts.culprit_ranks).toEqual(['1'])
    expect((incident.facts.stands_at ?? []).map((place) => place.replace(/ \w+$/, ''))).toEqual([`rank 1: ${PROGRAM}:${lineOf(way.replaceAll('-', '_'))}`])
    expect(incident.facts.ranks.find(({ rank }) => rank === 1)).toMatchObject({
      culprit: true,
      container: nameOf(way, 1),
      ...(waits === undefined ? {} : { waits_for: waits }),
    })
    for (const rank of [0, 1]) {
      const { Status, Pid } = inspected.parse(JSON.parse(await docker.must('GET', `/containers/${nameOf(way, rank)}/json`))).State
      expect(Status).toBe('running')
      expect(readFileSync(`/proc/${Pid}/status`, 'utf8'), 'nothing traces it').toMatch(/^TracerPid:\s+0$/m)
      await docker.must('POST', `/containers/${nameOf(way, rank)}/kill`)
    }
  })

  test('a save of rank 1, for which rank 0 waits, is no incident, and both go on', async () => {
    const step = async () => Number(/step (\d+)\/\d+ [^\n]*\n$/.exec(await output('save', 0))?.[1] ?? 0)
    await poll(async () => ((await step()) > 35 ? true : undefined), { what: 'the job to go on', everyMs: 500, deadlineMs: DEADLINE_MS })
    expect((await found()).filter(({ facts }) => facts.ranks.some(({ container }) => container?.startsWith('save') === true))).toEqual([])
  })
})
