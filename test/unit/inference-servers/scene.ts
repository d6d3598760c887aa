// What tests of the inference servers' source share: a made /proc, and real HTTP servers that record what they are asked.
import { onTestFinished } from 'vitest'
import type { Event, Scrape } from '../../../agent/model/event.ts'
import { createInferenceServersSource } from '../../../agent/sources/inference-servers.ts'
import type { Holder } from '../../../agent/sources/inference-servers/discover.ts'
import type { ServersConfig } from '../../../agent/sources/inference-servers/known-servers.ts'
import { webServer } from '../../setup/web-server.ts'
import { makeProc, OWN, type MadeProcess } from './proc.ts'

/** Pages by path; what is not there is 404. A request is kept as its method and URL. */
export async function standIn(pages: Readonly<Record<string, string>>, status: () => number = () => 200, wanted = 0) {
  const asked: string[] = []
  const server = await webServer((request, answer) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
    const page = pages[request.url ?? '']
    if (page === undefined) answer.writeHead(404).end()
    else answer.writeHead(status()).end(page)
  }, wanted)
  onTestFinished(server.close)
  return { asked, port: Number(new URL(server.url).port) }
}
export const NOTHING: ServersConfig = { histograms: false, add: {}, forbid: [], keys: {} }

export function run(processes: readonly MadeProcess[], holders: Holder[], config: Partial<ServersConfig> = {}) {
  const proc = makeProc(processes)
  const events: Event[] = []
  const tasks: ((t: number) => void | Promise<void>)[] = []
  const source = createInferenceServersSource({
    procRoot: proc.root,
    identify: proc.identify,
    holders: () => holders,
    hasGpu: () => true,
    config: { ...NOTHING, ...config },
    ownNamespace: OWN,
  })
  const quiet = (): void => {}
  void source.start({
    emit: (event) => void events.push(event),
    every: (_, task) => {
      tasks.push(task)
      return quiet
    },
    log: { info: quiet, warn: quiet, error: quiet },
  })
  onTestFinished(proc.remove)
  onTestFinished(() => void source.stop())
  let t = 1_800_000_000_000
  return {
    proc,
    holders,
    /** One round of the grid; what it said, undefined when nothing. */
    round: async (afterMs = 5_000): Promise<Scrape | undefined> => {
      t += afterMs
      const before = events.length
      for (const task of tasks) await task(t)
      const event = events[before]
      return event?.type === 'scrape' ? event : undefined
    },
  }
}
export const infos = (scrape: Scrape | undefined) =>
  (scrape?.readings ?? []).flatMap(({ series: { metric, labels } }) => (metric.name === 'warpwatch_inference_server_info' ? [labels] : []))
export const values = (scrape: Scrape | undefined): Readonly<Record<string, number>> =>
  Object.fromEntries(
    (scrape?.readings ?? []).map(({ series: { metric, labels }, value }) => [
      [metric.name.slice('warpwatch_inference_'.length), labels['type'] ?? labels['quantile'] ?? labels['part']].filter((part) => part !== undefined).join(' '),
      value,
    ]),
  )

export const METRICS = (tokens: number): string =>
  `vllm:num_requests_running{engine="0",model_name="org/m"} 2\nvllm:num_requests_waiting{engine="0",model_name="org/m"} 1\nvllm:kv_cache_usage_perc{engine="0",model_name="org/m"} 0.25\n` +
  `vllm:generation_tokens_total{engine="0",model_name="org/m"} ${tokens}\nvllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="100"} 1\n`
export const vllmPages = (metrics = METRICS(0)): Record<string, string> => ({
  '/version': '{"version":"0.23.1"}',
  '/metrics': metrics,
  '/v1/models': '{"data":[{"id":"org/m","max_model_len":4096}]}',
})
/** As vLLM is: the engine holds, its parent listens. */
export const vllm = (port: number): MadeProcess[] => [
  { pid: 100, session: 100, argv: ['/usr/bin/python3', '/usr/local/bin/vllm', 'serve', 'org/m', '--port', String(port)], listens: [{ host: 'any', port }] },
  { pid: 101, parent: 100, session: 100, comm: 'VLLM::EngineCor', argv: ['VLLM::EngineCore'] },
]
export const HOLDER: Holder = { pid: 101, gpu: '0', bytes: 40 * 2 ** 30 }
