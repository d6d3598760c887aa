// What counting who used what costs: CPU of following jobs and counting their use alone, and the share of the whole agent's main thread that the ledger
// and the utilization by process take, out of a CPU profile in which each sample under them counts, with 40 processes in 20 real containers whose figures change each second.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeFlags } from '../scripts/node-flags.mjs'
import type { FakeScenario } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing } from '../test/setup/docker.ts'
import { partsOf, shareUnder } from './footprint/parts.ts'
import { SIZES, startScene } from './footprint/scene.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { printTable, type Row } from './lib/table.ts'

const SETTLE_S = 20
const PROFILE_S = Number(process.env['BENCH_PROFILE_S'] ?? 180)
const SCRAPE_EVERY_S = 5
/** More than the same agent would take without it. */
const LIMIT = 0.03
const SOURCES = join(import.meta.dirname, '../agent/main.ts')
/** What came with the ledger of use; jobs and their runs were followed before. */
const LEDGER = /\/agent\/(?:jobs\/(?:ledger\/|usage\.ts)|store\/ledger|attribution\/gpu-utilization\.ts|collectors\/(?:process-utilization|accounting)\.ts)/

/** As busy GPUs look: each second another utilization, more energy, and a sample of each process. */
function atSecond({ values, gpus }: FakeScenario, second: number): FakeScenario {
  const timeUs = Date.now() * 1_000
  return {
    values,
    gpus: gpus.map((gpu, index) => {
      const busy = (second * 7 + index * 13) % 90
      const processes = gpu.processes ?? []
      const all = (processes.length * (processes.length + 1)) / 2
      return {
        ...gpu,
        values: { ...gpu.values, util: busy, power: 100_000 + 5_000 * busy, energy: 123_456_789 + second * 300_000 + index },
        samples: processes.map(({ pid }, n) => ({ timeUs, pid, sm: Math.round((busy * (n + 1)) / all) })),
      }
    }),
  }
}

async function profiled(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-profile-'))
  const scene = await startScene(SIZES['usual'] ?? { gpus: 8, mig: 0, containers: 20, processes: 40, limitCpu: [24, 18] })
  try {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=1000']
    const agent = startAgentProcess({ port: 19_848, env: scene.env, main: SOURCES, flags })
    const begun = agent.cpuSeconds()
    for (let second = 1; second <= SETTLE_S + PROFILE_S; second++) {
      scene.tell(atSecond(scene.scenario, second))
      await sleep(1_000)
      if (second % SCRAPE_EVERY_S === 0) await get(`${agent.url}/metrics`)
    }
    const spent = agent.cpuSeconds() - begun
    await agent.stop()
    const [file] = readdirSync(folder)
    if (file === undefined) throw new Error(`bench use-cost: no profile in ${folder}; the agent said: ${agent.stderr()}`)
    const share = shareUnder(join(folder, file), SETTLE_S, LEDGER)
    const more = share / (1 - share)
    return [
      {
        what: `ledger and utilization by process, of the main thread without them, over ${PROFILE_S} s`,
        figure: `${(more * 100).toFixed(2)} %`,
        limit: `${LIMIT * 100} %`,
        ok: more <= LIMIT,
      },
      { what: 'CPU of the agent and its sampler meanwhile, profiler included', figure: `${spent.toFixed(1)} s` },
      ...partsOf(join(folder, file), SETTLE_S).map(({ part, share: of }) => ({ what: `  ${part}`, figure: `${(of * 100).toFixed(1)} %` })),
    ]
  } finally {
    await scene.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function run(): Promise<void> {
  const loop = join(import.meta.dirname, 'use-cost/loop.ts')
  const us = execFileSync(process.execPath, [...nodeFlags([]), loop], { encoding: 'utf8' }).trim()
  const alone: Row = { what: 'following jobs and counting their use alone, CPU a second', figure: `${us} us` }
  if (dockerMissing !== undefined) process.stdout.write(`use-cost: the share of the agent is skipped, ${dockerMissing}\n`)
  printTable([alone, ...(dockerMissing === undefined ? await profiled() : [])])
}

if (import.meta.main) await run()
