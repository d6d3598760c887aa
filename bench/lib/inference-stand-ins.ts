// Serves pages as long as vLLM's, 57 kB with histograms, on as many ports as are asked for; tells the ports to its parent.
import { once } from 'node:events'
import { createServer } from 'node:http'

const BOUNDS = [
  '0.001',
  '0.005',
  '0.01',
  '0.02',
  '0.04',
  '0.06',
  '0.08',
  '0.1',
  '0.25',
  '0.5',
  '0.75',
  '1.0',
  '2.5',
  '5.0',
  '7.5',
  '10.0',
  '20.0',
  '40.0',
  '80.0',
  '160.0',
  '+Inf',
]
const HISTOGRAMS = [
  'time_to_first_token_seconds',
  'inter_token_latency_seconds',
  'e2e_request_latency_seconds',
  ...Array.from({ length: 19 }, (_, at) => `request_part_${at}_seconds`),
]
const labels = 'engine="0",model_name="org/some-model-8b-instruct"'

function page(count: number): string {
  const histograms = HISTOGRAMS.flatMap((name) => [
    `# HELP vllm:${name} Histogram of ${name} in seconds.`,
    `# TYPE vllm:${name} histogram`,
    ...BOUNDS.map((bound, at) => `vllm:${name}_bucket{${labels},le="${bound}"} ${(count * (at + 1)) / BOUNDS.length}.0`),
    `vllm:${name}_count{${labels}} ${count}.0`,
    `vllm:${name}_sum{${labels}} ${count * 1.25}`,
  ])
  const gauges = ['num_requests_running', 'num_requests_waiting', 'kv_cache_usage_perc'].map((name) => `vllm:${name}{${labels}} 0.5`)
  const counters = ['prompt_tokens_total', 'generation_tokens_total', 'num_preemptions_total', 'prefix_cache_queries_total', 'prefix_cache_hits_total']
  return [...histograms, ...gauges, ...counters.map((name) => `vllm:${name}{${labels}} ${count}.0`), ''].join('\n')
}

let count = 0
const ports: number[] = []
for (let at = 0; at < Number(process.argv[2]); at++) {
  const server = createServer((request, answer) => {
    if (request.url === '/version') answer.end('{"version":"0.30.1"}')
    else if (request.url === '/metrics') answer.end(page((count += 50)))
    else answer.end('{"data":[{"id":"org/some-model-8b-instruct","max_model_len":8192}]}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'object' && address !== null) ports.push(address.port)
}
process.send?.(ports)
