// Runs the built agent as its user does: the command in a process of its own, with the fake NVML library, a free port and a temporary data directory.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { scenarioFile, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { parseExposition, type ParsedSample } from '../unit/http/parse-exposition.ts'
import { nodeFlags } from '../../scripts/node-flags.mjs'
import { poll } from './poll.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

/** The past that a simulated host has for its users. Tests whose charts need none start with moments of it, for a third of the CPU time. */
export const FULL_PAST = { WARPWATCH_SIMULATE__PAST: '15m' } as const
export const SHORT_PAST = { WARPWATCH_SIMULATE__PAST: '10s' } as const

/** For a test of all sources: the containers of this host as well, those of other tests among them. */
export const WITH_CONTAINERS = { WARPWATCH_CONTAINERS__ENABLED: 'true' } as const

export type AgentOptions = {
  /** What the fake library tells; without it the agent finds no library at all. */
  readonly scenario?: FakeScenario
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Text of a warpwatch.yaml in the agent's working directory. */
  readonly config?: string
  /** Begins as the successor of another one: its address. Without it a free port. */
  readonly listen?: string
  /** Waits until /readyz answers 200 and, with a scenario, until its GPUs are on the page: the host alone makes an agent ready. */
  readonly ready?: boolean
  /** Kept when the agent ends; without it a temporary one is made, and removed. */
  readonly dataDir?: string
  /** Runs as another user (root only). */
  readonly uid?: number
  /** Another build's main.js. */
  readonly main?: string
  /** A program with its arguments that becomes the agent, such as `['prlimit', '--nofile=64']`. */
  readonly through?: readonly string[]
}
export type Answer = { readonly status: number; readonly text: string; readonly ms: number }
export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stderr: string; readonly stdout: string }
export type Page = {
  readonly samples: readonly ParsedSample[]
  /** The value of the only series of that name with these labels; undefined when there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined
}

export type RunningAgent = {
  /** `http://127.0.0.1:PORT`, as the agent told it. */
  readonly url: string
  /** Its host and port. */
  readonly listen: string
  readonly pid: number
  readonly dataDir: string
  readonly stderr: () => string
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  readonly json: (path: string) => Promise<unknown>
  readonly metrics: () => Promise<Page>
  /** Writes what the fake library tells from now on. */
  readonly tell: (scenario: FakeScenario) => void
  readonly pssBytes: () => number
  /** Whoever reads what the agent says goes away: its pipes have no reader any more. */
  readonly closeOutput: () => void
  readonly kill: () => Promise<Ended>
  readonly terminate: () => Promise<Ended>
  /** Ends it, and removes what was made for it. */
  readonly stop: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A GET on a connection of its own, with the time that it took. */
export async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const begun = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(url, { headers, agent: false }, (answer) => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', (chunk: string) => (text += chunk))
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, ms: performance.now() - begun }))
    answer.on('error', reject)
  })
  sent.on('error', reject)
  sent.end()
  return promise
}

export function readPage(text: string): Page {
  const samples = [...parseExposition(text, 'text').values()].flatMap((family) => family.samples)
  return {
    samples,
    value(name, labels = {}) {
      const found = samples.filter((sample) => sample.name === name && Object.entries(labels).every(([key, wanted]) => (sample.labels[key] ?? '') === wanted))
      if (found.length > 1) throw new Error(`${name}${JSON.stringify(labels)}: expected one series, came ${found.length}`)
      return found[0]?.value
    },
  }
}

/** The process and all below it: the sampler child, nvidia-smi. */
function familyOf(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
    return [pid, ...children.filter((child) => child !== '').flatMap((child) => familyOf(Number(child)))]
  } catch {
    return [] // it has ended meanwhile
  }
}
const pssOf = (pid: number): number => {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

type Launched = {
  readonly child: ChildProcess
  readonly dataDir: string
  readonly stderr: () => string
  readonly ended: Promise<Ended>
  readonly tell: (scenario: FakeScenario) => void
  readonly remove: () => void
}

function launch(options: AgentOptions): Launched {
  const main = options.main ?? MAIN
  if (!existsSync(main)) throw new Error(`${main}: expected the built agent, came nothing; npm run build makes it`)
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-agent-'))
  const dataDir = options.dataDir ?? join(home, 'data')
  const file = options.scenario === undefined ? undefined : scenarioFile(options.scenario)
  // Another user must be able to go through them.
  if (options.uid !== undefined) for (const path of [home, ...(file === undefined ? [] : [dirname(file.path)])]) chmodSync(path, 0o755)
  if (options.config !== undefined) writeFileSync(join(home, 'warpwatch.yaml'), options.config)
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(WARPWATCH_|FAKE_NVML|STATE_DIRECTORY|DOCKER_HOST)/.test(name)))
  const gpu = file === undefined ? {} : { FAKE_NVML_SCENARIO: file.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '' }
  // The host's own containers, kernel log and probes are none of the test's business: what another test does there would fire here.
  const watchesContainers =
    options.config?.includes('containers:') === true || Object.keys(options.env ?? {}).some((name) => name.startsWith('WARPWATCH_CONTAINERS__'))
  const aside = {
    WARPWATCH_CONTAINERS__ENGINES: '',
    WARPWATCH_LOGS__KERNEL: 'false',
    WARPWATCH_ALLOCATOR__ENABLED: 'false',
    ...(watchesContainers ? {} : { WARPWATCH_CONTAINERS__ENABLED: 'false' }),
  }
  const where = ['--listen', options.listen ?? '127.0.0.1:0', '--data-dir', dataDir]
  const wanted = options.args ?? ['run']
  const runs = wanted[0] === undefined || wanted[0] === 'run' || wanted[0].startsWith('-')
  const simulated = wanted.some((arg) => arg.startsWith('--simulate')) ? SHORT_PAST : {}
  const env = { ...own, ...aside, ...gpu, ...simulated, ...options.env }
  const args = [...nodeFlags(wanted), main, ...wanted, ...(runs ? where.filter((_, i) => !wanted.includes(where[i - (i % 2)] ?? '')) : [])]
  const [program, ...before] = options.through === undefined ? [process.execPath] : [...options.through, process.execPath]
  const child = spawn(program ?? process.execPath, [...before, ...args], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout = (stdout + text).slice(-100_000)))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-100_000)))
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode, stderr, stdout }))
  return {
    child,
    dataDir,
    stderr: () => stderr,
    ended,
    tell: (scenario) => {
      if (file === undefined) throw new Error('expected an agent with a scenario, this one was started without')
      file.write(scenario)
    },
    remove: () => {
      file?.remove()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Resolves when the agent serves; throws with its words when it ends instead. */
export async function startAgent(options: AgentOptions = {}): Promise<RunningAgent> {
  const { child, dataDir, stderr, ended, tell, remove } = launch(options)
  const url = await poll(
    () => /^Metrics +(http:\S+)\/metrics$/m.exec(stderr())?.[1] ?? (child.exitCode !== null || child.signalCode !== null ? '' : undefined),
    {
      what: () => `the agent to tell its address; it said: ${stderr()}`,
      deadlineMs: 20_000,
      everyMs: 5,
    },
  )
  const end = async (signal: NodeJS.Signals): Promise<Ended> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return ended
  }
  const stop = async (): Promise<void> => {
    await end('SIGTERM')
    remove()
    const left = /^.*still open after .*$/m.exec(stderr())?.[0]
    if (left !== undefined) throw new Error(`expected an agent that lets go of everything, it said: ${left}`)
  }
  if (url === '') {
    await stop()
    throw new Error(`expected an agent that runs, it ended with ${child.exitCode ?? child.signalCode}: ${stderr()}`)
  }
  if (options.ready === true) {
    await poll(async () => child.exitCode !== null || (await get(`${url}/readyz`)).status === 200, {
      what: () => `${url}/readyz to answer 200; the agent said: ${stderr()}`,
      deadlineMs: 90_000,
      everyMs: 50,
    })
    if (options.scenario !== undefined)
      await poll(async () => child.exitCode !== null || (await get(`${url}/metrics`)).text.includes('\nwarpwatch_gpu_info{'), {
        what: () => `the GPUs of the scenario on ${url}/metrics; the agent said: ${stderr()}`,
        deadlineMs: 90_000,
        everyMs: 50,
      })
  }
  return {
    url,
    listen: new URL(url).host,
    pid: child.pid ?? 0,
    dataDir,
    stderr,
    tell,
    get: (path, headers) => get(url + path, headers),
    async json(path) {
      const { status, text } = await get(url + path)
      if (status !== 200) throw new Error(`${path}: expected 200, came ${status} ${text}`)
      return JSON.parse(text) as unknown
    },
    metrics: async () => readPage((await get(`${url}/metrics`)).text),
    pssBytes: () => familyOf(child.pid ?? 0).reduce((sum, pid) => sum + pssOf(pid), 0),
    closeOutput() {
      child.stdout?.destroy()
      child.stderr?.destroy()
    },
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Runs a command line that is expected to end by itself. */
export async function runToEnd(options: AgentOptions): Promise<Ended> {
  const { child, ended, stderr, remove } = launch(options)
  const late = setTimeout(() => child.kill('SIGKILL'), 120_000)
  const result = await ended
  clearTimeout(late)
  remove()
  if (result.signal !== null) throw new Error(`expected a command that ends by itself, it ran until ${result.signal}: ${stderr()}`)
  return result
}
