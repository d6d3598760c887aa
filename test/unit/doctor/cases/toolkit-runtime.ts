// Cases of the check toolkit-runtime.
import { engineFacts, type CheckCase } from '../scene.ts'
import { DRIVER } from '../../../fakes/doctor/container-host.ts'

const bare = engineFacts({ runtimes: new Map([['runc', 'runc']]) })
const absolute = engineFacts({ runtimes: new Map([['nvidia', '/usr/bin/nvidia-container-runtime']]) })
const daemon = (text: string) => ({ ...DRIVER, '/etc/docker/daemon.json': text })
const CDI = { '/etc/cdi/nvidia.yaml': 'cdiVersion: "0.5.0"\nkind: nvidia.com/gpu\ndevices: [{name: "0"}]\n' }

export const cases: readonly CheckCase[] = [
  { about: 'registered', scene: { engine: engineFacts(), files: DRIVER }, status: 'pass', says: /is registered/ },
  { about: 'registered, and its program gone', scene: { engine: absolute, files: DRIVER }, status: 'fail', says: /no such file/ },
  {
    about: 'not registered, and wanted',
    scene: { engine: bare, files: DRIVER, containers: [{}] },
    status: 'fail',
    says: /nvidia-ctk runtime configure --runtime=docker/,
  },
  { about: 'not registered, not wanted', scene: { engine: bare, files: DRIVER }, status: 'warn' },
  {
    about: 'in the file, and Docker not restarted',
    scene: { engine: bare, files: daemon('{"runtimes": {"nvidia": {"path": "x"}}}') },
    status: 'fail',
    says: /systemctl restart docker/,
  },
  { about: 'a broken file', scene: { engine: bare, files: daemon('{"runtimes": {},}') }, status: 'fail', says: /is not valid JSON/ },
  {
    about: 'the hook alone serves --gpus',
    scene: { engine: bare, files: DRIVER, programs: { 'nvidia-container-runtime-hook': { prints: '' } } },
    status: 'pass',
    says: /--gpus all works/,
  },
  { about: 'CDI alone', scene: { engine: bare, files: { ...DRIVER, ...CDI } }, status: 'pass', says: /nvidia\.com\/gpu=all works/ },
  { about: 'Podman', scene: { engine: engineFacts({ kind: 'podman', runtimes: new Map() }), files: DRIVER }, status: 'skipped', says: /CDI/ },
]
