// What the whole agent costs: eight fake GPUs at 1 Hz plus 10 Hz peaks, 40 processes in 20 real containers, scraped every five seconds.
import { readFileSync, readdirSync } from 'node:fs'
import { containerMemoryBytes } from '../agent/metrics/container.ts'
import { processGpuMemoryBytes } from '../agent/metrics/process.ts'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing, startDocker } from '../test/setup/docker.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { printTable } from './lib/table.ts'

const CONTAINERS = 20
const SETTLE_S = 20
/** As long as the peers were measured (shared reference peers.md, section 6). */
const MEASURE_S = Number(process.env['BENCH_SECONDS'] ?? 125)
const SCRAPE_EVERY_S = 5
/** By then V8 has compiled what it is going to compile; before, that is a quarter of the agent's time. 0: not measured. */
const LATER_S = Number(process.env['BENCH_LATER_S'] ?? 300)

const sleep = (s: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, s * 1000))

/** Host pids whose cgroup path holds the container's id. */
function pidsOf(id: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(id)
      } catch {
        return false // ended meanwhile
      }
    })
    .map(Number)
}

export async function run(): Promise<void> {
  if (dockerMissing !== undefined) {
    process.stdout.write(`footprint: skipped, ${dockerMissing}\n`)
    return
  }
  const library = fakeLibrary('full')
  if (library === undefined) throw new Error('expected a C compiler for the fake NVML library, found none')
  const docker = await startDocker()
  try {
    const ids: string[] = []
    for (let n = 0; n < CONTAINERS; n++) ids.push(await docker.run({ name: `job-${n}`, command: ['sh', '-c', 'sleep 100000 & sleep 100000'] }))
    await sleep(1)
    const pids = ids.flatMap((id) => pidsOf(id).slice(0, 2))
    const host = eightH100()
    const gpus = host.gpus.map((gpu, index) => ({
      ...gpu,
      processes: pids.filter((_, n) => n % 8 === index).map((pid) => ({ pid, bytes: 4 * 1024 ** 3, type: 'C' as const })),
    }))
    const scenario = scenarioFile({ ...host, gpus })
    const agent = startAgentProcess({
      port: 19_840,
      env: { FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: library, WARPWATCH_CONTAINERS__ENGINES: `[${docker.socketPath}]` },
    })
    await sleep(SETTLE_S)
    /** CPU seconds an hour. */
    const measure = async (seconds: number): Promise<number> => {
      const before = { cpu: agent.cpuSeconds(), at: performance.now() }
      for (let waited = 0; waited < seconds; waited += SCRAPE_EVERY_S) {
        await sleep(SCRAPE_EVERY_S)
        await get(`${agent.url}/metrics`)
      }
      return ((agent.cpuSeconds() - before.cpu) / ((performance.now() - before.at) / 1000)) * 3600
    }
    const cpu = await measure(MEASURE_S)
    if (LATER_S > 0) await measure(Math.max(0, LATER_S - SETTLE_S - MEASURE_S))
    const later = LATER_S > 0 ? await measure(MEASURE_S) : undefined
    const pss = agent.pssBytes() / 1024 ** 2
    const page = (await get(`${agent.url}/metrics`)) ?? ''
    const count = (name: string): number => page.split('\n').filter((line) => line.startsWith(`${name}{`)).length
    const [processes, containers] = [count(processGpuMemoryBytes.name), count(containerMemoryBytes.name)]
    printTable([
      {
        what: `CPU of all processes, seconds an hour (over ${MEASURE_S} s)`,
        figure: cpu.toFixed(1),
        limit: '36 (netdata 34, nvitop-exporter 67)',
        ok: cpu <= 36,
      },
      ...(later === undefined ? [] : [{ what: `the same, ${LATER_S} s after the start`, figure: later.toFixed(1) }]),
      { what: 'PSS of all processes, MiB', figure: pss.toFixed(1), limit: '100 (netdata 52, nvitop-exporter 24)', ok: pss <= 100 },
      {
        what: 'processes · containers on the page',
        figure: `${processes} · ${containers}`,
        limit: '40 · 20',
        ok: processes === 40 && containers === CONTAINERS,
      },
      {
        what: 'series · page',
        figure: `${page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length} · ${(page.length / 1000).toFixed(0)} kB`,
      },
      { what: 'processes of the agent', figure: String(agent.pids().length) },
    ])
    await agent.stop()
    scenario.remove()
  } finally {
    await docker.close()
  }
}

if (import.meta.main) await run()
