// Runs the built agent as a process of its own on a free port with a data directory of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { poll } from './poll.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

export type AgentProcess = {
  readonly url: string
  readonly listen: string
  readonly dataDir: string
  readonly json: (path: string) => Promise<unknown>
  /** SIGKILL; the data directory stays for a successor. */
  readonly kill: () => Promise<void>
  /** Ends it and removes its data directory. */
  readonly stop: () => Promise<void>
}
type Options = { readonly listen?: string; readonly dataDir?: string; readonly env?: Readonly<Record<string, string>> }

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Resolves when the agent answers /readyz with 200. */
export async function startAgentProcess(flags: readonly string[], options: Options = {}): Promise<AgentProcess> {
  if (!existsSync(MAIN)) throw new Error(`${MAIN}: expected the built agent, came nothing; npm run build makes it`)
  const listen = options.listen ?? `127.0.0.1:${await freePort()}`
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'warpwatch-dashboard-'))
  const url = `http://${listen}/`
  const child = spawn(process.execPath, [MAIN, 'run', ...flags, '--listen', listen, '--data-dir', dataDir], {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)))
  const ready = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`the agent ended with exit code ${child.exitCode}: ${said}`)
    const answer = await fetch(new URL('readyz', url)).catch(() => undefined)
    return answer?.status === 200
  }
  try {
    await poll(ready, { what: () => `${url}readyz to answer 200; the agent said: ${said}`, deadlineMs: 90_000, everyMs: 50 })
  } catch (error) {
    await end(child, 'SIGKILL')
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    throw error
  }
  return {
    url,
    listen,
    dataDir,
    json: async (path) => (await fetch(new URL(path, url))).json(),
    kill: () => end(child, 'SIGKILL'),
    async stop() {
      await end(child, 'SIGTERM')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
