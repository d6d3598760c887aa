// An agent's stream with the same figures each second, for `warpwatch top`: sixteen GPUs, jobs with progress, servers, incidents, names in other alphabets.
import { once } from 'node:events'
import { WebSocketServer } from 'ws'
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { FrameMessage, GpuRow, HelloMessage, LiveMessage, ProcessRow } from '../../agent/model/live.ts'
import type { Run } from '../../agent/model/job.ts'

const GIB = 2 ** 30
export const T = Date.parse('2026-11-20T03:12:07Z')
const uuid = (index: number): string => `GPU-${String(index).padStart(4, '0')}`

const gpu = (index: number): GpuRow => ({
  uuid: uuid(index),
  index,
  name: 'NVIDIA H100 80GB HBM3',
  memory_total_bytes: 80 * GIB,
  memory_used_bytes: (8 + index * 4) * GIB,
  utilization_ratio: (index % 8) / 8,
  power_watts: 100 + index * 30,
  power_limit_watts: 700,
  temperature_celsius: 40 + index * 3,
  sample_age_seconds: index === 15 ? 34 : 0.2,
})
const process = (pid: number, index: number, container: string, more: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  process: 'python',
  uuid: uuid(index),
  gpu: String(index),
  container,
  container_id: container.slice(0, 12),
  gpu_memory_bytes: (6 + index * 4) * GIB,
  ...more,
})
const run = (job: string, gpus: readonly number[], more: Partial<Run> = {}): Run => ({
  job_id: `id-${job}`,
  job,
  kind: 'container',
  container: job,
  container_id: job.slice(0, 12),
  run: 1,
  started_at: T - 3 * 3_600_000,
  seen_at: T,
  gpus: gpus.map((index) => ({ uuid: uuid(index), gpu: String(index), share: 1, held_seconds: 10_800 })),
  gpu_seconds: { active: 1, idle: 1, lost: 0 },
  incidents: [],
  ...more,
})
const incident = (id: string, severity: IncidentSummary['severity'], title: string): IncidentSummary => ({
  id,
  kind: severity === 'critical' ? 'cuda_oom' : 'throttling',
  severity,
  title,
  verdict: 'finetune-lora asked for 3.5 GiB on GPU 3 and 3.2 GiB were free.',
  facts: {},
  remedies: [{ text: 'Halve the batch size.', command: '--per_device_train_batch_size 4' }],
  status: 'firing',
  subject: { gpu: { index: 3, uuid: uuid(3) } },
  started_at: T - 130_000,
  last_seen_at: T,
  count: 1,
  consequences: [],
  evidence: { log_lines: [{ t: T, stream: 'container', text: 'torch.OutOfMemoryError: CUDA out of memory \u001b[2J\u001b]0;owned\u0007' }] },
})

const hello: HelloMessage = { type: 'hello', version: 1, host: 'gpu-07', gpus: [], interval_ms: 1_000, simulated: false }
const frame = (gpus: number): FrameMessage => ({
  type: 'frame',
  t: T,
  gpus: Array.from({ length: gpus }, (_, index) => gpu(index)),
  containers: [],
  allocators: [],
  host: { hostname: 'gpu-07' },
  processes: [
    process(2072, 0, 'pretrain', {
      user: 'ada',
      command: 'python train.py --config large.yaml',
      start_timestamp_seconds: T / 1_000 - 10_800,
      gpu_utilization_ratio: 0.97,
    }),
    process(2072, 1, 'pretrain', { user: 'ada', command: 'python train.py --config large.yaml', start_timestamp_seconds: T / 1_000 - 10_800 }),
    process(2590, 3, 'finetune-lora', { user: '小林', command: 'python 微調整.py \u001b[31mred\u0007' }),
    process(3001, 4, 'chat-vllm'),
    process(3002, 2, 'notebook', { process: 'jupyter-lab' }),
  ],
  progress: [
    {
      job: 'pretrain',
      rank: '0',
      step: 4_200,
      steps: 10_000,
      progress_ratio: 0.42,
      step_rate: 3.2,
      loss: 2.1734,
      eta_seconds: 1_812,
      last_progress_timestamp_seconds: T / 1_000,
    },
  ],
  servers: [
    {
      name: 'chat-vllm',
      server: 'vllm',
      version: '0.14',
      model: 'meta-llama/Llama-3.1-70B',
      state: 'serving',
      gpu: '4',
      requests_running: 12,
      requests_waiting: 3,
      kv_cache_usage_ratio: 0.83,
      tokens_rate: { generation: 1_834 },
      time_to_first_token_seconds: { '0.95': 0.412 },
    },
  ],
  jobs: [run('pretrain', [0, 1], { user: 'ada' }), run('finetune-lora', [3]), run('chat-vllm', [4])],
})

export const messages = (gpus = 16): readonly LiveMessage[] => [
  hello,
  { type: 'incident', incident: incident('a1', 'critical', 'finetune-lora ran out of memory on GPU 3') },
  { type: 'incident', incident: incident('b2', 'warning', 'GPU 15 thermally throttled') },
  // A full minute before, so that the curves stay as they are; with the last frame come the processes, so that it is known to have been drawn.
  ...Array.from({ length: 60 }, () => ({ ...frame(gpus), processes: [] })),
  frame(gpus),
]

export type Scene = { readonly listen: string; readonly [Symbol.asyncDispose]: () => Promise<void> }

/** Figures that differ each second, as of a host at work. */
const moved = (second: number, gpus: number): FrameMessage => {
  const whole = frame(gpus)
  const moving = whole.gpus.map((row, i) => ({
    ...row,
    utilization_ratio: ((second * 7 + i * 13) % 101) / 100,
    power_watts: 300 + ((second * 31 + i * 17) % 380),
  }))
  return { ...whole, t: T + second * 1_000, gpus: moving }
}

/** Says all of it to each reader, then the frame again each second; `moving`: with other figures. */
export async function startScene(gpus = 16, moving = false): Promise<Scene> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/ws' })
  const all = messages(gpus)
  server.on('connection', (socket) => {
    for (const message of all) socket.send(JSON.stringify(message))
  })
  let second = 0
  const again = setInterval(() => {
    second += 1
    const next = JSON.stringify(moving ? moved(second, gpus) : all.at(-1))
    for (const socket of server.clients) socket.send(next)
  }, 1_000)
  await once(server, 'listening')
  const bound = server.address()
  return {
    listen: `127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`,
    async [Symbol.asyncDispose]() {
      clearInterval(again)
      for (const socket of server.clients) socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
