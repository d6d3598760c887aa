// Cases of the check compose-settings.
import { asking, written } from '../compose-text.ts'
import { gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const env = (text: string, device = 'capabilities: [gpu], count: 1') => asking(device, `environment: {${text}}`)
const two = nvmlFacts({ gpus: [gpuFacts({ index: 0 }), gpuFacts({ index: 1 })] })

export const cases: readonly CheckCase[] = [
  { about: 'an allocator setting', scene: written(env('PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True"')), status: 'pass' },
  {
    about: 'an allocator setting with an equals sign',
    scene: written(env('PYTORCH_CUDA_ALLOC_CONF: expandable_segments=True')),
    status: 'fail',
    says: /must be key:value.*PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True/,
  },
  {
    about: 'one that has no effect',
    scene: written(env('PYTORCH_ALLOC_CONF: "backend:cudaMallocAsync,max_split_size_mb:128"')),
    status: 'warn',
    says: /ignores/,
  },
  { about: 'the first GPU in it', scene: written(env('CUDA_VISIBLE_DEVICES: 0')), status: 'pass' },
  {
    about: 'the number on the host',
    scene: written(env('CUDA_VISIBLE_DEVICES: "2"', 'capabilities: [gpu], device_ids: ["2"]')),
    status: 'fail',
    says: /one GPU, which is number 0.*CUDA_VISIBLE_DEVICES: \\"0\\"/,
  },
  {
    about: 'one too many of all',
    scene: written(env('CUDA_VISIBLE_DEVICES: "0,1,2"', 'capabilities: [gpu], count: all'), { nvml: two }),
    status: 'fail',
    says: /2 GPUs, which are number 0 to 1.*\\"0,1\\"/,
  },
  { about: 'of all, and nobody knows how many', scene: written(env('CUDA_VISIBLE_DEVICES: "7"', 'capabilities: [gpu], count: all')), status: 'pass' },
  { about: 'hides what it asked for', scene: written(env('CUDA_VISIBLE_DEVICES: "-1"')), status: 'warn', says: /hides every GPU/ },
  { about: 'restart', scene: written('services: {a: {image: x, restart: unless-stopped}}'), status: 'pass' },
  { about: 'restart: no without quotes', scene: written('services: {a: {image: x, restart: no}}'), status: 'pass' },
  {
    about: 'restart: always beside a GPU',
    scene: written('services: {a: {image: x, gpus: all, restart: always}}'),
    status: 'pass',
    says: /hides a crash loop/,
  },
  { about: 'restart as a flag', scene: written('services: {a: {image: x, restart: false}}'), status: 'fail', says: /restart: \\"no\\"/ },
  { about: 'restart that there is not', scene: written('services: {a: {image: x, restart: sometimes}}'), status: 'fail', says: /unless-stopped/ },
  { about: 'no memory limit', scene: written('services: {a: {image: x, mem_limit: lots}}'), status: 'fail', says: /must be a size/ },
  {
    about: 'two memory limits',
    scene: written('services: {a: {image: x, mem_limit: 8g, deploy: {resources: {limits: {memory: 16g}}}}}'),
    status: 'fail',
    says: /differ/,
  },
  { about: 'the same one twice', scene: written('services: {a: {image: x, mem_limit: 8g, deploy: {resources: {limits: {memory: 8192m}}}}}'), status: 'pass' },
  { about: 'none of them', scene: written('services: {a: {image: x}}'), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
