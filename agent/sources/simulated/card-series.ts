// The readings of one simulated card, by rate.
import type { Gap, Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import { XID_WINDOW_MS } from '../../model/xid-count.ts'
import { GIB, MIB } from './allocator.ts'
import { capacityOf, CARD_NAME, MEMORY_HERTZ, POWER_LIMIT_WATTS, SM_MAX_HERTZ, THROTTLE_REASONS, type Card, type ThrottleReason } from './card.ts'
import type { Tell, Teller } from './teller.ts'
import { instanceUsedBytes, usedBytes, type World } from './world.ts'

export type CardAnswer = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }
export type CardReader = {
  readonly fast: () => CardAnswer
  readonly slow: () => CardAnswer
  readonly rare: () => CardAnswer
  readonly age: Tell
  /** At Unix time `t` in milliseconds. */
  readonly xids: (readings: Reading[], t: number) => void
}

/** nvmlClocksEventReason*; all reasons are told, also those that the simulation never sets. */
const NEVER_ACTIVE = ['applications_clocks_setting', 'hw_slowdown', 'sync_boost', 'display_clocks_setting']
const REASON_BITS: Readonly<Record<ThrottleReason, number>> = {
  sw_power_cap: 0x4,
  sw_thermal_slowdown: 0x20,
  hw_thermal_slowdown: 0x40,
  hw_power_brake_slowdown: 0x80,
}

/** As an H100 80GB HBM3 tells them: temperatures at which it protects itself, and its window to the CPU. */
const THRESHOLDS = [
  ['shutdown', 92],
  ['slowdown', 89],
  ['memory_max', 95],
] as const
const BAR1_BYTES = 128 * GIB
const BAR1_USED_BYTES = 3 * MIB

const gap = (metric: string, labels: Labels, detail: string): Gap => ({ metric: `warpwatch_${metric}`, labels, reason: 'not_supported', code: 3, detail })

export function cardSeries(world: World, card: Card, teller: Teller): CardReader {
  const labels = { gpu: String(card.index), uuid: card.uuid }
  const of = (name: string, further: Labels = {}): Tell => teller.series(name, { ...labels, ...further })
  const memory = memorySeries(world, card, of)
  const fast = fastSeries(card, of)
  const slow = slowSeries(world, card, of)
  const rare = rareSeries(card, of)
  const utilizationGaps = ['gpu_utilization_ratio', 'gpu_memory_utilization_ratio'].map((name) => gap(name, labels, 'not told while MIG is on (simulated)'))
  const slowGaps = [gap('gpu_fan_speed_ratio', labels, 'this card has no fan of its own (simulated)')]
  const rareGaps = [gap('gpu_retired_pages', labels, 'this card remaps rows instead (simulated)')]
  const xids = new Map<number, readonly [total: Tell, last: Tell, recent: Tell]>()
  const lastCode = of('gpu_xid_last_code')
  return {
    fast() {
      const readings: Reading[] = []
      memory(readings)
      fast(readings)
      return { readings, gaps: card.mig.length > 0 ? utilizationGaps : [] }
    },
    slow() {
      const readings: Reading[] = []
      slow(readings)
      return { readings, gaps: slowGaps }
    },
    rare() {
      const readings: Reading[] = []
      rare(readings)
      return { readings, gaps: rareGaps }
    },
    age: of('gpu_sample_age_seconds'),
    xids(readings, now) {
      let newest = 0
      let newestAt = 0
      for (const [xid, { count, lastAt, times }] of card.xids) {
        let tells = xids.get(xid)
        if (tells === undefined) {
          const numbered = { xid: String(xid) }
          tells = [of('gpu_xid_errors_total', numbered), of('gpu_xid_last_timestamp_seconds', numbered), of('gpu_xid_errors_recent', numbered)]
          xids.set(xid, tells)
        }
        tells[0](readings, count)
        tells[1](readings, lastAt / 1000)
        const recent = times.filter((t) => t > now - XID_WINDOW_MS).length
        if (recent > 0) tells[2](readings, recent)
        if (lastAt >= newestAt) [newest, newestAt] = [xid, lastAt]
      }
      if (newest > 0) lastCode(readings, newest)
    },
  }
}

type Of = (name: string, further?: Labels) => Tell

const share = (used: number, all: number): number => Math.round((used / all) * 1e6) / 1e6

function memorySeries(world: World, card: Card, of: Of): (readings: Reading[]) => void {
  const place = (further: Labels) => ({
    total: of('gpu_memory_total_bytes', further),
    used: of('gpu_memory_used_bytes', further),
    free: of('gpu_memory_free_bytes', further),
    ratio: of('gpu_memory_used_ratio', further),
  })
  const whole = place({})
  const reserved = of('gpu_memory_reserved_bytes')
  const peak = of('gpu_memory_used_peak_bytes')
  const instances = card.mig.map((instance) => ({ instance, ...place({ gi: instance.gi, ci: instance.ci }) }))
  return (readings) => {
    const used = usedBytes(world, card)
    whole.total(readings, card.totalBytes)
    whole.used(readings, used)
    whole.free(readings, capacityOf(card) - used)
    whole.ratio(readings, share(used, capacityOf(card)))
    reserved(readings, card.reservedBytes)
    peak(readings, Math.max(used, ...card.usedHistory))
    for (const { instance, total, used: usedTell, free, ratio } of instances) {
      const inside = instanceUsedBytes(world, card, instance)
      total(readings, instance.totalBytes)
      usedTell(readings, inside)
      free(readings, instance.totalBytes - inside)
      ratio(readings, share(inside, instance.totalBytes))
    }
  }
}

function fastSeries(card: Card, of: Of): (readings: Reading[]) => void {
  const [utilization, memoryUtilization] = [of('gpu_utilization_ratio'), of('gpu_memory_utilization_ratio')]
  const [power, energy] = [of('gpu_power_watts'), of('gpu_energy_joules_total')]
  const [temperature, memoryTemperature] = [of('gpu_temperature_celsius'), of('gpu_memory_temperature_celsius')]
  const clocks = ['sm', 'graphics', 'memory', 'video'].map((domain) => of('gpu_clock_hertz', { domain }))
  const state = of('gpu_performance_state')
  const throttles = THROTTLE_REASONS.map((reason) => ({
    reason,
    active: of('gpu_throttle_active', { reason }),
    seconds: of('gpu_throttle_seconds_total', { reason }),
  }))
  const quiet = NEVER_ACTIVE.map((reason) => of('gpu_throttle_active', { reason }))
  const idle = of('gpu_throttle_active', { reason: 'gpu_idle' })
  const mask = of('gpu_throttle_reasons')
  return (readings) => {
    if (card.mig.length === 0) {
      utilization(readings, card.utilization)
      memoryUtilization(readings, card.memoryUtilization)
    }
    power(readings, Math.round(card.powerWatts * 1000) / 1000)
    energy(readings, Math.round(card.energyJoules * 1000) / 1000)
    temperature(readings, Math.round(card.temperature))
    memoryTemperature(readings, Math.round(card.temperature + 6 + 6 * card.memoryUtilization))
    const hertz = [card.smHertz, card.smHertz, MEMORY_HERTZ, Math.round((card.smHertz * 0.85) / 15e6) * 15e6]
    clocks.forEach((tell, index) => tell(readings, hertz[index] ?? 0))
    state(readings, 0)
    for (const { reason, active, seconds } of throttles) {
      active(readings, card.throttling.has(reason) ? 1 : 0)
      seconds(readings, Math.round((card.throttleSeconds.get(reason) ?? 0) * 1000) / 1000)
    }
    for (const tell of quiet) tell(readings, 0)
    idle(readings, card.utilization < 0.02 ? 1 : 0)
    let bits = card.utilization < 0.02 ? 1 : 0
    for (const reason of card.throttling) bits += REASON_BITS[reason]
    mask(readings, bits)
  }
}

function slowSeries(world: World, card: Card, of: Of): (readings: Reading[]) => void {
  const limit = of('gpu_power_limit_watts')
  const max = [
    [of('gpu_clock_max_hertz', { domain: 'sm' }), SM_MAX_HERTZ],
    [of('gpu_clock_max_hertz', { domain: 'graphics' }), SM_MAX_HERTZ],
    [of('gpu_clock_max_hertz', { domain: 'memory' }), MEMORY_HERTZ],
  ] as const
  const idleEngines = [of('gpu_encoder_utilization_ratio'), of('gpu_decoder_utilization_ratio')]
  const [generation, width, replays] = [of('gpu_pcie_link_generation'), of('gpu_pcie_link_width'), of('gpu_pcie_replay_total')]
  const [receive, transmit] = [of('gpu_pcie_throughput_bytes_per_second', { direction: 'rx' }), of('gpu_pcie_throughput_bytes_per_second', { direction: 'tx' })]
  const [nvlink, nvlinkSent, nvlinkReceived] = [
    of('gpu_nvlink_throughput_bytes_per_second'),
    of('gpu_nvlink_bytes_total', { direction: 'tx' }),
    of('gpu_nvlink_bytes_total', { direction: 'rx' }),
  ]
  const [nvlinkOut, nvlinkIn] = [
    of('gpu_nvlink_direction_bytes_per_second', { direction: 'tx' }),
    of('gpu_nvlink_direction_bytes_per_second', { direction: 'rx' }),
  ]
  const bar1 = [{}, ...card.mig.map(({ gi, ci }) => ({ gi, ci }))].map((place) => ({
    total: of('gpu_bar1_total_bytes', place),
    used: of('gpu_bar1_used_bytes', place),
    free: of('gpu_bar1_free_bytes', place),
    bytes: 'gi' in place ? BAR1_BYTES / 2 : BAR1_BYTES,
  }))
  const profiling = world.cluster === undefined ? undefined : profilingSeries(card, of)
  const ecc = ['corrected', 'uncorrected'].flatMap((type) => ['volatile', 'aggregate'].map((scope) => of('gpu_ecc_errors_total', { type, scope })))
  return (readings) => {
    limit(readings, card.powerLimitWatts)
    for (const [tell, hertz] of max) tell(readings, hertz)
    for (const tell of idleEngines) tell(readings, 0)
    generation(readings, 5)
    width(readings, 16)
    replays(readings, card.pcieReplays)
    receive(readings, Math.round(card.pcieBytesPerSecond))
    transmit(readings, Math.round(card.pcieBytesPerSecond * 0.4))
    nvlink(readings, Math.round(card.nvlinkBytesPerSecond * 2))
    nvlinkSent(readings, Math.round(card.nvlinkBytes))
    nvlinkReceived(readings, Math.round(card.nvlinkBytes))
    nvlinkOut(readings, Math.round(card.nvlinkBytesPerSecond))
    nvlinkIn(readings, Math.round(card.nvlinkBytesPerSecond))
    for (const { total, used, free, bytes } of bar1) {
      total(readings, bytes)
      used(readings, BAR1_USED_BYTES)
      free(readings, bytes - BAR1_USED_BYTES)
    }
    profiling?.(readings)
    for (const tell of ecc) tell(readings, 0)
  }
}

/** GPM's ratios as shares of how busy the card is, of a job in half precision: shapes, not measurements. */
function profilingSeries(card: Card, of: Of): (readings: Reading[]) => void {
  const shares = [
    [of('gpu_gpm_engine_active_ratio'), 1],
    [of('gpu_gpm_sm_active_ratio'), 0.82],
    [of('gpu_gpm_sm_occupancy_ratio'), 0.38],
    [of('gpu_gpm_tensor_active_ratio'), 0.46],
    [of('gpu_gpm_fp64_active_ratio'), 0],
    [of('gpu_gpm_fp32_active_ratio'), 0.09],
    [of('gpu_gpm_fp16_active_ratio'), 0.04],
  ] as const
  const memory = of('gpu_gpm_memory_active_ratio')
  return (readings) => {
    for (const [tell, part] of shares) tell(readings, Math.round(card.utilization * part * 1e4) / 1e4)
    memory(readings, Math.round(card.memoryUtilization * 1e4) / 1e4)
  }
}

function rareSeries(card: Card, of: Of): (readings: Reading[]) => void {
  const info = of('gpu_info', {
    name: CARD_NAME,
    pci_bus_id: card.pciBusId,
    driver_version: '580.95.05',
    cuda_version: '13.0',
    vbios_version: '96.00.99.00.01',
    serial: card.serial,
    minor: String(card.index),
  })
  const remapped = ['corrected', 'uncorrected'].map((type) => of('gpu_remapped_rows', { type }))
  const fixed = [
    [of('gpu_power_limit_default_watts'), POWER_LIMIT_WATTS],
    [of('gpu_power_limit_max_watts'), POWER_LIMIT_WATTS],
    [of('gpu_power_limit_min_watts'), 200],
    [of('gpu_pcie_link_generation_max'), 5],
    [of('gpu_pcie_link_width_max'), 16],
    ...THRESHOLDS.map(([threshold, celsius]) => [of('gpu_temperature_threshold_celsius', { threshold }), celsius] as const),
    [of('gpu_persistence_mode'), 1],
    [of('gpu_compute_mode'), 0],
    [of('gpu_ecc_enabled'), 1],
    [of('gpu_mig_enabled'), card.mig.length > 0 ? 1 : 0],
    ...card.mig.map((mig) => [of('gpu_mig_info', { gi: mig.gi, ci: mig.ci, mig_uuid: mig.uuid, name: `${CARD_NAME} MIG ${mig.profile}` }), 1] as const),
  ] as const
  const [pending, failure] = [of('gpu_row_remap_pending'), of('gpu_row_remap_failure')]
  return (readings) => {
    info(readings, 1)
    for (const [tell, value] of fixed) tell(readings, value)
    for (const tell of remapped) tell(readings, 0)
    // Xid 63 says that a row waits for the next reset.
    pending(readings, card.xids.has(63) ? 1 : 0)
    failure(readings, 0)
  }
}
