// The simulated host as a node of a cluster: which pod each container is, or which Slurm job each process belongs to.
import type { ContainerIdentity, ProcessIdentity } from '../../model/identity.ts'

export type Cluster = 'kubernetes' | 'slurm'

type Pod = Required<Pick<ContainerIdentity, 'namespace' | 'pod'>> & { readonly container: string }

const pod = (namespace: string, name: string, container: string): Pod => ({ namespace, pod: name, container })

/** By the name of the container on the plain host. GPU 5 is shared by two pods, and so is GPU 6. */
const PODS: Readonly<Record<string, Pod>> = {
  'pretrain-trainer-1': pod('training', 'llm-pretrain-worker-0', 'trainer'),
  'chat-vllm-1': pod('serving', 'chat-vllm-6d8f9c7b5-x2k4p', 'vllm'),
  'chat-gateway-1': pod('serving', 'chat-gateway-5b7c9d4f8-m9wqz', 'gateway'),
  'search-embedder-1': pod('search', 'embedder-0', 'embedder'),
  'search-reranker-1': pod('search', 'reranker-0', 'reranker'),
  'search-index-1': pod('search', 'index-0', 'index'),
  'finetune-lora': pod('training', 'finetune-lora-7h2qd', 'finetune'),
  'notebook-lab-1': pod('notebooks', 'jupyter-ana-0', 'notebook'),
  'old-experiment': pod('research', 'sweep-9c4tz', 'sweep'),
  'monitoring-prometheus-1': pod('monitoring', 'prometheus-0', 'prometheus'),
}
/** By the container that the process is in on the plain host; here it runs without one. GPU 5 is shared by two jobs, and so are GPUs 6 and 7. */
const JOBS: Readonly<Record<string, string>> = {
  'pretrain-trainer-1': '48213',
  'chat-vllm-1': '48190',
  'search-embedder-1': '48221',
  'search-reranker-1': '48222',
  'finetune-lora': '48230',
  'notebook-lab-1': '48231',
  'old-experiment': '48102',
}

/** The container as the kubelet's links name it. */
export function asPod(box: string, identity: ContainerIdentity): ContainerIdentity {
  const found = PODS[box]
  if (found === undefined) return identity
  const { id, image } = identity
  return { id, name: found.container, ...(image === undefined ? {} : { image }), namespace: found.namespace, pod: found.pod }
}

/** The process as its cgroup names it on a node of Slurm. */
export function asJob(box: string | undefined, { pid, startTicks, name, unit }: ProcessIdentity): ProcessIdentity {
  const job = box === undefined ? undefined : JOBS[box]
  return { pid, startTicks, name, ...(job === undefined ? {} : { slurmJob: job }), ...(unit === undefined ? {} : { unit }) }
}
