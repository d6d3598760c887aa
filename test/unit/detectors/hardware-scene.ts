// A host of busy cards, second by second, through one detector: what it says of them and when.
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { reading, scrape, uuid } from '../incidents/scene.ts'
import { turnsOf, type Said, type Turn as DetectorTurn } from './turns.ts'

/** Values by `metric` or `metric label=value`; undefined takes one of the usual ones away. */
export type Values = Readonly<Record<string, number | undefined>>
/** What each card tells in this second; `gone` = it does not answer. */
export type Second = readonly (Values | 'gone')[]

const reason = (name: string): string => `gpu_throttle_active reason=${name}`
/** An H100 at work, well: also the power cap is on, as it is on every busy card. */
export const WELL: Values = {
  gpu_utilization_ratio: 0.97,
  [reason('gpu_idle')]: 0,
  [reason('sw_power_cap')]: 1,
  [reason('hw_slowdown')]: 0,
  [reason('sync_boost')]: 0,
  [reason('sw_thermal_slowdown')]: 0,
  [reason('hw_thermal_slowdown')]: 0,
  [reason('hw_power_brake_slowdown')]: 0,
  'gpu_clock_hertz domain=sm': 1_755e6,
  'gpu_clock_max_hertz domain=sm': 1_980e6,
  gpu_temperature_celsius: 66,
  gpu_memory_temperature_celsius: 78,
  'gpu_temperature_threshold_celsius threshold=slowdown': 89,
  'gpu_temperature_threshold_celsius threshold=memory_max': 95,
  gpu_power_watts: 640,
  gpu_power_limit_watts: 700,
  gpu_power_limit_default_watts: 700,
  gpu_performance_state: 0,
  'gpu_ecc_errors_total type=uncorrected scope=volatile': 0,
  'gpu_ecc_errors_total type=uncorrected scope=aggregate': 0,
  gpu_row_remap_pending: 0,
  gpu_row_remap_failure: 0,
  'gpu_remapped_rows type=uncorrected': 0,
  gpu_recovery_action: 0,
  gpu_pcie_link_generation: 5,
  gpu_pcie_link_generation_max: 5,
  gpu_pcie_link_width: 16,
  gpu_pcie_link_width_max: 16,
  gpu_pcie_replay_total: 3,
  'gpu_nvlink_active link=0': 1,
  'gpu_nvlink_active link=1': 1,
  'gpu_nvlink_active link=2': 1,
  'gpu_nvlink_errors_total type=crc_flit': 7,
  'gpu_nvlink_errors_total type=crc_data': 0,
  'gpu_nvlink_errors_total type=replay': 0,
  'gpu_nvlink_errors_total type=recovery': 0,
}
export const IDLE: Values = {
  gpu_utilization_ratio: 0,
  [reason('gpu_idle')]: 1,
  [reason('sw_power_cap')]: 0,
  'gpu_clock_hertz domain=sm': 345e6,
  gpu_performance_state: 0,
}
export { reason }

function readingsOf(index: number, values: Values): readonly Reading[] {
  const place = { gpu: String(index), uuid: uuid(index) }
  const reported = Object.entries({ ...WELL, ...values }).flatMap(([key, value]) => {
    const [name = '', ...labels] = key.split(' ')
    const more = Object.fromEntries(labels.map((label) => [label.slice(0, label.indexOf('=')), label.slice(label.indexOf('=') + 1)]))
    return value === undefined ? [] : [reading(name, { ...place, ...more }, value)]
  })
  return [reading('gpu_info', { ...place, name: 'NVIDIA H100 80GB HBM3' }, 1), ...reported]
}

/** One turn of what is said of a card. */
export type Turn = Omit<DetectorTurn, 'kind' | 'key' | 'about' | 'remedies'> & { readonly gpu: number }

const WORKER = reading(
  'process_gpu_memory_bytes',
  { gpu: '0', uuid: uuid(0), pid: '4242', process: 'python', container: 'trainer', container_id: '0123456789ab' },
  6e10,
)

/** What the detector says of the cards, second by second. */
export const watch = (
  definition: DetectorDefinition,
  seconds: number,
  tell: (second: number) => Second,
  options: Readonly<Record<string, number>> = {},
  said?: Said,
): readonly Turn[] =>
  turnsOf(
    definition,
    seconds,
    (second, t) => {
      const cards = tell(second)
      const readings = cards.flatMap((values, index) => (values === 'gone' ? [] : readingsOf(index, values)))
      return [scrape(t, 'gpu', cards[0] === 'gone' ? readings : [...readings, WORKER])]
    },
    options,
    said,
  ).flatMap(({ about, kind: _kind, key: _key, remedies: _remedies, ...turn }) =>
    about.uuid === undefined ? [] : [{ ...turn, gpu: Number(/^GPU-0000000(\d)/.exec(about.uuid)?.[1]) }],
  )

/** `10 faulty critical`, `20 healthy`: the story of card 0 without the first word of health. */
export const story = (turns: readonly Turn[], gpu = 0): readonly string[] =>
  turns
    .filter(
      (turn, at) => turn.gpu === gpu && !(turn.state === 'healthy' && turns.slice(0, at).every((before) => before.gpu !== gpu || before.state !== 'faulty')),
    )
    .map(({ second, state, severity }) => `${second} ${state}${severity === undefined ? '' : ` ${severity}`}`)
export { faults } from './turns.ts'
