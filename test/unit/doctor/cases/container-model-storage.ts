// Cases of the check container-model-storage.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, ROOT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
const env = { HF_HOME: '/models' }
const models = { [`${ROOT}/models/hub/models--org--name/refs/main`]: 'x' }
const windows = '101 100 0:51 / /models rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\134\n'
const disk = '101 100 0:51 / /models ro,noatime - ext4 /dev/sdb1 rw\n'
const desktop = [{ mounts: [{ type: 'bind', source: '/run/desktop/mnt/host/c/Users/me/models', destination: '/models', writable: true }] }]

export const cases: readonly CheckCase[] = [
  { about: 'a disk', scene: { engine, containers, files: { ...processFiles({ env, mounts: disk }), ...models } }, status: 'pass', says: /no slow mount/ },
  {
    about: "Windows' disk",
    scene: { engine, containers, files: { ...processFiles({ env, mounts: windows }), ...models } },
    status: 'warn',
    says: /on 9p, a folder of Windows/,
  },
  {
    about: 'inside the container',
    scene: { engine, containers, files: { ...processFiles({ env }), ...models } },
    status: 'warn',
    says: /inside the container itself.*hf-cache:\/models/,
  },
  { about: 'by Docker Desktop', scene: { engine, containers: desktop }, status: 'warn', says: /a folder of Windows/ },
  {
    about: 'no folder for models',
    scene: { engine, containers, files: { ...processFiles(), [`/proc/${PID}/environ`]: 'PATH=/bin\0' } },
    status: 'skipped',
    says: /names no folder/,
  },
  { about: 'it does not run', scene: { engine, containers: [{ state: 'exited' }] }, status: 'skipped', says: /only be seen while it runs/ },
]
