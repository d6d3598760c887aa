// One HTTP request to a receiver: the whole answer within a time, a bounded body, redirects on the same host only, no secrets in errors.
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent, request as overHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import { startDeadline } from '../../agent/lib/deadline.ts'
import { wordsOf } from '../../agent/lib/error-words.ts'
import { mayFollow, REDIRECTS } from '../../agent/lib/redirect.ts'
import { VERSION } from '../../agent/lib/version.ts'
import type { OutgoingRequest, ReceiverAnswer } from '../notifiers/definition.ts'

export type SendOptions = {
  readonly timeoutMs: number
  /** PEM; instead of the authorities that Node trusts. */
  readonly caFile?: string
  readonly signal?: AbortSignal
  /** Where proxies are named: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. */
  readonly env?: NodeJS.ProcessEnv
}
export type Sent =
  | { readonly answer: ReceiverAnswer }
  /** `heard`: the receiver may have got it, so that the message itself may be what it cannot stand. */
  | { readonly failed: string; readonly heard: boolean; readonly afterMs?: number }

/** More than any receiver of ours needs to say. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_REDIRECTS = 3
/** Whoever leads elsewhere has to be configured anew, or is down for good. */
const ELSEWHERE_MS = 300_000
const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Of a URL in an error only the host: paths and queries of webhooks are secrets. */
const withoutUrls = (text: string): string => text.replace(/\bhttps?:\/\/(?:[^\s/@]*@)?([^\s/?#]*)\S*/gi, '$1')

function answerOf(answer: IncomingMessage, body: readonly Buffer[]): ReceiverAnswer {
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]))
  return { status: answer.statusCode ?? 0, headers, body: Buffer.concat(body).subarray(0, MAX_ANSWER_BYTES).toString('utf8') }
}

type Call = { readonly begun: (call: ClientRequest) => void; readonly statusKnown: (status: number) => void }

async function ask(url: URL, { method, headers, body }: OutgoingRequest, { caFile, env = process.env }: SendOptions, on: Call): Promise<ReceiverAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ReceiverAnswer>()
  // Nobody means a proxy for what runs on this host.
  const proxied = LOOPBACK.test(url.hostname) ? {} : { proxyEnv: env }
  const agent =
    url.protocol === 'https:' ? new HttpsAgent({ ...proxied, ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }) }) : new HttpAgent({ ...proxied })
  const call = (url.protocol === 'https:' ? overHttps : overHttp)(url, { agent, method, headers: { 'user-agent': `warpwatch/${VERSION}`, ...headers } })
  on.begun(call)
  call.on('error', reject)
  call.on('response', (answer) => {
    on.statusKnown(answer.statusCode ?? 0)
    const parts: Buffer[] = []
    let bytes = 0
    answer.on('data', (part: Buffer) => {
      parts.push(part)
      bytes += part.length
      if (bytes < MAX_ANSWER_BYTES) return
      resolve(answerOf(answer, parts))
      call.destroy()
    })
    answer.on('end', () => resolve(answerOf(answer, parts)))
    answer.on('error', reject)
  })
  call.end(body)
  return promise
}

/** Where an answer leads; undefined: it is an answer. A webhook is posted again there, whatever the number: a GET would lose it. */
function ledTo(from: URL, { status, headers }: ReceiverAnswer): URL | string | undefined {
  const { location } = headers
  if (!REDIRECTS.has(status) || location === undefined) return undefined
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (to === undefined) return `status ${status} leads to a place that is no URL`
  if (status === 303 || !mayFollow(from, to)) return `status ${status} leads to ${to.protocol}//${to.host}; only redirects on the same host are followed`
  ;[to.username, to.password] = [from.username, from.password]
  return to
}

export async function send(request: OutgoingRequest, options: SendOptions): Promise<Sent> {
  const { timeoutMs, signal } = options
  let call: ClientRequest | undefined
  let status: number | undefined
  let connected = false
  const end = (): void => void call?.destroy(new Error('given up'))
  const deadline = startDeadline(timeoutMs, end)
  signal?.addEventListener('abort', end, { once: true })
  try {
    let at = new URL(request.url)
    for (let redirects = 0; ; redirects++) {
      if (deadline.late() || signal?.aborted === true) throw new Error('given up')
      const answer = await ask(at, request, options, {
        begun(made) {
          call = made
          made.on('socket', (socket) => socket.once(at.protocol === 'https:' ? 'secureConnect' : 'connect', () => (connected = true)))
        },
        statusKnown: (found) => (status = found),
      })
      const to = ledTo(at, answer)
      if (to === undefined) return { answer }
      if (typeof to === 'string') return { failed: to, heard: false, afterMs: ELSEWHERE_MS }
      if (redirects >= MAX_REDIRECTS) return { failed: `more than ${MAX_REDIRECTS} redirects`, heard: false, afterMs: ELSEWHERE_MS }
      at = to
    }
  } catch (error) {
    const heard = connected || status !== undefined
    if (signal?.aborted === true) return { failed: 'the agent ends', heard }
    const got = status === undefined ? '' : `status ${status}, then `
    if (deadline.late()) return { failed: `${got === '' ? 'no answer' : `${got}no whole answer`} within ${timeoutMs} ms`, heard }
    return { failed: `${got}${withoutUrls(wordsOf(error))}`, heard }
  } finally {
    deadline.clear()
    signal?.removeEventListener('abort', end)
  }
}
