// GET /metrics with 10,000 series, once rendered again for each scrape and once shared within a tick; beside it prom-client with the same data.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import { Gauge, Registry } from 'prom-client'
import { createExposition } from '../agent/http/exposition.ts'
import { createHttpServer } from '../agent/http/server.ts'
import { createReadiness } from '../agent/http/health.ts'
import { createViews } from '../agent/http/views.ts'
import { defineMetric } from '../agent/model/metric.ts'
import { makeSeries, type Series } from '../agent/model/series.ts'
import { createLiveSink } from '../agent/sinks/live.ts'
import { createLatestStore } from '../agent/store/latest.ts'
import { percentile, printTable, type Row } from './lib/table.ts'

const FAMILIES = 50
const PER_FAMILY = 200
const SCRAPES = 500
const WARM_UP = 30
const STATES = 16
/** Prometheus asks each second at the most; this is enough for both sides to be at rest again. */
const PAUSE_MS = 20
const LIMIT_MS = 5
const LABELS = ['gpu', 'uuid', 'pid', 'process', 'container', 'container_id'] as const

const labelsOf = (i: number): Record<(typeof LABELS)[number], string> => ({
  gpu: String(i % 8),
  uuid: `GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e5${i % 8}`,
  pid: String(10_000 + i),
  process: 'python3',
  container: `trainer-${i % 20}`,
  container_id: `0123456789${String(i % 20).padStart(2, '0')}`,
})

/** As on a GPU host: some values stand still, most are whole bytes, others have two or three decimals, a few many. */
function valueAt(family: number, i: number, tick: number): number {
  const kind = i % 8
  if (kind < 2) return i * 1_048_576
  if (kind < 5) return (family + i + tick) * 4_096
  if (kind === 5) return ((i + tick) % 101) / 100
  if (kind === 6) return (300_000 + ((i * 7 + tick * 13) % 50_000)) / 1_000
  return (family + 1) * (i + tick) * 1.37
}

type Times = { readonly fresh: readonly number[]; readonly shared: readonly number[]; readonly bare: readonly number[] }

/** The scraper is a second process, as Prometheus is: it asks for a tick, scrapes, and scrapes once more within the same tick. */
async function scrapeFromOutside(url: string, bareUrl: string, tick: (t: number) => void): Promise<Times> {
  const child = fork(import.meta.filename, ['--scraper', url, bareUrl])
  return new Promise((resolve, reject) => {
    child.on('message', (message: number | Times) => {
      if (typeof message !== 'number') return resolve(message)
      tick(1_000_000 + message)
      child.send('ticked')
    })
    child.on('error', reject)
    child.on('exit', (code) => code !== 0 && reject(new Error(`the scraper: expected exit 0, came ${code}`)))
  })
}

const scrapeOnce = (url: string, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const begun = performance.now()
    get(url, { agent }, (response) => {
      response.resume()
      response.on('end', () => resolve(performance.now() - begun))
    }).on('error', reject)
  })

async function scraper(url: string, bareUrl: string): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const fresh: number[] = []
  const shared: number[] = []
  const bare: number[] = []
  for (let i = 0; i < WARM_UP + SCRAPES; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    process.send?.(i)
    await new Promise((resolve) => process.once('message', resolve))
    const times = [await scrapeOnce(url, agent), await scrapeOnce(url, agent), await scrapeOnce(bareUrl, agent)] as const
    if (i < WARM_UP) continue
    fresh.push(times[0])
    shared.push(times[1])
    bare.push(times[2])
  }
  agent.destroy()
  process.send?.({ fresh, shared, bare }, () => process.disconnect())
}

function figures(what: string, times: readonly number[], limit?: number): readonly Row[] {
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
  const limits = limit === undefined ? {} : { limit: `${limit} ms`, ok: p99 <= limit }
  return [
    { what: `${what}, p50`, figure: `${p50.toFixed(2)} ms` },
    { what: `${what}, p99`, figure: `${p99.toFixed(2)} ms`, ...limits },
  ]
}

export async function run(): Promise<void> {
  const latest = createLatestStore()
  const series: Series[][] = Array.from({ length: FAMILIES }, (_, family) => {
    const metric = defineMetric({
      name: `warpwatch_process_bench_${family}_bytes`,
      subject: 'process',
      field: `bench_${family}_bytes`,
      kind: 'gauge',
      unit: 'By',
      help: `Family ${family}`,
      labels: LABELS,
    })
    return Array.from({ length: PER_FAMILY }, (_unused, i) => makeSeries(metric, labelsOf(i)))
  })
  const views = createViews({ latest, hostname: 'bench' })
  const exposition = createExposition({ latest, dcgm: 'classic', hostnameLabel: 'Hostname', hostname: 'bench' })
  const server = createHttpServer({
    listen: '127.0.0.1:0',
    token: '',
    insecure: false,
    allowedOrigins: [],
    allowedHosts: [],
    views,
    history: undefined,
    exposition,
    live: createLiveSink({ views, hostname: 'bench', simulated: false, maxReaders: 1 }),
    ready: createReadiness(latest),
    dashboardDir: '/nonexistent',
    runbooksDir: '/nonexistent',
    log: { info: () => {}, warn: () => {}, error: (text) => process.stderr.write(text) },
  })
  const url = `${await server.listen()}/metrics`
  // Made beforehand: sources make their readings over a second, not at the moment of a scrape.
  const states = Array.from({ length: STATES }, (_, t) =>
    series.flatMap((list, family) => list.map((one, i) => ({ series: one, value: valueAt(family, i, t) }))),
  )
  const tick = (t: number): void => {
    const readings = states[t % STATES] ?? []
    latest.apply({ type: 'scrape', t, source: 'bench', group: '', ttlMs: 10_000, durationMs: 0, readings, gaps: [] })
    exposition.invalidate()
  }

  const registry = new Registry()
  const gauges = series.map(
    (_, family) => new Gauge({ name: `warpwatch_process_bench_${family}_bytes`, help: `Family ${family}`, labelNames: LABELS, registers: [registry] }),
  )
  const labels = Array.from({ length: PER_FAMILY }, (_, i) => labelsOf(i))

  const rendering: number[] = []
  const renderingCpu: number[] = []
  for (let i = 0; i < SCRAPES; i += 1) {
    tick(i)
    const begun = performance.now()
    const cpu = process.cpuUsage()
    exposition.page('text')
    rendering.push(performance.now() - begun)
    const { user, system } = process.cpuUsage(cpu)
    renderingCpu.push((user + system) / 1_000)
  }
  const before = process.cpuUsage()
  const body = exposition.page('text').body
  // What the machine itself gives at this moment: the same bytes from a server that does nothing else.
  const bareServer = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1')
  await once(bareServer, 'listening')
  const bound = bareServer.address()
  const bareUrl = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/`
  const { fresh, shared, bare } = await scrapeFromOutside(url, bareUrl, tick)
  bareServer.close()
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1_000 / (SCRAPES + WARM_UP) / 2
  const peer: number[] = []
  for (let i = 0; i < SCRAPES / 10; i += 1) {
    gauges.forEach((gauge, family) => labels.forEach((one, n) => gauge.set(one, valueAt(family, n, i))))
    const begun = performance.now()
    await registry.metrics()
    peer.push(performance.now() - begun)
  }
  await server.close()
  printTable([
    { what: `page of ${FAMILIES * PER_FAMILY} series`, figure: `${(exposition.page('text').body.length / 1e6).toFixed(2)} MB` },
    ...figures('scrape over HTTP, page of this tick shared', shared, LIMIT_MS),
    ...figures('scrape over HTTP, first of its tick (rendered)', fresh, LIMIT_MS),
    ...figures('the same bytes from a bare node:http server in the same run', bare),
    { what: 'CPU of the agent per scrape, ticks and renderings included', figure: `${cpuMs.toFixed(2)} ms` },
    ...figures('rendering alone', rendering),
    ...figures('rendering alone, CPU time (whatever else the machine does)', renderingCpu),
    ...figures('prom-client 15, rendering alone', peer),
  ])
}

const scraped = process.argv.indexOf('--scraper')
if (import.meta.main) await (scraped > 0 ? scraper(process.argv[scraped + 1] ?? '', process.argv[scraped + 2] ?? '') : run())
