// Starts what the fleet bench runs (its hosts' process, Prometheus, VictoriaMetrics), and reads from /proc what each costs.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { freePort } from '../../test/setup/free-port.ts'
import { poll } from '../../test/setup/poll.ts'
import type { Recording } from './recording.ts'

export const PROMETHEUS = '/usr/bin/prometheus'
export const PROMTOOL = '/usr/bin/promtool'
export const VICTORIA = '/usr/bin/victoria-metrics'
export const enginesMissing: string | undefined = [PROMETHEUS, PROMTOOL, VICTORIA].every((path) => existsSync(path))
  ? undefined
  : 'needs prometheus and victoria-metrics (apt-get install --no-install-recommends prometheus victoria-metrics)'
/** Clock ticks per second of /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

export type Cost = { readonly cpuS: number; readonly rssBytes: number; readonly peakBytes: number }

export function costOf(pid: number): Cost {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  return { cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, rssBytes: kib('VmRSS') * 1024, peakBytes: kib('VmHWM') * 1024 }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

export type Fleet = {
  readonly address: string
  readonly pid: number
  readonly figures: () => Promise<{ readonly pages: number; readonly bytes: number }>
  readonly stop: () => Promise<void>
}
const listening = z.object({ port: z.number() })
const figures = z.object({ pages: z.number(), bytes: z.number() })

export async function startFleet(recording: Recording, churn = 1): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-fleet-'))
  const file = join(folder, 'recording.json')
  writeFileSync(file, JSON.stringify(recording))
  const child = fork(join(import.meta.dirname, 'server.ts'), [file, String(churn)])
  const [first]: unknown[] = await once(child, 'message')
  rmSync(folder, { recursive: true })
  return {
    address: `127.0.0.1:${listening.parse(first).port}`,
    pid: child.pid ?? 0,
    async figures() {
      const answer = once(child, 'message')
      child.send('figures')
      const [said]: unknown[] = await answer
      return figures.parse(said)
    },
    stop: () => end(child, 'SIGKILL'),
  }
}

export type Engine = { readonly url: string; readonly pid: number; readonly folder: string; readonly stop: () => Promise<void> }
/** The scrape configuration is a file in a folder of the engine's own; the arguments may name both. */
export type EngineOptions = {
  readonly program: string
  readonly config: object
  readonly health: string
  readonly args: (at: { readonly file: string; readonly folder: string; readonly address: string }) => readonly string[]
}

export async function startEngine({ program, config, health, args }: EngineOptions): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-engine-'))
  const file = join(folder, 'config.yml')
  writeFileSync(file, JSON.stringify(config)) // JSON is YAML
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(program, args({ file, folder, address }), { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)))
  // Also when the bench is interrupted.
  const remove = (): void => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', remove)
  const stop = async (): Promise<void> => {
    process.off('exit', remove)
    await end(child, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  const ready = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`)
    return (await fetch(`http://${address}${health}`).catch(() => undefined))?.status === 200
  }
  try {
    await poll(ready, { what: () => `${program} to be ready; it said: ${said}`, deadlineMs: 60_000, everyMs: 50 })
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `http://${address}`, pid: child.pid ?? 0, folder, stop }
}
