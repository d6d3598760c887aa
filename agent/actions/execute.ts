// Runs the command of an action: without a shell, with only the variables that were named, ended at its deadline together with all that it started.
import { spawn } from 'node:child_process'
import { messageOf } from '../text/error.ts'
import { redact } from '../lib/redact.ts'

export type Executed = {
  readonly state: 'done' | 'failed' | 'timeout'
  readonly text: string
  readonly tookMs: number
  readonly exitCode?: number
  readonly output?: string
}
export type ExecuteOptions = {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** After SIGTERM, before SIGKILL. */
  readonly graceMs?: number
}

const MAX_OUTPUT = 4_096
const GRACE_MS = 2_000
/** After SIGKILL; one that hangs in the kernel is let go. */
const GIVE_UP_MS = 2_000
/** A command that has ended may have left its output open to what it started. */
const DRAIN_MS = 200

export function execute({ argv, env, timeoutMs, graceMs = GRACE_MS }: ExecuteOptions): Promise<Executed> {
  const [program = '', ...args] = argv
  const begun = performance.now()
  return new Promise((resolve) => {
    let output = ''
    let isLate = false
    let isSettled = false
    const timers: NodeJS.Timeout[] = []
    const later = (ms: number, run: () => void): void => void timers.push(setTimeout(run, ms))
    const settle = (state: Executed['state'], text: string, exitCode?: number): void => {
      if (isSettled) return
      isSettled = true
      for (const timer of timers) clearTimeout(timer)
      const shown = redact(output).trim()
      const tookMs = Math.round(performance.now() - begun)
      resolve({ state, text, tookMs, ...(exitCode === undefined ? {} : { exitCode }), ...(shown === '' ? {} : { output: shown }) })
    }
    let child
    try {
      // A group of its own: what it starts is ended with it.
      child = spawn(program, args, { env: { ...env }, shell: false, detached: true, stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' })
    } catch (error) {
      return settle('failed', `cannot be started: ${messageOf(error)}`)
    }
    const { pid } = child
    const signalGroup = (signal: NodeJS.Signals): void => {
      try {
        if (pid !== undefined) process.kill(-pid, signal)
      } catch {
        // All of it has ended.
      }
    }
    const take = (chunk: Buffer): void => void (output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT))
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', (error) => settle('failed', `cannot be started: ${messageOf(error)}`))
    child.on('exit', (code, signal) => {
      later(DRAIN_MS, () => {
        child.stdout.destroy()
        child.stderr.destroy()
        if (isLate) {
          signalGroup('SIGKILL')
          settle('timeout', `ended after ${timeoutMs} ms`)
        } else if (signal !== null) settle('failed', `ended by ${signal}`)
        else settle(code === 0 ? 'done' : 'failed', `exit code ${code}`, code ?? undefined)
      })
    })
    later(timeoutMs, () => {
      isLate = true
      signalGroup('SIGTERM')
    })
    later(timeoutMs + graceMs, () => signalGroup('SIGKILL'))
    // In the kernel even SIGKILL waits.
    later(timeoutMs + graceMs + GIVE_UP_MS, () => {
      child.unref()
      child.stdout.destroy()
      child.stderr.destroy()
      settle('timeout', `does not end, although it was killed after ${timeoutMs} ms`)
    })
  })
}
