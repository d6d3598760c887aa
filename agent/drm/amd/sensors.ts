// Power, temperatures, fans and clocks of an AMD card from its hwmon folder; what that lacks from `gpu_metrics`.
import { gpuClockHertz, gpuClockMaxHertz } from '../../metrics/gpu-clocks.ts'
import {
  gpuEnergyJoulesTotal,
  gpuPowerLimitDefaultWatts,
  gpuPowerLimitMaxWatts,
  gpuPowerLimitMinWatts,
  gpuPowerLimitWatts,
  gpuPowerWatts,
} from '../../metrics/gpu-power.ts'
import {
  gpuFanRevolutionsPerMinute,
  gpuFanSpeedRatio,
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
import { figureOf, tableOf } from './table.ts'

/**
 * A card that is on draws power, so 0 says that it is not told: an MI200 has two dies, and only the first knows power, limits and energy of both
 * (aldebaran_ppt.c: "For secondary die show the value as 0").
 */
const reportedElsewhere = (value: number | Failure, path: string): number | Failure =>
  value === 0
    ? failureOf(path, -3, 'not_supported', `${path} is 0: this part of the card does not report it; on a card with two dies the other one does`)
    : value

/** A figure of the table in the unit of the file that it replaces. */
const scaled = (value: number | Failure, scale: number): number | Failure => (isFailure(value) ? value : value * scale)

export const power: CardCollector = {
  id: 'power',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuPowerWatts],
  attach(card) {
    const hwmon = hwmonOf(card)
    const series = makeSeries(gpuPowerWatts, card.labels)
    // Kernels and cards have the average, the present figure, or both.
    const read = (): number | Failure =>
      firstRead(
        () => card.askNumber(`${hwmon}/power1_average`),
        () => card.askNumber(`${hwmon}/power1_input`),
        () => scaled(figureOf(card, 'power'), 1 / MICRO),
      )
    return { read: (out) => report(out, series, reportedElsewhere(read(), `${hwmon}/power1_average`), MICRO) }
  },
}

const LIMITS = [
  [gpuPowerLimitWatts, 'power1_cap'],
  [gpuPowerLimitDefaultWatts, 'power1_cap_default'],
  [gpuPowerLimitMinWatts, 'power1_cap_min'],
  [gpuPowerLimitMaxWatts, 'power1_cap_max'],
] as const
export const powerLimits: CardCollector = {
  id: 'power-limits',
  rate: 'slow',
  readsAsleep: false,
  metrics: LIMITS.map(([metric]) => metric),
  attach(card) {
    const hwmon = hwmonOf(card)
    const series = LIMITS.map(([metric, file]) => ({ of: makeSeries(metric, card.labels), path: `${hwmon}/${file}` }))
    return {
      read(out) {
        for (const { of, path } of series) report(out, of, path.endsWith('_min') ? card.askNumber(path) : reportedElsewhere(card.askNumber(path), path), MICRO)
      },
    }
  },
}

/** KFD's numbers of the cards whose firmware counts energy in units of 2^-16 J: Arcturus, Aldebaran, MI300, MI350. */
const COUNTS_ENERGY: ReadonlySet<number> = new Set([90_008, 90_010, 90_400, 90_401, 90_402, 90_500])
export const energy: CardCollector = {
  id: 'energy',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuEnergyJoulesTotal],
  attach(card) {
    const series = makeSeries(gpuEnergyJoulesTotal, card.labels)
    const counts = card.clients.kfd.nodesAt(card.slot).some(({ target }) => COUNTS_ENERGY.has(target))
    const unknown = failureOf(`${card.device}/gpu_metrics energy`, -2, 'not_supported', 'the unit of the energy counter is known of Instinct cards only')
    return {
      read(out) {
        const table = tableOf(card)
        // Revisions from 1.4 on are of Instinct cards only.
        const known = counts || (!isFailure(table) && /^1\.[4-9]$/.test(table.revision))
        report(out, series, known ? reportedElsewhere(figureOf(card, 'energy'), `${card.device}/gpu_metrics energy`) : unknown, 2 ** -16)
      },
    }
  },
}

export const temperature: CardCollector = {
  id: 'temperature',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuTemperatureCelsius, gpuMemoryTemperatureCelsius],
  attach(card) {
    const hwmon = hwmonOf(card)
    const of = sensorPaths(card, hwmon)
    const die = makeSeries(gpuTemperatureCelsius, card.labels)
    const memory = makeSeries(gpuMemoryTemperatureCelsius, card.labels)
    return {
      read(out) {
        const hottest = firstRead(
          ...[of.junction, of.edge].filter((path) => path !== undefined).map((path) => () => card.askNumber(path)),
          // Firmware without a sensor has 0 in the table.
          () => sensed(scaled(figureOf(card, 'hotspot'), 1 / MILLI)),
          () => sensed(scaled(figureOf(card, 'edge'), 1 / MILLI)),
        )
        report(out, die, hottest, MILLI)
        const path = of.memory
        const chips = path === undefined ? scaled(figureOf(card, 'memory'), 1 / MILLI) : card.askNumber(path)
        // A memory without a sensor tells 0.
        report(out, memory, chips === 0 ? NO_MEMORY_SENSOR : chips, MILLI)
      },
    }
  },
}
const NO_MEMORY_SENSOR = failureOf('memory temperature', -1, 'not_supported', 'the memory of this card has no temperature sensor')
const NO_SENSOR = failureOf('temperature', -1, 'not_supported', 'the firmware of this card reports no temperature (0)')
const sensed = (value: number | Failure): number | Failure => (value === 0 ? NO_SENSOR : value)

type SensorPaths = {
  readonly edge: string | undefined
  readonly junction: string | undefined
  readonly memory: string | undefined
  readonly base: (label: string) => string | undefined
}
/** By their labels; radeon and old kernels have one sensor and no label. */
function sensorPaths(card: Card, hwmon: string): SensorPaths {
  const all = channels(card, hwmon, 'temp')
  const base = (label: string): string | undefined => {
    const found = all.find((channel) => channel.label === label)
    return found === undefined ? undefined : `${hwmon}/temp${found.number}`
  }
  const path = (label: string): string | undefined => {
    const found = base(label)
    return found === undefined ? undefined : `${found}_input`
  }
  const first = all[0] === undefined || all.some(({ label }) => label !== '') ? undefined : `${hwmon}/temp${all[0].number}_input`
  return { edge: path('edge') ?? first, junction: path('junction'), memory: path('mem'), base }
}

export const temperatureThresholds: CardCollector = {
  id: 'temperature-thresholds',
  rate: 'rare',
  readsAsleep: false,
  metrics: [gpuTemperatureThresholdCelsius],
  attach(card) {
    const { base } = sensorPaths(card, hwmonOf(card))
    const die = base('junction') ?? base('edge')
    const memory = base('mem')
    const limits = [
      ['slowdown', die, 'crit'],
      ['shutdown', die, 'emergency'],
      ['memory_max', memory, 'crit'],
    ] as const
    const series = limits.flatMap(([threshold, sensor, what]) =>
      sensor === undefined ? [] : [{ of: makeSeries(gpuTemperatureThresholdCelsius, { ...card.labels, threshold }), path: `${sensor}_${what}` }],
    )
    return {
      read(out) {
        for (const { of, path } of series) {
          const limit = card.askNumber(path)
          // -273150 and 0 say that there is no limit.
          if (isFailure(limit) || limit > 0) report(out, of, limit, MILLI)
        }
      },
    }
  },
}

export const fan: CardCollector = {
  id: 'fan',
  rate: 'slow',
  readsAsleep: false,
  metrics: [gpuFanSpeedRatio, gpuFanRevolutionsPerMinute],
  attach(card) {
    const hwmon = hwmonOf(card)
    const ratio = makeSeries(gpuFanSpeedRatio, card.labels)
    const speed = makeSeries(gpuFanRevolutionsPerMinute, { ...card.labels, fan: '1' })
    return {
      read(out) {
        const turns = card.askNumber(`${hwmon}/fan1_input`)
        const asked = card.askNumber(`${hwmon}/pwm1`)
        const most = card.askNumber(`${hwmon}/${isFailure(asked) ? 'fan1_max' : 'pwm1_max'}`)
        const now = isFailure(asked) ? turns : asked
        report(out, ratio, isFailure(now) ? now : isFailure(most) ? (isFailure(asked) ? most : asked / 255) : most > 0 ? now / most : NO_SCALE)
        report(out, speed, turns)
      },
    }
  },
}

const NO_SCALE = failureOf('fan speed', -1, 'not_supported', 'the fan has no highest speed to compare with')

const DOMAINS = [
  { domain: 'graphics', channel: 'freq1_input', field: 'gfxClock', levels: 'pp_dpm_sclk' },
  { domain: 'memory', channel: 'freq2_input', field: 'memoryClock', levels: 'pp_dpm_mclk' },
] as const

export const clocks: CardCollector = {
  id: 'clocks',
  rate: 'fast',
  readsAsleep: false,
  metrics: [gpuClockHertz],
  attach(card) {
    const hwmon = hwmonOf(card)
    const series = DOMAINS.map((of) => ({ ...of, series: makeSeries(gpuClockHertz, { ...card.labels, domain: of.domain }) }))
    return {
      read(out) {
        for (const { channel, field, levels, series: of } of series) {
          const now = firstRead(
            () => card.askNumber(`${hwmon}/${channel}`),
            () => scaled(figureOf(card, field), MEGA),
            () => levelOf(card, `${card.device}/${levels}`, 'now'),
          )
          report(out, of, now)
        }
      },
    }
  },
}

/** `1: 1200Mhz *`: the star marks the level in use; `S:` is deep sleep, which is no level. In hertz. */
function levelOf(card: Card, path: string, which: 'now' | 'highest'): number | Failure {
  const bytes = card.ask(path)
  if (isFailure(bytes)) return bytes
  let highest: number | undefined
  for (const line of bytes.toString('utf8').split('\n', 64)) {
    const match = /^(\d+):\s*(\d{1,6})\s*Mhz\s*(\*?)/i.exec(line.trim())
    if (match === null || (which === 'now' && match[3] !== '*')) continue
    highest = Math.max(highest ?? 0, Number(match[2]) * MEGA)
  }
  return highest ?? failureOf(path, -1, 'not_supported', `${path} names no level`)
}

export const maxClocks: CardCollector = {
  id: 'max-clocks',
  rate: 'rare',
  readsAsleep: false,
  metrics: [gpuClockMaxHertz],
  attach(card) {
    const series = DOMAINS.map(({ domain, levels }) => ({ of: makeSeries(gpuClockMaxHertz, { ...card.labels, domain }), path: `${card.device}/${levels}` }))
    return {
      read(out) {
        for (const { of, path } of series) report(out, of, levelOf(card, path, 'highest'))
      },
    }
  },
}
