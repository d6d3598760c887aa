// A stand-in for one vLLM, run as `node FOLDER/vllm serve NAME --port PORT`: an engine in a process of its own, and a page as long as vLLM's, 57 kB with histograms.
// Tells the pid of its engine to its parent when it listens.
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
const labels = 'engine="0",model_name="org/some-model-8b-instruct"'

/** All of it moves from reading to reading, as under load. */
function page(count: number): string {
  const histograms = HISTOGRAMS.flatMap((name) => [
    `# HELP vllm:${name} Histogram of ${name} in seconds.`,
    `# TYPE vllm:${name} histogram`,
    ...BOUNDS.map((bound, at) => `vllm:${name}_bucket{${labels},le="${bound}"} ${Math.floor((count * (at + 1)) / BOUNDS.length)}.0`),
    `vllm:${name}_count{${labels}} ${count}.0`,
    `vllm:${name}_sum{${labels}} ${count * 1.25}`,
  ])
  const gauges = [
    `vllm:num_requests_running{${labels}} ${3 + (count % 7)}.0`,
    `vllm:num_requests_waiting{${labels}} ${count % 3}.0`,
    `vllm:kv_cache_usage_perc{${labels}} ${(count % 89) / 100}`,
    `vllm:cache_config_info{${labels},block_size="16",num_gpu_blocks="27000",gpu_memory_utilization="0.9"} 1.0`,
  ]
  const counters = ['prompt_tokens_total', 'generation_tokens_total', 'num_preemptions_total', 'prefix_cache_queries_total', 'prefix_cache_hits_total']
  const ended = ['stop', 'length', 'abort', 'error', 'repetition'].map((how) => `vllm:request_success_total{${labels},finished_reason="${how}"} ${count}.0`)
  return [...histograms, ...gauges, ...ended, ...counters.map((name) => `vllm:${name}{${labels}} ${count}.0`), ''].join('\n')
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
