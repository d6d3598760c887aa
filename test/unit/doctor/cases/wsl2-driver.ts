// Cases of the check wsl2-driver.
import { NvmlError } from '../../../../agent/doctor/parts/nvml-facts.ts'
import { WSL } from '../hosts.ts'
import { nvmlFacts, type CheckCase } from '../scene.ts'

const crash = new NvmlError('crash', 'the sampler ended by SIGSEGV')

export const cases: readonly CheckCase[] = [
  { about: 'a new one', scene: { files: WSL, nvml: nvmlFacts({ driverVersion: '566.36' }) }, status: 'pass', says: /566\.36/ },
  { about: 'one that crashes elsewhere, and works here', scene: { files: WSL, nvml: nvmlFacts({ driverVersion: '555.85' }) }, status: 'pass' },
  {
    about: 'too old for containers',
    scene: { files: WSL, nvml: nvmlFacts({ driverVersion: '471.96' }) },
    status: 'warn',
    says: /510 or newer.*nvidia\.com\/drivers.*wsl --shutdown/,
  },
  { about: 'NVML crashes, and nobody tells the version', scene: { files: WSL, nvml: crash }, status: 'skipped', says: /neither NVML nor nvidia-smi\.exe/ },
  { about: 'nothing tells it', scene: { files: WSL }, status: 'skipped' },
  { about: 'no WSL', scene: { nvml: nvmlFacts({ driverVersion: '471.96' }) }, status: 'skipped', says: /not WSL/ },
]
