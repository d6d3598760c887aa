// What following jobs and counting their use costs a second: 8 GPUs, 20 containers, 40 processes, with the files that are written, second by second without waiting.
// A process of its own with the agent's flags: bench/use-cost.ts starts it. loop.ts [SECONDS] [--without] prints microseconds of CPU a second; without: the same but the ledger.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../agent/config/load.ts'
import { gpuUtilizationRatio } from '../../agent/metrics/gpu-load.ts'
import { gpuMemoryUnattributedBytes } from '../../agent/metrics/gpu-memory.ts'
import { gpuEnergyJoulesTotal, gpuPowerWatts } from '../../agent/metrics/gpu-power.ts'
import { processGpuMemoryBytes, processGpuUtilizationRatio } from '../../agent/metrics/process.ts'
import type { Reading } from '../../agent/model/reading.ts'
import { makeSeries, type Series } from '../../agent/model/series.ts'
import { createJobs } from '../../agent/wiring/jobs.ts'
import type { Looks } from '../../agent/jobs/ledger/looks.ts'
import { createJobTracker } from '../../agent/jobs/tracker.ts'

const QUIET = { info() {}, warn() {}, error() {} }
const [GPUS, CONTAINERS, PROCESSES] = [8, 20, 40]
const WARM_UP = 60
const T = Date.UTC(2026, 9, 1)
const SECONDS = Number(process.argv[2] ?? 600)

type Card = {
  readonly ratio: Series
  readonly watts: Series
  readonly counter: Series
  readonly rest: Series
  readonly of: { memory: Series; share: Series }[]
}
const idOf = (container: number): string => String(container).padStart(12, 'c')
const cards = Array.from({ length: GPUS }, (_, gpu): Card => {
  const labels = { gpu: String(gpu), uuid: `GPU-00000000-0000-4000-8000-00000000000${gpu}` }
  const pids = Array.from({ length: PROCESSES }, (_each, n) => n).filter((n) => n % GPUS === gpu)
  return {
    ratio: makeSeries(gpuUtilizationRatio, labels),
    watts: makeSeries(gpuPowerWatts, labels),
    counter: makeSeries(gpuEnergyJoulesTotal, labels),
    rest: makeSeries(gpuMemoryUnattributedBytes, labels),
    of: pids.map((n) => {
      const container = Math.floor((n * CONTAINERS) / PROCESSES)
      const own = { ...labels, pid: String(10_000 + n), container: `job-${container}`, container_id: idOf(container) }
      return { memory: makeSeries(processGpuMemoryBytes, own), share: makeSeries(processGpuUtilizationRatio, own) }
    }),
  }
})

const directory = mkdtempSync(join(tmpdir(), 'warpwatch-use-cost-'))
writeFileSync(join(directory, 'warpwatch.yaml'), `data_dir: ${directory}/data\n`)
const { config } = await loadConfig({ cwd: directory, env: {} })
const NO_LOOKS: Looks = { counter() {}, instance() {}, restore() {}, look() {}, settle() {} }
const jobs = createJobs(
  config,
  QUIET,
  () => {},
  process.argv.includes('--without') ? (options) => createJobTracker({ ...options, looksOf: () => NO_LOOKS }) : undefined,
)
for (let n = 0; n < CONTAINERS; n++) jobs.ingest({ type: 'container', t: T, action: 'start', container: `job-${n}`, container_id: idOf(n) })

function second(at: number): void {
  const t = T + at * 1_000
  const send = (group: string, readings: readonly Reading[]): void =>
    jobs.ingest({ type: 'scrape', t, source: 'gpu', group, ttlMs: 3_000, durationMs: 0, readings, gaps: [] })
  cards.forEach(({ ratio, watts, counter, rest, of }, gpu) => {
    const busy = ((at * 7 + gpu * 13) % 90) / 100
    send(`${gpu}/fast`, [
      { series: ratio, value: busy },
      { series: watts, value: 100 + 500 * busy },
      { series: counter, value: at * (300 + gpu) },
    ])
    send(`${gpu}/processes`, [
      ...of.flatMap(({ memory, share }, n) => [
        { series: memory, value: 2 ** 32 + n * 2 ** 20 },
        { series: share, value: (busy * (n + 1)) / 15 },
      ]),
      { series: rest, value: 0 },
    ])
  })
  jobs.tick(t + 250)
}

for (let at = 0; at < WARM_UP; at++) second(at)
const before = process.cpuUsage()
for (let at = WARM_UP; at < WARM_UP + SECONDS; at++) second(at)
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${((user + system) / SECONDS).toFixed(0)}\n`)
jobs.close()
rmSync(directory, { recursive: true })
