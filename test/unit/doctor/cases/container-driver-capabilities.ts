// Cases of the check container-driver-capabilities.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, ROOT, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const given = (text: string, own: object = {}) => ({ env: new Map([['NVIDIA_DRIVER_CAPABILITIES', text]]), ...own })
const cdi = { wish: { requests: [{ driver: 'cdi', count: 0, ids: ['nvidia.com/gpu=all'], capabilities: [] }], devicePaths: [], privileged: false } }
const library = { ...processFiles(), [`${ROOT}/usr/lib64/libnvidia-ml.so.1`]: 'ELF' }
const torch = { ...processFiles(), [`${SITE}/torch/version.py`]: torchVersion('2.6.0', '12.4') }

export const cases: readonly CheckCase[] = [
  { about: 'what is given by itself', scene: { engine, containers: [{}] }, status: 'pass', says: /utility,compute/ },
  { about: 'all', scene: { engine, containers: [given('all')] }, status: 'pass' },
  { about: 'CDI', scene: { engine, containers: [{ ...given('compute'), ...cdi }] }, status: 'pass', says: /CDI/ },
  {
    about: 'no utility',
    scene: { engine, containers: [given('compute')] },
    status: 'fail',
    says: /INTERNAL ASSERT.*NVIDIA_DRIVER_CAPABILITIES=compute,utility/,
  },
  {
    about: 'no utility, and NVML is there',
    scene: { engine, files: library, containers: [given('compute', { pid: PID })] },
    status: 'pass',
    says: /all the same/,
  },
  { about: 'NVML alone, for a monitor', scene: { engine, containers: [given('utility')] }, status: 'pass', says: /as monitors want it/ },
  { about: 'no compute for PyTorch', scene: { engine, files: torch, containers: [given('utility', { pid: PID })] }, status: 'fail', says: /lacks compute/ },
  { about: 'a word that there is not', scene: { engine, containers: [given('compute,utilty')] }, status: 'fail', says: /utilty/ },
  {
    about: 'nodes alone',
    scene: { engine, containers: [{ wish: { requests: [], devicePaths: ['/dev/nvidia0'], privileged: false } }] },
    status: 'skipped',
    says: /without the container toolkit/,
  },
]
