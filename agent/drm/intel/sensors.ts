// Power, energy, temperatures, fans and clocks of an Intel card, and what throttles it.
import { gpuClockHertz, gpuClockMaxHertz, gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { gpuEnergyJoulesTotal, gpuPowerLimitDefaultWatts, gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import {
  gpuFanRevolutionsPerMinute,
  gpuMemoryTemperatureCelsius,
  gpuTemperatureCelsius,
  gpuTemperatureThresholdCelsius,
} from '../../metrics/gpu-temperature.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { Card, CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { channels, hwmonOf, MEGA, MICRO, MILLI } from '../parts/hwmon.ts'
import { firstRead, report } from '../parts/report.ts'
import { gtsOf } from './gts.ts'

const missing = (card: Card, what: string): Failure =>
  failureOf(`${card.device} ${what}`, -1, 'not_supported', `this card and kernel have no ${what} in their hwmon folder`)

/** Of the card as a whole where its counter runs, else of the package; a counter that some cards have is at 0. In µJ. */
function energyOf(card: Card, hwmon: string): () => number | Failure {
  const all = channels(card, hwmon, 'energy')
  const order = [...all.filter(({ label }) => label === 'card' || label === ''), ...all.filter(({ label }) => label === 'pkg')]
  const none = missing(card, 'energy counter')
  return () => {
    let failure: Failure | undefined
    for (const { number } of order) {
      const counter = card.askNumber(`${hwmon}/energy${number}_input`)
      if (isFailure(counter)) failure ??= counter
      else if (counter > 0) return counter
    }
    return failure ?? none
  }
}

export const energy: CardCollector = {
  id: 'energy',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuEnergyJoulesTotal, gpuPowerWatts],
  attach(card) {
    const counter = energyOf(card, hwmonOf(card))
    const joules = makeSeries(gpuEnergyJoulesTotal, card.labels)
    const watts = makeSeries(gpuPowerWatts, card.labels)
    const stands = failureOf(`${card.device} energy`, -2, 'driver_error', 'the energy counter of the card stands still, so its power is not known')
    let before: { readonly value: number; readonly at: number } | undefined
    return {
      read(out, nowMs) {
        const now = counter()
        report(out, joules, now, MICRO)
        if (isFailure(now)) return out.gap(gpuPowerWatts, card.labels, now)
        const last = before
        before = { value: now, at: nowMs }
        if (last === undefined || now < last.value || nowMs <= last.at) return
        if (now === last.value) out.gap(gpuPowerWatts, card.labels, stands)
        else out.reading(watts, Math.round((((now - last.value) * MICRO) / (nowMs - last.at)) * 1e6) / 1e3)
      },
    }
  },
}

export const powerLimits: CardCollector = {
  id: 'power-limits',
  rate: 'slow',
  readsAsleep: false,
  metrics: [gpuPowerLimitWatts, gpuPowerLimitDefaultWatts],
  attach(card) {
    const hwmon = hwmonOf(card)
    const limit = makeSeries(gpuPowerLimitWatts, card.labels)
    const rated = makeSeries(gpuPowerLimitDefaultWatts, card.labels)
    const unset = failureOf(`${hwmon}/power1_max`, -2, 'not_supported', 'the card has no power limit (0)')
    const read = (...files: readonly string[]): number | Failure => {
      const value = firstRead(...files.map((file) => () => card.askNumber(`${hwmon}/${file}`)))
      return value === 0 ? unset : value
    }
    return {
      read(out) {
        report(out, limit, read('power1_max', 'power2_max', 'power1_cap', 'power2_cap'), MICRO)
        report(out, rated, read('power1_rated_max', 'power2_rated_max'), MICRO)
      },
    }
  },
}

/** By label; i915 has one sensor without. */
function sensor(card: Card, hwmon: string, label: string): string | undefined {
  const all = channels(card, hwmon, 'temp')
  const found = all.find((channel) => channel.label === label) ?? (label === 'pkg' ? all.find((channel) => channel.label === '') : undefined)
  return found === undefined ? undefined : `${hwmon}/temp${found.number}`
}

export const temperature: CardCollector = {
  id: 'temperature',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuTemperatureCelsius, gpuMemoryTemperatureCelsius, gpuTemperatureThresholdCelsius],
  attach(card) {
    const hwmon = hwmonOf(card)
    const parts = [
      { metric: gpuTemperatureCelsius, path: sensor(card, hwmon, 'pkg'), limits: { slowdown: 'crit', shutdown: 'emergency' } },
      { metric: gpuMemoryTemperatureCelsius, path: sensor(card, hwmon, 'vram'), limits: { memory_max: 'crit' } },
    ].map(({ metric, path, limits }) => ({
      path,
      series: makeSeries(metric, card.labels),
      none: missing(card, metric === gpuTemperatureCelsius ? 'temperature of the package' : 'temperature of the memory'),
      limits: Object.entries(limits).flatMap(([threshold, file]) =>
        // Newer kernels have them; who has none is no gap.
        path !== undefined && card.files.has(`${path}_${file}`)
          ? [{ path: `${path}_${file}`, series: makeSeries(gpuTemperatureThresholdCelsius, { ...card.labels, threshold }) }]
          : [],
      ),
    }))
    return {
      read(out) {
        for (const { path, series, none, limits } of parts) {
          report(out, series, path === undefined ? none : card.askNumber(`${path}_input`), MILLI)
          for (const limit of limits) report(out, limit.series, card.askNumber(limit.path), MILLI)
        }
      },
    }
  },
}

export const fans: CardCollector = {
  id: 'fans',
  rate: 'slow',
  readsAsleep: false,
  metrics: [gpuFanRevolutionsPerMinute],
  attach(card) {
    const hwmon = hwmonOf(card)
    const all = channels(card, hwmon, 'fan').map(({ number }) => ({
      path: `${hwmon}/fan${number}_input`,
      series: makeSeries(gpuFanRevolutionsPerMinute, { ...card.labels, fan: String(number) }),
    }))
    const none = missing(card, 'fan')
    return {
      read(out) {
        if (all.length === 0) out.gap(gpuFanRevolutionsPerMinute, card.labels, none)
        for (const { path, series } of all) report(out, series, card.askNumber(path))
      },
    }
  },
}

export const clocks: CardCollector = {
  id: 'clocks',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuClockHertz, gpuClockMaxHertz],
  attach(card) {
    const seen = new Set<string>()
    const parts = gtsOf(card).flatMap((gt) => {
      // Tiles of one kind have one clock here, the first one's.
      const domain = gt.main ? 'graphics' : 'video'
      if (seen.has(domain)) return []
      seen.add(domain)
      const labels = { ...card.labels, domain }
      return [{ gt, now: makeSeries(gpuClockHertz, labels), most: makeSeries(gpuClockMaxHertz, labels) }]
    })
    const none = failureOf(`${card.device} clocks`, -1, 'not_supported', 'this driver shows no clock of the GPU')
    return {
      read(out) {
        if (parts.length === 0) out.gap(gpuClockHertz, card.labels, none)
        for (const { gt, now, most } of parts) {
          report(out, now, card.askNumber(gt.clock), MEGA)
          report(out, most, card.askNumber(gt.clockMax), MEGA)
        }
      },
    }
  },
}

/** The kernel's reasons in the words that NVIDIA's have. What new hardware adds keeps the kernel's word. */
const REASONS: Readonly<Record<string, string>> = {
  pl1: 'sw_power_cap',
  pl2: 'sw_power_cap',
  pl4: 'sw_power_cap',
  psys_pl1: 'sw_power_cap',
  psys_pl2: 'sw_power_cap',
  fastvmode: 'current_limit',
  vr_tdc: 'current_limit',
  iccmax: 'current_limit',
  thermal: 'sw_thermal_slowdown',
  soc_thermal: 'sw_thermal_slowdown',
  mem_thermal: 'sw_thermal_slowdown',
  ratl: 'sw_thermal_slowdown',
  vr_thermalert: 'hw_thermal_slowdown',
  vr_thermal: 'hw_thermal_slowdown',
  prochot: 'hw_thermal_slowdown',
  pwrbrk: 'hw_power_brake_slowdown',
}

export const throttle: CardCollector = {
  id: 'throttle',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuThrottleActive],
  attach(card) {
    const files = gtsOf(card)
      .filter(({ main }) => main)
      .flatMap(({ throttle: { folder, prefix } }) =>
        card.files
          .list(folder)
          .filter((name) => name.startsWith(prefix) && name !== `${prefix}status`)
          .map((name) => ({ path: `${folder}/${name}`, reason: REASONS[name.slice(prefix.length)] ?? name.slice(prefix.length) })),
      )
    const series = new Map([...new Set(files.map(({ reason }) => reason))].map((reason) => [reason, makeSeries(gpuThrottleActive, { ...card.labels, reason })]))
    const none = failureOf(`${card.device} throttle`, -1, 'not_supported', 'this driver does not tell why clocks are held down')
    return {
      read(out) {
        if (files.length === 0) return out.gap(gpuThrottleActive, card.labels, none)
        const active = new Map<string, number>()
        let failure: Failure | undefined
        for (const { path, reason } of files) {
          const on = card.askNumber(path)
          if (isFailure(on)) failure ??= on
          else active.set(reason, Math.max(active.get(reason) ?? 0, on === 0 ? 0 : 1))
        }
        if (active.size === 0 && failure !== undefined) return out.gap(gpuThrottleActive, card.labels, failure)
        for (const [reason, on] of active) {
          const of = series.get(reason)
          if (of !== undefined) out.reading(of, on)
        }
      },
    }
  },
}
