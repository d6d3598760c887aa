// Power, temperature and fan of a Jetson: the board's power monitor, the chip's thermal zones, the fan of the module.
import { gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuFanSpeedRatio, gpuTemperatureCelsius, gpuTemperatureThresholdCelsius } from '../../metrics/gpu-temperature.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { Card, CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { MILLI } from '../parts/hwmon.ts'
import { report } from '../parts/report.ts'
import { gpuRail } from './rails.ts'

export const power: CardCollector = {
  id: 'power',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuPowerWatts],
  attach(card) {
    const series = makeSeries(gpuPowerWatts, card.labels)
    const rail = gpuRail(card.files, card.roots.sys)
    return { read: (out) => report(out, series, isFailure(rail) ? rail : rail.watts()) }
  },
}

/** `gpu-thermal`, on older releases `GPU-therm`. */
function zoneOf({ files, roots }: Card): string | undefined {
  const root = `${roots.sys}/class/thermal`
  return files
    .list(root)
    .filter((name) => /^thermal_zone\d+$/.test(name))
    .map((name) => `${root}/${name}`)
    .find((zone) => {
      const type = files.text(`${zone}/type`)
      return !isFailure(type) && /^gpu-therm(?:al)?$/i.test(type)
    })
}

/** The zone says -256 °C, or EAGAIN, while that part of the chip has no power. */
const OFF_BELOW = -200_000
const EAGAIN = 11
const off = failureOf('gpu-thermal', -1, 'not_supported', 'the GPU has no power now (rail gated), so its sensor reports no temperature')

function degrees(card: Card, path: string): number | Failure {
  const value = card.files.number(path)
  if (isFailure(value)) return value.code === EAGAIN ? off : value
  return value < OFF_BELOW ? off : value
}

export const temperature: CardCollector = {
  id: 'temperature',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuTemperatureCelsius],
  attach(card) {
    const series = makeSeries(gpuTemperatureCelsius, card.labels)
    const zone = zoneOf(card)
    const none = failureOf(`${card.roots.sys}/class/thermal`, -1, 'not_supported', 'no thermal zone of this board is the GPU’s')
    return { read: (out) => report(out, series, zone === undefined ? none : degrees(card, `${zone}/temp`), MILLI) }
  },
}

const LIMITS = { slowdown: 'passive', shutdown: 'critical' } as const
export const temperatureThresholds: CardCollector = {
  id: 'temperature-thresholds',
  rate: 'rare',
  readsAsleep: true,
  metrics: [gpuTemperatureThresholdCelsius],
  attach(card) {
    const zone = zoneOf(card)
    const { files } = card
    const trips = zone === undefined ? [] : files.list(zone).flatMap((name) => /^(trip_point_\d+)_type$/.exec(name)?.[1] ?? [])
    const limits = Object.entries(LIMITS).map(([threshold, type]) => ({
      series: makeSeries(gpuTemperatureThresholdCelsius, { ...card.labels, threshold }),
      paths: trips.filter((trip) => files.text(`${zone}/${trip}_type`) === type).map((trip) => `${zone}/${trip}_temp`),
    }))
    return {
      read(out) {
        for (const { series, paths } of limits) {
          const reported = paths.map((path) => files.number(path)).filter((value): value is number => !isFailure(value) && value > 0)
          if (reported.length > 0) report(out, series, Math.min(...reported), MILLI)
        }
      },
    }
  },
}

export const fan: CardCollector = {
  id: 'fan',
  rate: 'slow',
  readsAsleep: true,
  metrics: [gpuFanSpeedRatio],
  attach(card) {
    const { files, roots } = card
    const series = makeSeries(gpuFanSpeedRatio, card.labels)
    const folder = files
      .list(`${roots.sys}/class/hwmon`)
      .map((name) => `${roots.sys}/class/hwmon/${name}`)
      .find((path) => files.text(`${path}/name`) === 'pwmfan')
    const none = failureOf(`${roots.sys}/class/hwmon`, -1, 'not_supported', 'this board has no fan that the kernel drives')
    return { read: (out) => report(out, series, folder === undefined ? none : files.number(`${folder}/pwm1`), 1 / 255) }
  },
}

/** The board slows the GPU while a rail draws more than it may ("system throttled due to over-current"). */
export const throttle: CardCollector = {
  id: 'throttle',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuThrottleActive],
  attach(card) {
    const series = makeSeries(gpuThrottleActive, { ...card.labels, reason: 'current_limit' })
    const rail = gpuRail(card.files, card.roots.sys)
    const none = failureOf(`${card.roots.sys}/class/hwmon`, -1, 'not_supported', 'this board does not report why clocks are held down')
    return {
      read(out) {
        const alarms = isFailure(rail) || rail.alarms.length === 0 ? [none] : rail.alarms.map((path) => card.files.number(path))
        const reported = alarms.filter((alarm): alarm is number => !isFailure(alarm))
        if (reported.length > 0) return out.reading(series, reported.some((alarm) => alarm > 0) ? 1 : 0)
        for (const alarm of alarms.slice(0, 1)) report(out, series, alarm)
      },
    }
  },
}
