// Cases of the check own-permissions.
import { EngineError } from '../../../../agent/sources/containers/engine-error.ts'
import { IN_CONTAINER } from '../hosts.ts'
import { engineFacts, type CheckCase } from '../scene.ts'

const seen = { '/proc/1/root': { link: '/' }, '/dev/kmsg': '', '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n' } as const
const { '/dev/kmsg': _log, ...noLog } = seen
const { '/sys/fs/cgroup/cgroup.controllers': _groups, ...noGroups } = seen

export const cases: readonly CheckCase[] = [
  { about: 'all of it', scene: { files: seen, engine: engineFacts() }, status: 'pass', says: /docker 28\.3\.0 answers/ },
  { about: 'no engine on this host', scene: { files: seen }, status: 'pass' },
  {
    about: 'an engine that it may not ask',
    scene: { files: seen, engine: new EngineError('no_permission', 'GET /info on /var/run/docker.sock: no permission') },
    status: 'warn',
    says: /usermod -aG docker/,
  },
  {
    about: 'an engine that is down',
    scene: { files: seen, engine: new EngineError('driver_error', 'GET /info on /var/run/docker.sock: no process listens') },
    status: 'warn',
    says: /systemctl enable --now docker/,
  },
  { about: "a container without the kernel's log", scene: { files: { ...noLog, ...IN_CONTAINER } }, status: 'warn', says: /--device \/dev\/kmsg/ },
  { about: 'no cgroups', scene: { files: noGroups }, status: 'warn', says: /cgroupns=host/ },
  { about: 'simulated', scene: { files: {}, config: { 'simulate.scenario': 'healthy' } }, status: 'skipped' },
]
