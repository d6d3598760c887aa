// Inference servers: found behind the processes that hold GPU memory, and asked every five seconds what they do with it.
import * as metricsByName from '../metrics/inference.ts'
import type { IdentifyProcess } from '../model/identity.ts'
import type { Gap, Reading } from '../model/reading.ts'
import type { Labels } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import type { ConnectInside } from '../sampler/connections.ts'
import { joined, type ServerFigures } from '../servers/model.ts'
import { FAMILIES } from '../servers/recognise.ts'
import { defineSource } from './definition.ts'
import { createServersByName } from './inference-servers/by-name.ts'
import type { Holder } from './inference-servers/discover.ts'
import { createKnownServers, type Server, type ServersConfig } from './inference-servers/known-servers.ts'
import { linkOf } from './inference-servers/listening.ts'
import { createLogHead, type ReadLogHead } from './inference-servers/log-head.ts'
import { readingsOf } from './inference-servers/readings.ts'

const ID = 'inference-servers'
const metrics = Object.values(metricsByName)
const EVERY_MS = 5_000
/** Two slow servers may take a round's time each. */
const TTL_MS = 6 * EVERY_MS
/** Looking through /proc takes 10 to 60 ms: at a change of who holds memory, and rarely without one. */
const LOOK_AGAIN_MS = 60_000
/** While a server loads its model, and for the first looks at holders of which none is known to be a server. */
const LOOK_SOON_MS = 5_000
const SOON_LOOKS = 120
/** Then each look at such holders is this much later than the one before: a training job is no server an hour later either. */
const LOOK_LATER = 1.3
const AT_ONCE = 2

export type InferenceServersOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly holders: () => readonly Holder[]
  /** Whether the host has a GPU; without one nothing is looked for that holds no GPU memory. */
  readonly hasGpu?: () => boolean
  readonly config: ServersConfig
  /** Of the agent itself; its link as the kernel spells it. */
  readonly ownNamespace?: string | undefined
  readonly connectInside?: () => ConnectInside | undefined
  readonly readHead?: ReadLogHead
}

type Reported = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }

type Now = {
  readonly t: number
  readonly holders: readonly Holder[]
  readonly lives: (process: Server['engines'][number]) => boolean
  readonly histograms: boolean
}
async function reported(server: Server, { t, holders, lives, histograms }: Now): Promise<Reported> {
  const { found, engines, recognised, name, shown, ask, split, recent, container, seriesOf } = server
  const mine = holders.filter(({ pid }) => engines.some((engine) => engine.pid === pid))
  const labels: Labels = {
    name,
    container: container ?? '',
    pid: found === undefined ? '' : String(found.pid),
    gpu: [...new Set(mine.map(({ gpu }) => gpu))].toSorted((a, b) => Number(a) - Number(b)).join(','),
  }
  const isDead = recognised.family.engineApart === true && engines.length > 0 && !engines.some(lives)
  const heldBytes = mine.reduce((sum, { bytes }) => sum + bytes, 0)
  const answer = isDead || ask === undefined ? undefined : await ask(t, heldBytes)
  if (answer?.isStranger === true) return { readings: [], gaps: [] }
  const state: ServerFigures = isDead ? { state: 'dead' } : found !== undefined && found.port === undefined ? { state: 'loading' } : {}
  const bytesOf = (pid: number): number => mine.reduce((sum, one) => (one.pid === pid ? sum + one.bytes : sum), 0)
  const ofChildren = isDead ? undefined : await server.children?.ask(t, bytesOf)
  const live = joined(state, answer?.figures ?? {}, ofChildren?.figures ?? {})
  const inLog =
    found === undefined || (live.state !== 'ready' && answer?.problem === undefined)
      ? {}
      : await split.of(
          t,
          found.pid,
          mine.map(({ pid }) => pid),
        )
  // Asleep its model is not in GPU memory.
  // Of what the server took, its log tells all ranks and a page often the first alone.
  const memory = { ...live.memory, ...inLog.memory }
  // A page may count what it meant to load; its log tells what was loaded.
  const ratios = [live.offloadedRatio, inLog.offloadedRatio].flatMap((ratio) => ratio ?? [])
  const offloaded: ServerFigures = ratios.length === 0 ? {} : { offloadedRatio: Math.max(...ratios) }
  const figures: ServerFigures = live.state === 'sleeping' ? { ...live, memory: {} } : { ...joined(live, inLog), ...offloaded, memory }
  return {
    readings: readingsOf({
      labels,
      server: recognised.family.id,
      url: shown,
      figures,
      recent: isDead ? { timeToFirstToken: [], interTokenLatency: [] } : recent(t, answer?.fresh ?? {}),
      unansweredMs: answer?.unansweredMs,
      histograms,
      seriesOf,
    }),
    gaps: [answer?.problem ?? [], ofChildren?.problems ?? []].flat().map((problem) => ({
      metric: metricsByName.inferenceRequestsRunning.name,
      labels,
      reason: 'driver_error',
      detail: `${name}: ${problem}`,
    })),
  }
}

export function createInferenceServersSource(options: InferenceServersOptions): Source {
  const { procRoot, identify, holders: holdersNow, hasGpu = () => false, config, ownNamespace = linkOf('/proc/self/ns/net') } = options
  const ending = new AbortController()
  const servers = createKnownServers({
    procRoot,
    identify,
    config,
    ownNamespace,
    connectInside: options.connectInside ?? (() => undefined),
    readHead: options.readHead ?? createLogHead({ procRoot, engineOf: () => undefined }),
    signal: ending.signal,
  })
  const byName = createServersByName(procRoot)
  let [seen, lookedAt, looks] = ['', -Infinity, 0]
  let said = false

  const mustLook = (t: number, holders: readonly Holder[], named: readonly number[]): boolean => {
    const now = `${[...new Set(holders.map(({ pid }) => pid))].toSorted((a, b) => a - b).join(' ')}; ${named.join(' ')}`
    const all = servers.all()
    const isNew = now !== seen
    if (isNew) looks = 0
    seen = now
    const isGone = all.some(({ found }) => found !== undefined && !servers.lives(found))
    const isNamed = all.some(({ found }) => found !== undefined && identify(found.pid)?.container?.name !== found.container)
    const isLoading = all.some(({ found }) => found !== undefined && found.reach === undefined)
    // Holders of memory behind which no server is known.
    const isMissing = named.some((pid) => !all.some(({ found }) => found?.pid === pid))
    const isOpen =
      isMissing || holders.some(({ pid }) => !all.some(({ found, engines }) => found?.port !== undefined && engines.some((engine) => engine.pid === pid)))
    const later = isLoading && looks < SOON_LOOKS ? LOOK_SOON_MS : isOpen ? LOOK_SOON_MS * LOOK_LATER ** Math.max(0, looks - 3) : LOOK_AGAIN_MS
    return isNew || isGone || isNamed || t - lookedAt >= Math.min(later, LOOK_AGAIN_MS)
  }

  return {
    id: ID,
    metrics,
    start({ emit, every, log }) {
      for (const name of servers.unknown)
        log.warn(
          `servers.add.${name}: ${JSON.stringify(config.add[name]?.split(' ')[0])} is no family of servers; there are ${FAMILIES.map(({ id }) => id).join(', ')}`,
        )
      every(EVERY_MS, async (t) => {
        const begunAt = performance.now()
        const holders = holdersNow()
        const named = hasGpu() ? byName() : []
        if (holders.length === 0 && named.length === 0 && servers.all().length === 0 && servers.added === 0) {
          // Told once that there is none any more; a host without holders costs nothing.
          if (said) emit({ type: 'scrape', t, source: ID, group: '', ttlMs: TTL_MS, durationMs: 0, readings: [], gaps: [] })
          said = false
          seen = ''
          return
        }
        if (mustLook(t, holders, named)) {
          servers.look(holders, named)
          lookedAt = t
          looks++
        }
        const now: Now = { t, holders, lives: servers.lives, histograms: config.histograms }
        const results: Reported[] = []
        const queue = [...servers.all()]
        const work = async (): Promise<void> => {
          for (let server = queue.shift(); server !== undefined; server = queue.shift()) results.push(await reported(server, now))
        }
        await Promise.all(Array.from({ length: AT_ONCE }, work))
        if (ending.signal.aborted) return
        said = results.some(({ readings, gaps }) => readings.length > 0 || gaps.length > 0)
        emit({
          type: 'scrape',
          t,
          source: ID,
          group: '',
          ttlMs: TTL_MS,
          durationMs: performance.now() - begunAt,
          readings: results.flatMap(({ readings }) => readings),
          gaps: results.flatMap(({ gaps }) => gaps),
        })
      })
    },
    stop() {
      ending.abort()
      servers.close()
    },
  }
}

export const inferenceServers = defineSource({
  id: ID,
  metrics,
  needs: ['config', 'identify', 'latest', 'connectInside', 'watchList'],
  create({ config, identify, latest, connectInside, watchList }) {
    if (!config.servers.enabled || config.simulate.scenario !== 'off') return undefined
    const holders = (): readonly Holder[] => latest.inventory.processes().map(({ pid, gpu, bytes }) => ({ pid, gpu, bytes }))
    const hasGpu = (): boolean => latest.inventory.gpus().length > 0
    const { proc_root: procRoot } = config.host
    const readHead = createLogHead({ procRoot, engineOf: watchList.engineOf })
    return createInferenceServersSource({ procRoot, identify, holders, hasGpu, config: config.servers, connectInside: connectInside.get, readHead })
  },
})
