// Tells the running agent of a command: when it begins and how it ended. Whatever goes wrong here costs the command nothing.
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { parseStat } from '../../attribution/proc-files.ts'
import { localUrl } from '../../config/listen.ts'
import type { Run } from '../../model/job.ts'
import type { Arguments, Io } from '../command.ts'

export type AgentLine = {
  readonly started: (pid: number) => void
  readonly ended: (end: {
    readonly exitCode?: number | undefined
    readonly signal?: string | undefined
    /** What its output says of the end. */
    readonly cause?: { readonly kind: string; readonly title: string } | undefined
  }) => Promise<Answer>
}
export type Answer = {
  /** The run as the agent counted it; undefined where no agent answers. */
  readonly run?: Run
  /** Why the notifier is sent nothing. */
  readonly notSent?: string
}
export type Reported = { readonly id: string; readonly name: string | undefined; readonly command: string; readonly user: string | undefined }
export type AgentLineOptions = {
  /** The notifier that is sent what became of it. */
  readonly notify: string | undefined
}

const ANSWER_WITHIN_MS = 1_000
const MAX_TITLE = 200
const MAX_ANSWER = 256 * 1024

function startTicks(pid: number): number | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.startTicks
  } catch {
    return undefined
  }
}
const isRun = (value: unknown): value is Run => typeof value === 'object' && value !== null && 'job_id' in value && 'gpu_seconds' in value

type Where = { readonly listen: string; readonly token: string }
const DEFAULT_LISTEN = '127.0.0.1:9839'

/** Reading a configuration takes longer than most commands that end at once: where there is none to read, flags and environment say it all. */
async function whereOf(args: Arguments, io: Io): Promise<Where | undefined> {
  const { env, cwd } = io
  const listen = args.flags.get('listen')
  if (!args.flags.has('config') && env['WARPWATCH_CONFIG'] === undefined && ![join(cwd, 'warpwatch.yaml'), '/etc/warpwatch/warpwatch.yaml'].some(existsSync))
    return { listen: typeof listen === 'string' ? listen : (env['WARPWATCH_HTTP__LISTEN'] ?? DEFAULT_LISTEN), token: env['WARPWATCH_HTTP__TOKEN'] ?? '' }
  const { isLoaded, settingsFor } = await import('../config/settings.ts')
  const loaded = await settingsFor(args, { ...io, err: () => {} })
  return isLoaded(loaded) ? loaded.config.http : undefined
}

const MAX_HEADERS = 16 * 1024

/** `fetch` takes 50 ms to load, `node:http` 20: as long as a short command runs. HTTP/1.0 has one answer, which ends with the connection. */
async function post(listen: string, token: string, path: string, body: string): Promise<unknown> {
  const { hostname, port } = new URL(localUrl(listen))
  const head = [
    `POST ${path} HTTP/1.0`,
    `Host: ${hostname}:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
  ]
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port === '' ? '80' : port) })
  let text = ''
  socket.setEncoding('utf8').setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error('no answer')))
  socket.on('data', (part: string) => {
    text += part
    if (text.length > MAX_ANSWER + MAX_HEADERS) socket.destroy(new Error('the answer is too long'))
  })
  socket.on('error', reject)
  socket.on('end', () => {
    const end = text.indexOf('\r\n\r\n')
    try {
      resolve(end > 0 && /^HTTP\/1\.\d 200 /.test(text) ? JSON.parse(text.slice(end + 4)) : undefined)
    } catch (error) {
      reject(error)
    }
  })
  // A token that holds a line end would be a header of its own.
  if (/[\r\n]/.test(token)) socket.destroy(new Error('the token holds a line end'))
  else socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return promise
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
const placeOf = async (where: Promise<Where | undefined> | undefined): Promise<string> => {
  const found = await where?.catch(() => undefined)
  return found === undefined ? '' : ` at ${localUrl(found.listen)}`
}

export function openAgentLine(args: Arguments, io: Io, reported: Reported, { notify }: AgentLineOptions): AgentLine {
  let where: Promise<Where | undefined> | undefined
  let pid = 0
  let ticks: number | undefined
  let begun: Promise<unknown> = Promise.resolve()
  const tell = async (action: 'start' | 'end', more: object): Promise<unknown> => {
    try {
      where ??= whereOf(args, io)
      const found = await where
      if (found === undefined) return undefined
      return await post(found.listen, found.token, '/api/v1/jobs/exec', JSON.stringify({ action, ...reported, pid, start_ticks: ticks, ...more }))
    } catch {
      return undefined
    }
  }
  const notSentBy = async (answer: unknown): Promise<Pick<Answer, 'notSent'>> => {
    if (answer === undefined) return { notSent: `no agent took it${await placeOf(where)}; see: warpwatch doctor` }
    const why = memberOf(answer, 'not_sent')
    return typeof why === 'string' ? { notSent: why } : {}
  }
  return {
    started(of) {
      pid = of
      ticks = startTicks(of)
      begun = tell('start', {})
    },
    async ended({ exitCode, signal, cause }) {
      if (pid === 0) return notify === undefined ? {} : { notSent: 'the command could not be started' }
      await begun
      const answer = await tell('end', { exit_code: exitCode, signal, notify, cause_kind: cause?.kind, cause_title: cause?.title.slice(0, MAX_TITLE) })
      const run = memberOf(answer, 'run')
      return { ...(isRun(run) ? { run } : {}), ...(notify === undefined ? {} : await notSentBy(answer)) }
    },
  }
}
