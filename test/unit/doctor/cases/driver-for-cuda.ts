// Cases of the check driver-for-cuda.
import { gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'
import { MODULE } from '../hosts.ts'

const wanting = (cuda: string, own: object = {}) => ({ name: 'trainer', env: new Map([['CUDA_VERSION', cuda]]), ...own })
const old = nvmlFacts({ driverVersion: '550.90.07', cudaVersion: '12.4' })
const geforce = { ...old, gpus: [gpuFacts({ name: 'NVIDIA GeForce RTX 4090' })] }
const compat = { '/proc/4242/root/usr/local/cuda-13.0/compat/libcuda.so.1': 'ELF' }

export const cases: readonly CheckCase[] = [
  { about: 'older than the driver', scene: { nvml: nvmlFacts(), containers: [wanting('12.4.1')] }, status: 'pass' },
  { about: 'a newer minor version runs too', scene: { nvml: old, containers: [wanting('12.8.0')] }, status: 'pass' },
  {
    about: 'a newer major version',
    scene: { nvml: old, containers: [wanting('13.0.1')] },
    status: 'fail',
    says: /at least 580 for CUDA 13\.0\.1.*550\.90\.07.*up to 12\.4.*cu128/,
  },
  {
    about: 'with cuda-compat in its image',
    scene: { nvml: old, files: compat, containers: [wanting('13.0.1', { pid: 4242 })] },
    status: 'pass',
    says: /cuda-compat/,
  },
  {
    about: 'with cuda-compat, on a card that refuses it',
    scene: { nvml: geforce, files: compat, containers: [wanting('13.0.1', { pid: 4242 })] },
    status: 'fail',
  },
  {
    about: 'by the module alone, where NVML fails',
    scene: { nvml: new Error('no'), files: { '/proc/driver/nvidia/version': MODULE('470.256.02') }, containers: [wanting('12.1.0')] },
    status: 'fail',
    says: /at least 525/,
  },
  { about: 'one that does not tell', scene: { nvml: old, containers: [{ name: 'web' }] }, status: 'skipped', says: /CUDA_VERSION/ },
  { about: 'an image for CUDA without a GPU', scene: { nvml: old, containers: [wanting('13.0.1', { wantsGpu: 'image' })] }, status: 'skipped' },
  { about: 'no engine', scene: { containers: new Error('/var/run/docker.sock: no permission') }, status: 'skipped', says: /no permission/ },
]
