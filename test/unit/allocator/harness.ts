// Runs the source that listens to probes as the agent does, beside a driver that says what the test tells it; probes are plain sockets.
import { existsSync, readlinkSync, readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createProcessIdentifier } from '../../../agent/attribution/process.ts'
import { parseStat } from '../../../agent/attribution/proc-files.ts'
import { metricNamed } from '../../../agent/catalogue.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'
import type { IdentifyProcess } from '../../../agent/model/identity.ts'
import { createAllocatorSource } from '../../../agent/sources/allocator.ts'
import type { Prefilter } from '../../../agent/sources/logs/prefilter.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { poll } from '../../setup/poll.ts'
import { runSource } from '../../setup/run-source.ts'

export const GIB = 1024 ** 3
export const UUID = 'GPU-00000000-0000-4000-8000-000000000000'
export const UUID1 = 'GPU-00000000-0000-4000-8000-000000000001'

const interesting: Prefilter = (bytes, start, end) => {
  let found = false
  logScanner().search.inBytes(bytes, start, end, () => void (found = true))
  return found
}

export type DriverReading = readonly [metric: string, labels: Labels, value: number]

/** What the driver and the engine say; each call replaces what was said before. */
export function createDriver() {
  const latest = createLatestStore()
  const say = (readings: readonly DriverReading[], t = Date.now()): void =>
    latest.apply({
      type: 'scrape',
      t,
      source: 'gpu',
      group: 'all',
      ttlMs: 3_600_000,
      durationMs: 0,
      gaps: [],
      readings: readings.map(([name, labels, value]) => {
        const metric = metricNamed(`warpwatch_${name}`)
        if (metric === undefined) throw new Error(`expected a metric of the catalogue, got ${name}`)
        return { series: makeSeries(metric, labels), value }
      }),
    })
  return { latest, say }
}

export const gpuSays = (gpu: number, usedBytes: number, freeBytes: number, more: Labels = {}): readonly DriverReading[] => {
  const labels = { gpu: String(gpu), uuid: gpu === 0 ? UUID : UUID1 }
  return [
    ['gpu_info', { ...labels, name: 'H100', pci_bus_id: `00000000:${gpu + 1}B:00.0`, ...more }, 1],
    ['gpu_memory_used_bytes', labels, usedBytes],
    ['gpu_memory_free_bytes', labels, freeBytes],
  ]
}
export const processSays = (pid: number, gpu: number, bytes: number, more: Labels = {}): DriverReading => [
  'process_gpu_memory_bytes',
  { gpu: String(gpu), uuid: gpu === 0 ? UUID : UUID1, pid: String(pid), process: 'python', ...more },
  bytes,
]

export type Wire = Readonly<Record<string, unknown>>

/** The claim that is true of a process of this host. */
export function trueClaim(pid: number): { readonly pid: number; readonly pidns: number; readonly start_ticks: number } {
  const pidns = Number(/\d+/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[0])
  const startTicks = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.startTicks
  const inner = /^NSpid:.*?(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { pid: Number(inner), pidns, start_ticks: startTicks ?? 0 }
}
export const helloOf = (pid: number, more: Wire = {}): Wire => ({
  type: 'hello',
  v: 1,
  ...trueClaim(pid),
  torch: '2.6.0',
  backend: 'native',
  expandable: false,
  devices: [{ i: 0, uuid: UUID, total_bytes: 80 * GIB }],
  env: {},
  ...more,
})
/** Figures in GiB. */
export const statsOf = (allocated: number, reserved: number, split: number, more: Wire = {}): Wire => ({
  allocated_bytes: [allocated * GIB, allocated * GIB],
  reserved_bytes: [reserved * GIB, reserved * GIB],
  active_bytes: [allocated * GIB, allocated * GIB],
  inactive_split_bytes: [split * GIB, split * GIB],
  requested_bytes: [allocated * GIB, allocated * GIB],
  num_alloc_retries: 0,
  num_ooms: 0,
  ...more,
})
export const sampleOf = (devices: Readonly<Record<string, Wire>>, more: Wire = {}): Wire => ({
  type: 'sample',
  seq: 1,
  t: Date.now() / 1000,
  took_ms: 0.1,
  drop: 0,
  cpu_s: 0.1,
  devices: Object.fromEntries(
    Object.entries(devices).map(([index, stats]) => [
      index,
      { stats, limit_bytes: null, ...(stats['limit'] === undefined ? {} : { limit_bytes: stats['limit'] }) },
    ]),
  ),
  ...more,
})

export type Client = {
  readonly socket: Socket
  readonly say: (...messages: readonly Wire[]) => void
  readonly raw: (text: string | Buffer) => void
  readonly closed: () => boolean
}

export async function createClient(path: string): Promise<Client> {
  let closed = false
  const socket = connect(path)
  socket.on('close', () => (closed = true))
  socket.on('error', () => {})
  await poll(() => !socket.connecting, { what: `a connection to ${path}` })
  const raw = (text: string | Buffer): void => void socket.write(text)
  return { socket, raw, say: (...messages) => raw(messages.map((message) => `${JSON.stringify(message)}\n`).join('')), closed: () => closed }
}

export type ListenOptions = {
  readonly identify?: IdentifyProcess
  readonly procRoot?: string
  readonly discover?: boolean
  readonly listen?: boolean
  readonly path?: string
}

export function startListening(driver: ReturnType<typeof createDriver>, options: ListenOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ww-probe-'))
  const path = options.path ?? join(folder, 'sock', 'probe.sock')
  const procRoot = options.procRoot ?? '/proc'
  const identify = options.identify ?? createProcessIdentifier({ procRoot, directory: createContainerDirectory() })
  const source = createAllocatorSource({
    socket: options.listen === false ? undefined : path,
    discover: options.discover ?? false,
    procRoot,
    identify,
    latest: driver.latest,
    interesting,
  })
  const run = runSource(source)
  const refusals = (): Readonly<Record<string, number>> =>
    Object.fromEntries(
      run
        .of('warpwatch_agent_probe_refusals_total')
        .filter(({ value }) => value > 0)
        .map(({ series, value }) => [series.labels['reason'] ?? '', value]),
    )
  return {
    ...run,
    path,
    folder,
    refusals,
    connections: () => run.value('warpwatch_agent_probe_connections'),
    samples: () => run.events.filter((event) => event.type === 'allocator'),
    ooms: () => run.events.filter((event) => event.type === 'allocator_oom'),
    logs: () => run.events.filter((event) => event.type === 'log'),
    async client() {
      await poll(() => existsSync(path), { what: `${path} to be there` })
      return createClient(path)
    },
    async [Symbol.asyncDispose]() {
      await run.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
