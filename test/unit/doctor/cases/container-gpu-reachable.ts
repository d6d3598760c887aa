// Cases of the check container-gpu-reachable.
import { engineFacts, type CheckCase, type SceneFile } from '../scene.ts'
import { DRIVER, PID, processFiles, ROOT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
const nodes = (...names: readonly (readonly [string, number, number])[]): Readonly<Record<string, SceneFile>> =>
  Object.fromEntries(names.map(([name, major, minor]) => [`${ROOT}/dev/${name}`, { node: [major, minor] }]))
const all = nodes(['nvidia0', 195, 0], ['nvidiactl', 195, 255], ['nvidia-uvm', 511, 0])
const libraries = (version: string): Readonly<Record<string, SceneFile>> =>
  Object.fromEntries(
    ['libcuda.so', 'libnvidia-ml.so'].flatMap((name) => [
      [`${ROOT}/usr/lib/x86_64-linux-gnu/${name}.${version}`, 'ELF'],
      [`${ROOT}/usr/lib/x86_64-linux-gnu/${name}.1`, { link: `${name}.${version}` }],
    ]),
  )
const host = { ...DRIVER, ...processFiles() }
const v1 = (rules: string) => ({ ...processFiles({ cgroup: '4:devices:/docker/abc\n' }), '/sys/fs/cgroup/devices/docker/abc/devices.list': rules })

export const cases: readonly CheckCase[] = [
  { about: 'all is there', scene: { engine, containers, files: { ...host, ...all, ...libraries('580.65.06') } }, status: 'pass', says: /NVML 580\.65\.06/ },
  {
    about: 'no node of a GPU',
    scene: { engine, containers, files: { ...host, [`${ROOT}/dev/null`]: '' } },
    status: 'fail',
    says: /found none.*docker restart trainer/,
  },
  {
    about: 'without the node for memory',
    scene: { engine, containers, files: { ...host, ...nodes(['nvidia0', 195, 0], ['nvidiactl', 195, 255]), ...libraries('580.65.06') } },
    status: 'fail',
    says: /nvidia-uvm.*nvidia-modprobe -u -c=0/,
  },
  {
    about: 'a driver that was updated under it',
    scene: { engine, containers, files: { ...host, ...all, ...libraries('570.86.15') } },
    status: 'fail',
    says: /570\.86\.15, the loaded driver is 580\.65\.06/,
  },
  {
    about: 'rules after a daemon-reload',
    scene: { engine, containers, files: { ...host, ...all, ...libraries('580.65.06'), ...v1('c 1:3 rwm\n') } },
    status: 'fail',
    says: /cgroup refuses 195:0, 195:255/,
  },
  { about: 'rules that allow it', scene: { engine, containers, files: { ...host, ...all, ...libraries('580.65.06'), ...v1('c 195:* rw\n') } }, status: 'pass' },
  { about: 'no libcuda', scene: { engine, containers, files: { ...host, ...all } }, status: 'warn', says: /libcuda\.so\.1 is not where/ },
  {
    about: 'a monitor needs neither',
    scene: {
      engine,
      containers: [{ pid: PID, env: new Map([['NVIDIA_DRIVER_CAPABILITIES', 'utility']]) }],
      files: { ...host, ...nodes(['nvidia0', 195, 0], ['nvidiactl', 195, 255]) },
    },
    status: 'pass',
  },
  { about: 'it does not run', scene: { engine, containers: [{ state: 'exited' }] }, status: 'skipped', says: /it is exited/ },
]
