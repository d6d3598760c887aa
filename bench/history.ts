// History: bytes per sample, CPU and bytes written per second of data, memory and query time, on data like that of a host with eight GPUs.
import { mkdtempSync, rmSync, statSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gpuPowerWatts } from '../agent/metrics/gpu-power.ts'
import type { Scrape } from '../agent/model/event.ts'
import type { MetricKind } from '../agent/model/metric.ts'
import type { Reading } from '../agent/model/reading.ts'
import { makeSeries, type Labels } from '../agent/model/series.ts'
import { createHistory } from '../agent/store/history.ts'
import { printTable } from './lib/table.ts'

const GPUS = 8
const CONTAINERS = 20
const PROCESSES = 40
const MIB = 2 ** 20

/** A small generator with a fixed seed (mulberry32), so that each run measures the same data. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

type Model = () => number

/** About 1,500 series as the agent's own sources give them; each model is called once a second. */
function createHost(random: () => number): readonly { readonly source: string; readonly everySeconds: number; readonly read: () => readonly Reading[] }[] {
  const noise = (): number => random() + random() + random() + random() - 2 // about normal, deviation 0.58
  const scrapes: { source: string; everySeconds: number; read: () => readonly Reading[] }[] = []
  const group = (source: string, everySeconds: number, entries: readonly (readonly [name: string, labels: Labels, model: Model])[]): void => {
    const made = entries.map(([name, labels, model]) => {
      const kind: MetricKind = name.endsWith('_total') ? 'counter' : name.endsWith('_info') ? 'info' : 'gauge'
      return { series: makeSeries({ name: `warpwatch_${name}`, subject: 'agent', kind, unit: '1', help: '', labels: Object.keys(labels) }, labels), model }
    })
    scrapes.push({ source, everySeconds, read: () => made.map(({ series, model }) => ({ series, value: model() })) })
  }
  const constant = (value: number) => () => value
  /** Holds a level and steps now and then, in multiples of `unit`. */
  const steps = (low: number, high: number, unit: number, chance: number): Model => {
    let value = Math.round((low + (high - low) * random()) / unit) * unit
    return () => (random() < chance ? (value = Math.round((low + (high - low) * random()) / unit) * unit) : value)
  }
  const walk = (low: number, high: number, step: number, digits: number): Model => {
    let value = low + (high - low) * random()
    return () => Number((value = Math.min(high, Math.max(low, value + noise() * step))).toFixed(digits))
  }
  const counter = (perSecond: () => number, digits = 0): Model => {
    let value = Math.floor(random() * 1e6)
    return () => Number((value += perSecond()).toFixed(digits))
  }

  for (let gpu = 0; gpu < GPUS; gpu++) {
    const labels = { gpu: String(gpu), uuid: `GPU-0000000${gpu}-1111-2222-3333-444444444444` }
    const busy = gpu < 6
    let phase = 0
    let utilization = 0
    const used = steps(20e9, 78e9, 2 * MIB, busy ? 0.05 : 0.0005)
    const sm = (): number => (utilization = busy ? Math.max(0, Math.min(100, Math.round((phase++ % 37 < 31 ? 96 : 20) + noise() * 4))) : 0)
    const power = (): number => Math.round((busy ? 90 + utilization * 5.6 : 62) * 1000 + noise() * (busy ? 9000 : 120)) / 1000
    let watts = 60
    const reasons = [
      'gpu_idle',
      'applications_clocks',
      'sw_power_cap',
      'hw_slowdown',
      'sync_boost',
      'sw_thermal',
      'hw_thermal',
      'hw_power_brake',
      'display_clock',
    ]
    group(`gpu${gpu}`, 1, [
      ['gpu_utilization_ratio', labels, () => sm() / 100],
      ['gpu_memory_utilization_ratio', labels, () => Math.round(utilization * 0.6 + noise() * 3) / 100],
      ['gpu_memory_used_bytes', labels, used],
      ['gpu_memory_free_bytes', labels, steps(1e9, 50e9, 2 * MIB, busy ? 0.05 : 0.0005)],
      ['gpu_memory_used_peak_bytes', labels, steps(20e9, 78e9, 2 * MIB, busy ? 0.02 : 0.0005)],
      ['gpu_memory_unattributed_bytes', labels, steps(4e8, 6e8, 2 * MIB, 0.002)],
      ['gpu_memory_total_bytes', labels, constant(85_899_345_920)],
      ['gpu_memory_reserved_bytes', labels, constant(634_388_480)],
      ['gpu_power_watts', labels, () => (watts = power())],
      ['gpu_energy_joules_total', labels, counter(() => watts + noise() * 0.4, 3)],
      ['gpu_temperature_celsius', labels, walk(busy ? 58 : 31, busy ? 71 : 33, 0.35, 0)],
      ['gpu_memory_temperature_celsius', labels, walk(busy ? 66 : 38, busy ? 80 : 40, 0.35, 0)],
      ['gpu_fan_speed_ratio', labels, constant(0)],
      ['gpu_performance_state', labels, constant(0)],
      ['gpu_power_limit_watts', labels, constant(700)],
      ['gpu_sample_age_seconds', labels, () => Math.round(30 + noise() * 8) / 1000],
      ['gpu_encoder_utilization_ratio', labels, constant(0)],
      ['gpu_decoder_utilization_ratio', labels, constant(0)],
      ...['sm', 'graphics'].map((domain) => ['gpu_clock_hertz', { ...labels, domain }, busy ? steps(1_710e6, 1_980e6, 15e6, 0.25) : constant(345e6)] as const),
      ...['memory', 'video'].map((domain) => ['gpu_clock_hertz', { ...labels, domain }, constant(2_619e6)] as const),
      ...['sm', 'graphics', 'memory', 'video'].map((domain) => ['gpu_clock_max_hertz', { ...labels, domain }, constant(1_980e6)] as const),
      ...reasons.map((reason, i) => ['gpu_throttle_active', { ...labels, reason }, busy && i === 2 ? steps(0, 1, 1, 0.1) : constant(0)] as const),
      ...reasons.map(
        (reason, i) => ['gpu_throttle_seconds_total', { ...labels, reason }, busy && i === 2 ? counter(() => random() * 0.4, 6) : constant(0)] as const,
      ),
      ...['tx', 'rx'].map(
        (direction) =>
          [
            'gpu_pcie_throughput_bytes_per_second',
            { ...labels, direction },
            () => Math.round((busy ? 9e6 : 3e4) + noise() * (busy ? 4e6 : 2e3)) * 1000,
          ] as const,
      ),
      ...Array.from(
        { length: 18 },
        (_, link) =>
          [
            'gpu_nvlink_transmitted_bytes_total',
            { ...labels, link: String(link) },
            busy ? counter(() => Math.floor(2e8 * random()) * 1024) : constant(0),
          ] as const,
      ),
      ...Array.from({ length: 18 }, (_, link) => ['gpu_nvlink_state', { ...labels, link: String(link) }, constant(1)] as const),
    ])
    group(`gpu${gpu}-slow`, 10, [
      ['gpu_pcie_link_generation', labels, constant(5)],
      ['gpu_pcie_link_width', labels, constant(16)],
      ['gpu_pcie_replay_total', labels, constant(0)],
      ...['corrected', 'uncorrected'].flatMap((type) =>
        ['volatile', 'aggregate'].map((scope) => ['gpu_ecc_errors_total', { ...labels, type, scope }, constant(0)] as const),
      ),
      ...['sbe', 'dbe'].map((cause) => ['gpu_retired_pages', { ...labels, cause }, constant(0)] as const),
      ...['correctable', 'uncorrectable'].map((type) => ['gpu_remapped_rows', { ...labels, type }, constant(0)] as const),
      ...Array.from({ length: 18 }, (_, link) => ['gpu_nvlink_errors_total', { ...labels, link: String(link) }, constant(0)] as const),
      ['gpu_info', { ...labels, name: 'NVIDIA H100 80GB HBM3' }, constant(1)],
    ])
  }
  const container = (i: number): Labels => ({ container: `job-${i}`, container_id: `${i}`.padStart(12, 'a'), image: 'registry.example/trainer:1' })
  for (let i = 0; i < CONTAINERS; i++) {
    const labels = container(i)
    const busy = i < 8
    group('containers', 1, [
      ['container_cpu_seconds_total', labels, counter(() => (busy ? 3 + noise() : random() * 0.002), 6)],
      ['container_memory_bytes', labels, busy ? steps(2e9, 60e9, 4096, 0.7) : steps(5e7, 6e7, 4096, 0.05)],
      ['container_memory_limit_bytes', labels, constant(68_719_476_736)],
      ['container_memory_anon_bytes', labels, busy ? walk(1e9, 3e10, 3e6, 0) : constant(4e7)],
      ['container_oom_kills_total', labels, constant(0)],
      ['container_restarts_total', labels, constant(0)],
      ['container_pids', labels, steps(20, 60, 1, 0.02)],
      ['container_io_read_bytes_total', labels, counter(() => (busy && random() < 0.3 ? Math.floor(random() * 500) * 131_072 : 0))],
      ['container_io_written_bytes_total', labels, counter(() => (random() < 0.05 ? Math.floor(random() * 50) * 4096 : 0))],
      ['container_network_received_bytes_total', labels, counter(() => Math.floor(random() * (busy ? 90_000 : 400)))],
      ...['user', 'system'].map(
        (mode) => ['container_cpu_mode_seconds_total', { ...labels, mode }, counter(() => (busy ? 1.5 + noise() * 0.4 : 0), 2)] as const,
      ),
      ...Array.from(
        { length: 2 },
        (_, g) => ['container_gpu_memory_bytes', { ...labels, uuid: `GPU-${g}` }, busy ? steps(1e9, 7e10, 2 * MIB, 0.03) : constant(0)] as const,
      ),
    ])
  }
  for (let i = 0; i < PROCESSES; i++) {
    const labels = { pid: String(4000 + i), process: 'python', uuid: `GPU-${i % 8}`, ...container(i % CONTAINERS) }
    group('processes', 1, [
      ['process_gpu_memory_bytes', labels, i < 24 ? steps(1e9, 7e10, 2 * MIB, 0.03) : constant(3e9)],
      ['process_gpu_sm_utilization_ratio', labels, i < 16 ? () => Math.max(0, Math.min(100, Math.round(90 + noise() * 6))) / 100 : constant(0)],
    ])
  }
  group('host', 1, [
    ...['system', 'iowait', 'irq'].flatMap((mode, i) =>
      Array.from(
        { length: 32 },
        (_, cpu) => ['host_cpu_mode_seconds_total', { cpu: String(cpu), mode }, counter(() => (i === 0 ? Math.round(random() * 5) / 100 : 0), 2)] as const,
      ),
    ),
    ...Array.from({ length: 32 }, (_, cpu) => ['host_cpu_seconds_total', { cpu: String(cpu) }, counter(() => Math.round(random() * 60) / 100, 2)] as const),
    ...['total', 'free', 'available', 'cached', 'buffers', 'dirty', 'shmem', 'swap_free'].map(
      (kind, i) => ['host_memory_bytes', { kind }, i === 0 || i === 7 ? constant(1_081_101_176_832) : walk(1e10, 9e11, 2e7, 0)] as const,
    ),
    ...['cpu', 'memory', 'io'].flatMap((resource) =>
      ['some', 'full'].map(
        (kind) => ['host_pressure_seconds_total', { resource, kind }, counter(() => (resource === 'cpu' ? random() * 0.01 : 0), 6)] as const,
      ),
    ),
    ...['1', '5', '15'].map((minutes) => ['host_load_average', { minutes }, walk(10, 40, 0.3, 2)] as const),
    ...Array.from(
      { length: 6 },
      (_, disk) => ['host_disk_io_seconds_total', { disk: `nvme${disk}n1` }, counter(() => (disk < 2 ? random() * 0.2 : 0), 3)] as const,
    ),
    ...Array.from({ length: 6 }, (_, disk) => ['host_filesystem_free_bytes', { mount: `/data${disk}` }, steps(1e11, 2e12, 4096, disk < 2 ? 0.3 : 0)] as const),
    ...Array.from(
      { length: 8 },
      (_, net) => ['host_network_received_bytes_total', { device: `eth${net}` }, counter(() => (net < 3 ? Math.floor(1e6 * random()) : 0))] as const,
    ),
  ])
  group('agent', 1, [
    ...Array.from({ length: 8 }, (_, i) => ['agent_source_duration_seconds', { source: `s${i}` }, () => (2 + random()) / 1000] as const),
    ...Array.from({ length: 8 }, (_, i) => ['agent_source_up', { source: `s${i}` }, constant(1)] as const),
    ...Array.from({ length: 20 }, (_, i) => ['agent_gaps_total', { source: `s${i % 8}`, reason: `r${i}` }, constant(i)] as const),
    ['agent_cpu_seconds_total', {}, counter(() => 0.008 + random() * 0.003, 6)],
    ['agent_memory_bytes', {}, walk(6e7, 9e7, 2e5, 0)],
  ])
  return scrapes
}

const written = (): number => Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
const cpuMs = (from: NodeJS.CpuUsage): number => {
  const used = process.cpuUsage(from)
  return (used.user + used.system) / 1000
}
const fileBytes = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

type Row = { readonly what: string; readonly measured: number; readonly limit: number; readonly unit: string }

export async function run(): Promise<void> {
  const hours = Number(process.env['BENCH_HISTORY_HOURS'] ?? 24)
  const directory = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'warpwatch-bench-'))
  const start = 1_763_600_000_000
  const host = createHost(createRandom(1))
  const log = { info: () => {}, warn: console.error, error: console.error }
  globalThis.gc?.()
  const before = process.memoryUsage()
  const history = createHistory({ directory, log, now: () => start })
  const seconds = hours * 3600
  const writtenBefore = written()
  let spent = 0
  let longest = 0
  let samples = 0
  const ticks: number[] = []
  for (let second = 0; second < seconds; second++) {
    const t = start + second * 1000
    const events: Scrape[] = host
      .filter((scrape, i) => (second + i) % scrape.everySeconds === 0)
      .map((scrape) => ({ type: 'scrape', t, source: scrape.source, group: '', ttlMs: 3000, durationMs: 1, readings: scrape.read(), gaps: [] }))
    const from = process.cpuUsage()
    const wall = performance.now()
    for (const event of events) history.ingest(event)
    history.maintain(t)
    const took = performance.now() - wall
    const used = cpuMs(from)
    spent += used
    ticks.push(used)
    longest = Math.max(longest, took)
    for (const event of events) samples += event.readings.length
  }
  globalThis.gc?.()
  const after = process.memoryUsage()
  const memory = after.heapUsed + after.external - before.heapUsed - before.external
  const end = start + seconds * 1000
  const timed = (metric: string, from: number, to: number, points: number): number => {
    const times: number[] = []
    for (let i = 0; i < 15; i++) {
      const begin = performance.now()
      history.query({ metric, labels: {}, from, to, points })
      times.push(performance.now() - begin)
    }
    return times.sort((a, b) => a - b)[7] ?? 0
  }
  const day = timed(gpuPowerWatts.name, end - 24 * 3_600_000, end, 1000)
  const quarter = timed(gpuPowerWatts.name, end - 900_000, end, 900)
  const eight = timed(gpuPowerWatts.name, end - 8 * 3_600_000, end, 1000)
  const stats = history.stats()
  history.close()
  const size = fileBytes(join(directory, 'history.db'))
  const reopen = performance.now()
  const again = createHistory({ directory, log, now: () => end })
  const opened = performance.now() - reopen
  again.close()
  ticks.sort((a, b) => a - b)
  const rows: readonly Row[] = [
    { what: 'bytes per raw sample, whole file (minutes, hours, journal too)', measured: size / samples, limit: 1, unit: 'B' },
    { what: 'CPU per second of data', measured: spent / seconds, limit: 1.5, unit: 'ms' },
    { what: 'CPU of a tick, 99th percentile', measured: ticks[Math.floor(ticks.length * 0.99)] ?? 0, limit: 10, unit: 'ms' },
    { what: 'tick on the clock, longest (with the write-ahead log’s checkpoint)', measured: longest, limit: 500, unit: 'ms' },
    { what: '24 h of one metric of 8 GPUs at 1,000 points', measured: day, limit: 10, unit: 'ms' },
    { what: '15 min of the same at 900 points (raw)', measured: quarter, limit: 10, unit: 'ms' },
    { what: '8 h of the same at 1,000 points (raw)', measured: eight, limit: 50, unit: 'ms' },
    { what: 'written to disk per second of data', measured: (written() - writtenBefore) / 1024 / seconds, limit: 40, unit: 'KiB' },
    { what: 'memory of the process for it, SQLite aside', measured: memory / MIB, limit: 12, unit: 'MiB' },
    { what: 'open again with a full journal', measured: opened, limit: 300, unit: 'ms' },
  ]
  process.stdout.write(`${stats.series} series, ${hours} h, ${(samples / 1e6).toFixed(1)} million samples, ${(size / 1e6).toFixed(1)} MB\n`)
  printTable(
    rows.map(({ what, measured, limit, unit }) => ({
      what,
      figure: `${Number(measured.toPrecision(3))} ${unit}`,
      limit: `${limit} ${unit}`,
      ok: measured <= limit,
    })),
  )
  rmSync(directory, { recursive: true })
}

if (import.meta.main) await run()
