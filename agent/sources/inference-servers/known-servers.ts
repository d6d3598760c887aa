// The servers that are known now: found behind memory, or added by the configuration; each with its name, its way and its questions.
import { createHttpClient } from '../../lib/http-client.ts'
import { createKeptClient, type KeptClient } from '../../lib/kept-client.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { IdentifyProcess } from '../../model/identity.ts'
import type { ConnectInside } from '../../sampler/connections.ts'
import { FAMILIES, type Recognised } from '../../servers/recognise.ts'
import { createAsker, type Asker } from './asker.ts'
import { createChildren, type Children } from './children.ts'
import { createDialer, type Dial } from './dial.ts'
import { discover, type FoundServer, type Holder } from './discover.ts'
import { waysOf, type Reach } from './reach.ts'
import { createListeningOf } from './listening.ts'
import type { ReadLogHead } from './log-head.ts'
import { createSeriesOf, type SeriesOf } from './readings.ts'
import { createRecent } from './recent.ts'
import { createSplit, type Split } from './split.ts'

export type ServersConfig = {
  readonly histograms: boolean
  readonly add: Readonly<Record<string, string>>
  readonly forbid: readonly string[]
  readonly keys: Readonly<Record<string, string>>
}
export type KnownServersOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly config: ServersConfig
  readonly ownNamespace: string | undefined
  readonly connectInside: () => ConnectInside | undefined
  readonly readHead: ReadLogHead
  readonly signal: AbortSignal
}
export type Server = {
  readonly key: string
  readonly recognised: Recognised
  readonly name: string
  readonly url: string
  /** The same for people. */
  readonly shown: string
  readonly container?: string
  readonly found?: FoundServer
  /** The process of each that holds memory for it, as it was known to live: pid and start. */
  readonly engines: readonly { readonly pid: number; readonly startTicks: number }[]
  /** undefined: forbidden, or nothing listens yet. */
  readonly ask?: Asker
  /** The processes of its models; undefined: its family has none that answer. */
  readonly children?: Children
  readonly split: Split
  readonly recent: ReturnType<typeof createRecent>
  readonly seriesOf: SeriesOf
  readonly close: () => void
}
export type KnownServers = {
  readonly all: () => readonly Server[]
  readonly added: number
  /** Names in servers.add whose family is unknown. */
  readonly unknown: readonly string[]
  readonly look: (holders: readonly Holder[], named: readonly number[]) => void
  readonly lives: (process: { readonly pid: number; readonly startTicks: number }) => boolean
  readonly close: () => void
}

type Client = Pick<KeptClient, 'exchange'>

const MAX_SERVERS = 64
const NOTHING = (): void => {}
const createKept = (connect: Dial): { readonly client: Client; readonly close: () => void } => {
  const client = createKeptClient({ connect })
  return { client, close: client.close }
}
const shownOf = (url: string): string => (url === '' ? '' : shownUrl(url).replace(/\/$/, ''))

export function createKnownServers(options: KnownServersOptions): KnownServers {
  const { procRoot, identify, config, ownNamespace, connectInside, readHead, signal } = options
  const listeningOf = createListeningOf(procRoot)
  // For addresses of the configuration that need more than plain HTTP. What is added is asked without a proxy, as everything here is.
  const secure = createHttpClient({ proxyFor: () => undefined, keep: 1 })
  let servers = new Map<string, Server>()

  const added = Object.entries(config.add).flatMap(([name, value]) => {
    const [id = '', url = ''] = value.split(' ')
    const family = FAMILIES.find((one) => one.id === id)
    return family === undefined ? [] : [{ name, family, url: url.replace(/\/$/, '') }]
  })
  const isForbidden = (...names: readonly (string | undefined)[]): boolean => names.some((name) => name !== undefined && config.forbid.includes(name))
  const lives: KnownServers['lives'] = ({ pid, startTicks }) => identify(pid)?.startTicks === startTicks

  const askerOf = (recognised: Recognised, base: string, argv: readonly string[], client: Client, names: readonly string[]): Asker => {
    const key = names.map((name) => config.keys[name]).find((one) => one !== undefined)
    return createAsker({ recognised, base, argv, quantilesOnly: !config.histograms, client, signal, ...(key === undefined ? {} : { key }) })
  }
  const clientOf = ({ url, ways = waysOf(url) }: Reach): { readonly client: Client; readonly close: () => void } =>
    ways === undefined ? { client: secure, close: NOTHING } : createKept(createDialer(ways, connectInside))
  const baseOf = ({ ways, url }: Reach): string => (ways === undefined ? url : 'http://localhost')
  const childrenOf = ({ family: { child } }: Recognised): Children | undefined =>
    child === undefined
      ? undefined
      : createChildren(({ argv, reach }) => {
          const { client, close } = clientOf(reach)
          // Keys are those of the server: a child has none.
          return { ask: createAsker({ recognised: { family: child, by: 'command' }, base: baseOf(reach), argv, client, signal }), close }
        })

  // With its container, whose name may come later than the process is seen: an engine is asked when the agent has connected to it.
  const keyOf = ({ pid, startTicks, reach, recognised, container = '' }: FoundServer): string =>
    `${pid} ${startTicks} ${reach?.url ?? ''} ${recognised.family.id} ${container}`
  const enginesOf = ({ holders }: FoundServer): Server['engines'] =>
    holders.flatMap((pid) => {
      const startTicks = identify(pid)?.startTicks
      return startTicks === undefined ? [] : [{ pid, startTicks }]
    })

  const serverOf = (found: FoundServer, isAlone: boolean): Server => {
    const { recognised, container, reach, port, argv } = found
    const { family } = recognised
    const place = port === undefined ? '' : `:${port}`
    const url = reach?.url ?? ''
    const name = added.find((one) => one.url === url)?.name ?? (container === undefined ? `${family.id}${place}` : `${container}${isAlone ? '' : place}`)
    const isAsked = reach !== undefined && !isForbidden(name, container, family.id)
    const own = clientOf(reach ?? { url: '' })
    const children = isAsked ? childrenOf(recognised) : undefined
    return {
      key: keyOf(found),
      recognised,
      name,
      url,
      shown: shownOf(url),
      found,
      engines: enginesOf(found),
      ...(container === undefined ? {} : { container }),
      ...(isAsked ? { ask: askerOf(recognised, baseOf(reach), argv, own.client, container === undefined ? [name] : [name, container]) } : {}),
      ...(children === undefined ? {} : { children }),
      split: createSplit(family, identify, readHead),
      recent: createRecent(),
      seriesOf: createSeriesOf(),
      close() {
        own.close()
        children?.close()
      },
    }
  }

  /** What holds no memory any more is not found again: the name of its container may be known only now. Its engines have ended, and are kept as they were. */
  const withLateName = (server: Server, found: FoundServer, isAlone: (found: FoundServer) => boolean): Server => {
    const container = identify(found.pid)?.container?.name
    if (container === undefined || container === found.container) return server
    const named = { ...found, container }
    return { ...serverOf(named, isAlone(named)), engines: server.engines }
  }

  return {
    all: () => [...servers.values()],
    added: added.length,
    unknown: Object.keys(config.add).filter((name) => !added.some((one) => one.name === name)),
    lives,
    look(holders, named) {
      const next = new Map<string, Server>()
      const all = discover(holders, named, { procRoot, identify, ownNamespace, listeningOf }).slice(0, MAX_SERVERS)
      for (const found of all) {
        const known = servers.get(keyOf(found))
        const isAlone = all.filter(({ container }) => container === found.container).length === 1
        const server = known === undefined ? serverOf(found, isAlone) : { ...known, found, engines: enginesOf(found) }
        server.children?.set(found.children)
        next.set(server.key, server)
      }
      const isFound = ({ pid, startTicks }: FoundServer): boolean => all.some((one) => one.pid === pid && one.startTicks === startTicks)
      for (const server of servers.values()) {
        if (server.found === undefined || isFound(server.found) || !lives(server.found)) continue
        const { engineApart, modelPerEngine } = server.recognised.family
        // It has only given its memory back, or the driver is not read; or its engine has ended, and what answers for it is worth telling of;
        // or its models come and go, and the next one may be loaded into host memory, where no GPU shows it.
        if (!server.engines.some(lives) && engineApart !== true && modelPerEngine !== true) continue
        const kept = withLateName(server, server.found, ({ container }) => all.every((one) => one.container !== container))
        kept.children?.set([])
        next.set(kept.key, kept)
      }
      for (const { name, family, url } of added) {
        if (isForbidden(name, family.id) || [...next.values()].some((one) => one.url === url)) continue
        const recognised: Recognised = { family, by: 'command' }
        const key = `added ${name}`
        const known = servers.get(key)
        if (known !== undefined) {
          next.set(key, known)
          continue
        }
        const { client, close } = clientOf({ url })
        next.set(key, {
          key,
          recognised,
          name,
          url,
          shown: shownOf(url),
          engines: [],
          ask: askerOf(recognised, url, [], client, [name]),
          split: createSplit({}, identify, readHead),
          recent: createRecent(),
          seriesOf: createSeriesOf(),
          close,
        })
      }
      for (const [key, { close }] of servers) if (!next.has(key)) close()
      servers = next
    },
    close() {
      secure.close()
      for (const { close } of servers.values()) close()
    },
  }
}
