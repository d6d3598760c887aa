// Who may read: token, Host and Origin of a request. Pure functions over headers, used by HTTP and the WebSocket alike.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../config/listen.ts'
import type { Config } from '../config/schema.ts'
import type { Refusal } from './errors.ts'

export type AccessOptions = {
  /** `ADDRESS:PORT` as configured. */
  readonly listen: string
  /** Empty: no token is asked for. */
  readonly token: string
  readonly insecure: boolean
  readonly allowedOrigins: readonly string[]
  readonly allowedHosts: readonly string[]
}

/** Who may read, as the configuration says it. */
export const accessOf = ({ http }: Pick<Config, 'http'>): AccessOptions => ({
  listen: http.listen,
  token: http.token,
  insecure: http.insecure,
  allowedOrigins: http.allowed_origins,
  allowedHosts: http.allowed_hosts,
})

/** Throws unless the address may be served with these settings: other hosts reach it only with a token or by an explicit word. */
export function checkBind({ listen, token, insecure }: Pick<AccessOptions, 'listen' | 'token' | 'insecure'>): void {
  if (isLoopback(listen) || token !== '' || insecure) return
  throw new Error(`http.listen: ${listen} is open to other hosts: set http.token (readers then send "Authorization: Bearer TOKEN") or http.insecure: true`)
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export type Access = {
  /** Whether anybody may change anything, or read log lines: with a token, or from this machine alone. */
  readonly mayWrite: boolean
  readonly needsToken: boolean
  /** Constant in time whatever the length: digests are compared. */
  readonly tokenIs: (token: string) => boolean
  /** Guards a loopback port against DNS rebinding: a page of another site reaches it under its own name only. */
  readonly checkHost: (headers: IncomingHttpHeaders) => Refusal | undefined
  readonly checkBearer: (headers: IncomingHttpHeaders) => Refusal | undefined
  /** Browsers always send Origin with a WebSocket; programs need not. */
  readonly checkOrigin: (headers: IncomingHttpHeaders) => Refusal | undefined
  readonly originAllowed: (origin: string) => boolean
}

const hostName = (host: string): string => host.replace(/:\d*$/, '').toLowerCase()

export function createAccess({ listen, token, allowedOrigins, allowedHosts }: AccessOptions): Access {
  const expected = digest(token)
  const loopback = isLoopback(listen)
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]', hostName(listen), ...allowedHosts.map((host) => hostName(host))])
  const tokenIs = (given: string): boolean => timingSafeEqual(digest(given), expected)
  const originAllowed = (origin: string): boolean => origins.has(origin.toLowerCase())
  return {
    mayWrite: loopback || token !== '',
    needsToken: token !== '',
    tokenIs,
    originAllowed,
    checkHost({ host }) {
      if (!loopback || host === undefined || hosts.has(hostName(host))) return undefined
      return { code: 'forbidden', message: `Host: must be localhost, 127.0.0.1, [::1] or a name in http.allowed_hosts, not ${host.slice(0, 100)}` }
    },
    checkBearer({ authorization }) {
      if (token === '') return undefined
      const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
      if (given !== undefined && tokenIs(given)) return undefined
      const came = authorization === undefined ? 'none' : given === undefined ? 'another form' : 'another token'
      return {
        code: 'unauthorized',
        message: `Authorization: must be "Bearer TOKEN" with the token in http.token, not ${came}`,
        headers: { 'WWW-Authenticate': 'Bearer realm="warpwatch"' },
      }
    },
    checkOrigin({ origin, host }) {
      if (origin === undefined || originAllowed(origin)) return undefined
      const originHost = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]
      if (originHost !== undefined && host !== undefined && originHost.toLowerCase() === host.toLowerCase()) return undefined
      return { code: 'forbidden', message: `Origin: must be this host or one in http.allowed_origins, not ${origin.slice(0, 100)}` }
    },
  }
}

/** The first subprotocol of ours, which the server answers with, and the token that a browser can send nowhere else. */
export type Subprotocol = { readonly chosen: string | undefined; readonly token: string | undefined }

const TOKEN_PREFIX = 'warpwatch.token.'

/** Reads `warpwatch.token.TOKEN`, or `warpwatch, TOKEN`; the token may be percent-encoded, since not every character is legal there. */
export function readSubprotocol(header: string | undefined): Subprotocol {
  if (header === undefined) return { chosen: undefined, token: undefined }
  const offered = header.split(',').map((name) => name.trim())
  const prefixed = offered.find((name) => name.startsWith(TOKEN_PREFIX))
  const plain = offered.indexOf('warpwatch')
  const chosen = plain >= 0 ? 'warpwatch' : prefixed
  const token = prefixed?.slice(TOKEN_PREFIX.length) ?? (plain >= 0 ? offered[plain + 1] : undefined)
  return { chosen, token: token === undefined ? undefined : percentDecoded(token) }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a token that holds a % of its own
  }
}
