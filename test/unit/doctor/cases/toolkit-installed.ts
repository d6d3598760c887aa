// Cases of the check toolkit-installed.
import { engineFacts, type CheckCase } from '../scene.ts'
import { DRIVER, TOOLKIT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts({ runtimes: new Map([['runc', 'runc']]) })
const cli = { 'nvidia-container-cli': { prints: 'cli-version: 1.16.1\nlib-version: 1.16.1\n' } }

export const cases: readonly CheckCase[] = [
  { about: 'a version without known holes', scene: { engine, files: DRIVER, programs: TOOLKIT }, status: 'pass', says: /1\.17\.8/ },
  { about: 'an older one, told by the other program', scene: { engine, files: DRIVER, programs: cli }, status: 'warn', says: /1\.16\.1.*CVE-2025-23266/ },
  {
    about: 'not there, and wanted',
    scene: { engine, files: DRIVER, containers: [{}] },
    status: 'fail',
    says: /nvidia\.list|apt-get install -y nvidia-container-toolkit/,
  },
  {
    about: 'by the package manager of Fedora',
    scene: { engine, files: DRIVER, containers: [{}], distribution: 'fedora' },
    status: 'fail',
    says: /dnf install -y nvidia-container-toolkit/,
  },
  { about: 'not there, and nobody wants it', scene: { engine, files: DRIVER }, status: 'warn' },
  { about: 'out of sight', scene: { engine: engineFacts(), files: DRIVER }, status: 'pass', says: /has its runtime/ },
  { about: 'no engine', scene: { files: DRIVER }, status: 'skipped', says: /no container engine/ },
  { about: 'no GPU', scene: { engine }, status: 'skipped', says: /no NVIDIA driver/ },
  { about: 'Docker Desktop', scene: { engine: engineFacts({ operatingSystem: 'Docker Desktop' }), files: DRIVER }, status: 'skipped', says: /Docker Desktop/ },
  { about: 'from inside a container', scene: { engine, files: { ...DRIVER, '/.dockerenv': '' } }, status: 'skipped', says: /this is a container/ },
]
