// What Grafana can ask: a real Prometheus and a real VictoriaMetrics with vmalert, both scraping the same agents, with the recording rules.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { freeAddress } from '../setup/free-port.ts'
import { RULES } from '../../scripts/generators/rules.ts'
import { startPrometheus } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'

const [VICTORIA, VMALERT] = ['/usr/bin/victoria-metrics', '/usr/bin/vmalert']
export const enginesMissing: string | undefined = ['/usr/bin/prometheus', VICTORIA, VMALERT].every((path) => existsSync(path))
  ? undefined
  : 'needs prometheus and victoria-metrics (apt-get install prometheus victoria-metrics)'

export type Engine = { readonly name: string; readonly url: string; readonly [Symbol.asyncDispose]: () => Promise<void> }

/** The recording rules, each second instead of each minute. JSON is YAML. */
function writeRules(file: string): void {
  const { groups } = z.object({ groups: z.array(z.looseObject({ name: z.string() })) }).parse(parse(readFileSync(RULES, 'utf8')))
  const recording = groups.filter(({ name }) => name === 'warpwatch-recording').map((group) => ({ ...group, interval: '1s' }))
  writeFileSync(file, JSON.stringify({ groups: recording }))
}
const scraping = (targets: readonly string[]): object => [{ job_name: 'warpwatch', scrape_interval: '1s', scrape_timeout: '1s', static_configs: [{ targets }] }]

async function prometheus(targets: readonly string[], rules: string): Promise<Engine> {
  const { url, [Symbol.asyncDispose]: dispose } = await startPrometheus({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: scraping(targets),
  })
  return { name: 'Prometheus', url, [Symbol.asyncDispose]: dispose }
}

async function victoria(targets: readonly string[], rules: string, folder: string): Promise<Engine> {
  const file = join(folder, 'scrape.yml')
  writeFileSync(file, JSON.stringify({ scrape_configs: scraping(targets) }))
  const [address, ruler] = [await freeAddress(), await freeAddress()]
  const children: ChildProcess[] = []
  let said = ''
  const start = async (program: string, args: readonly string[], health: string): Promise<void> => {
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    children.push(child)
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-5_000)))
    const ready = async (): Promise<boolean> => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`)
      return (await fetch(health).catch(() => undefined))?.status === 200
    }
    await poll(ready, { what: () => `${program} to be ready; it said: ${said}`, deadlineMs: 30_000, everyMs: 50 })
  }
  const dispose = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }
  const url = `http://${address}`
  try {
    // Without an offset what came last is seen at once, and without a cache what came late.
    const flags = ['-search.latencyOffset=0s', '-search.disableCache', '-retentionPeriod=1d', `-promscrape.config=${file}`]
    await start(VICTORIA, [`-httpListenAddr=${address}`, `-storageDataPath=${folder}/victoria`, ...flags], `${url}/health`)
    const rule = [`-rule=${rules}`, `-datasource.url=${url}`, `-remoteWrite.url=${url}`, '-remoteWrite.flushInterval=1s', '-evaluationInterval=1s']
    await start(VMALERT, [`-httpListenAddr=${ruler}`, ...rule], `http://${ruler}/health`)
  } catch (error) {
    await dispose()
    throw error
  }
  return { name: 'VictoriaMetrics', url, [Symbol.asyncDispose]: dispose }
}

/** Both scrape these addresses each second. */
export async function startEngines(targets: readonly string[]): Promise<{ readonly engines: readonly Engine[]; readonly stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-grafana-'))
  const rules = join(folder, 'rules.yml')
  writeRules(rules)
  const engines: Engine[] = []
  const stop = async (): Promise<void> => {
    for (const engine of engines) await engine[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    engines.push(await prometheus(targets, rules))
    engines.push(await victoria(targets, rules, folder))
  } catch (error) {
    await stop()
    throw error
  }
  return { engines, stop }
}
