// Cases of the check compose-gpu-unneeded.
import { written } from '../compose-text.ts'
import { engineFacts, type CheckCase } from '../scene.ts'

export const cases: readonly CheckCase[] = [
  { about: 'an application', scene: written('services: {a: {image: my/app, gpus: all}}'), status: 'pass' },
  {
    about: 'a database',
    scene: written('services:\n  db:\n    image: docker.io/library/postgres:16\n    gpus: all\n'),
    status: 'warn',
    says: /compose\.yml:4 db".*image \(postgres\) makes no use/,
  },
  {
    about: 'by an anchor that was meant for another',
    scene: written('x-gpu: &gpu\n  gpus: all\nservices:\n  a: {image: x, <<: *gpu}\n  cache: {image: redis, <<: *gpu}\n'),
    status: 'warn',
    says: /Redis/,
  },
  {
    about: 'an image for the CPU',
    scene: written('services: {a: {image: "text-embeddings-inference:cpu-1.8", gpus: all}}'),
    status: 'warn',
    says: /for the CPU/,
  },
  {
    about: 'a database under a default runtime',
    scene: written('services: {db: {image: postgres}}', { engine: engineFacts({ defaultRuntime: 'nvidia' }) }),
    status: 'skipped',
  },
  { about: 'nobody asks', scene: written('services: {db: {image: postgres}}'), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
