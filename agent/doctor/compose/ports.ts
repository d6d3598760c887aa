// Ports as compose files publish them, in the short form (`127.0.0.1:8000-8001:80-81/tcp`) and the long one.
import { at, itemsOf, textOf, type Part, type Place } from './part.ts'

export type PublishedPort = Place & {
  /** undefined: all addresses of the host. */
  readonly ip?: string
  /** First and last on the host; undefined: any free one. */
  readonly published?: readonly [number, number]
  readonly target: readonly [number, number]
  readonly protocol: string
}
export type WrongPort = Place & { readonly wrong: string }

const RANGE = /^(\d{1,5})(?:-(\d{1,5}))?$/

function range(text: string): readonly [number, number] | undefined {
  const [, first, last = first] = RANGE.exec(text) ?? []
  const [from, to] = [Number(first), Number(last)]
  return first !== undefined && from >= 0 && from <= to && to <= 65_535 ? [from, to] : undefined
}

function short(text: string, place: Place): PublishedPort | WrongPort {
  const wrong = (message: string): WrongPort => ({ ...place, wrong: message })
  const [, rest = '', protocol = 'tcp'] = /^(.*?)(?:\/(\w+))?$/.exec(text) ?? []
  const [, v6, v4, ports = ''] = /^(?:\[([0-9a-fA-F:.]+)\]:|(\d{1,3}(?:\.\d{1,3}){3}):)?(.*)$/.exec(rest) ?? []
  const ip = v6 ?? v4
  const [a = '', b, ...more] = ports.split(':')
  const inside = range(b ?? a)
  if (more.length > 0 || inside === undefined || inside[0] === 0) return wrong(JSON.stringify(text.slice(0, 60)))
  const outside = b === undefined || a === '' ? undefined : range(a)
  if (b !== undefined && a !== '' && outside === undefined) return wrong(JSON.stringify(text.slice(0, 60)))
  return {
    ...place,
    ...(ip === undefined ? {} : { ip }),
    ...(outside === undefined ? {} : { published: outside }),
    target: inside,
    protocol: protocol.toLowerCase(),
  }
}

function long(part: Part): PublishedPort | WrongPort | undefined {
  const { file, line } = part
  const [target, published, ip] = ['target', 'published', 'host_ip'].map((key) => at(part, key))
  if ([target, published, ip].some((one) => one?.kind === 'scalar' && !one.known)) return undefined
  const inside = range(textOf(target) ?? '')
  const outside = textOf(published) === undefined || textOf(published) === '' ? undefined : range(textOf(published) ?? '')
  if (inside === undefined) return { file, line, wrong: 'a map without a valid target' }
  if (textOf(published) !== undefined && textOf(published) !== '' && outside === undefined) return { file, line, wrong: 'a map without a valid published port' }
  const own = textOf(ip)
  return {
    file,
    line,
    ...(own === undefined || own === '' ? {} : { ip: own }),
    ...(outside === undefined ? {} : { published: outside }),
    target: inside,
    protocol: textOf(at(part, 'protocol')) ?? 'tcp',
  }
}

/** What depends on a variable that is not set here is left out. */
export function portsOf(service: Part): readonly (PublishedPort | WrongPort)[] {
  return itemsOf(at(service, 'ports')).flatMap((part) => {
    if (part.kind === 'scalar') return part.known ? [short(textOf(part) ?? '', { file: part.file, line: part.line })] : []
    const port = part.kind === 'map' ? long(part) : { file: part.file, line: part.line, wrong: 'a list' }
    return port === undefined ? [] : [port]
  })
}
const LOOPBACK = /^(?:127\.|::1$|localhost$)/
const PRIVATE = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|f[cd]|fe80)/i
export const isOpen = ({ ip }: PublishedPort): boolean => ip === undefined || !(LOOPBACK.test(ip) || PRIVATE.test(ip))
export const rangeText = ([from, to]: readonly [number, number]): string => (from === to ? String(from) : `${from}-${to}`)
/** The same port on this machine alone. */
export const onLoopback = ({ published, target, protocol }: PublishedPort): string =>
  `127.0.0.1:${rangeText(published ?? target)}:${rangeText(target)}${protocol === 'tcp' ? '' : `/${protocol}`}`
