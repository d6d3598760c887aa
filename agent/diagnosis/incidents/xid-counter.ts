// Xids as NVML's events count them: a rise is a fault that the kernel's log tells too, where the agent may read it. One incident, counted by whoever heard more.
import { gpuXidErrorsTotal } from '../../metrics/xid.ts'
import type { Scrape } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { faultFromNumber } from '../xid/fault-from-number.ts'

export type RisenXid = { readonly uuid: string; readonly xid: number; readonly times: number }

const METRIC = gpuXidErrorsTotal.name
const MAX_KNOWN = 5_000
const NONE: readonly RisenXid[] = []

export const xidFault = (xid: number): Fault => ({ ...faultFromNumber(xid), evidence: [] })

/**
 * The source counts from its own start, and a number's series begins with its first event: so a series that comes later than the source is new as a whole.
 * What the first scrape of a source holds is history (a recording that begins in the middle), and a counter that fell started over.
 */
export function createXidCounter(): (scrape: Scrape) => readonly RisenXid[] {
  const known = new Map<string, number>()
  const heard = new Set<string>()
  return ({ source, group, readings }) => {
    const place = `${source}\n${group}`
    const first = !heard.has(place)
    // Sources have a few groups for each GPU or container; of a stream without end the later ones are history.
    if (first && heard.size < MAX_KNOWN) heard.add(place)
    let found: RisenXid[] | undefined
    for (let at = 0; at < readings.length; at++) {
      const reading = readings[at]
      if (reading === undefined) continue
      const { series, value } = reading
      if (series.metric.name !== METRIC) continue
      const before = known.get(series.key) ?? 0
      known.set(series.key, value)
      if (known.size > MAX_KNOWN) for (const oldest of known.keys()) if (known.delete(oldest)) break
      const times = value < before ? value : value - before
      const { uuid } = series.labels
      const xid = Number(series.labels['xid'])
      if (first || times <= 0 || uuid === undefined || !Number.isInteger(xid)) continue
      found ??= []
      found.push({ uuid, xid, times })
    }
    return found ?? NONE
  }
}
