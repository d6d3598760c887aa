// A host of cards, jobs, containers and counters, second by second, through one detector: what it says of whom and when.
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Gap, Reading } from '../../../agent/model/reading.ts'
import type { Labels, Series } from '../../../agent/model/series.ts'
import { seriesFor } from '../../setup/series.ts'
import { reading, scrape, T, uuid } from '../incidents/scene.ts'
import { turnsOf, type Turn } from './turns.ts'

export const GIB = 2 ** 30
export const TOTAL = 80 * GIB

export type Job = {
  readonly pid: number
  readonly gib: number
  readonly container?: string
  readonly slurm?: string
  /** null: the pid is in no /proc. */
  readonly name?: string | null
  readonly type?: string
  readonly gi?: string
  /** Counter of its allocator, as the probe tells it. */
  readonly retries?: number
}
export type Instance = { readonly gi: string; readonly totalGib: number; readonly usedGib: number; readonly engine?: number }
export type Card = {
  readonly jobs?: readonly Job[]
  /** GiB that nobody on the list holds. */
  readonly lost?: number
  /** undefined = cannot be read. */
  readonly utilization?: number | undefined
  readonly smMhz?: number
  readonly temperature?: number
  readonly powerLimit?: number
  /** Reasons that hold its clocks down. */
  readonly throttle?: readonly string[]
  readonly instances?: readonly Instance[]
  /** The driver's list cannot be read. */
  readonly unlisted?: true
  /** The agent sees no other processes: the gap of the sources. */
  readonly blind?: true
}
export type Moment = {
  readonly cards: readonly (Card | 'gone')[]
  /** Which GPUs a container was given. */
  readonly grants?: Readonly<Record<string, readonly number[]>>
  readonly by?: string
  /** CPU cores in use, by container; the limit, where there is one. */
  readonly cores?: Readonly<Record<string, number>>
  readonly limits?: Readonly<Record<string, number>>
  readonly hostBusy?: number
  /** Shares of the second in which something waited: `io`, `cpu`, `memory`. */
  readonly pressure?: Readonly<Record<string, number>>
  readonly disks?: Readonly<Record<string, number>>
  readonly wsl?: true
}
const HOST_CORES = 64
const idOf = (container: string): string => Buffer.from(container.padEnd(6, '-')).toString('hex').slice(0, 12)
const containerLabels = (container: string): Labels => ({ container, container_id: idOf(container), image: 'test:1' })

type Said = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }
/** Most cards say the same for hours. */
const said = new Map<string, Said>()
const MOST_SAID = 1_000
function cardReadings(index: number, card: Card): Said {
  // JSON does not tell a utilization that cannot be read from one that is not set.
  const key = `${index} ${'utilization' in card && card.utilization === undefined} ${JSON.stringify(card)}`
  let same = said.get(key)
  if (same === undefined) {
    if (said.size >= MOST_SAID) said.clear()
    said.set(key, (same = newCardReadings(index, card)))
  }
  return same
}
function newCardReadings(index: number, card: Card): Said {
  const place = { gpu: String(index), uuid: uuid(index) }
  const { jobs = [], lost = 0, smMhz = 1_755, temperature = 60, powerLimit = 700, throttle = [], instances = [] } = card
  const utilization = 'utilization' in card ? card.utilization : 0.97
  const used = jobs.reduce((sum, { gib }) => sum + gib * GIB, lost * GIB)
  const reasons = ['gpu_idle', 'sw_power_cap', 'hw_slowdown', 'sw_thermal_slowdown', 'hw_thermal_slowdown', 'hw_power_brake_slowdown']
  const value = (name: string, labels: Labels, amount: number): Reading => reading(name, { ...place, ...labels }, amount)
  const readings = [
    value('gpu_info', { name: 'Test GPU' }, 1),
    value('gpu_memory_total_bytes', {}, TOTAL),
    value('gpu_memory_used_bytes', {}, used),
    value('gpu_memory_free_bytes', {}, TOTAL - used),
    ...(utilization === undefined ? [] : [value('gpu_utilization_ratio', {}, utilization)]),
    value('gpu_clock_hertz', { domain: 'sm' }, smMhz * 1e6),
    value('gpu_clock_max_hertz', { domain: 'sm' }, 1_980e6),
    value('gpu_temperature_celsius', {}, temperature),
    value('gpu_power_watts', {}, 500),
    value('gpu_power_limit_watts', {}, powerLimit),
    ...reasons.map((reason) => value('gpu_throttle_active', { reason }, throttle.includes(reason) ? 1 : 0)),
    ...instances.flatMap(({ gi, totalGib, usedGib, engine }) => [
      value('gpu_memory_total_bytes', { gi }, totalGib * GIB),
      value('gpu_memory_used_bytes', { gi }, usedGib * GIB),
      value('gpu_memory_free_bytes', { gi }, (totalGib - usedGib) * GIB),
      ...(engine === undefined ? [] : [value('gpu_gpm_engine_active_ratio', { gi }, engine)]),
    ]),
    ...(card.unlisted === true ? [] : [value('gpu_memory_unattributed_bytes', {}, lost * GIB)]),
    ...(card.unlisted === true ? [] : jobs).flatMap(({ pid, gib, container, slurm, name = 'python', type = 'C', gi, retries }) => {
      const labels = {
        pid: String(pid),
        ...(name === null ? {} : { process: name }),
        ...(container === undefined ? {} : containerLabels(container)),
        ...(slurm === undefined ? {} : { slurm_job: slurm }),
        ...(gi === undefined ? {} : { gi }),
      }
      const held = value('process_gpu_memory_bytes', { ...labels, type }, gib * GIB)
      return retries === undefined ? [held] : [held, value('allocator_retries_total', labels, retries)]
    }),
  ]
  const gap = (metric: string, reason: Gap['reason']): Gap => ({ metric: `warpwatch_${metric}`, labels: place, reason })
  return {
    readings,
    gaps: [
      ...(card.unlisted === true ? [gap('gpu_memory_unattributed_bytes', 'not_supported')] : []),
      ...(card.blind === true ? [gap('process_gpu_memory_bytes', 'no_permission')] : []),
    ],
  }
}

/** What the sources say of a card that does not answer. */
const silent = (index: number): Said => ({
  readings: [],
  gaps: [{ metric: 'gpu', labels: { gpu: String(index), uuid: uuid(index) }, reason: 'timeout' }],
})

/** What the sources say of each second; counters go on rising from moment to moment. */
export function createMoments(): (second: number, moment: Moment) => readonly Event[] {
  const sums = new Map<Series, number>()
  const counter = (name: string, labels: Labels, rise: number): Reading => {
    const series = seriesFor(name, labels)
    const value = (sums.get(series) ?? 1_000) + rise
    sums.set(series, value)
    return { series, value }
  }
  return (second, moment) => {
    const t = T + second * 1_000
    const { cards, grants = {}, by = 'device_request', cores = {}, limits = {}, hostBusy = 0.2, pressure = {}, disks = {}, wsl } = moment
    const reported = cards.map((card, index) => (card === 'gone' ? silent(index) : cardReadings(index, card)))
    const ofCards = {
      ...scrape(
        t,
        'gpu',
        reported.flatMap(({ readings }) => readings),
      ),
      gaps: reported.flatMap(({ gaps }) => gaps),
    }
    const containers = [...new Set([...Object.keys(cores), ...Object.keys(grants)])]
    return [
      ofCards,
      scrape(t, 'containers', [
        ...containers.map((name) => counter('container_cpu_seconds_total', containerLabels(name), cores[name] ?? 0)),
        ...Object.entries(limits).map(([name, limit]) => reading('container_cpu_limit_cores', containerLabels(name), limit)),
        ...Object.entries(grants).flatMap(([name, gpus]) =>
          gpus.map((gpu) => reading('container_gpu_requested', { ...containerLabels(name), gpu: String(gpu), uuid: uuid(gpu), by }, 1)),
        ),
      ]),
      scrape(t, 'host', [
        reading('host_info', { hostname: 'gpu-01', ...(wsl === undefined ? {} : { wsl: '2' }) }, 1),
        counter('host_cpu_seconds_total', { mode: 'user' }, HOST_CORES * hostBusy * 0.9),
        counter('host_cpu_seconds_total', { mode: 'system' }, HOST_CORES * hostBusy * 0.1),
        counter('host_cpu_seconds_total', { mode: 'idle' }, HOST_CORES * (1 - hostBusy)),
        ...['io', 'cpu', 'memory'].map((resource) => counter('host_pressure_waiting_seconds_total', { resource, kind: 'some' }, pressure[resource] ?? 0.01)),
        ...Object.entries(disks).map(([device, busy]) => counter('host_disk_busy_seconds_total', { device }, busy)),
      ]),
    ]
  }
}

/** What the detector says, second by second. */
export function watch(
  definition: DetectorDefinition,
  seconds: number,
  tell: (second: number) => Moment,
  options: Readonly<Record<string, number>> = {},
): readonly Turn[] {
  const eventsOf = createMoments()
  return turnsOf(definition, seconds, (second) => eventsOf(second, tell(second)), options)
}
export { faults, firstFault, story, type Turn } from './turns.ts'
