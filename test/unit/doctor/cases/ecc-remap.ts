// Cases of the check ecc-remap.
import { NO_GPU } from '../hosts.ts'
import { gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const WELL = { ecc_enabled: 1, row_remap_pending: 0, row_remap_failure: 0, 'ecc_errors_total{type=uncorrected,scope=volatile}': 0 }
const nvml = (...gpus: readonly Readonly<Record<string, number>>[]) =>
  nvmlFacts({ gpus: gpus.map((values, index) => gpuFacts({ index, values: { ...WELL, ...values } })) })

export const cases: readonly CheckCase[] = [
  { about: 'sound', scene: { nvml: nvml({}) }, status: 'pass' },
  {
    about: 'errors of former times, which a reset has mended',
    scene: { nvml: nvml({ 'ecc_errors_total{type=uncorrected,scope=aggregate}': 3 }) },
    status: 'pass',
  },
  { about: 'ECC is off', scene: { nvml: nvml({ ecc_enabled: 0 }) }, status: 'pass', says: /ECC is off/ },
  {
    about: 'errors now, on the second card',
    scene: { nvml: nvml({}, { 'ecc_errors_total{type=uncorrected,scope=volatile}': 2 }) },
    status: 'fail',
    says: /"GPU 1".*2 memory errors.*--gpu-reset -i 1/,
  },
  { about: 'a row waits', scene: { nvml: nvml({ row_remap_pending: 1 }) }, status: 'warn', says: /memory row needs a GPU reset/ },
  { about: 'a page waits (before Ampere)', scene: { nvml: nvml({ retired_pages_pending: 1 }) }, status: 'warn', says: /memory page needs a GPU reset/ },
  { about: 'a repair failed', scene: { nvml: nvml({ row_remap_failure: 1 }) }, status: 'fail', says: /exchanging the board/ },
  { about: 'a card without ECC', scene: { nvml: nvmlFacts() }, status: 'skipped', says: /no ECC/ },
  { about: 'no GPU', scene: { files: NO_GPU }, status: 'skipped' },
]
