// Cases of the check wsl2-docker-desktop.
import { WSL } from '../hosts.ts'
import { engineFacts, type CheckCase } from '../scene.ts'

const RUNS = { ...WSL, '/mnt/wsl/docker-desktop/cli-tools/usr/bin/docker': 'ELF' } as const
const desktop = engineFacts({ operatingSystem: 'Docker Desktop' })

export const cases: readonly CheckCase[] = [
  { about: 'it answers', scene: { files: RUNS, engine: desktop }, status: 'pass', says: /Docker Desktop answers/ },
  { about: 'beside an engine of its own', scene: { files: RUNS, engine: engineFacts() }, status: 'pass', says: /beside Docker Desktop/ },
  { about: 'not for this distribution', scene: { files: RUNS }, status: 'warn', says: /WSL integration/ },
  {
    about: 'it does not run',
    scene: { files: { ...WSL, '/usr/bin/docker': { link: '/mnt/wsl/docker-desktop/cli-tools/usr/bin/docker' } } },
    status: 'warn',
    says: /does not run.*Start Docker Desktop/,
  },
  { about: 'an engine of its own', scene: { files: WSL, engine: engineFacts() }, status: 'skipped' },
  { about: 'no engine', scene: { files: WSL }, status: 'skipped', says: /not used here/ },
  { about: 'an engine that does not answer', scene: { files: RUNS, engine: new Error('docker.sock: no permission') }, status: 'skipped' },
  { about: 'no WSL', scene: { engine: desktop }, status: 'skipped', says: /not WSL/ },
]
