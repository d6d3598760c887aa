// A stand-in for one vLLM under ordinary load, run as `node FOLDER/vllm serve NAME --port PORT`: an engine in a process of its own, and a page as long as vLLM's,
// 57 kB with histograms for each of RANKS data-parallel ranks. Tells the pid of its engine to its parent when it listens.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'

const BOUNDS = '0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0 160.0 +Inf'.split(' ')
const HISTOGRAMS = [
  'time_to_first_token_seconds',
  'inter_token_latency_seconds',
  'e2e_request_latency_seconds',
  ...Array.from({ length: 19 }, (_, at) => `request_part_${at}_seconds`),
]
const RANKS = Number(process.env['RANKS'] ?? 1)
const labels = Array.from({ length: RANKS }, (_, rank) => `engine="${rank}",model_name="org/some-model-8b-instruct"`)

/** A family of series with its comments, of each rank. */
const family = (name: string, type: string, linesOf: (rank: string) => readonly string[]): readonly string[] => [
  `# HELP vllm:${name} What vLLM counts as ${name}.`,
  `# TYPE vllm:${name} ${type}`,
  ...labels.flatMap(linesOf),
]

/** Requests come and go and all of them find room: what rises are counters and histograms, and nobody loses a place in the cache. */
function page(count: number): string {
  const histograms = HISTOGRAMS.flatMap((name) =>
    family(name, 'histogram', (rank) => [
      ...BOUNDS.map((bound, at) => `vllm:${name}_bucket{${rank},le="${bound}"} ${Math.floor((count * (at + 1)) / BOUNDS.length)}.0`),
      `vllm:${name}_count{${rank}} ${count}.0`,
      `vllm:${name}_sum{${rank}} ${count * 1.25}`,
    ]),
  )
  const gauges: Readonly<Record<string, string>> = {
    num_requests_running: `${3 + (count % 7)}.0`,
    num_requests_waiting: `${count % 3}.0`,
    kv_cache_usage_perc: `${(count % 89) / 100}`,
  }
  const counters: Readonly<Record<string, number>> = {
    prompt_tokens: count * 600,
    generation_tokens: count * 90,
    num_preemptions: 2,
    prefix_cache_queries: count * 600,
    prefix_cache_hits: count * 200,
  }
  const ended = Object.entries({ stop: count, length: Math.floor(count / 10), abort: 3, error: 0, repetition: 0 })
  return [
    ...Object.entries(gauges).flatMap(([name, value]) => family(name, 'gauge', (rank) => [`vllm:${name}{${rank}} ${value}`])),
    ...family('cache_config_info', 'gauge', (rank) => [
      `vllm:cache_config_info{${rank},block_size="16",num_gpu_blocks="27000",gpu_memory_utilization="0.9"} 1.0`,
    ]),
    ...Object.entries(counters).flatMap(([name, value]) => family(`${name}_total`, 'counter', (rank) => [`vllm:${name}_total{${rank}} ${value}.0`])),
    ...family('request_success_total', 'counter', (rank) =>
      ended.map(([how, value]) => `vllm:request_success_total{${rank},finished_reason="${how}"} ${value}.0`),
    ),
    ...histograms,
    '',
  ].join('\n')
}

const engine = spawn('sleep', ['100000'], { argv0: 'VLLM::EngineCore', stdio: 'ignore' })
let count = 1_000
const server = createServer((request, answer) => {
  if (request.url === '/version') answer.end('{"version":"0.30.1"}')
  else if (request.url === '/metrics') answer.end(page((count += 53)))
  else answer.end('{"data":[{"id":"org/some-model-8b-instruct","max_model_len":8192}]}')
}).listen(Number(process.argv.at(-1)), '127.0.0.1')
await once(server, 'listening')
process.send?.(engine.pid)
process.once('disconnect', () => {
  engine.kill()
  process.exit()
})
