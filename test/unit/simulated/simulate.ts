// Reads a simulated story into what tests ask of it.
import type { Event, Scrape } from '../../../agent/model/event.ts'
import { createSimulation, type SimulatedOptions } from '../../../agent/sources/simulated.ts'

export const START = 1_763_600_000_000

export type SimulatedSecond = { readonly second: number; readonly events: readonly Event[] }

/** The story of a scenario from its first second on, after ten healthy ones. */
export function simulate(scenario: string, seconds: number, options: Partial<SimulatedOptions> = {}): readonly SimulatedSecond[] {
  const healthy = 10
  const simulation = createSimulation({ scenario, seed: 1, ...options }, START, healthy)
  const story: SimulatedSecond[] = []
  for (let tick = 0; tick < healthy + seconds; tick++) {
    const events = simulation.tick(START + tick * 1_000)
    story.push({ second: tick - healthy, events })
  }
  return story
}

export const scrapesOf = ({ events }: SimulatedSecond): readonly Scrape[] => events.filter((event) => event.type === 'scrape')

/** Values of a metric (without `warpwatch_`) in one second by the value of a label. */
export function valuesBy(reported: SimulatedSecond, metric: string, label: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { readings } of scrapesOf(reported))
    for (const { series, value } of readings)
      if (series.metric.name === `warpwatch_${metric}` && series.labels['gi'] === undefined) {
        const key = series.labels[label] ?? ''
        found.set(key, (found.get(key) ?? 0) + value)
      }
  return found
}

export const texts = (
  story: readonly SimulatedSecond[],
  stream: 'kernel' | 'container' | 'file',
): readonly { readonly second: number; readonly text: string }[] =>
  story.flatMap(({ second, events }) => events.flatMap((event) => (event.type === 'log' && event.stream === stream ? [{ second, text: event.text }] : [])))

export const deaths = (story: readonly SimulatedSecond[]): readonly { readonly second: number; readonly container: string }[] =>
  story.flatMap(({ second, events }) =>
    events.flatMap((event) => (event.type === 'container' && event.action === 'die' ? [{ second, container: event.container }] : [])),
  )
