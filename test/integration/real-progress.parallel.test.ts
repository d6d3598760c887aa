// Training programs of ../shared/real-jobs (Transformers, Lightning, Keras, JAX, tqdm, print loops) run as containers and as processes with log files:
// step, rate and time left of the agent are held against what the programs themselves measured.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'

const SIDE = join(import.meta.dirname, '../../../shared/real-jobs/dev')
const VENV = process.env['REALJOBS_VENV'] ?? ''
const missing = !existsSync(SIDE)
  ? 'needs ../shared'
  : VENV === ''
    ? 'needs REALJOBS_VENV, which ../shared/real-jobs/setup-venv.sh makes where the wheels are'
    : dockerMissing

const IN_CONTAINERS = ['print-timm', 'lit-tqdm-pipe', 'torchrun-tee', 'tqdm-s-per-it', 'keras-pty', 'tqdm-no-total', 'download-only']
const WITH_LOG_FILES = ['print-epoch-step', 'print-logging-eta', 'hf-pty', 'jax-print', 'torchrun-2-tqdm', 'datasets-map-then-train']
/** Two cores carry so many; most of their time is imports. */
const AT_ONCE = 2
/** What may be wrong: programs that share the machine with other tests do not keep their pace. */
const WRONG_SHARE = 0.15

const specSchema = z.object({ name: z.string(), set: z.string(), cmd: z.array(z.string()), env: z.optional(z.record(z.string(), z.nullable(z.string()))) })
/** `t`: Unix seconds and the step that was done then. */
const truthSchema = z.object({ total: z.nullable(z.number()), t: z.array(z.tuple([z.number(), z.number()])) })
const figure = z.optional(z.number())
const rowSchema = z.object({
  job: z.string(),
  rank: z.optional(z.string()),
  step: figure,
  steps: figure,
  step_rate: figure,
  eta_seconds: figure,
  last_progress_timestamp_seconds: figure,
})
type Row = z.infer<typeof rowSchema> & { readonly seenAt: number }
type Truth = z.infer<typeof truthSchema>

const stepAt = ({ t }: Truth, seconds: number): number => t.findLast(([at]) => at <= seconds)?.[1] ?? 0

/** What a row says wrong; steps of an epoch count too where the program counts so. */
function wrongOf(row: Row, truth: Truth, perEpoch: number | undefined): readonly string[] {
  const at = row.last_progress_timestamp_seconds ?? 0
  const step = stepAt(truth, at)
  const wanted = perEpoch === undefined ? [step] : [step, ((step - 1) % perEpoch) + 1]
  const rate = (step - stepAt(truth, at - 4)) / 4
  const end = truth.t.at(-1)?.[0] ?? 0
  const total = truth.t.at(-1)?.[1] ?? 0
  const left = end - row.seenAt
  const ofEpoch = perEpoch === undefined || rate === 0 ? left : (perEpoch - (wanted[1] ?? 0)) / rate
  const near = (found: number | undefined, all: readonly number[], relative: number, absolute: number): boolean =>
    found === undefined || all.some((each) => Math.abs(found - each) <= Math.max(absolute, relative * each))
  return [
    ...(row.step !== undefined && near(row.step, wanted, 0.1, 15) ? [] : [`step ${row.step} of ${wanted.join(' or ')}`]),
    ...(row.steps === undefined || [total, perEpoch].includes(row.steps) ? [] : [`steps ${row.steps} of ${total}`]),
    ...(near(row.step_rate, [rate], 0.3, 0) ? [] : [`rate ${row.step_rate} of ${rate}`]),
    // The row is up to two seconds old.
    ...(near(row.eta_seconds, [left, ofEpoch], 0.3, 4) ? [] : [`left ${row.eta_seconds} of ${left}`]),
  ]
}

describe.skipIf(missing !== undefined)(`real trainings${missing === undefined ? '' : ` (${missing})`}`, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'warpwatch-real-progress-'))
  const specs = new Map<string, z.infer<typeof specSchema>>()
  const perEpoch = new Map<string, number>()
  let docker: TestDocker
  let agent: RunningAgent
  const parsed = (name: string): readonly unknown[] =>
    readFileSync(join(SIDE, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
  beforeAll(async () => {
    for (const spec of parsed('manifest.jsonl').map((line) => specSchema.parse(line))) if (spec.set === 'progress') specs.set(spec.name, spec)
    const labels = z.object({ id: z.string(), truth: z.nullable(z.object({ per_epoch: z.nullable(z.number()) })) })
    for (const { id, truth } of parsed('progress.jsonl').map((line) => labels.parse(line)))
      if (truth?.per_epoch !== null && truth?.per_epoch !== undefined) perEpoch.set(id.replace(/^dev-realprog-/, ''), truth.per_epoch)
    docker = await startDocker()
    agent = await startAgent({ env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath, WARPWATCH_LOGS__FILES: join(scratch, '*.log') } })
  })
  afterAll(async () => {
    await agent?.terminate()
    await docker?.close()
  })

  const prepared = (name: string): { readonly folder: string; readonly cmd: readonly string[]; readonly env: Readonly<Record<string, string>> } => {
    const spec = specs.get(name)
    if (spec === undefined) throw new Error(`expected ${name} in the manifest`)
    const folder = join(scratch, name)
    cpSync(join(SIDE, 'jobs/progress', name), folder, { recursive: true })
    mkdirSync(join(folder, 'out'), { recursive: true })
    const given = Object.entries(spec.env ?? {}).filter((entry): entry is [string, string] => entry[1] !== null)
    const fixed = { OMP_NUM_THREADS: '1', TOKENIZERS_PARALLELISM: 'false', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1', HOME: '/tmp' }
    return { folder, cmd: spec.cmd, env: { ...fixed, ...Object.fromEntries(given), PATH: `${VENV}/bin:/usr/local/bin:/usr/bin:/bin` } }
  }
  const rowsOf = async (): Promise<readonly Row[]> =>
    z
      .array(rowSchema)
      .parse(await agent.json('/api/v1/progress'))
      .map((row) => ({ ...row, seenAt: Date.now() / 1_000 }))
  /** The rows of a job while its program runs, one for each time that its step changed. */
  const watched = async (job: string, done: () => boolean): Promise<readonly Row[]> => {
    const seen = new Map<string, Row>()
    await poll(
      async () => {
        for (const row of await rowsOf()) if (row.job === job && !done()) seen.set(`${row.rank} ${row.last_progress_timestamp_seconds}`, row)
        return done()
      },
      { what: `the end of ${job}`, everyMs: 250, deadlineMs: 240_000 },
    )
    return [...seen.values()]
  }
  const judge = (name: string, rows: readonly Row[]): { readonly of: number; readonly wrong: readonly string[] } => {
    const path = join(scratch, name, 'out/_truth.json')
    if (name === 'download-only') return { of: 1, wrong: rows.length === 0 ? [] : [`${name}: ${JSON.stringify(rows[0])}`] }
    const truth = truthSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    const from = (truth.t[0]?.[0] ?? 0) + 5
    // After the first seconds, in which nothing can be known of the rate.
    const judged = rows.filter((row) => (row.last_progress_timestamp_seconds ?? 0) >= from && row.seenAt <= (truth.t.at(-1)?.[0] ?? 0))
    return {
      of: Math.max(1, judged.length),
      wrong:
        judged.length === 0
          ? [`${name}: nothing was read`]
          : judged.flatMap((row) => wrongOf(row, truth, perEpoch.get(name)).map((text) => `${name}: ${text}`)),
    }
  }
  /** What is wrong, empty where little enough is. */
  async function missesOf(
    names: readonly string[],
    start: (name: string) => Promise<{ readonly job: string; readonly ended: Promise<unknown> }>,
  ): Promise<readonly string[]> {
    const left = [...names]
    const wrong: string[] = []
    let of = 0
    const next = async (): Promise<void> => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        const { job, ended } = await start(name)
        let done = false
        void ended.then(() => (done = true))
        const said = judge(name, await watched(job, () => done))
        of += said.of
        wrong.push(...said.wrong)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, next))
    if (of <= names.length) return [`only ${of} rows were seen`]
    const never = wrong.filter((text) => /nothing was read|download-only/.test(text))
    return wrong.length / of <= WRONG_SHARE ? never : wrong
  }

  test(`${IN_CONTAINERS.length} as containers`, async () => {
    const Binds = ['/usr', '/lib', '/lib64', '/root/.pyenv', VENV, '/bin/bash'].filter((path) => existsSync(path)).map((path) => `${path}:${path}:ro`)
    const misses = await missesOf(IN_CONTAINERS, async (name) => {
      const { folder, cmd, env } = prepared(name)
      const id = await docker.run({
        name,
        command: ['sh', '-c', 'mkdir -p /tmp && cd /home/user/job && exec "$@"', 'sh', ...cmd],
        env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
        host: { Binds: [...Binds, `${folder}:/home/user/job`], ShmSize: 2 ** 28 },
      })
      return { job: name, ended: docker.must('POST', `/containers/${id}/wait`) }
    })
    expect(misses).toEqual([])
  })

  test(`${WITH_LOG_FILES.length} as processes with log files`, async () => {
    const misses = await missesOf(WITH_LOG_FILES, async (name) => {
      const { folder, cmd, env } = prepared(name)
      const job = join(scratch, `${name}.log`)
      const log = openSync(job, 'a')
      const [program = '', ...args] = cmd
      const child = spawn(join(VENV, 'bin', program), args, { cwd: folder, env, stdio: ['ignore', log, log] })
      return { job, ended: once(child, 'exit') }
    })
    expect(misses).toEqual([])
  })
})
