// Cases of the check pcie-power.
import { NO_GPU, WSL } from '../hosts.ts'
import { gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const FULL = { pcie_link_width: 16, pcie_link_width_max: 16, pcie_link_generation: 5, pcie_link_generation_max: 5, utilization_ratio: 0.9 }
const one = (values: Readonly<Record<string, number>>, throttleReasons: readonly string[] = []) => nvmlFacts({ gpus: [gpuFacts({ values, throttleReasons })] })

export const cases: readonly CheckCase[] = [
  { about: 'full width at work', scene: { nvml: one(FULL) }, status: 'pass' },
  { about: 'half of the lanes at work', scene: { nvml: one({ ...FULL, pcie_link_width: 8 }) }, status: 'warn', says: /5 x8, could be 5 x16/ },
  { about: 'an older generation at work', scene: { nvml: one({ ...FULL, pcie_link_generation: 3 }) }, status: 'warn', says: /3 x16, could be 5 x16/ },
  { about: 'an idle card lowers its link', scene: { nvml: one({ ...FULL, pcie_link_generation: 1, utilization_ratio: 0 }) }, status: 'pass', says: /rests/ },
  { about: 'the power brake', scene: { nvml: one(FULL, ['hw_slowdown', 'hw_power_brake_slowdown']) }, status: 'fail', says: /power brake/ },
  { about: 'heat', scene: { nvml: one(FULL, ['hw_thermal_slowdown']) }, status: 'warn', says: /hw_thermal_slowdown/ },
  { about: 'what every card under load says', scene: { nvml: one(FULL, ['sw_power_cap']) }, status: 'pass' },
  {
    about: 'a limit that somebody lowered',
    scene: { nvml: one({ ...FULL, power_limit_watts: 350, power_limit_default_watts: 700 }) },
    status: 'pass',
    says: /350 W.*700 W/,
  },
  { about: 'nothing reported', scene: { nvml: nvmlFacts() }, status: 'skipped' },
  { about: 'no GPU', scene: { files: NO_GPU }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL, nvml: one({ ...FULL, pcie_link_width: 8 }) }, status: 'skipped' },
]
