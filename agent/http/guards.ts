// What every request passes before any route: method, size, Host, Origin, token.
import type { IncomingMessage } from 'node:http'
import type { Access } from './auth.ts'
import type { Refusal } from './errors.ts'

/** Nothing here takes a body yet; a small one is read past, a large one refused. */
export const MAX_BODY_BYTES = 64 * 1024

/** Paths that tell nothing about the host: health for probes, and the page itself, which then asks its user for the token. */
const needsToken = (path: string): boolean => path === '/metrics' || path === '/ws' || path.startsWith('/api/')

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

export function guard(access: Access, request: IncomingMessage): Guarded {
  const path = pathOf(request.url)
  const { headers, method } = request
  const host = access.checkHost(headers)
  if (host !== undefined) return { refusal: host }
  const cors = corsHeaders(access, headers.origin)
  if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && Object.keys(cors).length > 0) {
    return {
      path,
      preflight: true,
      cors: { ...cors, 'Access-Control-Allow-Methods': 'GET, HEAD', 'Access-Control-Allow-Headers': 'Authorization', 'Access-Control-Max-Age': '600' },
    }
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return {
      refusal: {
        code: 'method_not_allowed',
        message: `${path.slice(0, 200)}: expected GET or HEAD, came ${method ?? 'none'}`,
        headers: { Allow: 'GET, HEAD' },
      },
    }
  }
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES || headers['transfer-encoding'] !== undefined) {
    return {
      refusal: {
        code: 'too_large',
        message: `expected no body (at most ${MAX_BODY_BYTES} bytes), came ${headers['content-length'] ?? 'one of unknown length'}`,
      },
    }
  }
  const bearer = needsToken(path) ? access.checkBearer(headers) : undefined
  return bearer === undefined ? { path, cors, preflight: false } : { refusal: { ...bearer, headers: { ...bearer.headers, ...cors } } }
}
