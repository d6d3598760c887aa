// Cases of the check compose-gpu-request.
import { asking, written } from '../compose-text.ts'
import { engineFacts, gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const nvml = nvmlFacts()
const two = nvmlFacts({ gpus: [gpuFacts({ index: 0 }), gpuFacts({ index: 1 })] })
const ask = (device: string, own = {}, more = '') => written(asking(device, more), own)

export const cases: readonly CheckCase[] = [
  { about: 'all', scene: ask('driver: nvidia, count: all, capabilities: [gpu]'), status: 'pass', says: /all GPUs/ },
  { about: 'neither count nor names', scene: ask('capabilities: [gpu]'), status: 'pass', says: /all GPUs/ },
  { about: 'one that there is', scene: ask('capabilities: [gpu], device_ids: ["1"]', { nvml: two }), status: 'pass', says: /GPU 1, which this host has/ },
  { about: 'one by its UUID', scene: ask(`capabilities: [gpu], device_ids: [${gpuFacts().uuid}]`, { nvml }), status: 'pass' },
  { about: 'as a count in a text', scene: ask('capabilities: [gpu], count: "1"', { nvml }), status: 'pass', says: /1 GPU,/ },
  { about: 'gpus: all', scene: written('services: {a: {image: x, gpus: all}}'), status: 'pass' },
  { about: 'gpus: in the long form', scene: written('services: {a: {image: x, gpus: [{count: 1}]}}', { nvml }), status: 'pass' },
  {
    about: 'the runtime',
    scene: written('services: {a: {image: x, runtime: nvidia, environment: [NVIDIA_VISIBLE_DEVICES=0]}}', { nvml, engine: engineFacts() }),
    status: 'pass',
  },
  { about: 'by CDI', scene: written("services: {a: {image: x, devices: ['nvidia.com/gpu=all']}}"), status: 'pass' },
  { about: 'a variable that is not set here', scene: ask("capabilities: [gpu], device_ids: ['${GPU}']", { nvml }), status: 'pass' },
  {
    about: 'a variable with a default',
    scene: ask("capabilities: [gpu], device_ids: ['${GPU:-7}']", { nvml }),
    status: 'fail',
    says: /asks for GPU 7; this host has 0/,
  },
  {
    about: 'one that there is not',
    scene: ask('capabilities: [gpu], device_ids: ["3"]', { nvml }),
    status: 'fail',
    says: /compose\.yml:1 train".*asks for GPU 3.*nvidia-smi -L.*device_ids: \[\\"0\\"\]/,
  },
  {
    about: 'one that there is not, by the runtime',
    scene: written('services: {a: {image: x, runtime: nvidia, environment: {NVIDIA_VISIBLE_DEVICES: "2"}}}', { nvml }),
    status: 'fail',
    says: /asks for GPU 2.*NVIDIA_VISIBLE_DEVICES: \\"0\\"/,
  },
  {
    about: 'more than there are',
    scene: ask('capabilities: [gpu], count: 4', { nvml: two }),
    status: 'fail',
    says: /asks for 4 GPUs; this host has 2.*count: 2/,
  },
  { about: 'no capabilities', scene: ask('driver: nvidia, count: 1'), status: 'fail', says: /\\"capabilities\\" is missing/ },
  { about: 'capabilities in no list', scene: ask('capabilities: gpu'), status: 'fail', says: /must be a list of words such as \[gpu\], not text/ },
  { about: 'capabilities in two lists', scene: ask('capabilities: [[gpu]]'), status: 'fail', says: /a list of lists/ },
  { about: 'a capability that there is not', scene: ask('capabilities: [gpus]'), status: 'fail', says: /no driver has \\"gpus\\"/ },
  { about: 'a driver that there is not', scene: ask('driver: nvidea, capabilities: [gpu]'), status: 'fail', says: /none of the name \\"nvidea\\"/ },
  {
    about: 'count and names',
    scene: ask('capabilities: [gpu], count: 1, device_ids: ["0"]'),
    status: 'fail',
    says: /exclude each other.*device_ids: \[\\"0\\"\]/,
  },
  {
    about: 'names as numbers',
    scene: ask('capabilities: [gpu], device_ids: [0, 1]'),
    status: 'fail',
    says: /must be texts, not numbers.*\[\\"0\\", \\"1\\"\]/,
  },
  { about: 'names in no list', scene: ask('capabilities: [gpu], device_ids: "0"'), status: 'fail', says: /must be a list such as/ },
  {
    about: 'a mistyped key',
    scene: ask('capabilities: [gpu], device_id: ["0"]'),
    status: 'fail',
    says: /\\"device_id\\" is no key of a device; \\"device_ids\\" is/,
  },
  { about: 'a count of none', scene: ask('capabilities: [gpu], count: 0'), status: 'warn', says: /no GPU/ },
  { about: 'a count in words', scene: ask('capabilities: [gpu], count: two'), status: 'fail', says: /a whole number or all/ },
  {
    about: 'below limits',
    scene: written('services: {a: {image: x, deploy: {resources: {limits: {devices: [{capabilities: [gpu]}]}}}}}'),
    status: 'fail',
    says: /deploy\.resources\.limits\.devices is no place/,
  },
  {
    about: 'below devices',
    scene: written('services: {a: {image: x, devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}'),
    status: 'fail',
    says: /device nodes/,
  },
  { about: 'gpus: 1', scene: written('services: {a: {image: x, gpus: 1}}'), status: 'fail', says: /gpus must be all or a list.*count: 1/ },
  {
    about: 'a runtime that the engine lacks',
    scene: written('services: {a: {image: nvidia/cuda, runtime: nvidia}}', { engine: engineFacts({ runtimes: new Map([['runc', 'runc']]) }) }),
    status: 'fail',
    says: /unknown or invalid runtime name.*nvidia-ctk/,
  },
  { about: 'a number, and NVML does not tell', scene: ask('capabilities: [gpu], device_ids: ["3"]'), status: 'skipped', says: /cannot be asked/ },
  { about: 'nobody asks', scene: written('services: {a: {image: x}}'), status: 'skipped', says: /no service asks/ },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
