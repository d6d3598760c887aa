// What every request passes before any route: method, size, Host, Origin, token; what changes something passes more.
import type { IncomingMessage } from 'node:http'
import type { Access } from './auth.ts'
import type { Refusal } from './errors.ts'

/** Readers have nothing to send; a small body is read past, a large one refused. */
export const MAX_BODY_BYTES = 64 * 1024
/** Of what people say of incidents: a few hundred characters, in any alphabet. */
export const MAX_WRITE_BYTES = 8 * 1024

/** A question that comes with a body, the config.json of a model or an assistant's; it changes nothing, so it needs no right to write. */
const MAX_QUESTION_BYTES = 1024 * 1024
const isQuestion = (path: string): boolean => path === '/api/v1/fit' || path === MCP_PATH

/** Assistants ask here, over the Model Context Protocol. */
export const MCP_PATH = '/mcp'

/** Reads the configuration again; the path is Prometheus' own, so that existing tools work. */
export const RELOAD_PATH = '/-/reload'

/**
 * The only spelling of a path that is served. The router decodes `%61`, resolves `/../` and takes `http://HOST/PATH` apart, so a second spelling
 * of a protected path would pass the checks below as some other path. Refused therefore: other forms than `/PATH`, dot segments, an encoded
 * letter, digit, `-`, `.`, `_` or `~` (RFC 3986 section 2.3: never needed), and characters that a path does not have.
 */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)[\da-f]{2})*)+$/i

/** Figures of another host, which this one passes on; its page is this one's own. */
const OF_OTHER_HOST = /^\/hosts\/[^/]+\/(?:api\/|ws$)/

/** Paths that reveal nothing about the host: health for probes, and the page itself, which then asks its user for the token. */
const needsToken = (path: string): boolean =>
  path === '/metrics' || path === '/ws' || path === MCP_PATH || path === RELOAD_PATH || path.startsWith('/api/') || OF_OTHER_HOST.test(path)

/** What programs print may tell more than any figure: with a token, or from this machine alone; on an open port nobody may read it. */
const isLog = (path: string): boolean => /^(?:\/hosts\/[^/]+)?\/api\/v1\/containers\/[^/]+\/log$/.test(path)

function checkLog(access: Access, path: string): Refusal | undefined {
  if (access.mayWrite || !isLog(path)) return undefined
  return { code: 'forbidden', message: `${path.slice(0, 200)}: log lines are not shown while other hosts can connect without a token: set http.token` }
}

/** All that can be changed, and how. */
function writeMethod(path: string): 'POST' | 'DELETE' | undefined {
  if (
    path === '/api/v1/silences' ||
    path === '/api/v1/jobs/exec' ||
    path === RELOAD_PATH ||
    isQuestion(path) ||
    /^\/api\/v1\/(?:incidents\/[^/]+\/(?:ack|resolve)|notifiers\/[^/]+\/(?:test|retry))$/.test(path)
  )
    return 'POST'
  return /^\/api\/v1\/silences\/[^/]+$/.test(path) ? 'DELETE' : undefined
}

export type Guarded = { readonly refusal: Refusal } | { readonly path: string; readonly cors: Readonly<Record<string, string>>; readonly preflight: boolean }

export const pathOf = (url: string | undefined): string => {
  const text = url ?? '/'
  const end = text.indexOf('?')
  return end < 0 ? text : text.slice(0, end)
}

/** Headers that let a page of an allowed origin read the answer; none for any other. */
function corsHeaders(access: Access, origin: string | undefined): Record<string, string> {
  if (origin === undefined || !access.originAllowed(origin)) return {}
  return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' }
}

function preflightHeaders(path: string): Record<string, string> {
  const write = writeMethod(path)
  return {
    'Access-Control-Allow-Methods': write === undefined ? 'GET, HEAD' : `GET, HEAD, ${write}`,
    'Access-Control-Allow-Headers': write === undefined ? 'Authorization' : 'Authorization, Content-Type',
    'Access-Control-Max-Age': '600',
  }
}

/** A page of another site can make a browser send a form here, without a token and past no preflight: its Origin and its content type give it away. */
function checkWrite(access: Access, { method, headers }: IncomingMessage, path: string): Refusal | undefined {
  if (!access.mayWrite && !isQuestion(path))
    return { code: 'forbidden', message: `${path.slice(0, 200)}: nothing can be changed while other hosts can connect without a token: set http.token` }
  const origin = access.checkOrigin(headers)
  if (origin !== undefined || method === 'DELETE') return origin
  // `curl -X POST` sends neither body nor type. A form always has a type, and whatever else a browser sends has an Origin.
  if (path === RELOAD_PATH && headers['content-type'] === undefined && Number(headers['content-length'] ?? 0) === 0) return undefined
  const type = headers['content-type'] ?? 'none'
  if (/^application\/json *(?:;|$)/i.test(type)) return undefined
  return { code: 'unsupported_media_type', message: `Content-Type: must be application/json, not ${type.slice(0, 100)}` }
}

function checkSize(headers: IncomingMessage['headers'], writes: boolean, path: string): Refusal | undefined {
  const limit = !writes ? MAX_BODY_BYTES : isQuestion(path) ? MAX_QUESTION_BYTES : MAX_WRITE_BYTES
  if (Number(headers['content-length'] ?? 0) <= limit && headers['transfer-encoding'] === undefined) return undefined
  const expected = writes ? `a body of at most ${limit} bytes, with its Content-Length` : `no body (at most ${limit} bytes)`
  return { code: 'too_large', message: `the body must be ${expected}, not ${headers['content-length'] ?? 'one of unknown length'}` }
}

export function guard(access: Access, request: IncomingMessage): Guarded {
  const path = pathOf(request.url)
  const { headers, method } = request
  const host = access.checkHost(headers)
  if (host !== undefined) return { refusal: host }
  if (!PATH.test(path))
    return {
      refusal: {
        code: 'bad_request',
        message: `This spelling of the path is not served; write it without encoded letters, dot segments or a host: ${path.slice(0, 200)}`,
      },
    }
  const cors = corsHeaders(access, headers.origin)
  if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && Object.keys(cors).length > 0)
    return { path, preflight: true, cors: { ...cors, ...preflightHeaders(path) } }
  const write = writeMethod(path)
  const writes = write !== undefined && method === write
  if (method !== 'GET' && method !== 'HEAD' && !writes) {
    const allowed =
      write === undefined ? ['GET', 'HEAD'] : write === 'POST' && (path === '/api/v1/silences' || isQuestion(path)) ? ['GET', 'HEAD', 'POST'] : [write]
    return {
      refusal: {
        code: 'method_not_allowed',
        message: `${path.slice(0, 200)}: the method must be ${allowed.join(' or ')}, not ${method ?? 'none'}`,
        headers: { Allow: allowed.join(', ') },
      },
    }
  }
  const refusal =
    checkSize(headers, writes, path) ??
    (needsToken(path) ? access.checkBearer(headers) : undefined) ??
    checkLog(access, path) ??
    (writes ? checkWrite(access, request, path) : undefined)
  return refusal === undefined ? { path, cors, preflight: false } : { refusal: { ...refusal, headers: { ...refusal.headers, ...cors } } }
}
