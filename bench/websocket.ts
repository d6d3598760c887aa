// 1,000 readers of the live stream in a second process: what a frame per second to all of them costs the agent, and what one costs that stops reading.
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { metricNamed } from '../agent/catalogue.ts'
import { defineMetric, type MetricDef } from '../agent/model/metric.ts'
import type { Reading } from '../agent/model/reading.ts'
import { makeSeries, type Labels } from '../agent/model/series.ts'
import { createLiveServer } from './lib/live-server.ts'
import { percentile, printTable } from './lib/table.ts'

const READERS = 1_000
const SECONDS = 15
const LIMIT_CORE = 0.03
const GPUS = 8
const CONTAINERS = 20
const PROCESSES = 40

const rowOf = (name: string) => {
  const { subject, field, by } = metricNamed(`warpwatch_${name}`) ?? { subject: 'agent' as const }
  return { subject, ...(field === undefined ? {} : { field }), ...(by === undefined ? {} : { by }) }
}
const gauge = (name: string, labels: readonly string[]): MetricDef =>
  defineMetric({ name: `warpwatch_${name}`, ...rowOf(name), kind: 'gauge', unit: '1', help: name, labels })
const GPU_MEASURES = `
  memory_total_bytes memory_used_bytes memory_used_peak_bytes memory_free_bytes memory_reserved_bytes memory_unattributed_bytes
  utilization_ratio memory_utilization_ratio power_watts power_limit_watts temperature_celsius memory_temperature_celsius
  fan_speed_ratio performance_state sample_age_seconds pcie_link_generation pcie_link_width`
  .trim()
  .split(/\s+/)
  .map((name) => gauge(`gpu_${name}`, ['gpu', 'uuid']))
const clock = gauge('gpu_clock_hertz', ['gpu', 'uuid', 'domain'])
const throttle = gauge('gpu_throttle_active', ['gpu', 'uuid', 'reason'])
const CONTAINER = ['container', 'container_id', 'image', 'compose_project', 'compose_service']
const CONTAINER_MEASURES = ['memory_bytes', 'memory_limit_bytes', 'pids'].map((name) => gauge(`container_${name}`, CONTAINER))
const containerGpu = gauge('container_gpu_memory_bytes', [...CONTAINER, 'gpu', 'uuid'])
const processGpu = gauge('process_gpu_memory_bytes', ['gpu', 'uuid', 'pid', 'process', 'type', ...CONTAINER])

/** The readings of a busy host at one second. */
function hostAt(t: number): readonly Reading[] {
  const readings: Reading[] = []
  const add = (metric: MetricDef, labels: Labels, value: number): void => void readings.push({ series: makeSeries(metric, labels), value })
  const gpuOf = (i: number): Labels => ({ gpu: String(i % GPUS), uuid: `GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e5${i % GPUS}` })
  const containerOf = (i: number): Labels => ({
    container: `trainer-${i % CONTAINERS}`,
    container_id: `0123456789${String(i % CONTAINERS).padStart(2, '0')}`,
    image: 'registry.example/train:2026.11',
    compose_project: 'lab',
    compose_service: `trainer-${i % CONTAINERS}`,
  })
  for (let i = 0; i < GPUS; i += 1) {
    GPU_MEASURES.forEach((metric, n) => add(metric, gpuOf(i), (t + i * n) * 1_048_576))
    for (const domain of ['sm', 'memory', 'graphics', 'video']) add(clock, { ...gpuOf(i), domain }, 1_980_000_000)
    for (const reason of ['sw_power_cap', 'hw_slowdown', 'sw_thermal', 'hw_thermal', 'power_brake']) add(throttle, { ...gpuOf(i), reason }, 0)
  }
  for (let i = 0; i < CONTAINERS; i += 1) {
    for (const metric of CONTAINER_MEASURES) add(metric, containerOf(i), t * 4_096 + i)
    add(containerGpu, { ...containerOf(i), ...gpuOf(i) }, t * 1_048_576)
  }
  for (let i = 0; i < PROCESSES; i += 1)
    add(processGpu, { ...gpuOf(i), ...containerOf(i), pid: String(40_000 + i), process: 'python3', type: 'C' }, t * 1_048_576)
  return readings
}

const pssMib = (): number => Number(/^Pss:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1] ?? 0) / 1_024

async function connected(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`the readers: expected ${READERS} connections, came exit ${code}`)))
  })
}

export async function run(): Promise<void> {
  const { latest, views, live, server } = createLiveServer({ simulated: false, maxReaders: READERS + 1 })
  const url = await server.listen()
  let t = 0
  const broadcasts: number[] = []
  const tick = (): void => {
    t += 1
    latest.apply({ type: 'scrape', t, source: 'bench', group: '', ttlMs: 10_000, durationMs: 0, readings: hostAt(t), gaps: [] })
    const begun = performance.now()
    views.invalidate()
    live.tick(t)
    broadcasts.push(performance.now() - begun)
  }
  /** CPU of this process per second while it ticks once a second, with whoever listens. */
  const load = async (): Promise<number> => {
    broadcasts.length = 0
    const before = process.cpuUsage()
    for (let i = 0; i < SECONDS; i += 1) {
      tick()
      await delay(1_000)
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6 / SECONDS
  }
  tick()
  const idle = await load()
  const before = pssMib()
  const child = fork(import.meta.filename, ['--readers', `${url.replace('http', 'ws')}/ws`])
  await connected(child)
  tick()
  const busy = await load()
  const after = pssMib()
  const frame = Buffer.byteLength(JSON.stringify({ type: 'frame', t, ...views.rows() }))
  child.send('end')
  await live.close()
  await server.close()
  const cost = busy - idle
  printTable([
    { what: `frame of ${GPUS} GPUs, ${CONTAINERS} containers, ${PROCESSES} processes`, figure: `${(frame / 1024).toFixed(1)} KiB` },
    { what: 'ticks without a reader', figure: `${(idle * 100).toFixed(2)} % of a core` },
    { what: `${READERS} readers at 1 Hz`, figure: `${(cost * 100).toFixed(2)} % of a core`, limit: `${LIMIT_CORE * 100} %`, ok: cost <= LIMIT_CORE },
    { what: 'one broadcast, p50', figure: `${percentile(broadcasts, 0.5).toFixed(1)} ms` },
    { what: `memory of ${READERS} readers`, figure: `${(after - before).toFixed(1)} MiB` },
    { what: 'frames skipped', figure: String(live.dropped()), limit: '0', ok: live.dropped() === 0 },
  ])
}

/** The second process: opens all readers and says so. */
async function readers(url: string): Promise<void> {
  for (let i = 0; i < READERS; i += 1) {
    const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true })
    await new Promise((resolve, reject) => {
      socket.once('message', resolve)
      socket.once('error', reject)
    })
  }
  process.send?.('connected')
  process.once('message', () => process.exit(0))
}

const reading = process.argv.indexOf('--readers')
if (import.meta.main) await (reading > 0 ? readers(process.argv[reading + 1] ?? '') : run())
