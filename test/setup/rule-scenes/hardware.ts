// Cards at work, with a fault of the hardware for a minute and a half, or with what only looks like one.
import {
  eccUncorrected,
  nvlinkErrors,
  pcieDegraded,
  powerBrake,
  recoveryAction,
  rowRemapFailure,
  throttling,
} from '../../../agent/diagnosis/detectors/index.ts'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import { IDLE, reason, WELL, type Values } from '../../unit/detectors/hardware-scene.ts'
import { CARD, scrapeOf, within, type RuleScene } from './scene.ts'

const [FROM, TO, END] = [60, 150, 420]
type Case = readonly [name: string, detector: DetectorDefinition, fires: boolean, during: Values, always?: Values]
const SLOW = { 'gpu_clock_hertz domain=sm': 900e6 }
const HW = reason('hw_slowdown')
const ECC = 'gpu_ecc_errors_total type=uncorrected scope=volatile'
const CASES: readonly Case[] = [
  ['thermal slowdown', throttling, true, { [reason('hw_thermal_slowdown')]: 1, [HW]: 1, ...SLOW }],
  ['thermal slowdown of an idle card', throttling, false, { [reason('hw_thermal_slowdown')]: 1 }, IDLE],
  ['hardware slowdown alone', throttling, true, { [HW]: 1 }],
  ['power brake, as throttling', throttling, false, { [HW]: 1, [reason('hw_power_brake_slowdown')]: 1, ...SLOW }],
  ['power brake', powerBrake, true, { [HW]: 1, [reason('hw_power_brake_slowdown')]: 1 }],
  ['power cap, as power brake', powerBrake, false, SLOW],
  ['power cap at the default limit', throttling, false, SLOW],
  ['power cap at a lowered limit', throttling, true, SLOW, { gpu_power_limit_watts: 300 }],
  ['power cap below any base clock', throttling, true, { 'gpu_clock_hertz domain=sm': 500e6 }],
  ['memory at its limit', throttling, true, { gpu_memory_temperature_celsius: 95 }],
  ['memory below its limit', throttling, false, { gpu_memory_temperature_celsius: 94 }],
  [
    'memory without a limit from the driver',
    throttling,
    true,
    { gpu_memory_temperature_celsius: 96 },
    { 'gpu_temperature_threshold_celsius threshold=memory_max': undefined },
  ],
  ['errors, then a reset', eccUncorrected, true, { [ECC]: 3 }],
  ['errors from before', eccUncorrected, false, {}, { [ECC]: 3 }],
  ['a row waits', rowRemapFailure, true, { gpu_row_remap_pending: 1 }],
  ['a page waits', rowRemapFailure, true, { gpu_retired_pages_pending: 1 }, { gpu_retired_pages_pending: 0 }],
  ['rows that were replaced', rowRemapFailure, false, { 'gpu_remapped_rows type=uncorrected': 2 }],
  ['errors without a recovery', recoveryAction, false, { [ECC]: 3 }],
  ['a recovery', recoveryAction, true, { gpu_recovery_action: 2 }],
  ['fewer lanes', pcieDegraded, true, { gpu_pcie_link_width: 4 }],
  ['a lower generation', pcieDegraded, true, { gpu_pcie_link_generation: 3 }],
  ['a lower generation at rest', pcieDegraded, false, { gpu_pcie_link_generation: 1 }, IDLE],
  ['a lower generation in P8', pcieDegraded, false, { gpu_pcie_link_generation: 1 }, { gpu_performance_state: 8 }],
  ['a link down', nvlinkErrors, true, { 'gpu_nvlink_active link=2': 0 }],
  ['replays on NVLink', nvlinkErrors, true, { 'gpu_nvlink_errors_total type=replay': 2 }, { 'gpu_nvlink_errors_total type=replay': 0 }],
  ['one CRC error', nvlinkErrors, false, { 'gpu_nvlink_errors_total type=crc_data': 1 }],
]

export const hardwareScenes: readonly RuleScene[] = CASES.map(([name, detector, fires, during, always = {}]) => ({
  name,
  detector,
  fires,
  seconds: END,
  by: 'uuid',
  tell: (second) => [scrapeOf(second, 'gpu', { ...WELL, ...always, ...(within(second, FROM, TO) ? during : {}) }, { labels: CARD })],
}))
