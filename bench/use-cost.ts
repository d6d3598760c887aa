// What counting who used what costs: CPU of following jobs and counting their use in a replay of ten minutes, with the ledger and without it in turn, which holds on a busy
// machine too; and the part of the whole agent that the ledger and the utilization by process take, out of CPU profiles of the agent and its sampler in which each sample under them counts, with 40 processes in 20 real containers whose figures change each second.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeFlags } from '../scripts/node-flags.mjs'
import type { FakeScenario } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing } from '../test/setup/docker.ts'
import { poll } from '../test/setup/poll.ts'
import { cpuUnder, partsOf } from './footprint/parts.ts'
import { SIZES, startScene } from './footprint/scene.ts'
import { threadsOf } from './footprint/threads.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { printTable, type Row } from './lib/table.ts'

const SETTLE_S = 20
const PROFILE_S = Number(process.env['BENCH_PROFILE_S'] ?? 180)
const SCRAPE_EVERY_S = 5
/** More than the same agent would take without it. */
const LIMIT = 0.03
const WHO = ['the agent', 'its sampler'] as const
const SOURCES = join(import.meta.dirname, '../agent/main.ts')
/** What came with the ledger of use; jobs and their runs, and what each held, were followed before. */
const LEDGER = /\/agent\/(?:jobs\/ledger\/|store\/ledger|attribution\/gpu-utilization\.ts|collectors\/(?:process-utilization|accounting)\.ts)/

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

const moreOf = ({ all, under }: { readonly all: number; readonly under: number }): number => under / (all - under)
const percentText = (part: number): string => `${(part * 100).toFixed(2)} %`

/** Pairs of replays, one with the ledger and one without: other work slows down both, and the median leaves out a pair of which it did not. */
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 9)
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
type Replayed = { readonly withUs: number; readonly ledgerUs: number; readonly all: readonly number[] }
function replayed(): Replayed {
  const us = (...args: readonly string[]): number =>
    Number(execFileSync(process.execPath, [...nodeFlags([]), join(import.meta.dirname, 'use-cost/loop.ts'), '600', ...args], { encoding: 'utf8' }))
  const pairs = Array.from({ length: PAIRS }, (_, at) => {
    // Each goes first in half of them.
    const first = at % 2 === 0 ? us() : us('--without')
    const second = at % 2 === 0 ? us('--without') : us()
    return at % 2 === 0 ? { whole: first, without: second } : { whole: second, without: first }
  })
  const all = pairs.map(({ whole, without }) => whole - without)
  return { withUs: median(pairs.map(({ whole }) => whole)), ledgerUs: median(all), all }
}

async function profiled({ ledgerUs }: Replayed): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-profile-'))
  const scene = await startScene(SIZES['usual'] ?? { gpus: 8, mig: 0, containers: 20, processes: 40, limitCpu: [24, 18] })
  try {
    const env = { ...scene.env, NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=1000` }
    const agent = startAgentProcess({ port: 19_848, env, main: SOURCES })
    const [, sampler] = await poll(() => (agent.pids().length > 1 ? agent.pids() : undefined), { what: 'the sampler to start' })
    /** Of both main threads: V8's helpers and the profiler have their own. */
    const cpuUs = (): readonly number[] => {
      const threads = [...threadsOf(agent.pids()).values()].filter(({ main }) => main)
      return [agent.pid, sampler].map((pid) => (threads.find((thread) => thread.pid === pid)?.cpuNs ?? 0) / 1_000)
    }
    let before: readonly number[] = []
    for (let second = 1; second <= SETTLE_S + PROFILE_S; second++) {
      scene.tell(atSecond(scene.scenario, second))
      await sleep(1_000)
      if (second === SETTLE_S) before = cpuUs()
      if (second % SCRAPE_EVERY_S === 0) await get(`${agent.url}/metrics`)
    }
    const spent = cpuUs().map((us, at) => us - (before[at] ?? 0))
    await agent.stop()
    const profileOf = (pid: number | undefined): string => {
      const file = readdirSync(folder).find((name) => pid !== undefined && name.includes(`.${pid}.`))
      if (file === undefined) throw new Error(`bench use-cost: no profile of process ${pid} in ${folder}; the agent said: ${agent.stderr()}`)
      return join(folder, file)
    }
    const files = [agent.pid, sampler].map(profileOf)
    const times = files.map((file, at) => ({ all: spent[at] ?? 0, under: cpuUnder(file, SETTLE_S, LEDGER, spent[at] ?? 0) }))
    const agentUs = times.reduce((sum, { all }) => sum + all, 0) / PROFILE_S
    const alone = moreOf({ all: agentUs, under: ledgerUs })
    const more = moreOf({ all: times.reduce((sum, { all }) => sum + all, 0), under: times.reduce((sum, { under }) => sum + under, 0) })
    return [
      {
        what: `the ledger by these replays, of the agent without it (${agentUs.toFixed(0)} us a second with it, and with the profiler in both processes)`,
        figure: percentText(alone),
        limit: percentText(LIMIT),
        ok: alone <= LIMIT,
      },
      {
        what: `ledger and utilization by process, of the agent without them, over ${PROFILE_S} s`,
        figure: percentText(more),
        limit: percentText(LIMIT),
        ok: more <= LIMIT,
      },
      ...times.map((time, at) => ({ what: `  of ${WHO[at]}`, figure: `${percentText(moreOf(time))} of ${(time.all / 1e6).toFixed(1)} s of CPU` })),
      ...partsOf(files[0] ?? '', SETTLE_S).map(({ part, share }) => ({ what: `    ${part}`, figure: percentText(share) })),
    ]
  } finally {
    await scene.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function run(): Promise<void> {
  const figures = replayed()
  const { withUs, ledgerUs, all } = figures
  const rows: readonly Row[] = [
    { what: 'following jobs and counting their use, a replay of 600 s: CPU a second', figure: `${withUs} us` },
    {
      what: `  the ledger's part, median of ${PAIRS} pairs with and without it (least to most)`,
      figure: `${ledgerUs} us (${Math.min(...all)} to ${Math.max(...all)})`,
    },
  ]
  if (dockerMissing !== undefined) process.stdout.write(`use-cost: the share of the agent is skipped, ${dockerMissing}\n`)
  printTable([...rows, ...(dockerMissing === undefined ? await profiled(figures) : [])])
}

if (import.meta.main) await run()
