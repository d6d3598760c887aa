// One process in the network of another host that asks there for whoever waits for an answer: a new one for each question takes more CPU than what is asked.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import * as z from 'zod'

/** An address a line, in; an answer a line, out. */
const PROGRAM = `
const { createInterface } = require('node:readline')
createInterface(process.stdin).on('line', (url) => {
  const say = (body) => process.stdout.write(JSON.stringify({ url, body }) + '\\n')
  fetch(url, { headers: { connection: 'close' } }).then((answer) => answer.text()).then(say, () => say(null))
})
`
const answerLine = z.object({ url: z.string(), body: z.string().nullable() })

export type NetworkInside = {
  /** The body of an answer; undefined where nobody answers. */
  readonly get: (url: string) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

/** `pid`: of a process in that network. */
export function enterNetwork(pid: number): NetworkInside {
  const child = spawn('nsenter', [`--target=${pid}`, '--net', process.execPath, '-e', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const waiting: { readonly url: string; readonly tell: (body: string | undefined) => void }[] = []
  createInterface(child.stdout).on('line', (line) => {
    const { url, body } = answerLine.parse(JSON.parse(line))
    const at = waiting.findIndex((one) => one.url === url)
    waiting.splice(at, at < 0 ? 0 : 1)[0]?.tell(body ?? undefined)
  })
  void ended.then(() => waiting.splice(0).forEach(({ tell }) => tell(undefined)))
  child.stdin.on('error', () => {})
  return {
    async get(url) {
      if (child.exitCode !== null) throw new Error(`the process that asks in the network of ${pid} ended with ${child.exitCode}`)
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      waiting.push({ url, tell: resolve })
      child.stdin.write(`${url}\n`)
      return promise
    },
    async close() {
      child.stdin.end()
      child.kill('SIGKILL')
      await ended
    },
  }
}
