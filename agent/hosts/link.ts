// One other agent: asked over HTTP, directly or through a tunnel, with its token, in bounded time and space.
import type { HostConfig } from '../config/sections/hosts.ts'
import { createHttpClient, type HttpClient } from '../lib/http-client.ts'
import type { ProxyFor } from '../lib/proxy.ts'
import { messageOf } from '../text/error.ts'
import { createTunnel, type Tunnel } from './tunnel.ts'

export type LinkAnswer = { readonly status: number; readonly body: Buffer } | { readonly problem: string }
/** Where its stream is. */
export type LinkTarget = { readonly url: string; readonly token: string }
export type HostLink = {
  readonly name: string
  /** GET of a path of its API. Never throws. */
  readonly get: (path: string, limits: { readonly timeoutMs: number; readonly maxBytes: number }) => Promise<LinkAnswer>
  readonly target: () => Promise<LinkTarget>
  readonly close: () => void
}

const REFUSED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no agent runs there',
  ENOTFOUND: 'there is no host of this name',
  EHOSTUNREACH: 'the host cannot be reached',
}
const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '')

export function createHostLink({ name, url, token }: HostConfig, proxyFor?: ProxyFor): HostLink {
  const tunnel: Tunnel | undefined = url.startsWith('ssh:') ? createTunnel(url) : undefined
  let client: { readonly socket: string; readonly client: HttpClient } | undefined
  const clientFor = (socket: string): HttpClient => {
    if (client?.socket !== socket) {
      client?.client.close()
      client = {
        socket,
        client: createHttpClient({ keep: 4, ...(proxyFor === undefined ? {} : { proxyFor }), ...(socket === '' ? {} : { socketPath: socket }) }),
      }
    }
    return client.client
  }
  // The path of a proxy before the agent stays.
  const base = tunnel === undefined ? url.replace(/\/+$/, '') : 'http://127.0.0.1:9839'
  return {
    name,
    async get(path, limits) {
      try {
        const exchanged = await clientFor(tunnel === undefined ? '' : await tunnel.open()).exchange({
          url: new URL(`${base}${path}`),
          headers: { accept: 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
          ...limits,
        })
        if ('failure' in exchanged) return { problem: REFUSED[codeOf(exchanged.failure.error)] ?? exchanged.failure.text }
        const { status, body, cut } = exchanged.answer
        return cut ? { problem: `its answer has more than ${limits.maxBytes} bytes` } : { status, body }
      } catch (error) {
        return { problem: messageOf(error) }
      }
    },
    target: async () => ({ url: tunnel === undefined ? base : `ws+unix://${await tunnel.open()}:`, token }),
    close() {
      client?.client.close()
      tunnel?.close()
    },
  }
}
