// A host that cannot be reached or resolved, a connection that ends, members of a job that do not find each other.
import type { Facts } from '../../../model/facts.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { known } from '../../faults/parts/window.ts'
import { portIn } from '../../faults/port-in-use.ts'
import { WEIGHT, anyOf, raises, saying, says, type EndKind, type EndContext } from '../end-kind.ts'

const port = ({ input }: RegExpExecArray): Facts => known({ port: portIn({ message: input }) })
const RENDEZVOUS = /rendezvous|client socket has |TCPStore|c10d|MASTER_|clients joined|torchrun|DistStore|elastic|connectFullMesh/i

/** As HTTP clients and resolvers print it. */
const SERVER =
  /\bhost='([a-zA-Z0-9][\w.-]{1,120})'|[Ff]ailed to resolve '([a-zA-Z0-9][\w.-]{1,120})'|Could not resolve host: ([a-zA-Z0-9][\w.-]{1,120})|https:\/\/([a-zA-Z0-9][\w.-]{1,120})|lookup ([a-zA-Z0-9][\w.-]{1,120}) on /
/** What the program says of it in other words than those of the error, where it names one host alone. */
function onlyHost(text: string): string | undefined {
  const hosts = new Set(
    [...text.matchAll(/connect to ['"]?https:\/\/([a-zA-Z0-9][\w.-]{1,120})|\bhost='([a-zA-Z0-9][\w.-]{1,120})'/g)].map(([, said, pool]) => said ?? pool),
  )
  return hosts.size === 1 ? [...hosts][0] : undefined
}
/** Of databases, queues and other servers that do not speak HTTP. */
const SOCKET =
  /server at "([\w.-]{1,120})"(?: \([^)\n]{1,60}\))?, port (\d{2,5})|connecting to ([\w.-]{1,120}):(\d{2,5})|\b(?!https?:)[a-z]{3,10}:\/\/(?:[^@\s/]{1,120}@)?([\w.-]{1,120}):(\d{2,5})|\('([\w.-]{1,120})', (\d{2,5})\)/g
type Socket = { readonly host: string; readonly port: number }
/** The one that the words name; where they name several nobody knows which it was. */
function socketIn(words: string): Socket | undefined {
  const found = new Map<string, Socket>()
  for (const match of words.matchAll(SOCKET)) {
    const [host = '', port = ''] = match.slice(1).filter((one) => one !== undefined)
    if (port !== '443' && port !== '80') found.set(`${host}:${port}`, { host, port: Number(port) })
  }
  return found.size === 1 ? [...found.values()][0] : undefined
}
/** The host that was to be reached. */
const hostIn = (message: string): string => /(?:to|with) [[(]?([a-zA-Z0-9][\w.-]{1,80}?)[\])]?(?::|, ?)\d{2,5}/.exec(message)?.[1] ?? '<MASTER_HOST>'

/** What the members of a job can look at: all on one host, or over several. */
function members(host: string, port: number | string): readonly Piece[] {
  const missing: Piece = { text: 'Look for the rank that is missing or left first: its own log says why. The others only report that it is gone.' }
  if (/^(?:127\.|localhost$|::1$)/.test(host))
    return [
      missing,
      {
        text: 'The address is this host itself, where rank 0 opens the port: see whether it listens. If not, rank 0 ended before, or it is still busy (imports, a download, loading).',
        command: `ss -ltnp | grep ':${port} '`,
      },
      { text: 'With more than one host all need the address of the first one instead (torchrun: --master-addr or --rdzv-endpoint).' },
    ]
  const named = /[a-z]/i.test(host) && !host.startsWith('<') && !host.includes(':')
  return [
    missing,
    {
      text: `From each host see whether the first one can be reached on its port${named ? ' (and whether its name is known there: a container has a name that others do not know)' : ''}.`,
      command: `${named ? `getent hosts ${host}; ` : ''}nc -zv ${host} ${port}`,
    },
    {
      text: 'All members need the same address, port and world size, and an interface on which they see each other.',
      command: 'env | grep -E "MASTER_|WORLD_SIZE|RANK|NCCL_SOCKET_IFNAME|GLOO_SOCKET_IFNAME"',
    },
  ]
}

/** The call shows both numbers. */
function rankTooHigh(text: string): Piece {
  const [, size, rank] = /\binit_process_group\([^\n]{0,200}\bworld_size=(\d{1,6}), ?rank=(\d{1,6})\b/.exec(text) ?? []
  return (
    size !== undefined &&
    Number(rank) >= Number(size) && {
      text: `Ranks count from 0: with world_size=${size} there is no rank ${rank}, and it waits for a rank 0 that never comes. Give a process that is alone rank=0.`,
    }
  )
}

/** The other end of a connection between ranks, as Gloo prints it. */
const PEER = /gloo[^\n]{0,200}?\[?(\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]{3,40})\]?:(\d{2,5})/

/** ProcessGroupGloo.cpp: rank 0 waits for each other one, and says which did not come. */
const BARRIER = /(?:Ranks? (\d[\d, ]{0,400}) failed to pass|successfully reached) monitoredBarrier(?:[^\n]{0,80}?from rank (\d{1,6}))?/
/** Gloo's unbound_buffer.cc: the other rank is connected, and does not take part within the time limit. */
const WAITED = /gloo[^\n]{0,160}Timed out waiting (\d{4,12})ms for (?:recv|send) operation to complete/
const MINUTE = 60_000
const SAVING = /save|checkpoint|state_dict/i
/** The function of the job's own, or of its trainer, which called it. */
const caller = ({ error }: EndContext): string | undefined =>
  error?.frames.findLast(({ file, name }) => !/[\\/]torch[\\/]/.test(file) && name !== undefined && name !== '<module>')?.name
function waitedFor(context: EndContext): string {
  const limit = Number(WAITED.exec(context.error?.message ?? '')?.[1])
  const within = caller(context)
  return `${limit >= MINUTE ? `${Math.round(limit / MINUTE)} minutes` : `${Math.round(limit / 1000)} s`}${within === undefined ? '' : ` in ${within}`}`
}
function waitedInVain(context: EndContext): readonly Piece[] {
  const saves = SAVING.test(caller(context) ?? '')
  return [
    {
      text: 'Find the rank that did not come there: its own error came first, or it still works at something else. See what it does.',
      command: 'py-spy dump --pid <PID>',
    },
    {
      text: `If one only needs longer than the others${saves ? ' (here likely the one that gathers or writes the checkpoint)' : ''}: give init_process_group a longer timeout (timedelta(hours=2)).`,
    },
    { text: 'If it happens every time: all ranks must reach the same call. One within `if rank == 0:` that the others never make leaves them waiting.' },
  ]
}
function absent(match: RegExpExecArray): string {
  const [, missing, asked] = match
  return missing !== undefined
    ? `Look at the log of rank ${missing.trim()} first: it did not come to the barrier, and its own error or last line says why.`
    : `Look at the log of rank ${asked ?? '0'} first: it waited for all, and names the rank that did not come.`
}

/** Where a program was to listen on an address that is not one of this machine; a client that gets this has no port left. */
function notHere(context: EndContext): { readonly address: string | undefined } | undefined {
  const message = `${context.error?.message} ${context.error?.tail}`
  if (!/assign requested address/i.test(message) || /connect: cannot assign|dial (?:tcp|udp)/i.test(message)) return undefined
  return { address: /(?:\/\/|[\s([']|^)\[?((?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})\b/i.exec(message)?.[1] }
}

export const networkError: EndKind = {
  kind: 'network_error',
  stage: 'consequence',
  severity: 'critical',
  claims: anyOf(
    // Go's resolver and dialer
    says(
      /dial (?:tcp|udp)[^\n]{0,200}(?:no such host|server misbehaving|i\/o timeout|connection refused|network is unreachable)|lookup \S{1,120} on \S{1,60}: /,
      WEIGHT.message,
    ),
    // What was behind it is in its message: also that a proxy's name is no file.
    says(/Max retries exceeded with url|Cannot connect to proxy\b/, WEIGHT.errno + 0.5),
    raises(
      /^(?:\w{0,40}Connect(?:ion(?:Refused|Reset|Aborted|Closed)?|or)?(?:Error|Exception)|MaxRetryError|(?:Connect|Read)Timeout(?:Error)?|(?:Read|Write)Error|RemoteDisconnected|\w{0,40}ProtocolError|ProxyError|SSL\w{0,20}Error|URLError|gaierror|herror|NameResolutionError|ServerDisconnectedError|Rendezvous\w{1,30}Error|Dist(?:Store|Network)Error|\w{0,40}RpcError|ServiceUnavailable|UnknownHostException|SocketTimeoutException|NoRouteToHostException|IncompleteRead|ChunkedEncodingError)$/,
    ),
    says(
      /\bName or service not known|[Tt]emporary failure in name resolution|nodename nor servname|Network is unreachable|No route to host|[Cc]onnection (?:refused|reset|timed out|aborted|closed by peer|closed by remote|was closed)|Connection (?:closed|broken)|failed to connect to|Could not establish connection|getaddrinfo (?:failed|ENOTFOUND)|Could not resolve host|TLS handshake|ReqwestMiddlewareError|\bdns error\b|error sending request for url|certificate verify failed|Max retries exceeded|Remote end closed connection|unable to resolve host address|curl: \((?:5|6|7|16|28|35|52|55|56|92)\) |\berror in socket IO\b|CAS service error|CAS Client Error/i,
      WEIGHT.exception + 0.5,
      port,
    ),
    says(
      /socket has (?:failed to connect to|timed out after)|Timed out after \d{1,7} seconds? waiting for clients|(?:TCPStore|[Rr]endezvous|store).{0,80}(?:tim(?:ed|e) ?out|failed|closed)|Socket Timeout|wait timeout after \d{1,10}ms|recvValue failed|cannot assign requested address/i,
      WEIGHT.message,
      port,
    ),
    // PyTorch before 1.11, of its store.
    ({ message, frames }) =>
      /^(?:connect|accept|recv|send)\(\) timed out|^Broken pipe$/.test(message) && frames.some(({ file }) => /torch[\\/]distributed[\\/]/.test(file))
        ? { weight: WEIGHT.message }
        : undefined,
    says(BARRIER, WEIGHT.message + 0.5),
    says(
      /^(?:UNAVAILABLE|DEADLINE_EXCEEDED): |failed to connect to all addresses|StatusCode\.(?:UNAVAILABLE|DEADLINE_EXCEEDED)|gloo.{0,200}(?:Connection|peer|timed? ?out|pair\.cc)|Application timeout caused pair closure/i,
      WEIGHT.message,
      port,
    ),
  ),
  title: (context) =>
    notHere(context) !== undefined
      ? 'This host does not have the address'
      : BARRIER.test(context.error?.message ?? '')
        ? 'A rank did not come to the barrier'
        : WAITED.test(context.error?.message ?? '')
          ? 'A rank waited in vain for another'
          : RENDEZVOUS.test(`${context.error?.message} ${context.error?.name}`)
            ? 'The members of the job did not find each other'
            : 'A connection failed',
  verdict: (context) =>
    saying(
      context,
      notHere(context) !== undefined
        ? 'tried to listen on an address that this host does not have'
        : BARRIER.test(context.error?.message ?? '')
          ? 'waited at a barrier for the other ranks in vain'
          : WAITED.test(context.error?.message ?? '')
            ? `waited ${waitedFor(context)} for another rank in vain`
            : 'could not keep or make a connection',
    ),
  remedies: (context) => {
    const here = notHere(context)
    if (here !== undefined)
      return [
        {
          text: `See which addresses this host, or the container, has${here.address === undefined ? '' : `: ${here.address} must be among them`}.`,
          command: 'ip -brief address',
        },
        {
          text: 'Give the program one of those, or 0.0.0.0 for all: the option or variable for it is wrong, or names another host (a load balancer, the host outside of the container).',
          command: 'env | grep -E "HOST|ADDR|SOCKET_IFNAME"',
        },
      ]
    const { facts, situation, error } = context
    const barrier = BARRIER.exec(error?.message ?? '')
    if (barrier !== null)
      return [
        { text: absent(barrier) },
        {
          text: 'If all ranks are alive: let Gloo use the interface by which the hosts reach each other.',
          command: 'ip -brief address\nexport GLOO_SOCKET_IFNAME=<INTERFACE>',
        },
        { text: 'If one needs longer than the others (a download, loading weights): raise the timeout of that barrier or of init_process_group.' },
      ]
    const waited = WAITED.exec(error?.message ?? '')
    if (waited !== null) return waitedInVain(context)
    const mesh = /gloo[^\n]{0,60}connectFullMesh/i.test(error?.message ?? '')
    if (mesh)
      return [
        {
          text: 'Let Gloo use the interface by which the hosts reach each other: by itself it takes the one that the name of the host leads to, which may be 127.0.1.1 or that of Docker.',
          command: 'ip -brief address; getent hosts "$(hostname)"\nexport GLOO_SOCKET_IFNAME=<INTERFACE>',
        },
        { text: 'If some rank ended before: its own error came first. Look for it in the logs of the others.' },
        { text: 'Between hosts open the firewall: Gloo listens on ports that the system chooses.' },
      ]
    // torch's c10d store says so where it looks for the first host.
    const unknown = /\bhost not found: ([\w.-]{1,80})/.exec(situation.text)?.[1]
    if (unknown !== undefined)
      return [
        {
          text: `The name ${unknown} does not resolve here: see what DNS and /etc/hosts say, or give the address of that host (MASTER_ADDR, --rdzv-endpoint).`,
          command: `getent hosts ${unknown}`,
        },
        { text: 'In Kubernetes a pod has a name of its own only under a headless service, and only while it runs: see that it is there.' },
      ]
    const peer = PEER.exec(error?.message ?? '')
    if (peer !== null)
      return [
        {
          text: `Look at the log of the rank behind ${peer[1]}:${peer[2]} first: mostly it ended before, and its own error says why. The others only report that it is gone.`,
        },
        {
          text: 'If no rank ended: let Gloo use the interface by which the hosts reach each other.',
          command: 'ip -brief address\nexport GLOO_SOCKET_IFNAME=<INTERFACE>',
        },
      ]
    const rendezvous = RENDEZVOUS.test(`${error?.message} ${error?.name} ${situation.text}`) || situation.distributed
    const at = facts.port ?? '<PORT>'
    const server =
      SERVER.exec(`${error?.message} ${error?.tail}`)
        ?.slice(1)
        .find((one) => one !== undefined) ??
      onlyHost(situation.text) ??
      '<HOST>'
    const socket = socketIn(`${error?.message} ${error?.tail}`) ?? socketIn(situation.text)
    if (!rendezvous && server === '<HOST>' && socket !== undefined)
      return [
        {
          text: `See from where the job runs whether ${socket.host} answers on port ${socket.port}: the server must run and listen on that address.`,
          command: `${/[a-z]/i.test(socket.host) ? `getent hosts ${socket.host}; ` : ''}nc -zv ${socket.host} ${socket.port}`,
        },
        /^(?:127\.|localhost$)/.test(socket.host) && {
          text: 'Within a container this address is the container itself: name the host or the service in its place.',
        },
      ]
    return rendezvous
      ? [rankTooHigh(situation.text), ...members(hostIn(error?.message ?? ''), at)]
      : [
          {
            text: 'See from where the job runs whether the host can be resolved and reached: batch nodes and containers often have no way out.',
            command: `getent hosts ${server}; curl -sSI https://${server} | head -n 1`,
          },
          /huggingface\.co|hf\.co/.test(server) && {
            text: 'If the files are in the cache already: work without the hub.',
            command: 'export HF_HUB_OFFLINE=1',
          },
          { text: 'Behind a proxy the job needs its variables.', command: 'env | grep -i proxy' },
          { text: 'Get data and models before the job starts, or retry: a connection that works most of the time should not end a run.' },
        ]
  },
}
