// Cases of the check container-bitsandbytes.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'
import { asciiElf } from '../../../fakes/doctor/elf.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
const library = asciiElf({ needed: ['libcudart.so.12', 'libcublas.so.12', 'libm.so.6'] })
const wheels = Object.fromEntries(['cuda_runtime/lib/libcudart', 'cublas/lib/libcublas'].map((name) => [`${SITE}/nvidia/${name}.so.12`, 'ELF']))
const has = (numbers: readonly string[], env: Readonly<Record<string, string>> = {}, cuda = '12.4') => ({
  ...processFiles({ env }),
  [`${SITE}/torch/version.py`]: torchVersion('2.6.0', cuda),
  [`${SITE}/bitsandbytes/__init__.py`]: '',
  ...Object.fromEntries(numbers.map((number) => [`${SITE}/bitsandbytes/libbitsandbytes_cuda${number}.so`, library])),
})

export const cases: readonly CheckCase[] = [
  { about: 'one for its CUDA', scene: { engine, containers, files: { ...has(['121', '124', '126']), ...wheels } }, status: 'pass', says: /cuda124\.so fits/ },
  {
    about: 'the nearest older one',
    scene: { engine, containers, files: { ...has(['121', '122']), ...wheels } },
    status: 'warn',
    says: /no libbitsandbytes_cuda124\.so.*BNB_CUDA_VERSION=122/,
  },
  { about: 'none of that major version', scene: { engine, containers, files: has(['117', '118']) }, status: 'fail', says: /it has 117, 118/ },
  {
    about: 'a variable that names none',
    scene: { engine, containers, files: { ...has(['124'], { BNB_CUDA_VERSION: '128' }), ...wheels } },
    status: 'fail',
    says: /BNB_CUDA_VERSION=128.*unset BNB_CUDA_VERSION/,
  },
  { about: 'a build for the CPU', scene: { engine, containers, files: has([]) }, status: 'fail', says: /no library for CUDA/ },
  { about: 'what it needs is nowhere', scene: { engine, containers, files: has(['124']) }, status: 'fail', says: /needs libcudart\.so\.12, libcublas\.so\.12/ },
  { about: 'none installed', scene: { engine, containers, files: processFiles() }, status: 'skipped', says: /no bitsandbytes/ },
]
