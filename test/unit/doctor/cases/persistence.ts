// Cases of the check persistence.
import { NvmlError } from '../../../../agent/doctor/parts/nvml-facts.ts'
import { healthy, NO_GPU, WSL } from '../hosts.ts'
import { gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const off = nvmlFacts({ gpus: [gpuFacts({ values: { persistence_mode: 0 } })] })
const screen = {
  ...healthy(),
  '/sys/class/drm/card0-DP-1': { link: '../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/drm/card0/card0-DP-1' },
  '/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/drm/card0/card0-DP-1/status': 'connected\n',
} as const

export const cases: readonly CheckCase[] = [
  { about: 'on', scene: { files: healthy(), nvml: nvmlFacts({ gpus: [gpuFacts({ values: { persistence_mode: 1 } })] }) }, status: 'pass' },
  { about: 'off', scene: { files: healthy(), nvml: off }, status: 'warn', says: /nvidia-smi -pm 1/ },
  {
    about: 'off, with the daemon installed',
    scene: { files: healthy(), nvml: off, programs: { systemctl: { prints: '[Unit]\n' } } },
    status: 'warn',
    says: /enable --now nvidia-persistenced/,
  },
  { about: 'a desktop, whose screen keeps the driver loaded', scene: { files: screen, nvml: off }, status: 'pass' },
  { about: 'not reported', scene: { nvml: nvmlFacts() }, status: 'skipped' },
  { about: 'NVML does not answer', scene: { nvml: new NvmlError('hang', 'nvmlInit_v2 did not return within 8 s') }, status: 'skipped', says: /did not return/ },
  { about: 'no GPU', scene: { files: NO_GPU }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL, nvml: off }, status: 'skipped' },
]
