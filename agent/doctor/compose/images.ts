// What well-known images are for: those that load CUDA, those that never do, and what a service is built from.
import { join } from 'node:path'
import { at, entriesOf, textOf, type Part } from './part.ts'
import { byName } from './merge.ts'
import { fill } from './variables.ts'
import type { HostFiles } from '../parts/host-files.ts'

export type ImageFamily = {
  readonly name: string
  /** `cuda`: made for a GPU. `either`: works without one, slowly. `none`: cannot make use of one. undefined: there are such and such. */
  readonly gpu?: 'cuda' | 'either' | 'none'
  /** Its makers ask for shared memory: loader workers, or NCCL between GPUs. */
  readonly sharedMemory?: boolean
  /** It has no password by itself: whoever reaches this port of the container may use it. */
  readonly open?: readonly number[]
}
type Known = ImageFamily & {
  /** Of the name without registry and tag. */
  readonly repository: RegExp
  /** Of the tag; only such images are meant. */
  readonly tag?: RegExp
}

const CPU_TAG = /(?:^|[-_.])cpu(?:$|[-_.])/i
/** Recognised by the name of the image. */
const NAMELESS = ''
const KNOWN: readonly Known[] = [
  { name: 'vLLM', gpu: 'cuda', sharedMemory: true, open: [8000], repository: /(?:^|\/)vllm-openai$/ },
  { name: 'Text Generation Inference', gpu: 'cuda', sharedMemory: true, open: [80], repository: /(?:^|\/)text-generation-inference$/ },
  { name: 'Text Embeddings Inference', gpu: 'cuda', open: [80], repository: /(?:^|\/)text-embeddings-inference$/ },
  { name: 'SGLang', gpu: 'cuda', sharedMemory: true, open: [30000], repository: /(?:^|\/)lmsysorg\/sglang$/ },
  { name: 'Triton', gpu: 'cuda', sharedMemory: true, open: [8000, 8001, 8002], repository: /(?:^|\/)nvidia\/tritonserver$/ },
  { name: 'LMDeploy', gpu: 'cuda', sharedMemory: true, open: [23333], repository: /(?:^|\/)openmmlab\/lmdeploy$/ },
  { name: 'NIM', gpu: 'cuda', sharedMemory: true, open: [8000], repository: /^(?:nvcr\.io\/)?nim\// },
  { name: 'PyTorch', gpu: 'cuda', sharedMemory: true, repository: /(?:^|\/)(?:pytorch\/pytorch|nvidia\/pytorch)$/ },
  { name: 'NeMo', gpu: 'cuda', sharedMemory: true, repository: /(?:^|\/)nvidia\/nemo$/ },
  { name: 'DeepSpeed', gpu: 'cuda', sharedMemory: true, repository: /(?:^|\/)deepspeed\/deepspeed$/ },
  {
    name: 'Transformers',
    gpu: 'cuda',
    sharedMemory: true,
    repository: /(?:^|\/)huggingface\/transformers-(?:pytorch-(?:deepspeed-)?(?:latest-)?gpu|all-latest-gpu|pytorch-gpu)/,
  },
  { name: 'Axolotl', gpu: 'cuda', sharedMemory: true, repository: /(?:^|\/)(?:axolotlai|winglian)\/axolotl/ },
  { name: 'Unsloth', gpu: 'cuda', sharedMemory: true, repository: /(?:^|\/)unsloth\/unsloth$/ },
  { name: 'CUDA', gpu: 'cuda', repository: /(?:^|\/)nvidia\/(?:cuda|cudagl|cuda-dl-base)$/ },
  { name: 'TensorFlow', gpu: 'cuda', sharedMemory: true, repository: /(?:^|\/)nvidia\/tensorflow$/ },
  { name: 'TensorFlow', gpu: 'cuda', repository: /(?:^|\/)tensorflow\/tensorflow$/, tag: /gpu/ },
  { name: 'RAPIDS', gpu: 'cuda', repository: /(?:^|\/)(?:rapidsai|nvidia\/rapidsai)\// },
  { name: 'llama.cpp', gpu: 'cuda', open: [8080], repository: /(?:^|\/)llama\.cpp$/, tag: /cuda/ },
  { name: 'LocalAI', gpu: 'cuda', open: [8080], repository: /(?:^|\/)localai\/localai$/, tag: /cuda|gpu/ },
  { name: 'Speaches', gpu: 'cuda', open: [8000], repository: /(?:^|\/)(?:speaches|faster-whisper-server)$/, tag: /cuda/ },
  { name: 'dcgm-exporter', gpu: 'cuda', open: [9400], repository: /(?:^|\/)dcgm-exporter$/ },
  { name: 'Ollama', gpu: 'either', open: [11434], repository: /(?:^|\/)ollama\/ollama$/ },
  { name: 'Jupyter', open: [8888], repository: /(?:^|\/)jupyter\/|-notebook$/ },
  { name: 'MLflow', gpu: 'none', open: [5000], repository: /(?:^|\/)mlflow$/ },
  { name: 'Qdrant', gpu: 'none', open: [6333, 6334], repository: /(?:^|\/)qdrant\/qdrant$/ },
  { name: 'ChromaDB', gpu: 'none', open: [8000], repository: /(?:^|\/)chroma(?:db)?$/ },
  { name: 'Redis', gpu: 'none', open: [6379], repository: /(?:^|\/)(?:redis|valkey|redis-stack|redis-stack-server)$/ },
  { name: 'MongoDB', gpu: 'none', open: [27017], repository: /(?:^|\/)mongo$/ },
  { name: 'Elasticsearch', gpu: 'none', open: [9200], repository: /(?:^|\/)(?:elasticsearch|opensearch)$/ },
  { name: 'memcached', gpu: 'none', open: [11211], repository: /(?:^|\/)memcached$/ },
  { name: 'Prometheus', gpu: 'none', open: [9090], repository: /(?:^|\/)prom\/prometheus$/ },
  { name: 'Alertmanager', gpu: 'none', open: [9093], repository: /(?:^|\/)prom\/alertmanager$/ },
  { name: 'node-exporter', gpu: 'none', open: [9100], repository: /(?:^|\/)node-exporter$/ },
  { name: 'cAdvisor', gpu: 'none', open: [8080], repository: /(?:^|\/)cadvisor$/ },
  { name: 'a Docker engine', gpu: 'none', open: [2375], repository: /(?:^|\/)(?:docker|docker-socket-proxy)$/ },
  {
    name: NAMELESS,
    gpu: 'none',
    repository:
      /(?:^|\/)(?:postgres|postgresql|pgvector|mysql|mariadb|nginx|caddy|traefik|httpd|haproxy|rabbitmq|kafka|zookeeper|minio|grafana|loki|kibana|influxdb|adminer|pgadmin4|phpmyadmin|portainer|portainer-ce|registry|vault|consul|keycloak|busybox|hello-world|clickhouse-server)$/,
  },
]

/** `ghcr.io:443/a/b:tag@sha256:…` */
function split(image: string): { readonly repository: string; readonly tag: string } {
  const [named = ''] = image.split('@')
  const colon = named.lastIndexOf(':')
  return colon > named.lastIndexOf('/') ? { repository: named.slice(0, colon), tag: named.slice(colon + 1) } : { repository: named, tag: '' }
}

export function pickFamily(image: string | undefined): ImageFamily | undefined {
  if (image === undefined) return undefined
  const { repository, tag } = split(image)
  const found = KNOWN.find((known) => known.repository.test(repository) && (known.tag?.test(tag) ?? true))
  if (found?.name === NAMELESS) return { ...found, name: repository.slice(repository.lastIndexOf('/') + 1) }
  if (found?.gpu !== 'cuda') return found
  const { name, open = [] } = found
  // `:cpu-1.8`, `:latest-cpu`: the same service without CUDA.
  if (CPU_TAG.test(tag)) return { name: `${name} for the CPU`, gpu: 'none', open }
  return tag.includes('rocm') ? { name, open } : found
}

const MAX_BYTES = 64 * 1024

/** The image that a Dockerfile's last (or named) stage begins from; undefined: it cannot be determined. */
export async function baseOf(build: Part, files: HostFiles): Promise<string | undefined> {
  const context = textOf(build) ?? textOf(at(build, 'context'))
  const inline = textOf(at(build, 'dockerfile_inline'))
  const target = textOf(at(build, 'target'))
  if (inline === undefined && !context?.startsWith('/')) return undefined
  const path = join(context ?? '/', textOf(at(build, 'dockerfile')) ?? 'Dockerfile')
  const text = inline ?? (await files.readText(path, MAX_BYTES).catch(() => undefined))
  if (text === undefined) return undefined
  const args: Record<string, string> = {}
  const given = at(build, 'args')
  const stages = new Map<string, string>()
  let last: string | undefined
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s*ARG\s+(\w+)=["']?([^\s"']*)/i.exec(line) ?? []
    if (name !== undefined) args[name] = textOf(entriesOf(given === undefined ? undefined : byName(given)).get(name)) ?? value ?? ''
    const [, from, as] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? []
    if (from === undefined) continue
    const image = fill(from, args).text
    last = stages.get(image.toLowerCase()) ?? image
    if (as !== undefined) stages.set(as.toLowerCase(), last)
    if (as !== undefined && as === target) return last
  }
  return last
}
