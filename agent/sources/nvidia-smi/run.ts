// Runs nvidia-smi once: no shell, a deadline, bounded output, and never a second one while the first still hangs.
import { spawn } from 'node:child_process'
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { messageOf } from '../../text/error.ts'

export type RunResult =
  | { readonly kind: 'ended'; readonly stdout: string; readonly stderr: string; readonly exitCode: number; readonly durationMs: number }
  /** Not to be started: no such file, no permission. */
  | { readonly kind: 'absent'; readonly errno: string }
  /** Killed at the deadline; `pid` may live on when it hangs in the kernel. */
  | { readonly kind: 'timeout'; readonly pid: number | undefined; readonly deadlineMs: number }
  | { readonly kind: 'too_long'; readonly maxBytes: number }
  /** An earlier one that was killed has not ended yet. */
  | { readonly kind: 'still_hanging'; readonly pid: number | undefined }

export type Runner = {
  readonly run: (command: string, args: readonly string[]) => Promise<RunResult>
  /** Kills what runs; does not wait for it. */
  readonly stop: () => void
}

export type RunnerOptions = { readonly deadlineMs?: number; readonly maxBytes?: number }

const SIGNALS: Readonly<Record<string, number>> = { SIGABRT: 6, SIGBUS: 7, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }

export function createRunner({ deadlineMs = 20_000, maxBytes = 16 * 2 ** 20 }: RunnerOptions = {}): Runner {
  let alive: ChildProcess | undefined

  /** SIGKILL reaches a process in the kernel only when it comes out of there: it is let go, not waited for. */
  const abandon = (child: ChildProcess): void => {
    child.kill('SIGKILL')
    child.stdout?.destroy()
    child.stderr?.destroy()
    child.unref()
  }

  const run = (command: string, args: readonly string[]): Promise<RunResult> =>
    new Promise((resolve) => {
      if (alive !== undefined) {
        resolve({ kind: 'still_hanging', pid: alive.pid })
        return
      }
      const startedAt = performance.now()
      // In English and with a point in numbers, whatever the agent's own locale.
      let child: ChildProcessByStdio<null, Readable, Readable>
      try {
        child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C' } })
      } catch (error) {
        resolve({ kind: 'absent', errno: messageOf(error) }) // a path that cannot be one
        return
      }
      alive = child
      const stdout: Buffer[] = []
      const stderr: Buffer[] = []
      let bytes = 0
      let settled = false
      const settle = (result: RunResult): void => {
        if (settled) return
        settled = true
        clearTimeout(timer)
        resolve(result)
      }
      const timer = setTimeout(() => {
        abandon(child)
        settle({ kind: 'timeout', pid: child.pid, deadlineMs })
      }, deadlineMs)
      const take = (into: Buffer[]) => (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) into.push(chunk)
        else {
          abandon(child)
          settle({ kind: 'too_long', maxBytes })
        }
      }
      child.stdout.on('data', take(stdout))
      child.stderr.on('data', take(stderr))
      const over = (): void => {
        if (alive === child) alive = undefined
      }
      child.on('exit', over)
      child.on('error', (error) => {
        over()
        settle({ kind: 'absent', errno: 'code' in error && typeof error.code === 'string' ? error.code : error.message })
      })
      child.on('close', (code, signal) => {
        // As a shell reports it: 128 and the number of the signal.
        const exitCode = code ?? 128 + (SIGNALS[signal ?? ''] ?? 0)
        settle({
          kind: 'ended',
          stdout: Buffer.concat(stdout).toString('utf8'),
          stderr: Buffer.concat(stderr).toString('utf8'),
          exitCode,
          durationMs: performance.now() - startedAt,
        })
      })
    })

  return {
    run,
    stop: () => {
      if (alive !== undefined) abandon(alive)
    },
  }
}
