// Cases of the check container-gpu-given.
import { engineFacts, gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const nvml = nvmlFacts({ gpus: [gpuFacts(), gpuFacts({ index: 1 })] })
const engine = engineFacts()
const asking = (ids: readonly string[], count = 0) => ({
  wish: { requests: [{ driver: '', count, ids, capabilities: ['gpu'] }], devicePaths: [], privileged: false },
})
const image = { wantsGpu: 'image' as const, wish: { requests: [], devicePaths: [], privileged: false, runtime: 'runc', visibleDevices: 'all' } }

export const cases: readonly CheckCase[] = [
  { about: 'all of them', scene: { nvml, engine, containers: [{}] }, status: 'pass', says: /GPU 0, 1/ },
  {
    about: 'one that there is not',
    scene: { nvml, engine, containers: [asking(['3'])] },
    status: 'fail',
    says: /asks for 3; this host has 0 \(GPU-.*device=0/,
  },
  { about: 'more than there are', scene: { nvml, engine, containers: [asking([], 4)] }, status: 'fail', says: /asks for 4 GPUs; this host has 2/ },
  {
    about: 'an image for CUDA under runc',
    scene: { nvml, engine, containers: [image] },
    status: 'warn',
    says: /NVIDIA_VISIBLE_DEVICES=all does nothing under the runtime runc.*--gpus all/,
  },
  {
    about: 'for compose',
    scene: { nvml, engine, containers: [{ ...image, composeService: 'train' }] },
    status: 'warn',
    says: /reservations.*docker compose up -d train/,
  },
  { about: 'an image for CUDA where there is no GPU', scene: { engine, containers: [image] }, status: 'skipped', says: /no GPU of this host/ },
  { about: 'none that asks', scene: { nvml, engine, containers: [{ wantsGpu: 'no', name: 'web' }] }, status: 'skipped', says: /asks for no GPU/ },
  { about: 'no engine', scene: { nvml }, status: 'skipped', says: /no container engine/ },
]
