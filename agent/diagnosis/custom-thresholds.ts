// Thresholds of the user's own (`detectors.custom`) as detectors: each series of the metric that passes the bound for long enough is an incident.
import type { CustomThreshold } from '../model/detector-settings.ts'
import type { Event } from '../model/event.ts'
import type { About, TypedFaulty, TypedFinding } from '../model/finding.ts'
import type { Series } from '../model/series.ts'
import { exactFigureText } from '../text/figures.ts'
import { spanText } from '../text/span.ts'
import { placeText, promqlOf } from './custom/text.ts'
import { defineDetector, type DetectorDefinition } from './detectors/definition.ts'
import { createHold, type Hold } from './detectors/parts/hold.ts'
import { createFindingDeduper, type FindingDeduper } from './detectors/parts/per-gpu.ts'

const BEYOND: Readonly<Record<CustomThreshold['comparison'], (value: number, bound: number) => boolean>> = {
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
}
const WORDS: Readonly<Record<CustomThreshold['comparison'], string>> = { '>': 'above', '>=': 'at or above', '<': 'below', '<=': 'at or below' }
/** More series than a host has of one metric: labels that come and go must not pile up. */
const MAX_SERIES = 5_000

type Watched = { readonly about: About; readonly hold: Hold; readonly deduper: FindingDeduper; lookedAt: number }

function aboutOf({ key, labels: { uuid, pid, container, container_id: containerId } }: Series, name: string): About {
  return {
    named: `${name} ${key}`,
    ...(uuid === undefined ? {} : { uuid }),
    ...(pid === undefined ? {} : { pid: Number(pid) }),
    ...(container === undefined ? {} : { container }),
    ...(containerId === undefined ? {} : { containerId }),
  }
}

/** Containers that have ended, by the engine's word; one that is started again has not. */
function createEnded() {
  const ended = new Set<string>()
  return {
    has: (containerId: string | undefined): boolean => containerId !== undefined && ended.has(containerId.slice(0, 12)),
    ingest: (event: Event): void => {
      if (event.type !== 'container') return
      const id = event.container_id.slice(0, 12)
      if (event.action === 'die' || event.action === 'died' || event.action === 'destroy') ended.add(id)
      else if (event.action === 'start') ended.delete(id)
      if (ended.size > MAX_SERIES) for (const oldest of ended) if (ended.delete(oldest)) break
    },
  }
}

function definitionOf(threshold: CustomThreshold): DetectorDefinition {
  const { name, metric, labels, comparison, value: bound, forMs, clearMs, severity, summary } = threshold
  const wanted = Object.entries(labels)
  const beyond = BEYOND[comparison]

  return defineDetector({
    id: `custom:${name}`,
    kinds: ['custom'],
    title: name,
    severity,
    watches: [metric],
    everyMs: 1_000,
    options: {},
    expression: { promql: promqlOf(threshold), for: `${forMs / 1_000}s` },
    create(_, { present, tracks }) {
      const watched = new Map<string, Watched | 'other'>()
      const ended = createEnded()

      const watch = (series: Series): Watched | 'other' => {
        const about = aboutOf(series, name)
        const found: Watched | 'other' = wanted.every(([label, value]) => (series.labels[label] ?? '') === value)
          ? { about, hold: createHold({ forMs, clearMs }), deduper: createFindingDeduper({ kind: 'custom', key: `${name} ${series.key}`, about }), lookedAt: 0 }
          : 'other'
        if (watched.size >= MAX_SERIES) for (const oldest of watched.keys()) if (watched.delete(oldest)) break
        watched.set(series.key, found)
        return found
      }
      const tell = (series: Series, about: About, value: number): TypedFaulty => {
        const { unit } = series.metric
        const lasts = forMs === 0 ? '' : ` for ${spanText(forMs)} or longer`
        return {
          kind: 'custom',
          key: `${name} ${series.key}`,
          about,
          state: 'faulty',
          severity,
          title: `${name}: ${summary ?? `${metric} is ${WORDS[comparison]} ${exactFigureText(bound, unit)}`}`,
          verdict: `${metric}${placeText(series.labels)} is ${exactFigureText(value, unit)}; it has been ${WORDS[comparison]} ${exactFigureText(bound, unit)}${lasts}.${summary === undefined ? '' : ` ${summary.replace(/[.!]?$/, '.')}`}`,
          facts: { name, metric, series: series.key, value, threshold: bound },
          remedies: [
            { text: 'See how it got there.', command: `curl -s 'http://127.0.0.1:9839/api/v1/series?metric=${metric}'` },
            { text: `What it means is known to whoever set the threshold: ${name}, under detectors.custom.`, command: 'warpwatch config' },
          ],
        }
      }
      /** A process or container that is over reads nothing any more: that is no missing data. */
      const isOver = ({ uuid, pid, containerId }: About): string | undefined => {
        if (uuid !== undefined && pid !== undefined && tracks.get(uuid, pid)?.endedT !== undefined) return 'the process has ended'
        return ended.has(containerId) ? 'the container has ended' : undefined
      }

      return {
        ingest: ended.ingest,
        judge(t) {
          const found: TypedFinding[] = []
          for (const { series, value } of present.of(metric)) {
            const known = watched.get(series.key) ?? watch(series)
            if (known === 'other') continue
            known.lookedAt = t
            const held = known.hold.see(t, beyond(value, bound))
            if (held === 'faulty') known.deduper.faulty(found, tell(series, known.about, value))
            else if (held === 'healthy') known.deduper.healthy(found)
          }
          for (const [key, known] of watched) {
            if (known === 'other' || known.lookedAt === t) continue
            known.hold.see(t, undefined)
            const why = isOver(known.about)
            if (why === undefined) continue
            known.deduper.healthy(found, why)
            watched.delete(key)
          }
          return found
        },
      }
    },
  })
}

/** One detector for each threshold; for one that stays the same it is the same, so that it keeps what it knows. */
export function createCustomThresholds(): (thresholds: readonly CustomThreshold[]) => readonly DetectorDefinition[] {
  let known = new Map<string, DetectorDefinition>()
  return (thresholds) => {
    known = new Map(
      thresholds.map((threshold) => {
        const text = JSON.stringify(threshold)
        return [text, known.get(text) ?? definitionOf(threshold)]
      }),
    )
    return [...known.values()]
  }
}

export const customThresholds = (thresholds: readonly CustomThreshold[]): readonly DetectorDefinition[] => createCustomThresholds()(thresholds)
