// When a GPU's memory runs out if things go on as they do: what the agent says of its processes, the soonest first.
import { spanAhead } from '../../../../agent/text/span.ts'
import type { GpuRow } from '../../../../agent/model/live.ts'

/** Seconds from now; without `latest` only the near end is known. */
export type Forecast = { readonly earliest: number | undefined; readonly latest: number | undefined }

export function forecastOf(row: GpuRow): Forecast | undefined {
  const { memory_exhaustion_earliest_seconds: earliest = {}, memory_exhaustion_latest_seconds: latest = {} } = row
  const found = [...new Set([...Object.keys(earliest), ...Object.keys(latest)])].map((who) => ({ earliest: earliest[who], latest: latest[who] }))
  return found.toSorted((a, b) => (a.earliest ?? 0) - (b.earliest ?? 0))[0]
}

/** A minute and less is "now": the agent judges twice a minute. */
const NOW_S = 60

export function forecastText({ earliest, latest }: Forecast): string {
  const soon = (earliest ?? 0) < NOW_S
  if (latest === undefined) return soon ? 'runs out from now on' : `runs out in ${spanAhead(earliest ?? 0)} at the earliest`
  if (soon) return `runs out within ${spanAhead(latest)}`
  const [from, to] = [spanAhead(earliest ?? 0), spanAhead(latest)]
  const unit = from.slice(from.indexOf(' '))
  return `runs out in ${to.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`
}
