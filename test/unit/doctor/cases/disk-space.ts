// Cases of the check disk-space: how full a real disk is nobody chooses, so that is given.
import { engineFacts, type CheckCase } from '../scene.ts'

const GIB = 2 ** 30
const disk = (total: number, free: number) => ({ totalBytes: total * GIB, availableBytes: free * GIB, type: 0xef53 })

export const cases: readonly CheckCase[] = [
  { about: 'room enough', scene: { space: { '/': disk(500, 200) } }, status: 'pass', says: /200 GiB of 500 GiB/ },
  { about: 'a small disk that is not full', scene: { space: { '/': disk(30, 15) } }, status: 'pass' },
  { about: 'a large disk that is nearly full, with room for an image', scene: { space: { '/': disk(10_000, 100) } }, status: 'pass' },
  { about: 'hardly any', scene: { space: { '/': disk(500, 8) } }, status: 'warn', says: /docker image prune/ },
  {
    about: 'full, where the images lie',
    scene: { space: { '/': disk(500, 200), '/var/lib/docker': disk(1_000, 0.2) }, engine: engineFacts() },
    status: 'fail',
    says: /images and containers of docker/,
  },
  { about: 'an engine in a virtual machine', scene: { space: { '/': disk(500, 200) }, engine: engineFacts({ dataRoot: '/not/here' }) }, status: 'pass' },
  { about: 'nothing tells', scene: { space: {} }, status: 'skipped' },
]
