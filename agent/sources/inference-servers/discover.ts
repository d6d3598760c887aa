// From the processes that hold GPU memory to the inference servers behind them: who listens, where, and for which family.
import type { IdentifyProcess } from '../../model/identity.ts'
import type { Recognised } from '../../servers/recognise.ts'
import { isChild, isChildOf, isHelper, recognise } from '../../servers/recognise.ts'
import type { Listening, ListeningOf } from './listening.ts'
import { reachOf, type Reach } from './reach.ts'
import { readProcessTable, type ProcessTable } from './process-family.ts'

export type Holder = { readonly pid: number; readonly gpu: string; readonly bytes: number }
export type FoundServer = {
  readonly pid: number
  readonly startTicks: number
  readonly recognised: Recognised
  readonly argv: readonly string[]
  readonly container?: string
  /** Pids of its family that hold GPU memory. */
  readonly holders: readonly number[]
  /** Or the path of its Unix socket. undefined: nothing listens yet. */
  readonly port?: number | string
  readonly reach?: Reach
  /** Those of its models' processes that answer for themselves. */
  readonly children: readonly FoundChild[]
}
export type FoundChild = { readonly pid: number; readonly argv: readonly string[]; readonly reach: Reach }

export type DiscoverOptions = {
  readonly procRoot: string
  readonly identify: IdentifyProcess
  readonly ownNamespace: string | undefined
  readonly listeningOf: ListeningOf
}

/** Ports of this height are handed out at random: rendezvous, message queues, gRPC. None is asked unless the command line names it. */
const FIRST_RANDOM_PORT = 32_768
const FLAG = /^(?:--port|-p|--http-port|--metrics-port)$/
export function portsNamed(argv: readonly string[]): readonly number[] {
  const texts = argv.flatMap((word, at) => {
    const [, inline] = /^--(?:http-|metrics-)?port=(\d{1,5})$/.exec(word) ?? []
    return inline === undefined ? (FLAG.test(word) ? [argv[at + 1] ?? ''] : []) : [inline]
  })
  return texts.flatMap((text) => (/^\d{1,5}$/.test(text) ? [Number(text)] : []))
}

const NO_PORT = -1
const namesPath = (argv: readonly string[], path: string): boolean => argv.some((word) => word === path || word.endsWith(`=${path}`))

/** The socket that answers: the family's usual port, one that the command line names, else the lowest that is none of chance. */
function chosen(
  sockets: readonly Listening[],
  argv: readonly string[],
  image: string | undefined,
): { readonly socket: Listening; readonly recognised: Recognised } | undefined {
  const named = portsNamed(argv)
  const portOf = (socket: Listening): number => ('port' in socket ? socket.port : NO_PORT)
  const rank = (socket: Listening, { family }: Recognised): number => {
    const port = portOf(socket)
    return port === family.port ? 0 : named.includes(port) || port === NO_PORT ? 1 : 2
  }
  const known = sockets
    // Workers and message queues have Unix sockets of their own: one that answers requests is named.
    .filter((socket) => ('path' in socket ? namesPath(argv, socket.path) : socket.port < FIRST_RANDOM_PORT || named.includes(socket.port)))
    .flatMap((socket) => {
      const recognised = recognise({ argv, ...(image === undefined ? {} : { image }) }, portOf(socket))
      if (recognised === undefined) return []
      // An image alone says nothing of other programs in it, such as an exporter beside the server.
      return recognised.by === 'image' && rank(socket, recognised) === 2 ? [] : [{ socket, recognised }]
    })
  return known.toSorted((a, b) => rank(a.socket, a.recognised) - rank(b.socket, b.recognised) || portOf(a.socket) - portOf(b.socket))[0]
}

function serversOf(
  family: readonly number[],
  holders: readonly number[],
  sockets: readonly Listening[],
  table: ProcessTable,
  options: DiscoverOptions,
): readonly FoundServer[] {
  const { procRoot, identify, ownNamespace } = options
  const byPid = Map.groupBy(
    sockets.filter(({ pid }) => !isHelper(table.argvOf(pid))),
    ({ pid }) => pid,
  )
  const childrenOf = ({ family: kind }: Recognised): readonly FoundChild[] =>
    sockets.flatMap((socket) => {
      const argv = table.argvOf(socket.pid)
      if (!isChildOf(kind, argv) || !('port' in socket) || !portsNamed(argv).includes(socket.port)) return []
      return [{ pid: socket.pid, argv, reach: reachOf(procRoot, ownNamespace, socket) }]
    })
  const serverOf = (pid: number, recognised: Recognised, more: Pick<FoundServer, 'port' | 'reach'>): readonly FoundServer[] => {
    const who = identify(pid)
    if (who === undefined) return []
    const { startTicks, container } = who
    // Several servers in one family have each their own engines, where those are their descendants.
    const own = holders.filter((holder) => table.upFrom(holder).includes(pid))
    return [
      {
        pid,
        startTicks,
        recognised,
        argv: table.argvOf(pid),
        holders: own.length > 0 ? own : holders,
        children: childrenOf(recognised),
        ...(container === undefined ? {} : { container: container.name }),
        ...more,
      },
    ]
  }
  const found = [...byPid].flatMap(([pid, sockets]) => {
    const choice = chosen(sockets, table.argvOf(pid), identify(pid)?.container?.image)
    if (choice === undefined) return []
    const { socket, recognised } = choice
    return serverOf(pid, recognised, { port: 'path' in socket ? socket.path : socket.port, reach: reachOf(procRoot, ownNamespace, socket) })
  })
  if (found.length > 0) return found
  // vLLM listens only when its model is loaded: whoever holds the memory, or the nearest above it, says what will.
  for (const pid of holders.flatMap((holder) => table.upFrom(holder)).filter((one) => family.includes(one) && !table.isShell(one))) {
    const recognised = recognise({ argv: table.argvOf(pid) }, 0)
    if (recognised !== undefined) return serverOf(pid, recognised, {})
  }
  return []
}

/** `named`: servers that are looked for whether they hold GPU memory or not. */
export function discover(holders: readonly Holder[], named: readonly number[], options: DiscoverOptions): readonly FoundServer[] {
  const table = readProcessTable(options.procRoot)
  const families = new Map<number, { readonly pids: readonly number[]; readonly holders: number[] }>()
  for (const pid of new Set(holders.map((holder) => holder.pid))) {
    const known = [...families.values()].find(({ pids }) => pids.includes(pid))
    if (known !== undefined) known.holders.push(pid)
    else families.set(pid, { pids: table.familyOf(pid, options.identify(pid)), holders: [pid] })
  }
  for (const pid of named)
    if (![...families.values()].some(({ pids }) => pids.includes(pid))) families.set(pid, { pids: table.familyOf(pid, options.identify(pid)), holders: [] })
  // All families in one look, so that a namespace's table is read once for all of them.
  const pids = [...new Set([...families.values()].flatMap((family) => family.pids))].filter((pid) => {
    const argv = table.argvOf(pid)
    return !isHelper(argv) || isChild(argv)
  })
  const sockets = options.listeningOf(pids)
  return [...families.values()].flatMap(({ pids: own, holders: held }) => {
    const members = new Set(own)
    const found = serversOf(
      own,
      held,
      sockets.filter(({ pid }) => members.has(pid)),
      table,
      options,
    )
    // What else runs in its container does not matter while it holds no GPU memory.
    return held.length > 0 ? found : found.filter(({ pid }) => named.includes(pid))
  })
}
