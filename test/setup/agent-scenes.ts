// Hosts that the tests of the whole agent run on, and what each of their readings must be, by the units of NVML and of our names.
import type { Page } from './agent.ts'
import { eightH100, migH100, type FakeGpu, type FakeScenario } from '../fakes/nvml/scenario.ts'

/** Seven whole H100 with five processes each, and one cut into two MIG instances. */
export function mixedHost(): FakeScenario {
  const host = eightH100((index) => ({ enc: 3 + index, dec: 7 + index }))
  return { ...host, gpus: [...host.gpus.slice(0, 7), migH100(7)] }
}

export const valueOf = (gpu: FakeGpu | undefined, key: string): number => Number(String(gpu?.values[key] ?? Number.NaN).replace('u:', ''))
export const powerOf = (page: Page, gpu: number): number | undefined => page.value('warpwatch_gpu_power_watts', { gpu: String(gpu) })
export const ageOf = (page: Page, gpu: number): number | undefined => page.value('warpwatch_gpu_sample_age_seconds', { gpu: String(gpu) })
export const ALL: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7]
export const allBut = (gpu: number): readonly number[] => ALL.filter((other) => other !== gpu)

type Row = readonly [metric: string, labels: Readonly<Record<string, string>>, key: string, factor: number]
/** Our names, and the unit of NVML times the factor is theirs: mW, MHz, percent, mJ, ns. */
export const OWN: readonly Row[] = [
  ['warpwatch_gpu_memory_total_bytes', {}, 'mem_total', 1],
  ['warpwatch_gpu_memory_used_bytes', {}, 'mem_used', 1],
  ['warpwatch_gpu_memory_reserved_bytes', {}, 'mem_reserved', 1],
  ['warpwatch_gpu_memory_used_peak_bytes', {}, 'mem_used', 1],
  ['warpwatch_gpu_utilization_ratio', {}, 'util', 0.01],
  ['warpwatch_gpu_memory_utilization_ratio', {}, 'util_mem', 0.01],
  ['warpwatch_gpu_encoder_utilization_ratio', {}, 'enc', 0.01],
  ['warpwatch_gpu_decoder_utilization_ratio', {}, 'dec', 0.01],
  ['warpwatch_gpu_temperature_celsius', {}, 'temp', 1],
  ['warpwatch_gpu_memory_temperature_celsius', {}, 'field.82', 1],
  ['warpwatch_gpu_power_watts', {}, 'power', 1e-3],
  ['warpwatch_gpu_power_limit_watts', {}, 'limit', 1e-3],
  ['warpwatch_gpu_energy_joules_total', {}, 'energy', 1e-3],
  ['warpwatch_gpu_clock_hertz', { domain: 'sm' }, 'clock_sm', 1e6],
  ['warpwatch_gpu_clock_hertz', { domain: 'memory' }, 'clock_mem', 1e6],
  ['warpwatch_gpu_clock_hertz', { domain: 'graphics' }, 'clock_graphics', 1e6],
  ['warpwatch_gpu_clock_hertz', { domain: 'video' }, 'clock_video', 1e6],
  ['warpwatch_gpu_clock_max_hertz', { domain: 'sm' }, 'clock_max_sm', 1e6],
  ['warpwatch_gpu_performance_state', {}, 'pstate', 1],
  ['warpwatch_gpu_throttle_seconds_total', { reason: 'sw_power_cap' }, 'field.74', 1e-9],
  ['warpwatch_gpu_ecc_errors_total', { type: 'corrected', scope: 'aggregate' }, 'ecc_corrected_aggregate', 1],
  ['warpwatch_gpu_ecc_errors_total', { type: 'uncorrected', scope: 'volatile' }, 'ecc_uncorrected_volatile', 1],
  ['warpwatch_gpu_remapped_rows', { type: 'uncorrected' }, 'remap_uncorrected', 1],
  ['warpwatch_gpu_row_remap_pending', {}, 'remap_pending', 1],
  ['warpwatch_gpu_pcie_link_generation', {}, 'pcie_gen', 1],
  ['warpwatch_gpu_pcie_link_width', {}, 'pcie_width', 1],
  ['warpwatch_gpu_pcie_replay_total', {}, 'pcie_replay', 1],
]
/** dcgm-exporter's names, in its units: MiB, W, percent, MHz, mJ (shared reference metrics-dcgm-exporter.txt). */
export const DCGM: readonly Row[] = [
  ['DCGM_FI_DEV_FB_USED', {}, 'mem_used', 1 / 1024 ** 2],
  ['DCGM_FI_DEV_FB_RESERVED', {}, 'mem_reserved', 1 / 1024 ** 2],
  ['DCGM_FI_DEV_GPU_UTIL', {}, 'util', 1],
  ['DCGM_FI_DEV_MEM_COPY_UTIL', {}, 'util_mem', 1],
  ['DCGM_FI_DEV_ENC_UTIL', {}, 'enc', 1],
  ['DCGM_FI_DEV_DEC_UTIL', {}, 'dec', 1],
  ['DCGM_FI_DEV_GPU_TEMP', {}, 'temp', 1],
  ['DCGM_FI_DEV_MEMORY_TEMP', {}, 'field.82', 1],
  ['DCGM_FI_DEV_POWER_USAGE', {}, 'power', 1e-3],
  ['DCGM_FI_DEV_SM_CLOCK', {}, 'clock_sm', 1],
  ['DCGM_FI_DEV_MEM_CLOCK', {}, 'clock_mem', 1],
  ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', {}, 'energy', 1],
  ['DCGM_FI_DEV_PCIE_REPLAY_COUNTER', {}, 'pcie_replay', 1],
  ['DCGM_FI_DEV_MAX_SM_CLOCK', {}, 'clock_max_sm', 1],
  ['DCGM_FI_DEV_MAX_MEM_CLOCK', {}, 'clock_max_mem', 1],
  ['DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN', {}, 'limit_min', 1e-3],
  ['DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX', {}, 'limit_max', 1e-3],
  ['DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF', {}, 'limit_default', 1e-3],
  ['DCGM_FI_DEV_SLOWDOWN_TEMP', {}, 'temp_slowdown', 1],
  ['DCGM_FI_DEV_SHUTDOWN_TEMP', {}, 'temp_shutdown', 1],
  ['DCGM_FI_DEV_BAR1_TOTAL', {}, 'bar1_total', 1 / 1024 ** 2],
  ['DCGM_FI_DEV_BAR1_USED', {}, 'bar1_used', 1 / 1024 ** 2],
  ['DCGM_FI_DEV_COMPUTE_MODE', {}, 'compute_mode', 1],
  ['DCGM_FI_DEV_PERSISTENCE_MODE', {}, 'persistence', 1],
]
/** Of which DCGM has figures of each MIG instance; the others are of the card, and are on each of its instances. */
export const OF_INSTANCES: ReadonlySet<string> = new Set(['mem_used', 'mem_reserved', 'bar1_total', 'bar1_used'])
/** What the driver does not report of a GPU in MIG mode: utilization, encoder and decoder. */
export const NOT_IN_MIG: ReadonlySet<string> = new Set(['util', 'util_mem', 'enc', 'dec'])
