// Cases of the check container-caches.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, ROOT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
// Files of a scene belong to whoever runs the test: another user is nobody, without capabilities.
const mine = process.getuid?.() ?? 0
const cache = { [`${ROOT}/models/hub/version.txt`]: '1' }
const by = (uid: number, mounts = '') => ({ ...processFiles({ uid, env: { HF_HOME: '/models' }, capabilities: '0000000000000000', mounts }), ...cache })
const readOnly = '101 100 0:51 / /models ro,relatime - ext4 /dev/sda1 rw\n'
const bound = [{ pid: PID, mounts: [{ type: 'bind', source: '/srv/hf', destination: '/models', writable: true }] }]

export const cases: readonly CheckCase[] = [
  { about: 'its own folder', scene: { engine, containers, files: by(mine) }, status: 'pass', says: /1 cache folder/ },
  {
    about: "another's folder",
    scene: { engine, containers, files: by(65_534) },
    status: 'fail',
    says: /HF_HOME=\/models: user 65534 may not write there.*belongs to.*HF_HOME=\/tmp\/hf/,
  },
  { about: 'a folder of the host', scene: { engine, containers: bound, files: by(65_534) }, status: 'fail', says: /chown -R 65534:65534 \/srv\/hf/ },
  {
    about: 'a folder that it may not make',
    scene: { engine, containers, files: { ...by(65_534), ...processFiles({ uid: 65_534, env: { HF_HOME: '/models/deeper/still' } }) } },
    status: 'fail',
    says: /\/models belongs to/,
  },
  {
    about: 'read-only',
    scene: { engine, containers, files: { ...processFiles({ env: { HF_HOME: '/models' }, mounts: readOnly }), [`${ROOT}/models`]: { folder: true } } },
    status: 'fail',
    says: /mounted read-only/,
  },
  { about: 'read-only, with models in it', scene: { engine, containers, files: by(mine, readOnly) }, status: 'pass', says: /with models is mounted read-only/ },
  { about: 'root may write anywhere', scene: { engine, containers, files: { ...cache, ...processFiles({ env: { HF_HOME: '/models' } }) } }, status: 'pass' },
  { about: 'no cache', scene: { engine, containers, files: processFiles() }, status: 'skipped', says: /no cache folder/ },
]
