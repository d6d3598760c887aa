// Cases of the check compose-driver-capabilities.
import { WSL } from '../hosts.ts'
import { asking, written } from '../compose-text.ts'
import type { CheckCase } from '../scene.ts'

const NAME = 'NVIDIA_DRIVER_CAPABILITIES'
const runtime = (env: string, image = 'x') => `services: {a: {image: '${image}', runtime: nvidia, environment: {NVIDIA_VISIBLE_DEVICES: all, ${env}}}}`

export const cases: readonly CheckCase[] = [
  { about: 'what the toolkit gives', scene: written(asking('capabilities: [gpu]')), status: 'pass', says: /compute and utility/ },
  { about: 'both', scene: written(asking('capabilities: [gpu, compute, utility]')), status: 'pass' },
  { about: 'all of it', scene: written(runtime(`${NAME}: all`)), status: 'pass' },
  { about: 'by CDI', scene: written("services: {a: {image: x, devices: ['nvidia.com/gpu=0']}}"), status: 'pass', says: /CDI/ },
  { about: 'a monitor', scene: written(asking('capabilities: [gpu, utility]')), status: 'pass', says: /monitors/ },
  {
    about: 'no utility',
    scene: written(asking('driver: nvidia, count: 2, capabilities: [gpu, compute]')),
    status: 'warn',
    says: /not utility.*NVML_SUCCESS.*count: 2\\n *capabilities: \[gpu, compute, utility\]/,
  },
  { about: 'no utility for PyTorch', scene: written(runtime(`${NAME}: compute`, 'pytorch/pytorch')), status: 'fail', says: /compute,utility/ },
  { about: 'no compute for PyTorch', scene: written(runtime(`${NAME}: utility`, 'pytorch/pytorch')), status: 'fail', says: /not compute/ },
  { about: 'one that there is not', scene: written(runtime(`${NAME}: 'compute,utilities'`)), status: 'fail', says: /not \\"utilities\\"/ },
  { about: 'under WSL2', scene: written(asking('capabilities: [gpu, compute]'), { files: WSL }), status: 'skipped', says: /WSL2/ },
  { about: 'a variable that is not set here', scene: written(runtime(`${NAME}: '\${CAPS}'`)), status: 'skipped' },
  { about: 'nobody asks', scene: written('services: {a: {image: x}}'), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
