// Prometheus and VictoriaMetrics before the simulated fleet, with the documented configuration, and what both say of themselves.
import { join } from 'node:path'
import * as z from 'zod'
import { hostName } from './host.ts'
import { PROMETHEUS, startEngine, VICTORIA, type Engine } from './process.ts'

const RULES = join(import.meta.dirname, '../../alerts/prometheus/warpwatch.rules.yml')

export type Scraped = { readonly hosts: number; readonly intervalS: number; readonly address: string }
export type EngineName = 'Prometheus' | 'VictoriaMetrics' | 'Prometheus + remote write'

/** All hosts at one address, distinguished by path; each has the instance that it would have. */
function scrapeConfig({ hosts, intervalS, address }: Scraped): object {
  return {
    global: { scrape_interval: `${intervalS}s`, scrape_timeout: `${Math.min(10, intervalS)}s` },
    scrape_configs: [
      {
        job_name: 'warpwatch',
        static_configs: Array.from({ length: hosts }, (_, host) => ({
          targets: [address],
          labels: { __metrics_path__: `/h/${host}/metrics`, instance: `${hostName(host)}:9839` },
        })),
      },
    ],
  }
}

export const startPrometheus = (scraped: Scraped, remoteWrite?: string): Promise<Engine> =>
  startEngine({
    program: PROMETHEUS,
    config: { ...scrapeConfig(scraped), rule_files: [RULES], ...(remoteWrite === undefined ? {} : { remote_write: [{ url: remoteWrite }] }) },
    health: '/-/ready',
    args: ({ file, folder, address }) => [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`],
  })

/** Without `scraped` it only takes what is sent to it. Without the offset and the cache an instant query sees the newest scrape and is not answered from memory. */
export const startVictoria = (scraped?: Scraped): Promise<Engine> =>
  startEngine({
    program: VICTORIA,
    config: scraped === undefined ? {} : scrapeConfig(scraped),
    health: '/health',
    args: ({ file, folder, address }) => [
      ...(scraped === undefined ? [] : [`-promscrape.config=${file}`]),
      `-storageDataPath=${folder}/data`,
      `-httpListenAddr=${address}`,
      '-search.latencyOffset=0s',
      '-search.disableCache',
    ],
  })

/** Sums over all series of a name on an engine's own page; labels that do not match are left out. */
export async function ownFigure(engine: Engine, name: string, labels = ''): Promise<number> {
  const page = await (await fetch(`${engine.url}/metrics`)).text()
  return page
    .split('\n')
    .filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

const answer = z.object({ data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }) })

/** The first value of an instant query; undefined where there is no series. */
export async function ask(engine: Engine, query: string): Promise<number | undefined> {
  const found = await fetch(`${engine.url}/api/v1/query?query=${encodeURIComponent(query)}`)
  const text = await found.text()
  if (found.status !== 200) throw new Error(`${query}: expected status 200, came ${found.status}: ${text.slice(0, 300)}`)
  const first = answer.parse(JSON.parse(text)).data.result[0]
  return first === undefined ? undefined : Number(first.value[1])
}
