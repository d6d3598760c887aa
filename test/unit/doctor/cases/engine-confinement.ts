// Cases of the check engine-confinement.
import { engineFacts, type CheckCase } from '../scene.ts'
import { DRIVER } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts({ kind: 'podman' })
const enforcing = { ...DRIVER, '/sys/fs/selinux/enforce': '1' }

export const cases: readonly CheckCase[] = [
  { about: 'enforcing', scene: { engine, files: enforcing, containers: [{}] }, status: 'warn', says: /setsebool -P container_use_devices=true/ },
  { about: 'allowed', scene: { engine, files: { ...enforcing, '/sys/fs/selinux/booleans/container_use_devices': '1 1' }, containers: [{}] }, status: 'pass' },
  {
    about: 'not allowed',
    scene: { engine, files: { ...enforcing, '/sys/fs/selinux/booleans/container_use_devices': '0 0' }, containers: [{}] },
    status: 'warn',
  },
  { about: 'unconfined', scene: { engine, files: enforcing, containers: [{ securityOptions: ['label=disable'] }] }, status: 'pass' },
  { about: 'Docker, which does not confine', scene: { engine: engineFacts(), files: enforcing, containers: [{}] }, status: 'pass', says: /Docker does not/ },
  { about: 'no SELinux', scene: { engine, files: DRIVER, containers: [{}] }, status: 'pass', says: /no SELinux/ },
  { about: 'no engine', scene: { files: enforcing }, status: 'skipped' },
]
