// Cases of the check container-cuda-libraries.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'
import { asciiElf } from '../../../fakes/doctor/elf.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
/** The search path that PyTorch's wheels have. */
const linked = asciiElf({
  needed: ['libc10_cuda.so', 'libcudart.so.12', 'libcusparse.so.12', 'libc.so.6'],
  runpath: '$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN',
})
const torch = { ...processFiles(), [`${SITE}/torch/version.py`]: torchVersion('2.6.0+cu124', '12.4'), [`${SITE}/torch/lib/libtorch_cuda.so`]: linked }
const cudart = { [`${SITE}/nvidia/cuda_runtime/lib/libcudart.so.12`]: 'ELF' }
const cusparse = { [`${SITE}/nvidia/cusparse/lib/libcusparse.so.12`]: 'ELF' }
const mapped = processFiles({ maps: '7f00-7f01 r-xp 00000000 00:50 1234                       /opt/cuda/libcusparse.so.12\n' })

export const cases: readonly CheckCase[] = [
  {
    about: 'by its search path, and by a wheel',
    scene: { engine, containers, files: { ...torch, ...cudart, ...cusparse } },
    status: 'pass',
    says: /2\.6\.0\+cu124 finds/,
  },
  {
    about: 'one is nowhere',
    scene: { engine, containers, files: { ...torch, ...cudart } },
    status: 'fail',
    says: /needs libcusparse\.so\.12: not where.*pip install nvidia-cusparse-cu12/,
  },
  {
    about: 'LD_LIBRARY_PATH',
    scene: {
      engine,
      containers,
      files: { ...torch, ...cudart, ...processFiles({ env: { LD_LIBRARY_PATH: '/opt/x' } }), [`/proc/${PID}/root/opt/x/libcusparse.so.12`]: 'ELF' },
    },
    status: 'pass',
  },
  { about: 'it is loaded, from wherever', scene: { engine, containers, files: { ...torch, ...cudart, ...mapped } }, status: 'pass' },
  {
    about: 'a build for the CPU',
    scene: { engine, containers, files: { ...torch, [`${SITE}/torch/version.py`]: torchVersion('2.6.0+cpu', undefined) } },
    status: 'fail',
    says: /build for the CPU/,
  },
  { about: 'no PyTorch', scene: { engine, containers, files: processFiles() }, status: 'skipped', says: /no PyTorch/ },
  { about: 'it does not run', scene: { engine, containers: [{ state: 'exited' }] }, status: 'skipped', says: /exited/ },
]
