// Cases of the check container-ulimits.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, ROOT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
const limits = (own: Readonly<Record<string, string>>) => processFiles({ limits: own })
const infiniband = { [`${ROOT}/dev/infiniband/uverbs0`]: '' }

export const cases: readonly CheckCase[] = [
  { about: "Docker's own", scene: { engine, containers, files: limits({}) }, status: 'pass', says: /1048576 open files/ },
  { about: 'few files', scene: { engine, containers, files: limits({ 'Max open files': '256' }) }, status: 'warn', says: /may open 256 files.*nofile=65536/ },
  { about: 'a small stack', scene: { engine, containers, files: limits({ 'Max stack size': '1048576' }) }, status: 'warn', says: /1024 KiB/ },
  {
    about: 'InfiniBand and little to lock',
    scene: { engine, containers, files: { ...limits({ 'Max locked memory': '65536' }), ...infiniband } },
    status: 'warn',
    says: /memlock=-1/,
  },
  {
    about: 'InfiniBand without a limit',
    scene: { engine, containers, files: { ...limits({ 'Max locked memory': 'unlimited' }), ...infiniband } },
    status: 'pass',
    says: /InfiniBand/,
  },
  { about: 'it does not run', scene: { engine, containers: [{ state: 'created' }] }, status: 'skipped', says: /it is created/ },
]
