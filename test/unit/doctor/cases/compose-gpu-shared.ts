// Cases of the check compose-gpu-shared.
import { written } from '../compose-text.ts'
import { gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const two = nvmlFacts({ gpus: [gpuFacts({ index: 0 }), gpuFacts({ index: 1 })] })
const services = (a: string, b: string) => `services: {a: {image: x, gpus: [{${a}}]}, b: {image: x, gpus: [{${b}}]}}`

export const cases: readonly CheckCase[] = [
  {
    about: 'both the one GPU of the host',
    scene: written(services('count: all', 'count: 1'), { nvml: nvmlFacts() }),
    status: 'pass',
    says: /share the one GPU/,
  },
  {
    about: 'all, twice',
    scene: written(services('count: all', 'count: all'), { nvml: two }),
    status: 'warn',
    says: /a \(count: all.*b \(count: all.*"gpus:\\n {2}- driver: nvidia\\n {4}device_ids: \[\\"0\\"\].*device_ids: \[\\"1\\"\]/,
  },
  { about: 'one each, and the host is not known', scene: written(services('count: 1', 'count: 1')), status: 'warn', says: /starts at GPU 0/ },
  { about: 'a monitor takes nothing', scene: written(services('count: all, capabilities: [gpu, utility]', 'count: all'), { nvml: two }), status: 'skipped' },
  { about: 'by names', scene: written(services('device_ids: ["0"]', 'device_ids: ["1"]'), { nvml: two }), status: 'skipped' },
  { about: 'one alone', scene: written('services: {a: {image: x, gpus: all}}'), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
