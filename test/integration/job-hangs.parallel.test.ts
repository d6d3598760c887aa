// Jobs that stop, with the built agent: real Python processes that are in a dozen ways, and some that only pause. Noticed by their own logs,
// looked at from outside: who holds each up, and at which line.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { findPythons } from '../setup/pythons.ts'
import { rounds } from '../setup/rounds.ts'
import { fuseUnavailable } from '../setup/silent-fuse.ts'

const PROGRAM = join(import.meta.dirname, '../fakes/hang/job.py')
const lineOf = (mark: string): number =>
  readFileSync(PROGRAM, 'utf8')
    .split('\n')
    .findIndex((line) => line.endsWith(`# ${mark}`)) + 1

const available = process.platform === 'linux' && process.getuid?.() === 0
const pythons = available ? findPythons() : []
const python = pythons.at(-1)?.path ?? ''
/** Longer than a silence that is looked at (4 s). Three of those that pause compute all the while. */
const PAUSE_SECONDS = rounds({ full: 20, quick: 7 })

const listed = z.array(z.looseObject({ id: z.string(), kind: z.string() }))
const whole = z.looseObject({
  id: z.string(),
  status: z.string(),
  facts: z.looseObject({
    job: z.string(),
    stands_at: z.optional(z.array(z.string())),
    culprit_ranks: z.optional(z.array(z.string())),
    ranks: z.array(z.looseObject({ rank: z.number(), culprit: z.optional(z.boolean()), waits_for: z.optional(z.string()) })),
  }),
})
type Incident = z.infer<typeof whole>

/** What it does, and the mark of the line at which it stands; of several ranks, which of them. */
const HANGS: readonly (readonly [way: string, waits: string, mark: string | undefined, rank: number])[] = [
  // It keeps a processor busy until it is found, and so comes first.
  ['loop', 'computes on the CPU without end', 'loop', 0],
  ['lock', 'a lock', 'lock', 0],
  ['file_lock', 'a lock', 'file_lock', 0],
  ...(available && fuseUnavailable() === undefined ? [['fuse', 'a file system', 'fuse', 0] as const] : []),
  ['terminal', 'input from a terminal', 'terminal', 0],
  ['gil', 'is in a C extension that keeps the GIL', 'gil', 0],
  ['stopped', 'is stopped by a signal', 'stopped', 0],
  ['network', 'the network', 'network', 0],
  ['worker', 'data', 'worker', 0],
  ['dead_peer', 'ended', undefined, 1],
  ['uneven', 'the other ranks', 'uneven', 1],
  ['one_elsewhere', 'a lock', 'lock', 1],
  ['first_steps_one_elsewhere', 'a lock', 'lock', 1],
]
const PAUSES = ['save_checkpoint', 'compile_model', 'evaluate', 'rank_0_saves', 'first_steps_one_works'] as const

describe.skipIf(python === '')('jobs that stop (needs root and Python 3)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stops-'))
  const children = new Map<string, ChildProcess>()
  let agent: RunningAgent

  const logOf = (way: string): string => join(folder, `${way}.log`)
  const start = (way: string): void => {
    const log = openSync(logOf(way), 'a')
    // A pipe that stays open is a terminal at which no one types.
    const child = spawn(python, [PROGRAM, way, String(PAUSE_SECONDS)], { stdio: ['pipe', log, log], detached: true })
    closeSync(log)
    children.set(way, child)
  }
  const end = (way: string): void => {
    try {
      process.kill(-(children.get(way)?.pid ?? 0), 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  const found = async (): Promise<readonly Incident[]> => {
    const ids = listed.parse(await agent.json('/api/v1/incidents?limit=200')).flatMap(({ id, kind }) => (kind === 'job_hang' ? [id] : []))
    return Promise.all(ids.map(async (id) => whole.parse(await agent.json(`/api/v1/incidents/${id}`))))
  }
  /** Which job each incident is of never changes, so that only what is new is read whole. */
  const jobs = new Map<string, string>()
  const of = async (way: string): Promise<Incident | undefined> => {
    for (const { id, kind } of listed.parse(await agent.json('/api/v1/incidents?limit=200'))) {
      if (kind !== 'job_hang' || (jobs.has(id) && jobs.get(id) !== logOf(way))) continue
      const incident = whole.parse(await agent.json(`/api/v1/incidents/${id}`))
      jobs.set(id, incident.facts.job)
      if (incident.facts.job === logOf(way)) return incident
    }
    return undefined
  }

  beforeAll(async () => {
    agent = await startAgent({
      config: `logs: { files: ['${folder}/*.log'], containers: false, kernel: false }\nhangs: { after: 4s, look: 500ms }\n`,
    })
    for (const [way] of HANGS) start(way)
    for (const way of PAUSES) start(way)
  })
  afterAll(async () => {
    for (const way of children.keys()) end(way)
    await agent.stop()
  })

  test.each(HANGS)('%s', async (way, waits, mark, rank) => {
    const incident = await poll(() => of(way), { what: () => `an incident of ${way}: ${agent.stderr().slice(-2_000)}`, everyMs: 300 })
    expect(incident.status).toBe('firing')
    expect(incident.facts.culprit_ranks).toEqual([String(rank)])
    expect(incident.facts.ranks[0]).toMatchObject({ rank, culprit: true, waits_for: waits })
    expect((incident.facts.stands_at ?? []).map((place) => place.replace(/ \w+$/, ''))).toEqual(
      mark === undefined ? [] : [`rank ${rank}: ${PROGRAM}:${lineOf(mark)}`],
    )
    // Those that compute without end would keep a processor busy; the stopped one is needed once more.
    if (way !== 'stopped') end(way)
  })

  test('what only pauses is no incident, and goes on', async () => {
    for (const way of PAUSES) {
      const step = () => Number(/step (\d+)\/\d+ [^\n]*\n$/.exec(readFileSync(logOf(way), 'utf8'))?.[1] ?? 0)
      await poll(() => Promise.resolve(step() > 55 ? true : undefined), { what: () => `${way} to go on, now at step ${step()}`, everyMs: 300 })
    }
    const ways: readonly string[] = PAUSES.map(logOf)
    expect((await found()).filter(({ facts }) => ways.includes(facts.job))).toEqual([])
  })

  test('one that goes on is over', async () => {
    const stopped = await poll(() => of('stopped'), { what: () => 'the incident of the stopped process', everyMs: 300 })
    const pid = z.number().parse(stopped.facts.ranks[0]?.['pid'])
    process.kill(pid, 'SIGCONT')
    const over = await poll(async () => (await found()).find(({ id, status }) => id === stopped.id && status === 'resolved'), {
      what: 'it to be resolved',
      everyMs: 300,
    })
    expect(over['resolution']).toBe('it makes progress again')
  })
})
