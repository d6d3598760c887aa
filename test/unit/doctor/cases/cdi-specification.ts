// Cases of the check cdi-specification.
import { engineFacts, nvmlFacts, type CheckCase } from '../scene.ts'
import { DRIVER } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts({ cdiSpecFolders: ['/etc/cdi', '/var/run/cdi'] })
/** The form of `nvidia-ctk cdi generate`, shortened. */
const spec = (library: string) => `---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
    - name: "0"
      containerEdits:
        deviceNodes:
            - path: /dev/nvidia0
    - name: GPU-00000000-1111-2222-3333-444444444444
      containerEdits:
        deviceNodes:
            - path: /dev/nvidia0
    - name: all
      containerEdits:
        deviceNodes:
            - path: /dev/nvidia0
containerEdits:
    mounts:
        - hostPath: /usr/lib/x86_64-linux-gnu/${library}
          containerPath: /usr/lib/x86_64-linux-gnu/${library}
          options: [ro, nosuid, nodev, bind]
    hooks:
        - hookName: createContainer
          path: /usr/bin/nvidia-cdi-hook
          args: [nvidia-cdi-hook, update-ldcache]
`
const files = (text: string) => ({
  ...DRIVER,
  '/dev/nvidia0': '',
  '/usr/bin/nvidia-cdi-hook': '',
  '/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06': '',
  '/etc/cdi/nvidia.yaml': text,
})
const asks = (name: string) => ({ wish: { requests: [{ driver: 'cdi', count: 0, ids: [name], capabilities: [] }], devicePaths: [], privileged: false } })
const good = files(spec('libcuda.so.580.65.06'))
const stale = files(spec('libcuda.so.570.86.15'))

export const cases: readonly CheckCase[] = [
  {
    about: 'every file is there',
    scene: { engine, files: good, nvml: nvmlFacts(), containers: [asks('nvidia.com/gpu=all')] },
    status: 'pass',
    says: /\/etc\/cdi\/nvidia\.yaml/,
  },
  {
    about: 'written for the driver before',
    scene: { engine, files: stale, containers: [asks('nvidia.com/gpu=all')] },
    status: 'fail',
    says: /libcuda\.so\.570\.86\.15.*cdi generate/,
  },
  { about: 'old, and not used', scene: { engine, files: stale }, status: 'warn' },
  { about: 'none, and asked for', scene: { engine, files: DRIVER, containers: [asks('nvidia.com/gpu=0')] }, status: 'fail', says: /found none/ },
  { about: 'a device that it has not', scene: { engine, files: good, containers: [asks('nvidia.com/gpu=7')] }, status: 'fail', says: /gpu=7/ },
  { about: 'no YAML', scene: { engine, files: files('devices: [}'), containers: [asks('nvidia.com/gpu=0')] }, status: 'fail', says: /cannot be used/ },
  {
    about: 'a GPU that came later',
    scene: {
      engine,
      files: good,
      nvml: nvmlFacts({ gpus: [...nvmlFacts().gpus, ...nvmlFacts().gpus.map((gpu) => ({ ...gpu, index: 1, uuid: 'GPU-later' }))] }),
    },
    status: 'warn',
    says: /GPU 1/,
  },
  { about: 'nobody uses CDI', scene: { engine, files: DRIVER, containers: [{}] }, status: 'skipped', says: /no container is given its GPU by CDI/ },
]
