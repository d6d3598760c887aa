// What probes cost the agent: the same host with and without 64 processes that tell of their allocators once a second.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseStat } from '../agent/attribution/proc-files.ts'
import { allocatorHeadroomBytes } from '../agent/metrics/process.ts'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, fakeUuid, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { floodConnections, floodLines, type Flood } from './lib/probe-flood.ts'
import { percentile, printTable } from './lib/table.ts'

const PROCESSES = 64
/** The agent is warm after so long, and after a change of what it does. */
const WARM_S = 30
const SETTLE_S = 4
/** Turn by turn, so that what else the machine does falls on both sides. */
const ROUNDS = 4
const MEASURE_S = Number(process.env['BENCH_SECONDS'] ?? 25)
const FLOOD_S = 8
const GIB = 2 ** 30

const sleep = (s: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, s * 1000))

type Job = { readonly child: ChildProcess; readonly pid: number; readonly gpu: number; readonly bytes: number }

function hello({ pid, gpu }: Job): string {
  const pidns = Number(/\d+/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[0])
  const startTicks = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.startTicks
  const devices = [{ i: 0, uuid: fakeUuid(gpu), total_bytes: 80 * GIB }]
  return `${JSON.stringify({ type: 'hello', v: 1, pid, pidns, start_ticks: startTicks, torch: '2.6.0', backend: 'native', expandable: false, devices, env: {} })}\n`
}
/** Figures that move as those of a training do. */
function sample(seq: number, bytes: number): string {
  const allocated = Math.floor(bytes * (0.5 + 0.3 * Math.random()))
  const stats = {
    allocated_bytes: [allocated, bytes],
    reserved_bytes: [bytes, bytes],
    active_bytes: [allocated, bytes],
    inactive_split_bytes: [Math.floor((bytes - allocated) * 0.3), bytes],
    requested_bytes: [Math.floor(allocated * 0.98), bytes],
    num_alloc_retries: Math.floor(seq / 20),
    num_ooms: 0,
  }
  return `${JSON.stringify({ type: 'sample', seq, t: Date.now() / 1000, took_ms: 0.09, drop: 0, cpu_s: 0.1, devices: { 0: { stats, limit_bytes: null } } })}\n`
}

/** Each probe speaks at its own moment of the second, as real ones do. */
function speak(path: string, jobs: readonly Job[]): () => void {
  const timers: NodeJS.Timeout[] = []
  const sockets: Socket[] = []
  for (const [index, job] of jobs.entries()) {
    const socket = connect(path)
    socket.on('error', (error) => {
      throw new Error(`a probe of the bench could not speak to ${path}`, { cause: error })
    })
    socket.write(hello(job))
    sockets.push(socket)
    let seq = 0
    const start = setTimeout(() => timers.push(setInterval(() => socket.write(sample(++seq, job.bytes)), 1_000)), (index * 1_000) / jobs.length)
    timers.push(start)
  }
  return () => {
    for (const timer of timers) clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

export async function run(): Promise<void> {
  const library = fakeLibrary('full')
  if (library === undefined) throw new Error('expected a C compiler for the fake NVML library, found none')
  const folder = mkdtempSync(join(tmpdir(), 'ww-bench-'))
  const socket = join(folder, 'probe.sock')
  const jobs: readonly Job[] = Array.from({ length: PROCESSES }, (_, index) => {
    const child = spawn('sleep', ['100000'], { stdio: 'ignore' })
    return { child, pid: child.pid ?? 0, gpu: index % 8, bytes: (2 + (index % 5)) * GIB }
  })
  const host = eightH100()
  const gpus = host.gpus.map((gpu, index) => ({
    ...gpu,
    processes: jobs.filter((job) => job.gpu === index).map(({ pid, bytes }) => ({ pid, bytes: bytes + GIB / 2, type: 'C' as const })),
  }))
  const scenario = scenarioFile({ ...host, gpus })
  const env = {
    FAKE_NVML_SCENARIO: scenario.path,
    WARPWATCH_GPU__LIBRARY: library,
    WARPWATCH_CONTAINERS__ENGINES: '',
    WARPWATCH_LOGS__KERNEL: 'false',
    WARPWATCH_ALLOCATOR__SOCKET: socket,
  }
  const agent = startAgentProcess({ port: 19_841, env })
  const measure = async (): Promise<number> => {
    await sleep(SETTLE_S)
    const before = { cpu: agent.cpuSeconds(), at: performance.now() }
    for (let waited = 0; waited < MEASURE_S; waited += 5) {
      await sleep(5)
      await get(`${agent.url}/metrics`)
    }
    return ((agent.cpuSeconds() - before.cpu) * 1000) / (performance.now() - before.at)
  }
  try {
    await sleep(WARM_S)
    const turns: { readonly without: number; readonly withProbes: number }[] = []
    let page = ''
    for (let round = 0; round < ROUNDS; round++) {
      const without = await measure()
      const quiet = speak(socket, jobs)
      turns.push({ without, withProbes: await measure() })
      page = (await get(`${agent.url}/metrics`)) ?? ''
      quiet()
    }
    const without = percentile(
      turns.map((turn) => turn.without),
      0.5,
    )
    const more = percentile(
      turns.map((turn) => turn.withProbes - turn.without),
      0.5,
    )
    const count = (name: string): number => page.split('\n').filter((line) => line.startsWith(`${name}{`)).length
    const [rows, refusals] = [count(allocatorHeadroomBytes.name), page.match(/^warpwatch_agent_probe_refusals_total\{.*\} [1-9].*$/gm) ?? []]
    const under = async (flood: Flood): Promise<number> => {
      await sleep(SETTLE_S)
      const before = { cpu: agent.cpuSeconds(), at: performance.now() }
      await sleep(FLOOD_S)
      const share = ((agent.cpuSeconds() - before.cpu) * 1000) / (performance.now() - before.at)
      flood()
      await sleep(SETTLE_S)
      return share
    }
    const floods = [
      await under(
        floodLines(
          socket,
          jobs.flatMap((job) => [hello(job), hello(job)]),
          Buffer.from(sample(1, GIB).repeat(200)),
        ),
      ),
      await under(
        floodLines(
          socket,
          Array.from({ length: 200 }, () => ''),
          Buffer.from('x'),
        ),
      ),
      await under(floodConnections(socket, 50)),
    ]
    const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
    printTable([
      { what: `CPU of the agent, ${PROCESSES} processes without probes (median of ${ROUNDS} × ${MEASURE_S} s)`, figure: percent(without) },
      { what: '… with a probe in each', figure: percent(without + more) },
      { what: '… more, of one core', figure: percent(more), limit: '1 %', ok: more <= 0.01 },
      { what: '… as a ratio', figure: ((without + more) / without).toFixed(2) },
      {
        what: 'CPU under a flood of lines · of single bytes · of connections, of one core',
        figure: floods.map(percent).join(' · '),
        limit: '10 % each (ours)',
        ok: Math.max(...floods) <= 0.1,
      },
      {
        what: 'processes with a headroom on the page · refusals',
        figure: `${rows} · ${refusals.length}`,
        limit: `${PROCESSES} · 0`,
        ok: rows === PROCESSES && refusals.length === 0,
      },
    ])
  } finally {
    await agent.stop()
    scenario.remove()
    for (const { child } of jobs) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
