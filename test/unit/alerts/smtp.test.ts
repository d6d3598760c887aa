// Mail as a server gets it: a small SMTP server takes what the email notifier sends, and refuses it in the ways that servers do.
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { send } from '../../../alerts/delivery/request.ts'
import { headerWords } from '../../../alerts/messages/header-words.ts'
import { email } from '../../../alerts/notifiers/email.ts'
import { selfSigned } from '../../setup/certificate.ts'
import { full, item, message } from './notifier-messages.ts'

type Mail = { readonly server: Server; readonly port: number; readonly said: readonly string[] }
type Tls = { readonly key: string; readonly cert: string; readonly from: 'start' | 'starttls' }
/** Answers each command by its first word; `answers` replaces some. */
async function mailServer(
  answers: Readonly<Record<string, string>> = {},
  extensions: readonly string[] = ['8BITMIME', 'AUTH PLAIN LOGIN'],
  tls?: Tls,
): Promise<Mail> {
  const said: string[] = []
  const serve = (socket: Socket, greets = true): void => {
    let data = false
    let rest = ''
    const reply = (word: string, usual: string): void => void socket.write(`${answers[word] ?? usual}\r\n`)
    if (greets) reply('CONNECT', '220 mail.test ESMTP')
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      rest += text
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        said.push(line)
        if (data) {
          if (line !== '.') continue
          data = false
          reply('MESSAGE', '250 2.0.0 taken')
          continue
        }
        const word = line.split(' ')[0]?.toUpperCase() ?? ''
        if (word === 'EHLO') socket.write(['250-mail.test', ...extensions.map((one) => `250-${one}`), '250 SIZE 1000000', ''].join('\r\n'))
        else if (word === 'DATA') {
          data = answers['DATA'] === undefined
          reply('DATA', '354 go on')
        } else if (word === 'AUTH') reply('AUTH', '235 welcome')
        else if (word === 'STARTTLS' && tls !== undefined) {
          socket.removeAllListeners('data')
          reply(word, '220 go on')
          said.push('(encrypted)')
          serve(new TLSSocket(socket, { isServer: true, ...tls }), false)
        } else reply(word, '250 ok')
      }
    })
  }
  const server = tls?.from === 'start' ? createTlsServer(tls, (socket) => serve(socket)) : createServer((socket) => serve(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  return { server, port: bound !== null && typeof bound === 'object' ? bound.port : 0, said }
}
const notifier = (port: number, user = '') =>
  email.create({ url: `smtp://${user}127.0.0.1:${port}`, from: 'warpwatch@example.com', to: ['ops@example.com', 'night@example.com'] })
async function deliver(mail: Mail, user = '', timeoutMs = 5_000) {
  const { request, judge } = notifier(mail.port, user)
  const sent = await send(request(message(item(full())), new Map()), { timeoutMs })
  mail.server.close()
  return 'answer' in sent ? judge?.(sent.answer) : sent
}

describe('mail', () => {
  test('goes to each address, with a subject and the whole text', async () => {
    const mail = await mailServer()
    expect(await deliver(mail, 'ada%40example.com:p%C3%A4ss@')).toEqual({ result: 'delivered' })
    expect(mail.said.filter((line) => /^(?:MAIL|RCPT)/.test(line))).toEqual([
      'MAIL FROM:<warpwatch@example.com>',
      'RCPT TO:<ops@example.com>',
      'RCPT TO:<night@example.com>',
    ])
    const auth = mail.said.find((line) => line.startsWith('AUTH PLAIN '))?.slice(11) ?? ''
    expect(Buffer.from(auth, 'base64').toString()).toBe('\0ada@example.com\0päss')
    const head = mail.said.slice(mail.said.indexOf('DATA') + 1, mail.said.indexOf(''))
    expect(head).toEqual(
      expect.arrayContaining(['From: warpwatch@example.com', 'To: ops@example.com, night@example.com', 'Content-Type: text/plain; charset=utf-8']),
    )
    expect(head.find((line) => line.startsWith('Subject: '))).toMatch(/CUDA out of memory|=\?UTF-8\?B\?/)
    const body = mail.said.slice(mail.said.indexOf('') + 1, mail.said.indexOf('.')).join('')
    expect(Buffer.from(body, 'base64').toString()).toContain('the card was full')
    expect(mail.said.every((line) => line.length <= 998)).toBe(true)
  })

  const certificate = selfSigned('DNS:localhost,IP:127.0.0.1')
  test.skipIf(certificate === undefined).each([
    ['smtps', 'start', []],
    ['smtp', 'starttls', ['STARTTLS']],
  ] as const)('by %s, encrypted from the %s on, where the certificate is trusted (needs openssl)', async (protocol, from, extensions) => {
    const { key = '', cert = '', certPath = '' } = certificate ?? {}
    const mail = await mailServer({}, [...extensions, 'AUTH PLAIN'], { key, cert, from })
    const { request, judge } = email.create({
      url: `${protocol}://ada:pass@localhost:${mail.port}`,
      from: 'warpwatch@example.com',
      to: ['ops@example.com'],
    })
    const words = request(message(item(full())), new Map())
    const sent = await send(words, { timeoutMs: 5_000, caFile: certPath })
    expect('answer' in sent ? judge?.(sent.answer) : sent).toEqual({ result: 'delivered' })
    expect(mail.said.indexOf('(encrypted)')).toBeLessThan(mail.said.findIndex((line) => line.startsWith('AUTH')))
    const untrusted = protocol === 'smtps' ? await send(words, { timeoutMs: 5_000 }) : { failed: 'certificate' }
    expect(untrusted).toMatchObject({ failed: expect.stringMatching(/certificate/i) })
    mail.server.close()
  })

  test.each([
    [
      'an address that is refused',
      { RCPT: '550 5.1.1 no such user' },
      { result: 'rejected', why: 'the mail server answered 550 to RCPT TO: 5.1.1 no such user' },
    ],
    ['greylisting', { RCPT: '451 4.7.1 later' }, { result: 'retry', why: 'the mail server answered 451 to RCPT TO: 4.7.1 later' }],
    ['a wrong password', { AUTH: '535 5.7.8 no' }, { result: 'rejected', why: 'the mail server answered 535 to AUTH: 5.7.8 no' }],
    ['a full disk', { MESSAGE: '452 4.3.1 full' }, { result: 'retry', why: 'the mail server answered 452 to the message: 4.3.1 full' }],
    ['a server that is busy', { CONNECT: '421 4.3.2 busy' }, { result: 'retry', why: 'the mail server answered 421 to the connection: 4.3.2 busy' }],
  ])('%s', async (_name, answers, verdict) => expect(await deliver(await mailServer(answers), 'ada:secret-word@')).toEqual(verdict))

  test('no server, and one that says nothing', async () => {
    const { server, port } = await mailServer()
    server.close()
    await once(server, 'close')
    const { request } = notifier(port)
    expect(await send(request(message(item(full())), new Map()), { timeoutMs: 5_000 })).toMatchObject({ failed: expect.stringContaining('ECONNREFUSED') })
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const bound = silent.address()
    const late = notifier(bound !== null && typeof bound === 'object' ? bound.port : 0)
    expect(await send(late.request(message(item(full())), new Map()), { timeoutMs: 150 })).toEqual({ failed: 'no answer within 150 ms', heard: false })
    silent.close()
  })

  test('addresses that could become commands are refused', () => {
    const check = (from: string, to: readonly string[]) => email.check?.({ url: '', from, to }) ?? []
    expect(check('a@example.com', ['b@example.com'])).toEqual([])
    for (const wrong of ['', 'a', 'a@b>\r\nDATA', 'a b@example.com', '<a@example.com>', 'a@-x', 'a@exa mple'])
      expect([wrong, check(wrong, ['b@example.com']).length + check('a@example.com', [wrong]).length]).toEqual([wrong, 2])
  })

  test('a header is ASCII, and no letter is torn apart', () => {
    expect(headerWords('GPU 3 fell off', 100)).toBe('GPU 3 fell off')
    const words = headerWords('小林 '.repeat(40), 100)
    expect(words).toMatch(/^[\x20-\x7e]+$/)
    const parts = Array.from(words.matchAll(/=\?UTF-8\?B\?([^?]+)\?=/g), ([whole, coded = '']) => ({
      length: whole.length,
      text: Buffer.from(coded, 'base64').toString(),
    }))
    expect(parts.every(({ length }) => length <= 75)).toBe(true)
    expect(parts.map(({ text }) => text).join('')).toBe('小林 '.repeat(40).slice(0, 100).trim())
    expect(headerWords('a\r\nBcc: x@y', 100)).not.toMatch(/[\r\n]/)
  })
})
