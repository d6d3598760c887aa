// When a GPU's memory runs out if things go on as they do: what the agent says of its processes, the soonest first.
import { spanAhead } from '../../../../agent/text/span.ts'
import type { GpuRow } from '../../../../agent/model/live.ts'
import { memory } from '../../text/format.ts'

/** Seconds from now; without `latest` only the near end is known. */
export type Forecast = { readonly earliest: number | undefined; readonly latest: number | undefined }

export function forecastOf(row: GpuRow): Forecast | undefined {
  const { memory_exhaustion_earliest_seconds: earliest = {}, memory_exhaustion_latest_seconds: latest = {} } = row
  const found = [...new Set([...Object.keys(earliest), ...Object.keys(latest)])].map((who) => ({ earliest: earliest[who], latest: latest[who] }))
  return found.toSorted((a, b) => (a.earliest ?? 0) - (b.earliest ?? 0))[0]
}

/** A minute and less is "now": the agent judges twice a minute. */
const NOW_S = 60

/** `full in 20–35 min`; only as exact as what is known. */
export function forecastText({ earliest, latest }: Forecast): string {
  const soon = (earliest ?? 0) < NOW_S
  if (latest === undefined) return soon ? 'may be full at any moment' : `full in ${spanAhead(earliest ?? 0)} at the earliest`
  if (soon) return `full within ${spanAhead(latest)}`
  const [from, to] = [spanAhead(earliest ?? 0), spanAhead(latest)]
  const unit = from.slice(from.indexOf(' '))
  if (from === to) return `full in about ${to}`
  return to.endsWith(unit) ? `full in ${from.slice(0, -unit.length)}–${to}` : `full in ${from} to ${to}`
}

/** From this part on a request of any size may fail; inference servers fill nine tenths on purpose. */
const FULL_RATIO = 0.95

/** A GPU that has hardly any memory left, in words. */
export function nearFull({ memory_used_bytes: used, memory_total_bytes: total, memory_free_bytes: free }: GpuRow): string | undefined {
  if (used === undefined || total === undefined || total === 0 || used / total < FULL_RATIO) return undefined
  return `${Math.floor((used / total) * 100)} % full, ${memory(free ?? total - used)} free`
}

/** `+24 MiB/min, `, before when it is full; nothing where no rise is known. */
export const rateText = (bytesPerMinute: number | undefined): string =>
  bytesPerMinute === undefined || bytesPerMinute < 2 ** 20 ? '' : `+${memory(bytesPerMinute)}/min, `

/** A card near full, or that will be, in the words of the card and of the status line. */
export function memoryWarning(row: GpuRow, bytesPerMinute?: number): string | undefined {
  const ahead = forecastOf(row)
  return ahead === undefined ? nearFull(row) : `${rateText(bytesPerMinute)}${forecastText(ahead)}`
}
