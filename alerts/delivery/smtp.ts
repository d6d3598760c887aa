// One mail to a mail server: SMTP (RFC 5321) with STARTTLS (3207) and AUTH (4954), as far as a sender of notifications needs it.
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { lineOf } from '../../agent/text/error.ts'
import type { OutgoingRequest } from '../notifiers/definition.ts'
import type { Sent } from './request.ts'

type SmtpOptions = { readonly timeoutMs: number; readonly ca?: Buffer; readonly signal?: AbortSignal }
type Reply = { readonly code: number; readonly lines: readonly string[] }

const MAX_REPLY = 64 * 1024
/** For the answer to QUIT, which changes nothing any more. */
const GOODBYE_MS = 2_000
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 25, 'smtps:': 465 }
const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)

/** What the server refused; its words are kept short, as they may repeat what was sent. */
class Refused extends Error {
  readonly code: number
  constructor(step: string, { code, lines }: Reply) {
    super(`the mail server answered ${code} to ${step}: ${(lines[0] ?? '').slice(0, 120)}`)
    this.code = code
  }
}

/** Replies one after the other; a reply has several lines, the last without a hyphen behind its code. */
function replies(socket: Socket): () => Promise<Reply> {
  let text = ''
  let failed: Error | undefined
  let wake = (): void => {}
  const fail = (error: Error): void => {
    failed ??= error
    wake()
  }
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1')
    if (text.length > MAX_REPLY) socket.destroy(new Error('the mail server says too much'))
    wake()
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the mail server has closed the connection')))
  return async () => {
    for (;;) {
      const [whole] = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(text) ?? []
      if (whole !== undefined) {
        text = text.slice(whole.length)
        const lines = whole.trimEnd().split('\n')
        return { code: Number(whole.trimEnd().split('\n').at(-1)?.slice(0, 3)), lines: lines.map((line) => line.slice(4).trim()) }
      }
      if (failed !== undefined) throw failed
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
}

/** Lines of base64: whatever the text holds, no line is too long or ends the message. */
function dataOf({ headers, body }: Pick<OutgoingRequest, 'headers' | 'body'>): string {
  const head = Object.entries({ ...headers, 'Content-Transfer-Encoding': 'base64' }).map(
    ([name, value]) => `${name}: ${value.replaceAll('?= =?', '?=\r\n =?')}\r\n`,
  )
  return `${head.join('')}\r\n${Buffer.from(body)
    .toString('base64')
    .replace(/.{1,76}/g, '$&\r\n')}.\r\n`
}

async function converse(first: Socket, url: URL, request: OutgoingRequest, ca: Buffer | undefined, swap: (socket: Socket) => void): Promise<void> {
  let socket = first
  let next = replies(socket)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const say = async (line: string, step: string, ...wanted: readonly number[]): Promise<Reply> => {
    socket.write(`${line}\r\n`)
    const reply = await next()
    if (!wanted.includes(reply.code)) throw new Refused(step, reply)
    return reply
  }
  const hello = async (): Promise<readonly string[]> =>
    (await say(`EHLO ${/^[\w.-]+$/.test(hostname()) ? hostname() : 'localhost'}`, 'EHLO', 250)).lines.map((line) => line.toUpperCase())
  const greeting = await next()
  if (greeting.code !== 220) throw new Refused('the connection', greeting)
  let offers = await hello()
  // A relay on this machine often has a certificate of its own making, and nobody listens in between.
  if (url.protocol === 'smtp:' && offers.includes('STARTTLS') && (!isLoopback(host) || ca !== undefined)) {
    await say('STARTTLS', 'STARTTLS', 220)
    socket.removeAllListeners()
    const secure: TLSSocket = connectTls({ socket, ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === undefined ? {} : { ca }) })
    swap(secure)
    socket = secure
    next = replies(secure)
    offers = await hello()
  }
  if (url.username !== '') {
    if (url.protocol === 'smtp:' && socket === first && !isLoopback(host)) throw new Error('the mail server offers no encryption, so the password was not sent')
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    const auth = offers.find((line) => line.startsWith('AUTH')) ?? ''
    const coded = (text: string): string => Buffer.from(text).toString('base64')
    if (auth.includes('PLAIN') || !auth.includes('LOGIN')) await say(`AUTH PLAIN ${coded(`\0${user}\0${password}`)}`, 'AUTH', 235)
    else {
      await say('AUTH LOGIN', 'AUTH', 334)
      await say(coded(user), 'AUTH', 334)
      await say(coded(password), 'AUTH', 235)
    }
  }
  await say(`MAIL FROM:<${request.headers['From'] ?? ''}>`, 'MAIL FROM', 250)
  for (const to of (request.headers['To'] ?? '').split(', ')) await say(`RCPT TO:<${to}>`, 'RCPT TO', 250, 251)
  await say('DATA', 'DATA', 354)
  socket.write(dataOf(request))
  const taken = await next()
  if (taken.code !== 250) throw new Refused('the message', taken)
  socket.setTimeout(GOODBYE_MS, () => socket.destroy())
  socket.end('QUIT\r\n')
}

/** The answer's status is the code of SMTP: 250 taken, 4xx to be tried again, 5xx refused for good. */
export async function sendMail(request: OutgoingRequest, { timeoutMs, ca, signal }: SmtpOptions): Promise<Sent> {
  const url = new URL(request.url)
  const [host, port] = [url.hostname.replace(/^\[|\]$/g, ''), url.port === '' ? (PORTS[url.protocol] ?? 25) : Number(url.port)]
  const secure = { ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === undefined ? {} : { ca }) }
  let socket: Socket = url.protocol === 'smtps:' ? connectTls({ host, port, ...secure }) : connectPlain({ host, port })
  let why: string | undefined
  const end = (text: string): void => {
    why ??= text
    socket.destroy()
  }
  const late = setTimeout(() => end(`no answer within ${timeoutMs} ms`), timeoutMs)
  const aborted = (): void => end('the agent ends')
  signal?.addEventListener('abort', aborted, { once: true })
  try {
    await converse(socket, url, request, ca, (next) => (socket = next))
    return { answer: { status: 250, headers: {}, body: '' } }
  } catch (error) {
    if (error instanceof Refused) return { answer: { status: error.code, headers: {}, body: error.message } }
    return { failed: why ?? lineOf(error), heard: false }
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', aborted)
    socket.on('error', () => {})
    if (!socket.writableEnded) socket.destroy()
  }
}
