// The receivers that docs/notifications.md has for the signed webhook: run as they are, they take what is genuine, once, and nothing else.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { send } from '../../../alerts/delivery/request.ts'
import { webhook } from '../../../alerts/notifiers/webhook.ts'
import type { OutgoingRequest } from '../../../alerts/notifiers/definition.ts'
import { findPythons } from '../../setup/pythons.ts'
import { full, item, message } from './notifier-messages.ts'

const doc = readFileSync(join(import.meta.dirname, '../../../docs/notifications.md'), 'utf8')
const programOf = (language: string): string => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(doc)?.[1] ?? ''
const SECRET = 'correct horse battery staple'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function start(command: string, args: readonly string[]) {
  const child = spawn(command, args, { env: { PATH: process.env['PATH'], OPS_SECRET: SECRET, PORT: '0' }, stdio: ['ignore', 'pipe', 'pipe'] })
  ends.push(async () => {
    if (child.exitCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`expected a line from the receiver, came its end: ${errors}`)
    return value
  }
  const port = /^listening on port (\d+)$/.exec(await next())?.[1]
  return { url: `http://127.0.0.1:${port}/`, next }
}
const post = async (request: OutgoingRequest): Promise<number | string> => {
  const sent = await send(request, { timeoutMs: 10_000 })
  return 'failed' in sent ? sent.failed : sent.answer.status
}

function takesWhatIsGenuine(command: string, args: readonly string[]): void {
  test('takes a genuine message once, whatever its characters, and no other', async () => {
    const { url, next } = await start(command, args)
    const request = (key: string, verdict: string): OutgoingRequest =>
      webhook.create({ url, secret: SECRET, headers: {} }).request({ ...message(item(full({ verdict }))), key }, new Map())
    const genuine = request('key-1', 'Grafikkarte voll 🔥')
    expect(await post(genuine)).toBe(204)
    expect(await next()).toBe('firing CUDA out of memory Grafikkarte voll 🔥')
    expect(await post(genuine)).toBe(204)
    expect(await post({ ...genuine, body: genuine.body.replace('firing', 'resolved') })).toBe(401)
    expect(await post({ ...genuine, headers: { ...genuine.headers, 'X-Warpwatch-Signature': 'sha256=00' } })).toBe(401)
    const { 'X-Warpwatch-Signature': _signature, ...unsigned } = genuine.headers
    expect(await post({ ...genuine, headers: unsigned })).toBe(401)
    // What was refused or repeated said nothing: the next line is the next message's.
    expect(await post(request('key-2', 'and again'))).toBe(204)
    expect(await next()).toBe('firing CUDA out of memory and again')
  })
}

describe('the receiver for Node', () => {
  takesWhatIsGenuine(process.execPath, ['--input-type=module', '-e', programOf('js')])
})

const [oldest] = findPythons()
describe.skipIf(oldest === undefined)(`the receiver for Python ${oldest?.version ?? '(needs Python 3.8 or newer)'}`, () => {
  takesWhatIsGenuine(oldest?.path ?? '', ['-c', programOf('python')])
})
