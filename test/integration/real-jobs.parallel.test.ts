// Real programs of ../shared/real-jobs (PyTorch, Transformers, Lightning) as containers and under `warpwatch exec`, with the agent watching:
// the verdicts are those of the labels.
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as runSchema } from '../../agent/http/api/job-schemas.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'

const SIDE = join(import.meta.dirname, '../../../shared/real-jobs/dev')
const MAIN = join(import.meta.dirname, '../../dist/main.js')
const VENV = process.env['REALJOBS_VENV'] ?? ''
const missing = !existsSync(SIDE)
  ? 'needs ../shared'
  : VENV === ''
    ? 'needs REALJOBS_VENV, which ../shared/real-jobs/setup-venv.sh makes where the wheels are'
    : dockerMissing

const IN_CONTAINERS = [
  'exc-chained',
  'hf-label-shape',
  'ckpt-sizes',
  'lit-step-shape',
  'spawn-pickle',
  'missing-file',
  'import-name',
  'syntax-error',
  'stack-overflow',
  'glibc-heap',
  'ok-after-retry',
  'ok-nan-metric',
]
const UNDER_EXEC = ['ckpt-cut', 'yaml-parse', 'segv-faulthandler', 'no-cuda-build', 'ok-warnings']
/** Two cores carry so many; most of their time is imports. */
const AT_ONCE = 3
/** On a machine that is busy the imports of Transformers alone take minutes. */
const IMPORTS_MS = 480_000

const endSchema = z.object({
  id: z.string(),
  kind: z.nullable(z.string()),
  also_right: z._default(z.array(z.string()), []),
  exception: z._default(z.array(z.string()), []),
  frame: z._default(z.array(z.string()), []),
})
const specSchema = z.object({ name: z.string(), set: z.string(), cmd: z.array(z.string()), env: z.optional(z.record(z.string(), z.nullable(z.string()))) })
const factsSchema = z.object({ exception: z.optional(z.string()), frame: z.optional(z.string()) })
const incidentSchema = z.object({ kind: z.string(), subject: z.object({ container: z.optional(z.object({ name: z.string() })) }), facts: factsSchema })
const jobsSchema = z.array(z.object({ job: z.string(), last: runSchema }))
const reportSchema = z.object({ faults: z.array(z.object({ kind: z.string(), facts: factsSchema })) })

type Answer = { readonly kind: string; readonly exception?: string | undefined; readonly frame?: string | undefined }
const lines = (name: string): readonly unknown[] =>
  readFileSync(join(SIDE, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))

async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all]
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

describe.skipIf(missing !== undefined)(`real programs${missing === undefined ? '' : ` (${missing})`}`, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'warpwatch-real-jobs-'))
  const specs = new Map<string, z.infer<typeof specSchema>>()
  const ends = new Map<string, z.infer<typeof endSchema>>()
  let docker: TestDocker
  let agent: RunningAgent
  beforeAll(async () => {
    for (const spec of lines('manifest.jsonl').map((line) => specSchema.parse(line))) if (spec.set === 'ends') specs.set(spec.name, spec)
    for (const end of lines('ends.jsonl').map((line) => endSchema.parse(line))) ends.set(end.id.replace(/^dev-real-/, ''), end)
    docker = await startDocker()
    agent = await startAgent({ env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath } })
  })
  afterAll(async () => {
    await agent?.terminate()
    await docker?.close()
  })

  /** Its command, in a folder of its own. */
  const prepared = (name: string): { readonly folder: string; readonly cmd: readonly string[]; readonly env: Readonly<Record<string, string>> } => {
    const spec = specs.get(name)
    if (spec === undefined) throw new Error(`expected ${name} in the manifest`)
    const folder = join(scratch, name)
    cpSync(join(SIDE, 'jobs/ends', name), folder, { recursive: true })
    mkdirSync(join(folder, 'out'), { recursive: true })
    for (const file of readdirSync(folder)) if (file.endsWith('.sh')) chmodSync(join(folder, file), 0o755)
    const given = Object.entries(spec.env ?? {}).filter((entry): entry is [string, string] => entry[1] !== null)
    const env = { OMP_NUM_THREADS: '1', TOKENIZERS_PARALLELISM: 'false', PYTHONDONTWRITEBYTECODE: '1', HOME: '/tmp', ...Object.fromEntries(given) }
    return { folder, cmd: spec.cmd, env: { ...env, PATH: `${VENV}/bin:/usr/local/bin:/usr/bin:/bin` } }
  }
  /** What is wrong with the answer, empty where nothing is. */
  const wrong = (name: string, found: readonly Answer[]): string => {
    const end = ends.get(name)
    if (end === undefined) return 'no label'
    if (end.kind === null) return found.every(({ kind }) => end.also_right.includes(kind)) ? '' : `false alarm: ${found.map(({ kind }) => kind).join()}`
    const [first] = found
    if (first === undefined) return `${end.kind} was not found`
    if (![end.kind, ...end.also_right].includes(first.kind)) return `${first.kind} instead of ${end.kind}`
    if (end.exception.length > 0 && !end.exception.includes(first.exception ?? '')) return `exception ${first.exception} instead of ${end.exception.join()}`
    const frame = first.frame?.split('/').at(-1) ?? ''
    return end.frame.length > 0 && !end.frame.some((one) => one.endsWith(frame) && frame !== '') ? `frame ${first.frame} instead of ${end.frame.join()}` : ''
  }

  test(`${IN_CONTAINERS.length} as containers`, async () => {
    const Binds = ['/usr', '/lib', '/lib64', '/root/.pyenv', VENV, '/bin/bash'].filter((path) => existsSync(path)).map((path) => `${path}:${path}:ro`)
    const late: Record<string, number> = {}
    const reported: Record<string, readonly Answer[]> = {}
    await inGroups(IN_CONTAINERS, async (name) => {
      const { folder, cmd, env } = prepared(name)
      await docker.run({
        name,
        command: ['sh', '-c', 'mkdir -p /tmp && cd /home/user/job && exec "$@"', 'sh', ...cmd],
        env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
        host: { Binds: [...Binds, `${folder}:/home/user/job`], ShmSize: 2 ** 28 },
      })
      const ended = await poll(
        async () => jobsSchema.parse(await agent.json('/api/v1/jobs?limit=1000')).find(({ job, last }) => job === name && last.ended_at !== undefined),
        { what: `the end of ${name}`, everyMs: 100, deadlineMs: IMPORTS_MS },
      )
      const incidents = async () =>
        z
          .array(incidentSchema)
          .parse(await agent.json('/api/v1/incidents?limit=1000'))
          .filter(({ subject }) => subject.container?.name === name)
          .map(({ kind, facts }) => ({ kind, ...facts }))
      // Of one that ended well nothing must come; of the others something does.
      if (ends.get(name)?.kind !== null) {
        await poll(async () => (await incidents()).length > 0, { what: `the verdict on ${name}`, everyMs: 50 })
        late[name] = Date.now() - (ended.last.ended_at ?? 0)
      }
      reported[name] = await incidents()
    })
    if (process.env['REALJOBS_TIMES'] !== undefined) writeFileSync(process.env['REALJOBS_TIMES'], JSON.stringify(late))
    const misses = Object.fromEntries(IN_CONTAINERS.map((name) => [name, wrong(name, reported[name] ?? [])]).filter(([, text]) => text !== ''))
    expect(misses).toEqual({})
  }, 900_000)

  test(`${UNDER_EXEC.length} under exec`, async () => {
    const misses: Record<string, string> = {}
    await inGroups(UNDER_EXEC, async (name) => {
      const { folder, cmd, env } = prepared(name)
      const path = join(scratch, `${name}.json`)
      const args = [MAIN, 'exec', '--listen', new URL(agent.url).host, '--name', name, '--json', path, '--', ...cmd]
      await new Promise<void>((resolve) => execFile(process.execPath, args, { cwd: folder, env, maxBuffer: 2 ** 24 }, () => resolve()))
      const { faults } = reportSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
      const text = wrong(
        name,
        faults.map(({ kind, facts }) => ({ kind, ...facts })),
      )
      if (text !== '') misses[name] = text
    })
    expect(misses).toEqual({})
    const known = jobsSchema.parse(await agent.json('/api/v1/jobs?limit=1000')).filter(({ job }) => UNDER_EXEC.includes(job))
    expect(known.map(({ job }) => job).sort()).toEqual([...UNDER_EXEC].sort())
  })
})
