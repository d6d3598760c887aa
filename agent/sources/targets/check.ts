// One check of a service: GET, the whole answer within a time, a bounded body, redirects on the same host only.
import { request as overHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as overHttps } from 'node:https'
import { wordsOf } from '../../lib/error-words.ts'
import { mayFollow, REDIRECTS } from '../../lib/redirect.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import { VERSION } from '../../lib/version.ts'
import { meaningOf, type FailureReason } from './reasons.ts'

export type CheckOptions = {
  readonly url: string
  readonly timeoutMs: number
  /** undefined: any from 200 to 299. */
  readonly expectStatus?: number
  readonly headers: Readonly<Record<string, string>>
  /** Ends the check; it then says nothing of the service. */
  readonly signal?: AbortSignal
}
export type Checked =
  | { readonly up: true; readonly status: number; readonly latencyMs: number }
  | { readonly up: false; readonly reason: FailureReason; readonly detail: string; readonly status?: number; readonly latencyMs?: number }
  /** Nobody knows: the agent could not ask. */
  | { readonly up: undefined; readonly detail: string }

/** Nothing of a body is kept; a service that sends more than this is alive. */
const MAX_BODY_BYTES = 64 * 1024
const MAX_REDIRECTS = 5

type Answer = { readonly status: number; readonly location?: string; readonly broken?: { readonly reason: FailureReason; readonly detail: string } }

/** The status is known before the body has ended: a body that breaks off says so beside it. */
async function ask(url: URL, headers: CheckOptions['headers'], begun: (call: ClientRequest) => void, statusKnown: (status: number) => void): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const call = (url.protocol === 'https:' ? overHttps : overHttp)(url, {
    agent: false,
    headers: { 'user-agent': `warpwatch/${VERSION}`, accept: '*/*', ...headers },
  })
  begun(call)
  call.on('error', reject)
  call.on('response', (answer: IncomingMessage) => {
    const { statusCode: status = 0 } = answer
    const { location } = answer.headers
    statusKnown(status)
    const done = (broken?: Answer['broken']): void => {
      resolve({ status, ...(location === undefined ? {} : { location }), ...(broken === undefined ? {} : { broken }) })
      call.destroy()
    }
    let bytes = 0
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) done()
    })
    answer.on('end', () => done())
    answer.on('error', (error) => done({ reason: 'reset', detail: `status ${status}, then the body broke off: ${wordsOf(error)}` }))
  })
  call.end()
  return promise
}

export async function checkTarget({ url, timeoutMs, expectStatus, headers, signal }: CheckOptions): Promise<Checked> {
  const begunAt = performance.now()
  const took = (): number => performance.now() - begunAt
  let call: ClientRequest | undefined
  let status: number | undefined
  const end = (): void => void call?.destroy(new Error('given up'))
  const deadline = startDeadline(timeoutMs, end)
  signal?.addEventListener('abort', end, { once: true })
  const expected = (found: number): boolean => (expectStatus === undefined ? found >= 200 && found <= 299 : found === expectStatus)
  try {
    let at = new URL(url)
    for (let redirects = 0; ; redirects++) {
      const answer = await ask(
        at,
        headers,
        (made) => (call = made),
        (found) => (status = found),
      )
      const known = { status: answer.status, latencyMs: took() }
      if (deadline.late() || signal?.aborted === true) throw new Error('given up')
      if (answer.broken !== undefined) return { up: false, ...answer.broken, status: answer.status }
      if (expected(answer.status)) return { up: true, ...known }
      if (!REDIRECTS.has(answer.status) || answer.location === undefined || expectStatus !== undefined)
        return { up: false, reason: 'status', detail: `expected status ${expectStatus ?? '200 to 299'}, came ${answer.status}`, ...known }
      const next = URL.canParse(answer.location, at.href) ? new URL(answer.location, at) : undefined
      if (next === undefined || !mayFollow(at, next) || redirects >= MAX_REDIRECTS) {
        const to = next === undefined ? 'a place that is no URL' : shownUrl(next.href)
        const why = redirects >= MAX_REDIRECTS ? `more than ${MAX_REDIRECTS} redirects` : 'only redirects on the same host are followed'
        return { up: false, reason: 'redirect', detail: `status ${answer.status} leads to ${to}; ${why}`, ...known }
      }
      // The user's name and password in the URL are for the same host too.
      ;[next.username, next.password] = [at.username, at.password]
      at = next
    }
  } catch (error) {
    if (signal?.aborted === true) return { up: undefined, detail: 'the agent ends' }
    const told = status === undefined ? {} : { status }
    if (deadline.late()) {
      const what = status === undefined ? 'no answer' : `status ${status}, but no whole answer`
      return { up: false, reason: 'timeout', detail: `${what} within ${timeoutMs} ms`, ...told }
    }
    const meaning = meaningOf(error)
    if (meaning === 'own') return { up: undefined, detail: `the agent could not ask: ${wordsOf(error)}` }
    return { up: false, reason: meaning, detail: wordsOf(error), ...told }
  } finally {
    deadline.clear()
    signal?.removeEventListener('abort', end)
  }
}
