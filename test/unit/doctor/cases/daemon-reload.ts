// Cases of the check daemon-reload.
import { engineFacts, type CheckCase } from '../scene.ts'
import { DRIVER, TOOLKIT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const byNodes = { wish: { requests: [], devicePaths: ['/dev/nvidia0', '/dev/nvidiactl'], privileged: false } }
const newer = { 'nvidia-ctk': { prints: 'NVIDIA Container Toolkit CLI version 1.18.0\n' } }

export const cases: readonly CheckCase[] = [
  {
    about: 'systemd, and devices of the hook',
    scene: { engine, files: DRIVER, programs: TOOLKIT, containers: [{}] },
    status: 'warn',
    says: /trainer.*create-dev-char-symlinks --create-all/,
  },
  { about: 'with the links', scene: { engine, files: { ...DRIVER, '/dev/char/195:255': '' }, containers: [{}] }, status: 'pass', says: /links/ },
  { about: 'cgroupfs', scene: { engine: engineFacts({ cgroupDriver: 'cgroupfs' }), files: DRIVER, containers: [{}] }, status: 'pass', says: /cgroupfs/ },
  {
    about: 'nodes in the run command',
    scene: { engine, files: DRIVER, programs: TOOLKIT, containers: [byNodes] },
    status: 'pass',
    says: /engine itself knows/,
  },
  { about: 'the runtime of 1.18 makes CDI', scene: { engine, files: DRIVER, programs: newer, containers: [{ runtime: 'nvidia' }] }, status: 'pass' },
  {
    about: 'WSL2',
    scene: { engine, files: { '/proc/sys/kernel/osrelease': '5.15.153.1-microsoft-standard-WSL2\n', ...DRIVER }, containers: [{}] },
    status: 'skipped',
    says: /WSL2/,
  },
  { about: 'nobody asks', scene: { engine, files: DRIVER }, status: 'skipped', says: /no container asks/ },
]
