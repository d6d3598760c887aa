// Cases of the check container-visible-devices.
import { engineFacts, gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const engine = engineFacts()
const nvml = nvmlFacts({ gpus: [gpuFacts(), gpuFacts({ index: 1 })] })
const second = { wish: { requests: [{ driver: '', count: 0, ids: ['1'], capabilities: ['gpu'] }], devicePaths: [], privileged: false } }
const shows = (text: string, own: object = {}) => [{ env: new Map([['CUDA_VISIBLE_DEVICES', text]]), ...own }]

export const cases: readonly CheckCase[] = [
  { about: 'not set', scene: { engine, nvml, containers: [{}] }, status: 'pass' },
  { about: 'both', scene: { engine, nvml, containers: shows('0,1') }, status: 'pass' },
  { about: 'by the beginning of a UUID', scene: { engine, nvml, containers: shows('GPU-00000001-1111') }, status: 'pass' },
  {
    about: "the host's number, where the container has one GPU",
    scene: { engine, nvml, containers: shows('1', second) },
    status: 'fail',
    says: /1 is not there, so CUDA shows none; inside the container its one GPU is number 0/,
  },
  { about: 'none', scene: { engine, nvml, containers: shows('') }, status: 'warn', says: /hides every GPU/ },
  { about: 'one twice', scene: { engine, nvml, containers: shows('0,0') }, status: 'fail', says: /twice/ },
  { about: 'a word', scene: { engine, nvml, containers: shows('all') }, status: 'fail', says: /must be numbers or UUIDs/ },
  { about: 'the GPUs are not known', scene: { engine, containers: shows('0') }, status: 'skipped', says: /not known/ },
]
