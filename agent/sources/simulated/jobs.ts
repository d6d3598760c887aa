// Who runs on the simulated host: containers, and the processes that hold GPUs.
import { embedding, idle, notebook, serving, training, type Workload } from './workloads.ts'

export type BoxPlan = {
  readonly name: string
  readonly image: string
  readonly project?: string
  readonly service?: string
  /** Of its image. */
  readonly user: string
  /** Memory limit of the container; none when absent. */
  readonly limitGib?: number
  /** Working set at rest, and CPU cores beside those of its GPU processes. */
  readonly memoryGib: number
  readonly cores: number
}
export type ProcessPlan = {
  readonly box?: string
  readonly unit?: string
  readonly name: string
  readonly script: string
  readonly gpu: number
  /** Which MIG instance of its GPU, where the GPU has any. */
  readonly instance?: number
  readonly workload: Workload
  /** Counts its allocator's statistics for the probe. */
  readonly probe: boolean
}

export const BOXES: readonly BoxPlan[] = [
  {
    name: 'pretrain-trainer-1',
    user: 'root',
    image: 'lab/llm-train:26.10',
    project: 'pretrain',
    service: 'trainer',
    limitGib: 512,
    memoryGib: 148,
    cores: 1.5,
  },
  { name: 'chat-vllm-1', user: 'vllm', image: 'lab/vllm-openai:0.14', project: 'chat', service: 'vllm', limitGib: 128, memoryGib: 31, cores: 0.4 },
  { name: 'chat-gateway-1', user: 'root', image: 'lab/gateway:3.2', project: 'chat', service: 'gateway', limitGib: 2, memoryGib: 0.21, cores: 0.12 },
  { name: 'search-embedder-1', user: 'root', image: 'lab/embedder:1.9', project: 'search', service: 'embedder', limitGib: 64, memoryGib: 12.5, cores: 0.3 },
  { name: 'search-reranker-1', user: 'root', image: 'lab/reranker:1.4', project: 'search', service: 'reranker', limitGib: 32, memoryGib: 7.8, cores: 0.2 },
  { name: 'search-index-1', user: 'root', image: 'lab/vector-index:2.7', project: 'search', service: 'index', memoryGib: 42, cores: 0.9 },
  { name: 'finetune-lora', user: 'root', image: 'lab/finetune:0.8', limitGib: 96, memoryGib: 22, cores: 0.6 },
  { name: 'notebook-lab-1', user: 'lab', image: 'lab/jupyter-torch:2026.3', project: 'notebook', service: 'lab', limitGib: 64, memoryGib: 9.2, cores: 0.1 },
  { name: 'old-experiment', user: 'root', image: 'lab/research:2025.11', memoryGib: 5.1, cores: 0.01 },
  {
    name: 'monitoring-prometheus-1',
    user: 'nobody',
    image: 'lab/prometheus:3.5',
    project: 'monitoring',
    service: 'prometheus',
    limitGib: 4,
    memoryGib: 1.3,
    cores: 0.06,
  },
]

const rank = (gpu: number): ProcessPlan => ({
  box: 'pretrain-trainer-1',
  name: 'python',
  script: '/app/train.py',
  gpu,
  workload: training(44, 17, 9.4e10),
  probe: true,
})
const worker = (): ProcessPlan => ({ box: 'search-embedder-1', name: 'python3', script: '/srv/embed.py', gpu: 5, workload: embedding(4.5, 3.5), probe: true })

export const PROCESSES: readonly ProcessPlan[] = [
  rank(0),
  rank(1),
  rank(2),
  rank(3),
  { box: 'chat-vllm-1', name: 'VLLM::EngineCor', script: '/usr/lib/vllm/engine.py', gpu: 4, workload: serving(69, 240), probe: false },
  worker(),
  worker(),
  worker(),
  worker(),
  { box: 'search-reranker-1', name: 'python3', script: '/srv/rerank.py', gpu: 5, workload: embedding(7, 2), probe: false },
  { box: 'search-reranker-1', name: 'python3', script: '/srv/rerank.py', gpu: 5, workload: embedding(7, 2), probe: false },
  { box: 'finetune-lora', name: 'python', script: '/work/finetune.py', gpu: 6, workload: training(21, 12), probe: true },
  { box: 'notebook-lab-1', name: 'python3', script: '/home/lab/a.ipynb', gpu: 6, workload: notebook(5, 170), probe: false },
  { box: 'notebook-lab-1', name: 'python3', script: '/home/lab/b.ipynb', gpu: 7, instance: 0, workload: notebook(18, 150), probe: false },
  { box: 'notebook-lab-1', name: 'python3', script: '/home/lab/c.ipynb', gpu: 7, instance: 0, workload: notebook(6, 210), probe: false },
  { box: 'old-experiment', name: 'python', script: '/tmp/sweep.py', gpu: 7, instance: 1, workload: idle(14), probe: false },
  { box: 'old-experiment', name: 'python', script: '/tmp/sweep.py', gpu: 7, instance: 1, workload: idle(3), probe: false },
  { unit: 'session-12.scope', name: 'python3', script: '/home/ops/bench.py', gpu: 4, workload: idle(1), probe: false },
]

/** A host of another size, for benches: jobs are dealt out over the GPUs until there are as many as asked for. */
export function planFor(gpus: number, processes: number): readonly ProcessPlan[] {
  const plan: ProcessPlan[] = PROCESSES.filter((process) => process.gpu < gpus).slice(0, processes)
  for (let next = plan.length; next < processes; next++) {
    const box = BOXES[next % BOXES.length]?.name
    plan.push({
      ...(box === undefined ? {} : { box }),
      name: 'python3',
      script: '/srv/worker.py',
      gpu: next % gpus,
      workload: embedding(0.3, 0.2),
      probe: false,
    })
  }
  return plan
}
