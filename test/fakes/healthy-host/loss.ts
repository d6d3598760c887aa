// Takes a share of what was sampled away: whole scrapes, single readings (with a gap or without a word), and what probes said.
import type { Event, Scrape } from '../../../agent/model/event.ts'
import type { Gap, Reading } from '../../../agent/model/reading.ts'
import type { Random } from '../../../agent/sources/simulated/random.ts'

/** Every second missing reading is a gap, as where a call failed; the others are just not there. */
function thinned(scrape: Scrape, random: Random, share: number): Scrape {
  let readings: Reading[] | undefined
  const gaps: Gap[] = []
  // Which ones: the distance to the next missing one, drawn once for each.
  const step = (): number => Math.ceil(Math.log(1 - random()) / Math.log(1 - share))
  for (let next = step() - 1; next < scrape.readings.length; next += step()) {
    const lost = scrape.readings[next]
    if (lost === undefined) break
    readings ??= [...scrape.readings]
    readings.splice(next - (scrape.readings.length - readings.length), 1)
    if (random() < 0.5) gaps.push({ metric: lost.series.metric.name, labels: lost.series.labels, reason: 'driver_error', code: 999 })
  }
  return readings === undefined ? scrape : { ...scrape, readings, gaps: [...scrape.gaps, ...gaps] }
}

/** What is left of the events; containers' events and logs are no samples, and all stay. */
export function withLoss(events: readonly Event[], random: Random, share: number): readonly Event[] {
  return events.flatMap((event): readonly Event[] => {
    if (event.type !== 'scrape' && event.type !== 'allocator') return [event]
    if (random() < share) return []
    return [event.type === 'scrape' ? thinned(event, random, share) : event]
  })
}
