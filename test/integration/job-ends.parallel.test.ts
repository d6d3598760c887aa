// How runs of containers end, with a real Docker engine and the built agent: each way of ending gives the outcome that it is, whoever caused it.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as runSchema } from '../../agent/http/api/job-schemas.ts'
import type { Outcome } from '../../agent/model/job.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import type { CreateOptions } from '../setup/engine-client.ts'
import { poll } from '../setup/poll.ts'

type End = {
  readonly command: readonly string[]
  readonly host?: CreateOptions['host']
  /** What is asked of the engine once it runs: path and query behind `/containers/ID`. */
  readonly request?: string
  readonly outcome: Outcome
  readonly exit_code?: number
  readonly signal?: string
  readonly sent_by?: string
}

/** Not the first process of its namespace, to which its own signals do nothing. */
const outside = { PidMode: 'host' }
const small = { Memory: 12 * 2 ** 20, MemorySwap: 12 * 2 ** 20 }
const sh = (script: string): readonly string[] => ['sh', '-c', script]
const raises = (name: string, outcome: Outcome, code: number): End => ({
  command: sh(`kill -${name} $$; sleep 60`),
  host: outside,
  outcome,
  exit_code: code,
  signal: `SIG${name}`,
})
const TRACEBACK = `cat >&2 <<'END'
Traceback (most recent call last):
  File "/app/loader.py", line 12, in read
    return rows[key]
KeyError: 'labels'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/train.py", line 41, in <module>
    main()
RuntimeError: the data set cannot be used
END
`
/** The engine hears of the kernel's killing only where the container has run for a moment; without the kernel's log nobody else says it. */
const HOG = 'dd if=/dev/zero of=/dev/null bs=64M count=4 2>/dev/null'
const WAITS = sh('trap "exit 0" TERM; while true; do sleep 0.05; done')

const ENGINE = 'container engine'
/** What the incidents of some of them are; empty: none. */
const TOLD = {
  'exit-0': '',
  'exit-0-quoted-traceback': '',
  'docker-stop-handled': '',
  'docker-stop-ignored': '',
  'docker-kill': '',
  'exception-chained': 'python_exception RuntimeError train.py:41',
  'exit-127': 'missing_dependency',
  segv: 'segfault',
  bus: 'bus_error',
} as const

const ENDS: Readonly<Record<string, End>> = {
  'exit-0': { command: ['true'], outcome: 'completed', exit_code: 0 },
  'exit-0-quoted-traceback': { command: sh(`${TRACEBACK}exit 0`), outcome: 'completed', exit_code: 0 },
  'exit-0-worker-oom': { command: sh(`sh -c '${HOG}'; exit 0`), host: small, outcome: 'completed', exit_code: 0 },
  'exit-1': { command: sh('exit 1'), outcome: 'failed', exit_code: 1 },
  'exit-2': { command: sh('exit 2'), outcome: 'failed', exit_code: 2 },
  'exit-3-subprocess': { command: sh('sh -c "exit 3"; exit $?'), outcome: 'failed', exit_code: 3 },
  'exit-126': { command: sh('/proc/self/status'), outcome: 'failed', exit_code: 126 },
  'exit-127': { command: sh('no-such-program'), outcome: 'failed', exit_code: 127 },
  'exception-chained': { command: sh(`${TRACEBACK}exit 1`), outcome: 'failed', exit_code: 1 },
  'four-ranks': { command: sh(`for r in 0 1 2 3; do ( [ $r = 2 ] && exit 7; sleep 60 ) & done; sleep 0.3; kill $!; exit 1`), outcome: 'failed', exit_code: 1 },
  segv: raises('SEGV', 'failed', 139),
  abrt: raises('ABRT', 'failed', 134),
  bus: raises('BUS', 'failed', 135),
  ill: raises('ILL', 'failed', 132),
  fpe: raises('FPE', 'failed', 136),
  trap: raises('TRAP', 'failed', 133),
  pipe: raises('PIPE', 'failed', 141),
  'segv-under-a-shell': { command: sh('sh -c "kill -SEGV \\$\\$"; exit $?'), host: outside, outcome: 'failed', exit_code: 139, signal: 'SIGSEGV' },
  hup: raises('HUP', 'killed', 129),
  int: raises('INT', 'cancelled', 130),
  term: raises('TERM', 'killed', 143),
  'killed-by-nobody-knows': raises('KILL', 'killed', 137),
  'time-out': { command: sh('exit 124'), outcome: 'time_limit', exit_code: 124 },
  'kernel-oom': {
    command: sh(`sleep 3; exec ${HOG}`),
    host: small,
    outcome: 'out_of_memory',
    exit_code: 137,
    signal: 'SIGKILL',
    sent_by: 'OOM killer',
  },
  'worker-oom': { command: sh(`sleep 3; sh -c '${HOG}' || { sleep 1; exit 1; }`), host: small, outcome: 'out_of_memory', exit_code: 1 },
  'docker-kill': { command: ['sleep', '600'], request: '/kill', outcome: 'killed', exit_code: 137, signal: 'SIGKILL', sent_by: ENGINE },
  'docker-kill-int': {
    command: sh('trap "exit 130" INT; while true; do sleep 0.05; done'),
    request: '/kill?signal=INT',
    outcome: 'cancelled',
    exit_code: 130,
    signal: 'SIGINT',
    sent_by: ENGINE,
  },
  'docker-stop-handled': { command: WAITS, request: '/stop?t=30', outcome: 'cancelled', exit_code: 0, sent_by: ENGINE },
  'docker-stop-ignored': { command: ['sleep', '600'], request: '/stop?t=1', outcome: 'cancelled', exit_code: 137, signal: 'SIGKILL', sent_by: ENGINE },
}

const incidentSchema = z.object({
  kind: z.string(),
  subject: z.object({ container: z.optional(z.object({ name: z.string() })) }),
  facts: z.object({ exception: z.optional(z.string()), frame: z.optional(z.string()) }),
})
const jobsSchema = z.array(z.object({ job: z.string(), job_id: z.string(), runs: z.number(), last: runSchema }))
type Jobs = z.infer<typeof jobsSchema>

describe.skipIf(dockerMissing !== undefined)(`ends of jobs${dockerMissing === undefined ? '' : ` (${dockerMissing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent
  const dataDir = join(mkdtempSync(join(tmpdir(), 'warpwatch-job-ends-')), 'data')
  const start = () => startAgent({ dataDir, env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath } })
  const jobs = async (): Promise<Jobs> => jobsSchema.parse(await agent.json('/api/v1/jobs?limit=1000'))
  const lastOf = async (name: string) => (await jobs()).find(({ job }) => job === name)?.last
  beforeAll(async () => {
    docker = await startDocker()
    agent = await start()
  })
  afterAll(async () => {
    await agent?.terminate()
    await docker?.close()
  })

  test(`${Object.keys(ENDS).length} ways to end`, async () => {
    const started = Object.entries(ENDS).map(async ([name, { command, host, request }]) => {
      const id = await docker.run({ name, command, ...(host === undefined ? {} : { host }) })
      if (request === undefined) return
      const { body: state } = await docker.call('GET', `/containers/${id}/json`)
      await poll(async () => (await lastOf(name)) !== undefined, {
        what: () => `the run of ${name}, which the engine started as ${JSON.stringify(state).slice(0, 400)}; the agent said: ${agent.stderr().slice(-1_000)}`,
      })
      // An engine on a busy machine may refuse at first.
      let answer: unknown
      await poll(
        async () => {
          const { status, body } = await docker.call('POST', `/containers/${id}${request}`)
          answer = body
          return status < 300
        },
        { what: () => `${request} of ${name}: ${JSON.stringify(answer)}`, everyMs: 200 },
      )
    })
    await Promise.all(started)
    const wanted = Object.fromEntries(
      Object.entries(ENDS).map(([job, { outcome, exit_code, signal, sent_by }]) => [job, { outcome, exit_code, signal, sent_by }]),
    )
    const seen = async () =>
      Object.fromEntries(
        (await jobs()).flatMap(({ job, last: { outcome, exit_code, signal, sent_by } }) =>
          ENDS[job] === undefined ? [] : [[job, { outcome, exit_code, signal, sent_by }]],
        ),
      )
    let names: readonly string[] = []
    const different = async () => {
      const now = await seen()
      names = (await jobs()).map(({ job }) => job)
      return Object.entries(wanted).flatMap(([job, end]) => (JSON.stringify(now[job]) === JSON.stringify(end) ? [] : [[job, now[job] ?? 'no run']]))
    }
    // What the engine says of memory may come after the end.
    let left: unknown
    await poll(async () => JSON.stringify((left = await different())) === '[]', {
      what: () =>
        `all ends as they are, still different: ${JSON.stringify(left)}; all jobs: ${names.join(' ')}; the agent said: ${agent.stderr().slice(-2_000)}`,
      everyMs: 200,
      deadlineMs: 60_000,
    })
    expect(await seen()).toEqual(wanted)
    // What the log said last is judged with the engine's word: an exception with the user's own line, nothing of what ended well or was stopped.
    const reported = async (): Promise<Readonly<Record<string, string>>> => {
      const incidents = z.array(incidentSchema).parse(await agent.json('/api/v1/incidents'))
      const of = (name: string) =>
        incidents
          .filter(({ subject }) => subject.container?.name === name)
          .map(({ kind, facts: { exception, frame } }) => [kind, exception, frame].join(' ').trim())
      return Object.fromEntries(Object.keys(TOLD).map((name) => [name, of(name).join()]))
    }
    await poll(async () => JSON.stringify(await reported()) === JSON.stringify(TOLD), { what: 'the verdicts', deadlineMs: 20_000 }).catch(() => {})
    expect(await reported()).toEqual(TOLD)
  })

  test('what ends while the agent is dead is told by the engine afterwards; what still runs goes on as the same run', async () => {
    const restarting = await docker.run({
      name: 'restarting',
      command: sh('sleep 0.2; exit 4'),
      host: { RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 1 } },
    })
    const ending = await docker.run({ name: 'ends-unseen', command: sh('trap "exit 5" TERM; while true; do sleep 0.05; done') })
    await docker.run({ name: 'goes-on', command: ['sleep', '600'] })
    const compose = { 'com.docker.compose.project': 'shop', 'com.docker.compose.service': 'web' }
    await docker.run({ name: 'shop-web-1', command: ['sleep', '600'], labels: compose })
    await poll(async () => (await lastOf('web')) !== undefined, { what: 'the run of a service' })
    expect(await lastOf('shop-web-1')).toBeUndefined()
    await poll(async () => (await lastOf('goes-on')) !== undefined && (await lastOf('ends-unseen')) !== undefined, { what: 'their runs' })
    const before = await lastOf('goes-on')
    await poll(async () => (await lastOf('restarting'))?.run === 2 && (await lastOf('restarting'))?.outcome === 'failed', { what: `two runs of ${restarting}` })
    // What is on disk within a second survives.
    await poll(async () => (await agent.kill().then(() => true)) || undefined, { what: 'the agent to die' })
    await docker.call('POST', `/containers/${ending}/stop?t=30`)
    agent = await start()
    expect(
      await poll(async () => ((await lastOf('ends-unseen'))?.outcome === undefined ? undefined : lastOf('ends-unseen')), { what: 'its end' }),
    ).toMatchObject({
      outcome: 'failed',
      exit_code: 5,
      run: 1,
    })
    const after = await poll(
      async () =>
        (await agent.metrics()).samples.some(({ name, labels }) => name === 'warpwatch_job_info' && labels['job'] === 'goes-on')
          ? lastOf('goes-on')
          : undefined,
      { what: 'the run that goes on' },
    )
    expect(after).toMatchObject({ run: 1, started_at: before?.started_at })
    expect(after?.outcome).toBeUndefined()
    const [newest] = (await jobs()).filter(({ job }) => job === 'restarting')
    expect(newest).toMatchObject({ runs: 2 })
    const report = await agent.get(`/api/v1/jobs/${newest?.job_id}/report`)
    expect(report.text).toContain('# restarting: failed')
    expect(report.text).toContain('## 1 earlier run')
  })
})
