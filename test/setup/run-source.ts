// Runs a source as the agent does: a real scheduler, a real store of latest values, all events kept.
import { createScheduler } from '../../agent/lib/scheduler.ts'
import type { Event, Scrape } from '../../agent/model/event.ts'
import type { Log, Source } from '../../agent/model/source.ts'
import { createLatestStore } from '../../agent/store/latest.ts'

export function runSource(source: Source) {
  const latest = createLatestStore()
  const events: Event[] = []
  const lines: string[] = []
  const say = (level: string) => (text: string) => void lines.push(`${level} ${text}`)
  const log: Log = { info: say('info'), warn: say('warn'), error: say('error') }
  const scheduler = createScheduler(log)
  const emit = (event: Event): void => {
    events.push(event)
    if (event.type === 'scrape') latest.apply(event)
  }
  void source.start({ emit, every: scheduler.every, log })
  /** The value of the one series of a metric that carries these labels. */
  const value = (metric: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
    latest.of(metric).find(({ series }) => Object.entries(labels).every(([name, text]) => series.labels[name] === text))?.value
  return {
    latest,
    events,
    lines,
    value,
    of: latest.of,
    scrapes: (group: string): readonly Scrape[] => events.filter((event) => event.type === 'scrape').filter((event) => event.group === group),
    gaps: latest.gaps,
    stop: async () => {
      scheduler.stop()
      await source.stop()
    },
  }
}
export type RunningSource = ReturnType<typeof runSource>
