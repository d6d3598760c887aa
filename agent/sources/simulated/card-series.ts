// The readings of one simulated card, by rate.
import type { Gap, Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import { capacityOf, CARD_NAME, MEMORY_HERTZ, POWER_LIMIT_WATTS, SM_MAX_HERTZ, THROTTLE_REASONS, type Card, type ThrottleReason } from './card.ts'
import type { Tell, Teller } from './teller.ts'
import { instanceUsedBytes, usedBytes, type World } from './world.ts'

export type CardAnswer = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }
export type CardReader = {
  readonly fast: () => CardAnswer
  readonly slow: () => CardAnswer
  readonly rare: () => CardAnswer
  readonly age: Tell
  readonly xids: (readings: Reading[]) => void
}

/** nvmlClocksEventReason*; all reasons are told, also those that the simulation never sets. */
const NEVER_ACTIVE = ['applications_clocks_setting', 'hw_slowdown', 'sync_boost', 'display_clocks_setting']
const REASON_BITS: Readonly<Record<ThrottleReason, number>> = {
  sw_power_cap: 0x4,
  sw_thermal_slowdown: 0x20,
  hw_thermal_slowdown: 0x40,
  hw_power_brake_slowdown: 0x80,
}

const gap = (metric: string, labels: Labels, detail: string): Gap => ({ metric: `warpwatch_${metric}`, labels, reason: 'not_supported', code: 3, detail })

export function cardSeries(world: World, card: Card, teller: Teller): CardReader {
  const labels = { gpu: String(card.index), uuid: card.uuid }
  const of = (name: string, further: Labels = {}): Tell => teller.series(name, { ...labels, ...further })
  const memory = memorySeries(world, card, of)
  const fast = fastSeries(card, of)
  const slow = slowSeries(card, of)
  const rare = rareSeries(card, of)
  const utilizationGaps = ['gpu_utilization_ratio', 'gpu_memory_utilization_ratio'].map((name) => gap(name, labels, 'not told while MIG is on (simulated)'))
  const slowGaps = [gap('gpu_fan_speed_ratio', labels, 'this card has no fan of its own (simulated)')]
  const rareGaps = [gap('gpu_retired_pages', labels, 'this card remaps rows instead (simulated)')]
  const xids = new Map<number, readonly [total: Tell, last: Tell]>()
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
    xids(readings) {
      let newest = 0
      let newestAt = 0
      for (const [xid, { count, lastAt }] of card.xids) {
        let tells = xids.get(xid)
        if (tells === undefined) {
          tells = [of('gpu_xid_errors_total', { xid: String(xid) }), of('gpu_xid_last_timestamp_seconds', { xid: String(xid) })]
          xids.set(xid, tells)
        }
        tells[0](readings, count)
        tells[1](readings, lastAt / 1000)
        if (lastAt >= newestAt) [newest, newestAt] = [xid, lastAt]
      }
      if (newest > 0) lastCode(readings, newest)
    },
  }
}

type Of = (name: string, further?: Labels) => Tell

function memorySeries(world: World, card: Card, of: Of): (readings: Reading[]) => void {
  const place = (further: Labels) => ({
    total: of('gpu_memory_total_bytes', further),
    used: of('gpu_memory_used_bytes', further),
    free: of('gpu_memory_free_bytes', further),
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
    reserved(readings, card.reservedBytes)
    peak(readings, Math.max(used, ...card.usedHistory))
    for (const { instance, total, used: usedTell, free } of instances) {
      const inside = instanceUsedBytes(world, card, instance)
      total(readings, instance.totalBytes)
      usedTell(readings, inside)
      free(readings, instance.totalBytes - inside)
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

function slowSeries(card: Card, of: Of): (readings: Reading[]) => void {
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
    for (const tell of ecc) tell(readings, 0)
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
