// PyTorch's allocator from inside: listens to probes (probe/PROTOCOL.md), connects to those that cannot reach it, and emits what they report.
import { join } from 'node:path'
import { agentProbeConnections, agentProbeRefusalsTotal } from '../metrics/agent-sources.ts'
import type { Source, SourceContext } from '../model/source.ts'
import { makeSeries } from '../model/series.ts'
import type { Gap, Reading } from '../model/reading.ts'
import type { LatestStore } from '../store/latest.ts'
import type { IdentifyProcess } from '../model/identity.ts'
import { stackOf } from '../text/error.ts'
import { defineSource } from './definition.ts'
import { createDiscovery } from './allocator/discovery.ts'
import { createDriverView } from './allocator/driver-view.ts'
import { createHub } from './allocator/hub.ts'
import { createListener, type Trouble } from './allocator/listener.ts'
import { createOwnership } from './allocator/ownership.ts'
import { READING_METRICS } from './allocator/readings.ts'
import { createRefusals } from './allocator/refusals.ts'
import type { Prefilter } from './logs/prefilter.ts'

const allocatorMetrics = [...READING_METRICS, agentProbeConnections, agentProbeRefusalsTotal] as const

export type AllocatorOptions = {
  /** Path of the socket; undefined: probes are only looked for. */
  readonly socket: string | undefined
  readonly discover: boolean
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly latest: LatestStore
  readonly interesting: Prefilter
}

const TICK_MS = 1_000
/** Renewed each second; a sample counts for some seconds more, see FRESH_MS. */
const TTL_MS = 2_500
const DISCOVER_MS = 5_000
const TEND_MS = 10_000
const SELF = { group: 'self', everyMs: 10_000, ttlMs: 25_000 } as const
const NO_READINGS: readonly Reading[] = []
const NO_GAPS: readonly Gap[] = []

const gapOf = ({ code, detail }: Trouble): Gap => ({
  metric: 'allocator',
  labels: {},
  reason: code === 'EACCES' || code === 'EPERM' ? 'no_permission' : 'driver_error',
  detail,
})

export function createAllocatorSource(options: AllocatorOptions): Source {
  const { procRoot, identify, latest } = options
  const stops: (() => void | Promise<void>)[] = []
  const connectionsSeries = makeSeries(agentProbeConnections, {})

  const start = async ({ emit, every, log }: SourceContext): Promise<void> => {
    const view = createDriverView(latest)
    const refusals = createRefusals()
    const ownership = createOwnership({ procRoot, likely: view.pids })
    const interesting = (text: string): boolean => {
      const bytes = Buffer.from(text)
      return options.interesting(bytes, 0, bytes.length) === true
    }
    let failures = 0
    const onFailure = (error: unknown): void => {
      // Powers of ten: the first is logged at once, a storm of them does not fill the log.
      if (/^10*$/.test(String(++failures))) log.error(`a probe's message could not be processed (${failures} so far): ${stackOf(error)}`)
    }
    const hub = createHub({ identify, ownership, view, refusals, emit, interesting, onFailure, log })
    const listener =
      options.socket === undefined
        ? undefined
        : createListener({ path: options.socket, onSocket: (socket) => hub.add(socket), onFlood: () => refusals.add('connection_flood') })
    const discovery = options.discover
      ? createDiscovery({
          procRoot,
          identify,
          hears: hub.hears,
          onSocket: hub.add,
          onNotSocket: () => refusals.add('not_a_socket'),
          onFailure,
        })
      : undefined

    const scrape = (t: number, group: string, ttlMs: number, durationMs: number, readings: readonly Reading[], gaps: readonly Gap[]): void =>
      emit({ type: 'scrape', t, source: 'allocator', group, ttlMs, durationMs, readings, gaps })
    let logged = ''
    const sayTrouble = (): void => {
      const detail = listener?.trouble()?.detail ?? ''
      if (detail !== logged)
        log[detail === '' ? 'info' : 'warn'](detail === '' ? `probes can connect to ${options.socket ?? ''}` : `probes cannot connect: ${detail}`)
      logged = detail
    }
    let said = { at: Number.NEGATIVE_INFINITY, connections: -1, refusals: -1 }
    const saySelf = (t: number): void => {
      const now = { at: t, connections: hub.connections(), refusals: refusals.total() }
      if (now.connections === said.connections && now.refusals === said.refusals && Math.abs(t - said.at) < SELF.everyMs) return
      said = now
      const trouble = listener?.trouble()
      const readings = [{ series: connectionsSeries, value: now.connections }, ...refusals.readings()]
      scrape(t, SELF.group, SELF.ttlMs, 0, readings, trouble === undefined ? NO_GAPS : [gapOf(trouble)])
    }
    /** Groups of the last second: one that says nothing now takes back what it said. */
    let groups: ReadonlySet<string> = new Set()
    let hadGaps = false
    const tick = (t: number): void => {
      const began = performance.now()
      listener?.tick()
      if (hub.connections() > 0 || groups.size > 0) view.refresh()
      hub.tick()
      const { byGpu, gaps } = hub.report()
      const durationMs = performance.now() - began
      for (const [uuid, readings] of byGpu) scrape(t, uuid, TTL_MS, durationMs / byGpu.size, readings, NO_GAPS)
      for (const uuid of groups) if (!byGpu.has(uuid)) scrape(t, uuid, TTL_MS, 0, NO_READINGS, NO_GAPS)
      groups = new Set(byGpu.keys())
      if (gaps.length > 0 || hadGaps) scrape(t, 'unplaced', TTL_MS, 0, NO_READINGS, gaps)
      hadGaps = gaps.length > 0
      saySelf(t)
    }
    const discover = (): void => {
      view.refresh()
      discovery?.look([...view.pids()].filter((pid) => !hub.hearsPid(pid)))
    }

    await listener?.tend()
    if (listener?.trouble() !== undefined) sayTrouble()
    // In this order: a server has closed when its connections have.
    stops.push(every(TICK_MS, tick), hub.close, ownership.stop)
    if (discovery !== undefined) stops.push(every(DISCOVER_MS, discover), discovery.close)
    if (listener !== undefined)
      stops.push(
        every(TEND_MS, async () => {
          await listener.tend()
          sayTrouble()
        }),
        listener.close,
      )
  }

  return {
    id: 'allocator',
    metrics: allocatorMetrics,
    start,
    async stop() {
      for (const stop of stops.splice(0)) await stop()
    },
  }
}

/** systemd's RuntimeDirectory= and the documentation name this directory. */
const ROOT_SOCKET = '/run/warpwatch/probe.sock'

export const allocator = defineSource({
  id: 'allocator',
  metrics: allocatorMetrics,
  needs: ['config', 'identify', 'latest', 'interesting'],
  create({ config, identify, latest, interesting }) {
    const { enabled, discover, socket } = config.allocator
    if (!enabled || config.simulate.scenario !== 'off') return undefined
    return createAllocatorSource({
      socket: socket !== '' ? socket : process.getuid?.() === 0 ? ROOT_SOCKET : join(config.data_dir, 'probe/probe.sock'),
      discover,
      procRoot: config.host.proc_root,
      identify,
      latest,
      interesting,
    })
  },
})
