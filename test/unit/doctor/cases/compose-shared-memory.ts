// Cases of the check compose-shared-memory.
import { written } from '../compose-text.ts'
import type { CheckCase } from '../scene.ts'

const service = (more: string, image = 'vllm/vllm-openai') => `services: {a: {image: '${image}', ${more}}}`

export const cases: readonly CheckCase[] = [
  { about: 'enough', scene: written(service('shm_size: 8gb')), status: 'pass', says: /8.0 GiB/ },
  { about: 'enough, in bytes', scene: written(service('shm_size: 2147483648')), status: 'pass', says: /2.0 GiB/ },
  { about: "the host's", scene: written(service('ipc: host, shm_size: 64m')), status: 'pass', says: /no effect/ },
  { about: 'a mount', scene: written(service("volumes: ['/dev/shm:/dev/shm']")), status: 'pass' },
  { about: 'a mount in the long form', scene: written(service('volumes: [{type: tmpfs, target: /dev/shm}]')), status: 'pass' },
  { about: 'a tmpfs', scene: written(service("tmpfs: '/dev/shm:size=8g'")), status: 'pass' },
  { about: "Docker's default", scene: written(service('gpus: all')), status: 'warn', says: /64 MiB.*shm_size: 8gb/ },
  {
    about: "Docker's default for several processes",
    scene: written(service('gpus: all, command: [torchrun, --nproc-per-node=4, train.py]', 'my/train')),
    status: 'warn',
    says: /several processes/,
  },
  { about: 'little', scene: written(service('shm_size: 512m')), status: 'warn', says: /512 MiB/ },
  {
    about: 'above the memory limit',
    scene: written(service('shm_size: 16g, deploy: {resources: {limits: {memory: 8g}}}')),
    status: 'warn',
    says: /memory: 24g.*shm_size: 4gb/,
  },
  { about: 'no size', scene: written(service('shm_size: 8 gigs')), status: 'fail', says: /must be a size/ },
  { about: 'a variable that is not set here', scene: written(service("shm_size: '${SHM}'")), status: 'skipped' },
  { about: 'a service that needs little', scene: written(service('gpus: all', 'my/app')), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
