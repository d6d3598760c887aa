// Inference servers: found behind the processes that hold GPU memory, and asked every five seconds what they do with it.
import { createHttpClient, type HttpClient } from '../lib/http-client.ts'
import { shownUrl } from '../lib/shown-url.ts'
import * as metricsByName from '../metrics/inference.ts'
import type { IdentifyProcess } from '../model/identity.ts'
import type { Gap, Reading } from '../model/reading.ts'
import type { Labels } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { joined, type ServerFigures } from '../servers/model.ts'
import { FAMILIES, type Recognised } from '../servers/recognise.ts'
import { defineSource } from './definition.ts'
import { createAsker, type Asker } from './inference-servers/asker.ts'
import { discover, type FoundServer, type Holder } from './inference-servers/discover.ts'
import { createListeningOf, linkOf } from './inference-servers/listening.ts'
import { readingsOf } from './inference-servers/readings.ts'
import { createRecent } from './inference-servers/recent.ts'

const ID = 'inference-servers'
const metrics = Object.values(metricsByName)
const EVERY_MS = 5_000
/** Two slow servers may take a round's time each. */
const TTL_MS = 6 * EVERY_MS
/** Looking through /proc takes 10 to 60 ms: at a change of who holds memory, and rarely without one. */
const LOOK_AGAIN_MS = 60_000
/** While a server loads its model, and for the first looks at holders of which none is known to be a server. */
const LOOK_SOON_MS = 5_000
const SOON_LOOKS = 60
/** Then each look at such holders is this much later than the one before. */
const LOOK_LATER = 1.3
const MAX_SERVERS = 64
const AT_ONCE = 2

export type ServersConfig = {
  readonly add: Readonly<Record<string, string>>
  readonly forbid: readonly string[]
  readonly keys: Readonly<Record<string, string>>
}
export type InferenceServersOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly holders: () => readonly Holder[]
  readonly config: ServersConfig
  /** Of the agent itself; its link as the kernel spells it. */
  readonly ownNamespace?: string | undefined
  readonly client?: Pick<HttpClient, 'exchange'>
}

type Server = {
  readonly key: string
  readonly recognised: Recognised
  readonly name: string
  readonly url: string
  readonly problem?: string
  readonly container?: string
  readonly found?: FoundServer
  readonly ask?: Asker
  readonly recent: ReturnType<typeof createRecent>
}

export function createInferenceServersSource(options: InferenceServersOptions): Source {
  const { procRoot, identify, holders: holdersNow, config, ownNamespace = linkOf('/proc/self/ns/net') } = options
  const listeningOf = createListeningOf(procRoot)
  const ending = new AbortController()
  // Neither addresses of this host nor those of its containers are behind a proxy.
  const ownClient = createHttpClient({ proxyFor: () => undefined, keep: 1 })
  const client = options.client ?? ownClient
  let servers = new Map<string, Server>()
  let [seen, lookedAt, looks] = ['', -Infinity, 0]
  let said = false

  const added = Object.entries(config.add).flatMap(([name, value]) => {
    const [id = '', url = ''] = value.split(' ')
    const family = FAMILIES.find((one) => one.id === id)
    return family === undefined ? [] : [{ name, family, url: url.replace(/\/$/, '') }]
  })
  const isForbidden = (...names: readonly (string | undefined)[]): boolean => names.some((name) => name !== undefined && config.forbid.includes(name))

  const serverOf = (found: FoundServer): Server => {
    const { recognised, container, reach, port, pid, startTicks, argv } = found
    const { family } = recognised
    const url = reach !== undefined && 'url' in reach ? reach.url : ''
    const name = added.find((one) => one.url === url)?.name ?? container ?? `${family.id}${port === undefined ? '' : `:${port}`}`
    const key = config.keys[name] ?? (container === undefined ? undefined : config.keys[container])
    const forbidden = isForbidden(name, container, family.id)
    return {
      key: `${pid} ${startTicks} ${url} ${family.id}`,
      recognised,
      name,
      url,
      found,
      ...(container === undefined ? {} : { container }),
      ...(reach !== undefined && 'unreachable' in reach ? { problem: reach.unreachable } : {}),
      ...(url === '' || forbidden
        ? {}
        : { ask: createAsker({ recognised, base: url, argv, client, signal: ending.signal, ...(key === undefined ? {} : { key }) }) }),
      recent: createRecent(),
    }
  }

  /** Servers that were known go on as they are, with who holds memory for them now. */
  const look = (holders: readonly Holder[]): void => {
    const next = new Map<string, Server>()
    for (const found of discover(holders, { procRoot, identify, ownNamespace, listeningOf }).slice(0, MAX_SERVERS)) {
      const fresh = serverOf(found)
      const known = servers.get(fresh.key)
      next.set(fresh.key, known === undefined ? fresh : { ...known, found })
    }
    for (const [key, server] of servers) {
      // Its engine has ended, and something answers for it: worth telling for as long as it does.
      if (server.found !== undefined && !next.has(key) && server.recognised.family.engineApart === true && lives(server.found))
        next.set(key, { ...server, found: { ...server.found, holders: [] } })
    }
    for (const { name, family, url } of added) {
      const key = `added ${name}`
      const known = servers.get(key)
      if (isForbidden(name, family.id) || [...next.values()].some((one) => one.url === url)) continue
      const recognised: Recognised = { family, by: 'command' }
      const secret = config.keys[name]
      const ask = createAsker({ recognised, base: url, argv: [], client, signal: ending.signal, ...(secret === undefined ? {} : { key: secret }) })
      next.set(key, known ?? { key, recognised, name, url, ask, recent: createRecent() })
    }
    servers = next
  }
  const lives = ({ pid, startTicks }: FoundServer): boolean => identify(pid)?.startTicks === startTicks

  const told = async (
    server: Server,
    t: number,
    holders: readonly Holder[],
  ): Promise<{ readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }> => {
    const { found, recognised, name, url, ask, recent, container } = server
    const mine = holders.filter(({ pid }) => found?.holders.includes(pid) === true)
    const labels: Labels = {
      name,
      container: container ?? '',
      pid: found === undefined ? '' : String(found.pid),
      gpu: [...new Set(mine.map(({ gpu }) => gpu))].toSorted((a, b) => Number(a) - Number(b)).join(','),
    }
    const isDead = found !== undefined && mine.length === 0 && recognised.family.engineApart === true
    const heldBytes = mine.reduce((sum, { bytes }) => sum + bytes, 0)
    const answer = isDead || ask === undefined ? undefined : await ask(t, heldBytes)
    if (answer?.isStranger === true) return { readings: [], gaps: [] }
    const state: ServerFigures = isDead ? { state: 'dead' } : found !== undefined && found.port === undefined ? { state: 'loading' } : {}
    const problem = answer?.problem ?? server.problem
    return {
      readings: readingsOf({
        labels,
        server: recognised.family.id,
        url: url === '' ? '' : shownUrl(url).replace(/\/$/, ''),
        figures: joined(state, answer?.figures ?? {}),
        recent: isDead ? { timeToFirstToken: [], interTokenLatency: [] } : recent(t, answer?.fresh ?? {}),
      }),
      gaps:
        problem === undefined ? [] : [{ metric: metricsByName.inferenceRequestsRunning.name, labels, reason: 'driver_error', detail: `${name}: ${problem}` }],
    }
  }

  return {
    id: ID,
    metrics,
    start({ emit, every, log }) {
      for (const [name, value] of Object.entries(config.add))
        if (!added.some((one) => one.name === name))
          log.warn(`servers.add.${name}: ${JSON.stringify(value.split(' ')[0])} is no family of servers; there are ${FAMILIES.map(({ id }) => id).join(', ')}`)
      every(EVERY_MS, async (t) => {
        const begunAt = performance.now()
        const holders = holdersNow()
        if (holders.length === 0 && servers.size === 0 && added.length === 0) {
          // Told once that there is none any more; a host without holders costs nothing.
          if (said) emit({ type: 'scrape', t, source: ID, group: '', ttlMs: TTL_MS, durationMs: 0, readings: [], gaps: [] })
          said = false
          seen = ''
          return
        }
        const now = [...new Set(holders.map(({ pid }) => pid))].toSorted((a, b) => a - b).join(' ')
        const gone = [...servers.values()].some(({ found }) => found !== undefined && !lives(found))
        const loading = [...servers.values()].some(({ found }) => found !== undefined && found.port === undefined)
        if (now !== seen) looks = 0
        const unknown = servers.size === 0 ? LOOK_SOON_MS * LOOK_LATER ** Math.max(0, looks - 3) : LOOK_AGAIN_MS
        const again = loading && looks < SOON_LOOKS ? LOOK_SOON_MS : Math.min(unknown, LOOK_AGAIN_MS)
        if (now !== seen || gone || t - lookedAt >= again) {
          look(holders)
          ;[seen, lookedAt] = [now, t]
          looks++
        }
        const results: { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }[] = []
        const queue = [...servers.values()]
        const work = async (): Promise<void> => {
          for (let server = queue.shift(); server !== undefined; server = queue.shift()) results.push(await told(server, t, holders))
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
      ownClient.close()
    },
  }
}

export const inferenceServers = defineSource({
  id: ID,
  metrics,
  needs: ['config', 'identify', 'latest'],
  create({ config, identify, latest }) {
    if (!config.servers.enabled || config.simulate.scenario !== 'off') return undefined
    const holders = (): readonly Holder[] => latest.inventory.processes().map(({ pid, gpu, bytes }) => ({ pid, gpu, bytes }))
    return createInferenceServersSource({ procRoot: config.host.proc_root, identify, holders, config: config.servers })
  },
})
