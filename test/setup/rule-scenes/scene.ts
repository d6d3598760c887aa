// A scene that a detector and its Prometheus rule judge alike: a stretch of a host's time as events, with a fault in the middle of it or without one.
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import type { Event, Scrape } from '../../../agent/model/event.ts'
import type { Gap, Reading } from '../../../agent/model/reading.ts'
import type { Labels, Series } from '../../../agent/model/series.ts'
import { seriesAmong } from '../series.ts'
import { T, uuid } from '../../unit/incidents/scene.ts'

export type RuleScene = {
  readonly name: string
  readonly detector: DetectorDefinition
  readonly fires: boolean
  readonly seconds: number
  readonly tell: (second: number) => readonly Event[]
  /** By which label the subjects of both are compared. */
  readonly by?: 'uuid' | 'container' | 'target'
}

export const timeOf = (second: number): number => T + second * 1_000
export const CARD = { gpu: '0', uuid: uuid(0) }

type Named = { readonly name: string; readonly labels: Labels }
const named = new Map<string, Named>()
function namedBy(key: string): Named {
  const same = named.get(key)
  if (same !== undefined) return same
  const [name = '', ...labels] = key.split(' ')
  const made = { name, labels: Object.fromEntries(labels.map((label) => [label.slice(0, label.indexOf('=')), label.slice(label.indexOf('=') + 1)])) }
  named.set(key, made)
  return made
}
/** `gpu_nvlink_active link=2 …` of the catalogue, with further labels. */
export function seriesOf(key: string, more: Labels = {}): Series {
  const { name, labels } = namedBy(key)
  return seriesAmong(name, labels, more)
}

export type Values = Readonly<Record<string, number | undefined>>
/** One scrape of a source; what is undefined is not read. */
export function scrapeOf(second: number, source: string, values: Values, { group = '', ttlS = 3, labels = {}, gaps = [] }: ScrapeOptions = {}): Scrape {
  const readings = Object.entries(values).flatMap(([key, value]): readonly Reading[] => (value === undefined ? [] : [{ series: seriesOf(key, labels), value }]))
  return { type: 'scrape', t: timeOf(second), source, group, ttlMs: ttlS * 1_000, durationMs: 0, readings, gaps }
}
type ScrapeOptions = {
  readonly group?: string
  readonly ttlS?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly gaps?: readonly Gap[]
}

/** Whether the second is in the faulty stretch. */
export const within = (second: number, from: number, to: number): boolean => second >= from && second < to
