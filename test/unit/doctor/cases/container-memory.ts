// Cases of the check container-memory.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const GIB = 2 ** 30
const torch = { [`${SITE}/torch/version.py`]: torchVersion('2.6.0', '12.4') }
const events = (kills: number) => ({
  ...processFiles(),
  '/sys/fs/cgroup/system.slice/docker-x.scope/memory.events': `low 0\nhigh 0\nmax 120\noom 3\noom_kill ${kills}\n`,
})

export const cases: readonly CheckCase[] = [
  { about: 'no limit', scene: { engine, containers: [{}] }, status: 'pass', says: /no limit/ },
  { about: 'enough', scene: { engine, files: events(0), containers: [{ pid: PID, memoryLimitBytes: 64 * GIB }] }, status: 'pass', says: /64\.0 GiB/ },
  {
    about: 'it was met',
    scene: { engine, files: events(2), containers: [{ pid: PID, memoryLimitBytes: 16 * GIB }] },
    status: 'warn',
    says: /killed 2 of its processes.*--memory=32g/,
  },
  {
    about: 'cgroup v1',
    scene: {
      engine,
      files: {
        ...processFiles({ cgroup: '9:memory:/docker/x\n' }),
        '/sys/fs/cgroup/memory/docker/x/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
      },
      containers: [{ pid: PID, memoryLimitBytes: 16 * GIB }],
    },
    status: 'warn',
    says: /killed 1/,
  },
  { about: 'less than its shared memory', scene: { engine, containers: [{ memoryLimitBytes: 4 * GIB }] }, status: 'warn', says: /8\.0 GiB.*counts against/ },
  {
    about: 'too little for PyTorch',
    scene: { engine, files: { ...events(0), ...torch }, containers: [{ pid: PID, memoryLimitBytes: 2 * GIB, shmSizeBytes: GIB }] },
    status: 'warn',
    says: /2\.0 GiB; PyTorch/,
  },
  { about: 'no engine', scene: {}, status: 'skipped' },
]
