// Cases of the check container-torch-build.
import { engineFacts, gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'
import { asciiElf } from '../../../fakes/doctor/elf.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
const torch = (constants: readonly string[]) => ({
  ...processFiles(),
  [`${SITE}/torch/version.py`]: torchVersion('2.6.0+cu124', '12.4'),
  [`${SITE}/torch/lib/libtorch_python.so`]: asciiElf({ constants }),
})
const files = torch(['sm_90', 'some text', 'sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90', 'sm_ is a prefix'])
const card = (name: string, computeCapability: string) => nvmlFacts({ gpus: [gpuFacts({ name, computeCapability })] })

export const cases: readonly CheckCase[] = [
  { about: 'an H100', scene: { engine, containers, files, nvml: nvmlFacts() }, status: 'pass', says: /sm_50 sm_60/ },
  { about: 'sm_86 runs on sm_89', scene: { engine, containers, files, nvml: card('NVIDIA L4', '8.9') }, status: 'pass' },
  {
    about: 'Blackwell is newer',
    scene: { engine, containers, files, nvml: card('NVIDIA GeForce RTX 5090', '12.0') },
    status: 'fail',
    says: /RTX 5090 is sm_120.*whl\/cu128/,
  },
  {
    about: 'Kepler is older',
    scene: { engine, containers, files, nvml: card('Tesla K80', '3.7') },
    status: 'fail',
    says: /Tesla K80 is sm_37.*torch==1\.13.*cu117/,
  },
  {
    about: 'Volta, with a build for newer ones',
    scene: { engine, containers, files: torch(['sm_75 sm_80 sm_86 sm_90 sm_100 sm_120']), nvml: card('Tesla V100-SXM2-16GB', '7.0') },
    status: 'fail',
    says: /V100-SXM2-16GB is sm_70.*whl\/cu126/,
  },
  {
    about: 'PTX serves newer ones',
    scene: { engine, containers, files: torch(['sm_80 compute_90']), nvml: card('NVIDIA B200', '10.0') },
    status: 'pass',
    says: /first use/,
  },
  {
    about: 'its libraries do not say',
    scene: { engine, containers, files: torch([]), nvml: nvmlFacts() },
    status: 'skipped',
    says: /do not say what it was compiled for/,
  },
  { about: 'no GPU is known', scene: { engine, containers, files }, status: 'skipped', says: /no GPU/ },
]
