// What eight inference servers under ordinary load cost the agent, each with a page as long as vLLM's (BENCH_RANKS=4: 200 kB) and asked every five seconds: two agents
// on the same host at the same time, of which one does not look for servers. Judged is what both took over all rounds together: a round has its share of noise.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as inference from '../agent/metrics/inference.ts'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { freePort } from '../test/setup/free-port.ts'
import { costBetween, threadsOf, total } from './footprint/threads.ts'
import { get, startAgentProcess, type AgentProcess } from './lib/agent-process.ts'
import { percentile, printTable } from './lib/table.ts'

const SERVERS = 8
/** V8 compiles for some minutes, the more the more there is to do, and collects the garbage of the start. */
const WARM_S = Number(process.env['BENCH_WARM_S'] ?? 120)
const [ROUNDS, MEASURE_S] = [Number(process.env['BENCH_ROUNDS'] ?? 5), Number(process.env['BENCH_SECONDS'] ?? 60)]
const RANKS = process.env['BENCH_RANKS'] ?? '1'
const SCRAPE_EVERY_S = 5
const MAX_SHARE = 0.003
const MAX_BYTES = 10 * 2 ** 20
const MIB = 2 ** 20
/** Load is ordinary while none of these is open. */
const KINDS: ReadonlySet<string> = new Set([
  'kv_cache_starved',
  'server_underfed',
  'server_silent',
  'model_on_cpu',
  'engine_dead',
  'model_load_stuck',
  'cache_reserved_idle',
  'context_oversized',
])

type StandIn = { readonly engine: number; readonly stop: () => void }
async function startStandIn(program: string): Promise<StandIn> {
  // A session of its own, as a service or a terminal gives it.
  const child = fork(program, ['serve', 'org/some-model-8b-instruct', '--port', String(await freePort())], { detached: true, env: { ...process.env, RANKS } })
  const [engine]: unknown[] = await once(child, 'message')
  if (typeof engine !== 'number') throw new Error('expected the pid of the engine of a stand-in')
  return { engine, stop: () => child.disconnect() }
}

/** CPU as a share of a core, and memory, of each agent over the same seconds. Both are scraped, as agents are. */
async function measure(
  agents: readonly AgentProcess[],
  seconds: number,
): Promise<readonly { readonly share: number; readonly bytes: number; readonly anonymous: number }[]> {
  const before = agents.map((agent) => threadsOf(agent.pids()))
  const begun = performance.now()
  for (let waited = 0; waited < seconds; waited += SCRAPE_EVERY_S) {
    await sleep(SCRAPE_EVERY_S * 1_000)
    for (const { url } of agents) await get(`${url}/metrics`)
  }
  const took = (performance.now() - begun) / 1_000
  return agents.map((agent, at) => ({
    share: total(costBetween(before[at] ?? new Map(), threadsOf(agent.pids()), took)) / 3_600,
    bytes: agent.pssBytes(),
    anonymous: agent.anonymousBytes(),
  }))
}

export async function run(): Promise<void> {
  const library = fakeLibrary('full')
  if (library === undefined) throw new Error('expected a C compiler for the fake NVML library, found none')
  const folder = mkdtempSync(join(tmpdir(), 'ww-bench-'))
  const program = join(folder, 'vllm')
  symlinkSync(join(import.meta.dirname, 'lib/inference-stand-in.ts'), program)
  const standIns: StandIn[] = []
  for (let at = 0; at < SERVERS; at++) standIns.push(await startStandIn(program))
  const host = eightH100()
  const gpus = host.gpus.map((gpu, at) => ({ ...gpu, processes: standIns.slice(at, at + 1).map(({ engine }) => ({ pid: engine, bytes: 70 * 2 ** 30 })) }))
  const scenario = scenarioFile({ ...host, gpus })
  const env = {
    FAKE_NVML_SCENARIO: scenario.path,
    WARPWATCH_GPU__LIBRARY: library,
    WARPWATCH_CONTAINERS__ENGINES: '',
    WARPWATCH_LOGS__KERNEL: 'false',
    WARPWATCH_ALLOCATOR__ENABLED: 'false',
  }
  const agents = [
    startAgentProcess({ port: 19_842, env: { ...env, WARPWATCH_SERVERS__ENABLED: 'false' } }),
    startAgentProcess({ port: 19_843, env: { ...env, WARPWATCH_SERVERS__ENABLED: 'true' } }),
  ]
  try {
    await measure(agents, WARM_S)
    const turns: { readonly without: number; readonly more: number; readonly bytes: number; readonly anonymous: number }[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const [without, with_] = await measure(agents, MEASURE_S)
      if (without === undefined || with_ === undefined) continue
      turns.push({
        without: without.share,
        more: with_.share - without.share,
        bytes: with_.bytes - without.bytes,
        anonymous: with_.anonymous - without.anonymous,
      })
    }
    const pages = await Promise.all(agents.map(async ({ url }) => (await get(`${url}/metrics`)) ?? ''))
    const linesOf = (page: string, start: string): number => page.split('\n').filter((line) => line.startsWith(start)).length
    const asked = linesOf(pages[1] ?? '', `${inference.inferenceTimeToFirstTokenSeconds.name}{`) / 3
    const series = linesOf(pages[1] ?? '', 'warpwatch_inference_')
    const median = (pick: (turn: (typeof turns)[number]) => number): number => percentile(turns.map(pick), 0.5)
    const mean = (pick: (turn: (typeof turns)[number]) => number): number => turns.reduce((sum, turn) => sum + pick(turn), 0) / Math.max(1, turns.length)
    const [more, bytes] = [mean((turn) => turn.more), median((turn) => turn.bytes)]
    const open = (await get(`${agents[1]?.url}/api/v1/incidents?status=open`)) ?? ''
    const ofServers = Array.from(open.matchAll(/"kind":"([a-z_]+)"/g), ([, kind = '']) => kind).filter((kind) => KINDS.has(kind))
    const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
    const each = (texts: readonly string[]): string => texts.join(' · ')
    printTable([
      { what: `CPU of the agent without servers, of a core (${ROUNDS} × ${MEASURE_S} s)`, figure: percent(mean((turn) => turn.without)) },
      { what: `… more with ${SERVERS} servers at 5 s`, figure: percent(more), limit: '0.3 %', ok: more <= MAX_SHARE },
      { what: '… by round', figure: each(turns.map((turn) => percent(turn.more))) },
      { what: 'PSS more, MiB', figure: (bytes / MIB).toFixed(1), limit: '10', ok: bytes <= MAX_BYTES },
      { what: '… by round', figure: each(turns.map((turn) => (turn.bytes / MIB).toFixed(1))) },
      { what: '… of it in heaps, not pages of Node’s own file', figure: each(turns.map((turn) => (turn.anonymous / MIB).toFixed(1))) },
      { what: 'incidents of servers that are open', figure: ofServers.join(', ') || 'none', limit: 'none', ok: ofServers.length === 0 },
      {
        what: 'servers of which latencies are on the page · their series',
        figure: `${asked} · ${series}`,
        limit: `${SERVERS} · 40 each`,
        ok: asked === SERVERS && series <= 40 * SERVERS,
      },
    ])
  } finally {
    for (const agent of agents) await agent.stop()
    for (const { stop } of standIns) stop()
    scenario.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}
