// The readings of one simulated card, by rate.
import * as gpm from '../../metrics/gpm.ts'
import { gpuClockHertz, gpuClockMaxHertz, gpuThrottleActive, gpuThrottleReasons, gpuThrottleSecondsTotal } from '../../metrics/gpu-clocks.ts'
import { gpuEccEnabled, gpuEccErrorsTotal, gpuRemappedRows, gpuRetiredPages, gpuRowRemapFailure, gpuRowRemapPending } from '../../metrics/gpu-errors.ts'
import { gpuComputeMode, gpuInfo, gpuPerformanceState, gpuPersistenceMode, gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import * as links from '../../metrics/gpu-links.ts'
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio, gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import {
  gpuBar1FreeBytes,
  gpuBar1TotalBytes,
  gpuBar1UsedBytes,
  gpuMemoryFreeBytes,
  gpuMemoryReservedBytes,
  gpuMemoryTotalBytes,
  gpuMemoryUsedBytes,
  gpuMemoryUsedPeakBytes,
  gpuMemoryUsedRatio,
} from '../../metrics/gpu-memory.ts'
import {
  gpuEnergyJoulesTotal,
  gpuPowerLimitDefaultWatts,
  gpuPowerLimitMaxWatts,
  gpuPowerLimitMinWatts,
  gpuPowerLimitWatts,
  gpuPowerWatts,
} from '../../metrics/gpu-power.ts'
import { gpuFanSpeedRatio, gpuMemoryTemperatureCelsius, gpuTemperatureCelsius, gpuTemperatureThresholdCelsius } from '../../metrics/gpu-temperature.ts'
import { gpuMigEnabled, gpuMigInfo } from '../../metrics/mig.ts'
import { gpuXidErrorsRecent, gpuXidErrorsTotal, gpuXidLastCode, gpuXidLastTimestampSeconds } from '../../metrics/xid.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Gap, Reading } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import { XID_WINDOW_MS } from '../../model/xid-count.ts'
import { GIB, MIB } from './allocator.ts'
import { capacityOf, CARD_NAME, MEMORY_HERTZ, POWER_LIMIT_WATTS, SM_MAX_HERTZ, THROTTLE_REASONS, type Card, type ThrottleReason } from './card.ts'
import { appendTo, type Append } from './append-reading.ts'
import { instanceUsedBytes, usedBytes, type World } from './world.ts'

export type CardAnswer = { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] }
export type CardReader = {
  readonly fast: () => CardAnswer
  readonly slow: () => CardAnswer
  readonly rare: () => CardAnswer
  readonly age: Append
  /** At Unix time `t` in milliseconds. */
  readonly xids: (readings: Reading[], t: number) => void
}

/** nvmlClocksEventReason*; all reasons are reported, also those that the simulation never sets. */
const NEVER_ACTIVE = ['applications_clocks_setting', 'hw_slowdown', 'sync_boost', 'display_clocks_setting']
const REASON_BITS: Readonly<Record<ThrottleReason, number>> = {
  sw_power_cap: 0x4,
  sw_thermal_slowdown: 0x20,
  hw_thermal_slowdown: 0x40,
  hw_power_brake_slowdown: 0x80,
}

/** As an H100 80GB HBM3 reports them: temperatures at which it protects itself, and its window to the CPU. */
const THRESHOLDS = [
  ['shutdown', 92],
  ['slowdown', 89],
  ['memory_max', 95],
] as const
const BAR1_BYTES = 128 * GIB
const BAR1_USED_BYTES = 3 * MIB

const gap = ({ name }: MetricDef, labels: Labels, detail: string): Gap => ({ metric: name, labels, reason: 'not_supported', code: 3, detail })

export function cardSeries(world: World, card: Card): CardReader {
  const labels = { gpu: String(card.index), uuid: card.uuid }
  const of = (metric: MetricDef, further: Labels = {}): Append => appendTo(metric, { ...labels, ...further })
  const memory = memorySeries(world, card, of)
  const fast = fastSeries(card, of)
  const slow = slowSeries(world, card, of)
  const rare = rareSeries(card, of)
  const utilizationGaps = [gpuUtilizationRatio, gpuMemoryUtilizationRatio].map((metric) => gap(metric, labels, 'not reported while MIG is on (simulated)'))
  const slowGaps = [gap(gpuFanSpeedRatio, labels, 'this card has no fan of its own (simulated)')]
  const rareGaps = [gap(gpuRetiredPages, labels, 'this card remaps rows instead (simulated)')]
  const xids = new Map<number, readonly [total: Append, last: Append, recent: Append]>()
  const lastCode = of(gpuXidLastCode)
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
    age: of(gpuSampleAgeSeconds),
    xids(readings, now) {
      let newest = 0
      let newestAt = 0
      for (const [xid, { count, lastAt, times }] of card.xids) {
        let put = xids.get(xid)
        if (put === undefined) {
          const numbered = { xid: String(xid) }
          put = [of(gpuXidErrorsTotal, numbered), of(gpuXidLastTimestampSeconds, numbered), of(gpuXidErrorsRecent, numbered)]
          xids.set(xid, put)
        }
        put[0](readings, count)
        put[1](readings, lastAt / 1000)
        const recent = times.filter((t) => t > now - XID_WINDOW_MS).length
        if (recent > 0) put[2](readings, recent)
        if (lastAt >= newestAt) [newest, newestAt] = [xid, lastAt]
      }
      if (newest > 0) lastCode(readings, newest)
    },
  }
}

type Of = (metric: MetricDef, further?: Labels) => Append

const share = (used: number, all: number): number => Math.round((used / all) * 1e6) / 1e6

function memorySeries(world: World, card: Card, of: Of): (readings: Reading[]) => void {
  const place = (further: Labels) => ({
    total: of(gpuMemoryTotalBytes, further),
    used: of(gpuMemoryUsedBytes, further),
    free: of(gpuMemoryFreeBytes, further),
    ratio: of(gpuMemoryUsedRatio, further),
  })
  const whole = place({})
  const reserved = of(gpuMemoryReservedBytes)
  const peak = of(gpuMemoryUsedPeakBytes)
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
  const [utilization, memoryUtilization] = [of(gpuUtilizationRatio), of(gpuMemoryUtilizationRatio)]
  const [power, energy] = [of(gpuPowerWatts), of(gpuEnergyJoulesTotal)]
  const [temperature, memoryTemperature] = [of(gpuTemperatureCelsius), of(gpuMemoryTemperatureCelsius)]
  const clocks = ['sm', 'graphics', 'memory', 'video'].map((domain) => of(gpuClockHertz, { domain }))
  const state = of(gpuPerformanceState)
  const throttles = THROTTLE_REASONS.map((reason) => ({
    reason,
    active: of(gpuThrottleActive, { reason }),
    seconds: of(gpuThrottleSecondsTotal, { reason }),
  }))
  const quiet = NEVER_ACTIVE.map((reason) => of(gpuThrottleActive, { reason }))
  const idle = of(gpuThrottleActive, { reason: 'gpu_idle' })
  const mask = of(gpuThrottleReasons)
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
    clocks.forEach((put, index) => put(readings, hertz[index] ?? 0))
    state(readings, 0)
    for (const { reason, active, seconds } of throttles) {
      active(readings, card.throttling.has(reason) ? 1 : 0)
      seconds(readings, Math.round((card.throttleSeconds.get(reason) ?? 0) * 1000) / 1000)
    }
    for (const put of quiet) put(readings, 0)
    idle(readings, card.utilization < 0.02 ? 1 : 0)
    let bits = card.utilization < 0.02 ? 1 : 0
    for (const reason of card.throttling) bits += REASON_BITS[reason]
    mask(readings, bits)
  }
}

function slowSeries(world: World, card: Card, of: Of): (readings: Reading[]) => void {
  const limit = of(gpuPowerLimitWatts)
  const max = [
    [of(gpuClockMaxHertz, { domain: 'sm' }), SM_MAX_HERTZ],
    [of(gpuClockMaxHertz, { domain: 'graphics' }), SM_MAX_HERTZ],
    [of(gpuClockMaxHertz, { domain: 'memory' }), MEMORY_HERTZ],
  ] as const
  const idleEngines = [of(gpuEncoderUtilizationRatio), of(gpuDecoderUtilizationRatio)]
  const [generation, width, replays] = [of(links.gpuPcieLinkGeneration), of(links.gpuPcieLinkWidth), of(links.gpuPcieReplayTotal)]
  const [receive, transmit] = [of(links.gpuPcieThroughputBytesPerSecond, { direction: 'rx' }), of(links.gpuPcieThroughputBytesPerSecond, { direction: 'tx' })]
  const [nvlink, nvlinkSent, nvlinkReceived] = [
    of(links.gpuNvlinkThroughputBytesPerSecond),
    of(links.gpuNvlinkBytesTotal, { direction: 'tx' }),
    of(links.gpuNvlinkBytesTotal, { direction: 'rx' }),
  ]
  const [nvlinkOut, nvlinkIn] = [
    of(links.gpuNvlinkDirectionBytesPerSecond, { direction: 'tx' }),
    of(links.gpuNvlinkDirectionBytesPerSecond, { direction: 'rx' }),
  ]
  const bar1 = [{}, ...card.mig.map(({ gi, ci }) => ({ gi, ci }))].map((place) => ({
    total: of(gpuBar1TotalBytes, place),
    used: of(gpuBar1UsedBytes, place),
    free: of(gpuBar1FreeBytes, place),
    bytes: 'gi' in place ? BAR1_BYTES / 2 : BAR1_BYTES,
  }))
  const profiling = world.cluster === undefined ? undefined : profilingSeries(card, of)
  const ecc = ['corrected', 'uncorrected'].flatMap((type) => ['volatile', 'aggregate'].map((scope) => of(gpuEccErrorsTotal, { type, scope })))
  return (readings) => {
    limit(readings, card.powerLimitWatts)
    for (const [put, hertz] of max) put(readings, hertz)
    for (const put of idleEngines) put(readings, 0)
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
    for (const put of ecc) put(readings, 0)
  }
}

/** GPM's ratios as shares of how busy the card is, of a job in half precision: shapes, not measurements. */
function profilingSeries(card: Card, of: Of): (readings: Reading[]) => void {
  const shares = [
    [of(gpm.gpuGpmEngineActiveRatio), 1],
    [of(gpm.gpuGpmSmActiveRatio), 0.82],
    [of(gpm.gpuGpmSmOccupancyRatio), 0.38],
    [of(gpm.gpuGpmTensorActiveRatio), 0.46],
    [of(gpm.gpuGpmFp64ActiveRatio), 0],
    [of(gpm.gpuGpmFp32ActiveRatio), 0.09],
    [of(gpm.gpuGpmFp16ActiveRatio), 0.04],
  ] as const
  const memory = of(gpm.gpuGpmMemoryActiveRatio)
  return (readings) => {
    for (const [put, part] of shares) put(readings, Math.round(card.utilization * part * 1e4) / 1e4)
    memory(readings, Math.round(card.memoryUtilization * 1e4) / 1e4)
  }
}

function rareSeries(card: Card, of: Of): (readings: Reading[]) => void {
  const info = of(gpuInfo, {
    name: CARD_NAME,
    pci_bus_id: card.pciBusId,
    driver_version: '580.95.05',
    cuda_version: '13.0',
    vbios_version: '96.00.99.00.01',
    serial: card.serial,
    minor: String(card.index),
  })
  const remapped = ['corrected', 'uncorrected'].map((type) => of(gpuRemappedRows, { type }))
  const fixed = [
    [of(gpuPowerLimitDefaultWatts), POWER_LIMIT_WATTS],
    [of(gpuPowerLimitMaxWatts), POWER_LIMIT_WATTS],
    [of(gpuPowerLimitMinWatts), 200],
    [of(links.gpuPcieLinkGenerationMax), 5],
    [of(links.gpuPcieLinkWidthMax), 16],
    ...THRESHOLDS.map(([threshold, celsius]) => [of(gpuTemperatureThresholdCelsius, { threshold }), celsius] as const),
    [of(gpuPersistenceMode), 1],
    [of(gpuComputeMode), 0],
    [of(gpuEccEnabled), 1],
    [of(gpuMigEnabled), card.mig.length > 0 ? 1 : 0],
    ...card.mig.map((mig) => [of(gpuMigInfo, { gi: mig.gi, ci: mig.ci, mig_uuid: mig.uuid, name: `${CARD_NAME} MIG ${mig.profile}` }), 1] as const),
  ] as const
  const [pending, failure] = [of(gpuRowRemapPending), of(gpuRowRemapFailure)]
  return (readings) => {
    info(readings, 1)
    for (const [put, value] of fixed) put(readings, value)
    for (const put of remapped) put(readings, 0)
    // Xid 63 says that a row waits for the next reset.
    pending(readings, card.xids.has(63) ? 1 : 0)
    failure(readings, 0)
  }
}
