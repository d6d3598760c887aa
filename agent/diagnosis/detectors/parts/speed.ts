// What a card's slowdown costs: its SM clock under load now, against what it was under load before, and against the highest that it can.
import { gpuClockHertz, gpuClockMaxHertz } from '../../../metrics/gpu-clocks.ts'
import type { Facts } from '../../../model/facts.ts'
import { megahertz } from '../../../text/figures.ts'
import type { Column } from './gpu-rows.ts'

export const SPEED_COLUMNS = {
  clock: { metric: gpuClockHertz.name, labels: { domain: 'sm' } },
  clockMax: { metric: gpuClockMaxHertz.name, labels: { domain: 'sm' } },
} as const satisfies Readonly<Record<string, Column>>

type SpeedRow = { readonly uuid: string; readonly now: { readonly [Name in keyof typeof SPEED_COLUMNS]?: number | undefined } }
export type Speeds = {
  /** To be called each second in which the card works and nothing holds it back. */
  readonly note: (row: SpeedRow) => void
  readonly cost: (row: SpeedRow) => SpeedCost
}
export type SpeedCost = { readonly facts: Facts; readonly text: string }

/** Of each new reading; the rest is the mean of about half a minute before. */
const WEIGHT = 1 / 30
/** What rounds to no per cent. */
const LEAST_LOSS = 0.005
const MAX_GPUS = 1_024

export function createSpeeds(): Speeds {
  const before = new Map<string, number>()
  return {
    note({ uuid, now: { clock } }) {
      if (clock === undefined) return
      if (before.size >= MAX_GPUS) before.clear()
      const mean = before.get(uuid)
      before.set(uuid, mean === undefined ? clock : mean + (clock - mean) * WEIGHT)
    },
    cost({ uuid, now: { clock, clockMax } }) {
      if (clock === undefined) return { facts: {}, text: ' How much speed it costs is not known: the SM clock cannot be read.' }
      const mean = before.get(uuid)
      const reference = mean ?? clockMax
      const loss = reference === undefined || reference <= 0 ? undefined : Math.max(0, Math.round((1 - clock / reference) * 1_000) / 1_000)
      const facts: Facts = {
        sm_clock_hertz: clock,
        ...(mean === undefined ? {} : { sm_clock_before_hertz: Math.round(mean) }),
        ...(clockMax === undefined ? {} : { sm_clock_max_hertz: clockMax }),
        ...(loss === undefined ? {} : { speed_loss_ratio: loss }),
      }
      // A slowdown that comes and goes is off at the moment: nothing is lost then, and "1980 MHz instead of 1980 MHz" has no meaning.
      if (loss !== undefined && loss < LEAST_LOSS)
        return { facts, text: ` At the moment its SM clock is ${mean === undefined ? 'at its maximum' : 'as high as before'} (${megahertz(clock)}).` }
      const share = loss === undefined ? '' : `: about ${Math.round(loss * 100)} % of its speed is lost`
      const highest = clockMax === undefined ? '' : ` (its maximum is ${megahertz(clockMax)})`
      const than = mean === undefined ? highest : ` instead of ${megahertz(mean)} before${highest}`
      return { facts, text: ` Its SM clock is ${megahertz(clock)}${than}${share}.` }
    },
  }
}
