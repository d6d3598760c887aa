// A real Prometheus and a real Alertmanager on free ports of loopback, with a configuration of the test's.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { freeAddress } from './free-port.ts'
import { poll } from './poll.ts'

const PROMETHEUS = '/usr/bin/prometheus'
const ALERTMANAGER = '/usr/bin/prometheus-alertmanager'
export const monitoringMissing: string | undefined = [PROMETHEUS, ALERTMANAGER].every((path) => existsSync(path))
  ? undefined
  : 'needs prometheus and prometheus-alertmanager (apt-get install prometheus prometheus-alertmanager)'

export type Monitor = {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly said: () => string
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** JSON is YAML. */
async function start(program: string, config: unknown, flags: (directory: string, file: string, address: string) => readonly string[]): Promise<Monitor> {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-monitor-'))
  const file = join(directory, 'config.yml')
  writeFileSync(file, JSON.stringify(config))
  const address = await freeAddress()
  const child = spawn(program, flags(directory, file, address), { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-20_000)))
  const ready = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`)
    return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.status === 200
  }
  const dispose = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await poll(ready, { what: () => `${program} to be ready; it said: ${said}`, deadlineMs: 30_000, everyMs: 50 })
  } catch (error) {
    await dispose()
    throw error
  }
  return { url: `http://${address}`, said: () => said, [Symbol.asyncDispose]: dispose }
}

export const startPrometheus = (config: unknown): Promise<Monitor> =>
  start(PROMETHEUS, config, (directory, file, address) => [`--config.file=${file}`, `--storage.tsdb.path=${directory}/data`, `--web.listen-address=${address}`])

const answered = z.object({
  status: z.literal('success'),
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })) }),
})
export type Found = z.infer<typeof answered>['data']['result']

/** What Prometheus answers at a moment at which every target was up: after a scrape that a busy machine made too slow its series are gone until the next. */
export async function queryUp(url: string, text: string): Promise<Found> {
  const ask = async (query: string, time: string): Promise<Found> => {
    const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query, time }).toString()}`)
    return answered.parse(await answer.json()).data.result
  }
  return poll(
    async () => {
      const now = String(Date.now() / 1_000)
      const up = await ask('up', now)
      return up.length > 0 && up.every(({ value }) => value[1] === '1') && ask(text, now)
    },
    { what: `all targets of ${url} to be up`, everyMs: 100 },
  )
}

export const startAlertmanager = (config: unknown): Promise<Monitor> =>
  start(ALERTMANAGER, config, (directory, file, address) => [
    `--config.file=${file}`,
    `--storage.path=${directory}/data`,
    `--web.listen-address=${address}`,
    // Alone: no gossip with others of this machine.
    '--cluster.listen-address=',
  ])
