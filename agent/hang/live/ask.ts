// Has a job looked at by a process of its own, with a deadline: one that gets stuck in the kernel is killed and let go.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseReply, type JoinRequest, type LookReply, type LookRequest } from './request.ts'

const built = !import.meta.url.endsWith('.ts')
/** Beside the bundles in the build, in this folder in a checkout. */
const ENTRY = join(import.meta.dirname, built ? 'hang-child.js' : 'child-main.ts')
const DEADLINE_MS = 20_000
const RAS_MS = 40_000
const MOST_BYTES = 8 * 2 ** 20
/** A small heap: the largest dump that is read takes some 200 MB. */
const FLAGS = ['--max-old-space-size=512', '--max-semi-space-size=2']

export type AskLook = (request: LookRequest | JoinRequest) => Promise<LookReply>

const limitOf = (request: LookRequest | JoinRequest): number =>
  'join' in request ? DEADLINE_MS : request.seconds * 1000 + (request.ras ? RAS_MS : DEADLINE_MS)

export const askLook: AskLook = (request) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...FLAGS, ENTRY], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin:/usr/sbin:/sbin' },
    })
    let [out, problem] = ['', '']
    const end = (done: () => void): void => {
      clearTimeout(timer)
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      // One that the kernel does not let go keeps nobody from ending.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      child.unref()
      done()
    }
    const limit = limitOf(request)
    const timer = setTimeout(() => end(() => reject(new Error(`the look did not end within ${Math.round(limit / 1000)} s`))), limit)
    child.once('error', (error) => end(() => reject(error)))
    child.stdin.on('error', () => {})
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (out.length > MOST_BYTES) end(() => reject(new Error('the look answered too much')))
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(-2_000)))
    child.once('close', (code) =>
      end(() => {
        try {
          if (code !== 0) throw new Error(problem.trim().split('\n').at(-1) ?? `the look ended with ${code}`)
          resolve(parseReply(out))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }),
    )
    child.stdin.end(JSON.stringify(request))
  })
