// What the whole agent costs: eight fake GPUs at 1 Hz plus 10 Hz peaks, 40 processes in 20 real containers, scraped every five seconds.
// `footprint [--against REF] [--host usual|empty|large]`: beside a build of another commit, on the same host at the same time, so that the ratio holds on a busy machine.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { containerMemoryBytes } from '../agent/metrics/container.ts'
import { processGpuMemoryBytes } from '../agent/metrics/process.ts'
import { dockerMissing } from '../test/setup/docker.ts'
import { buildOf } from './footprint/build-of.ts'
import { partsOf } from './footprint/parts.ts'
import { SIZES, startScene, type Size } from './footprint/scene.ts'
import { costBetween, threadsOf, total, type Cost } from './footprint/threads.ts'
import { get, startAgentProcess, type AgentProcess } from './lib/agent-process.ts'
import { printTable, type Row } from './lib/table.ts'

const SETTLE_S = 20
/** As long as the peers were measured (docs/measurements.md). */
const MEASURE_S = Number(process.env['BENCH_SECONDS'] ?? 125)
const SCRAPE_EVERY_S = 5
/** By then V8 has compiled what it is going to compile; before, that is a quarter of the agent's time. 0: not measured. */
const LATER_S = Number(process.env['BENCH_LATER_S'] ?? 300)
/** A profile's own cost is in no figure: it is taken of one more agent, afterwards. 0: none. */
const PROFILE_S = Number(process.env['BENCH_PROFILE_S'] ?? 60)
const SOURCES = join(import.meta.dirname, '../agent/main.ts')

type Measured = { readonly label: string; readonly agent: AgentProcess }

async function measure(agents: readonly Measured[], seconds: number): Promise<readonly Cost[]> {
  const before = agents.map(({ agent }) => threadsOf(agent.pids()))
  const begun = performance.now()
  for (let waited = 0; waited < seconds; waited += SCRAPE_EVERY_S) {
    await sleep(SCRAPE_EVERY_S * 1_000)
    for (const { agent } of agents) await get(`${agent.url}/metrics`)
  }
  const took = (performance.now() - begun) / 1_000
  return agents.map(({ agent }, i) => costBetween(before[i] ?? new Map(), threadsOf(agent.pids()), took))
}

const THREADS = [
  ['main thread', 'main'],
  ['its workers (V8, I/O)', 'workers'],
  ['sampler', 'child'],
  ["sampler's workers", 'childWorkers'],
] as const
const rowsOf = (when: string, limit: number, costs: readonly Cost[], labels: readonly string[]): readonly Row[] => {
  const [own, other] = costs
  if (own === undefined) return []
  const beside = (figure: (cost: Cost) => number): string =>
    other === undefined ? '' : ` · ${labels[1]}: ${figure(other).toFixed(1)} · ratio ${(figure(own) / figure(other)).toFixed(2)}`
  return [
    { what: `CPU, seconds an hour, ${when}`, figure: `${total(own).toFixed(1)}${beside(total)}`, limit: String(limit), ok: total(own) <= limit },
    ...THREADS.map(([what, key]) => ({ what: `  ${what}`, figure: `${own[key].toFixed(1)}${beside((cost) => cost[key])}` })),
    { what: '  wake-ups a second (voluntary switches)', figure: `${own.switches.toFixed(1)}${beside(({ switches }) => switches)}` },
  ]
}

/** Of one more agent, run from its sources, so that each frame has its file. */
async function profiled(env: NodeJS.ProcessEnv): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-profile-'))
  try {
    const agent = startAgentProcess({ port: 19_849, env, main: SOURCES, flags: ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=1000'] })
    await measure([{ label: 'profile', agent }], SETTLE_S + PROFILE_S)
    await agent.stop()
    return readdirSync(folder)
      .slice(0, 1)
      .flatMap((file) => partsOf(join(folder, file), SETTLE_S))
      .map(({ part, share }) => ({ what: `  ${part}`, figure: `${(share * 100).toFixed(1)} %` }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(size: Size, ref: string | undefined): Promise<void> {
  using other = ref === undefined ? undefined : await buildOf(ref)
  const scene = await startScene(size)
  try {
    const { env } = scene
    const agents: readonly Measured[] = [
      { label: 'this', agent: startAgentProcess({ port: 19_840, env }) },
      ...(other === undefined ? [] : [{ label: other.commit, agent: startAgentProcess({ port: 19_841, env, main: other.main, nodeFlags: other.nodeFlags }) }]),
    ]
    const labels = agents.map(({ label }) => label)
    await sleep(SETTLE_S * 1_000)
    const first = await measure(agents, MEASURE_S)
    if (LATER_S > 0) await measure(agents, Math.max(0, LATER_S - SETTLE_S - MEASURE_S))
    const later = LATER_S > 0 ? await measure(agents, MEASURE_S) : undefined
    const pss = agents.map(({ agent }) => agent.pssBytes() / 1024 ** 2)
    const page = (await get(`${agents[0]?.agent.url ?? ''}/metrics`)) ?? ''
    const count = (name: string): number => page.split('\n').filter((line) => line.startsWith(`${name}{`)).length
    const shown = [count(processGpuMemoryBytes.name), count(containerMemoryBytes.name)]
    for (const { agent } of agents) await agent.stop()
    const parts = PROFILE_S > 0 ? await profiled(scene.env) : []
    printTable([
      ...rowsOf(`${SETTLE_S} s after the start, over ${MEASURE_S} s`, size.limitCpu[0], first, labels),
      ...(later === undefined ? [] : rowsOf(`${LATER_S} s after the start`, size.limitCpu[1], later, labels)),
      {
        what: 'PSS of all processes, MiB',
        figure: pss.map((mib, i) => `${i === 0 ? '' : `${labels[i]}: `}${mib.toFixed(1)}`).join(' · '),
        limit: '85 (netdata 52, nvitop-exporter 24)',
        ok: (pss[0] ?? Infinity) <= 85,
      },
      {
        what: 'processes · containers on the page',
        figure: shown.join(' · '),
        limit: `${size.processes} · ${size.containers}`,
        ok: (shown[0] ?? 0) >= size.processes && shown[1] === size.containers,
      },
      {
        what: 'series · page',
        figure: `${page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length} · ${(page.length / 1000).toFixed(0)} kB`,
      },
      ...(parts.length === 0 ? [] : [{ what: `main thread by part, ${SETTLE_S} s after the start, over ${PROFILE_S} s`, figure: '' }, ...parts]),
    ])
  } finally {
    await scene.close()
  }
}

export async function run(args: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { against: { type: 'string' }, host: { type: 'string', default: 'usual' } } })
  const size = SIZES[values.host]
  if (size === undefined) throw new Error(`bench footprint: no host "${values.host}"; there are ${Object.keys(SIZES).join(', ')}`)
  if (dockerMissing === undefined) await compare(size, values.against)
  else process.stdout.write(`footprint: skipped, ${dockerMissing}\n`)
}

if (import.meta.main) await run(process.argv.slice(2))
