// Starts the built agent as its user does, and reads what it and its children cost from /proc.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFlags as ownFlags } from '../../scripts/node-flags.mjs'

const root = join(import.meta.dirname, '../..')
const MAIN = join(root, 'dist/main.js')
/** Clock ticks per second of /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

export type AgentProcess = {
  readonly url: string
  readonly pid: number
  readonly pids: () => readonly number[]
  readonly cpuSeconds: () => number
  readonly pssBytes: () => number
  /** Of its PSS what no file backs: its heaps. */
  readonly anonymousBytes: () => number
  readonly stderr: () => string
  readonly stop: () => Promise<void>
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number))

/** Answers a GET as text, or undefined while nobody listens. */
export async function get(url: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const sent = request(url, { agent: false }, (answer) => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', (chunk: string) => (text += chunk))
    answer.on('end', () => resolve(text))
    answer.on('error', () => resolve(undefined))
  })
  sent.on('error', () => resolve(undefined))
  sent.end()
  return promise
}

type StartOptions = {
  readonly port: number
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** Another build's, or the sources'. */
  readonly main?: string
  /** For Node, as that build has them. */
  readonly nodeFlags?: readonly string[]
  /** For Node, beside the agent's own. */
  readonly flags?: readonly string[]
}

export function startAgentProcess({ main = MAIN, flags = [], nodeFlags = ownFlags([]), ...options }: StartOptions): AgentProcess {
  if (!existsSync(main)) throw new Error(`no ${main}; run \`npm run build\` first`)
  const dataDir = mkdtempSync(join(tmpdir(), 'warpwatch-bench-'))
  const args = [...nodeFlags, ...flags, main, 'run', '--listen', `127.0.0.1:${options.port}`, '--data-dir', dataDir, ...(options.args ?? [])]
  const child: ChildProcess = spawn(process.execPath, args, { cwd: dataDir, env: { ...process.env, ...options.env }, stdio: ['ignore', 'ignore', 'pipe'] })
  const { pid } = child
  if (pid === undefined) throw new Error(`the agent could not be started: ${args.join(' ')}`)
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (said = (said + chunk).slice(-20_000)))
  const pids = (): number[] => [pid, ...childrenOf(pid)]
  const cpuTicks = (of: number): number => {
    const fields = readFileSync(`/proc/${of}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  const rolledUp = (field: string): number =>
    pids().reduce((sum, of) => sum + Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${of}/smaps_rollup`, 'utf8'))?.[1]) * 1024, 0)
  return {
    url: `http://127.0.0.1:${options.port}`,
    pid,
    pids,
    cpuSeconds: () => pids().reduce((sum, of) => sum + cpuTicks(of), 0) / TICKS_PER_SECOND,
    pssBytes: () => rolledUp('Pss'),
    anonymousBytes: () => rolledUp('Pss_Anon'),
    stderr: () => said,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the agent had ended before; it said:\n${said}`)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
