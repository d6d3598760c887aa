// What a metric is called in OTLP: its name in OpenTelemetry's conventions where it has one, else our own without unit and suffix.
import { UNIT_WORDS, type MetricDef, type OtelName } from '../../model/metric.ts'
import type { Labels } from '../../model/series.ts'

export type Instrument = 'counter' | 'updowncounter' | 'gauge' | 'histogram'
export type OtlpName = {
  readonly name: string
  readonly unit: string
  readonly instrument: Instrument
  /** Of our own names only: one of the conventions may stand for several of our metrics. */
  readonly description: string
  /** The entry of the declaration; undefined for our own names. */
  readonly convention: OtelName | undefined
}

const NAMESPACES = /^(gpu|process|container|allocator|host|agent|target)_/

/** `warpwatch_gpu_memory_free_bytes` is `warpwatch.gpu.memory_free` in `By`: through OTLP into Prometheus it gets its name back. */
function ownName({ name, kind, unit }: MetricDef): { readonly name: string; readonly unit: string } {
  const [, prefix = '', rest = ''] = /^(warpwatch_)?(.*)$/.exec(name) ?? []
  const word = UNIT_WORDS[unit]
  const bare = kind === 'counter' ? rest.replace(/_total$/, '') : rest
  const short = word !== undefined && bare.endsWith(`_${word}`) ? bare.slice(0, -word.length - 1) : bare
  return {
    name: `${prefix.replace('_', '.')}${short.replace(NAMESPACES, '$1.')}`,
    // A flag or a number is no share: with the unit 1 Prometheus would call it a ratio.
    unit: unit === '1' && short === bare ? '' : unit,
  }
}

const fits = (labels: Labels, when: Labels): boolean => Object.entries(when).every(([label, value]) => labels[label] === value)

function named(metric: MetricDef, convention: OtelName | undefined): OtlpName {
  const own = ownName(metric)
  return {
    name: convention?.name ?? own.name,
    unit: convention === undefined ? own.unit : (convention.unit ?? metric.unit),
    instrument: metric.kind === 'counter' || metric.kind === 'histogram' ? metric.kind : convention?.upDown === true ? 'updowncounter' : 'gauge',
    description: convention === undefined ? metric.help : '',
    convention,
  }
}

/** Every name that the series of a metric may have; the last without a condition, if there is one, is that of all others. */
export function otlpNames(metric: MetricDef): readonly OtlpName[] {
  const conventions = metric.otel ?? []
  const own = conventions.some(({ when }) => when === undefined) ? [] : [undefined]
  return [...conventions, ...own].map((convention) => named(metric, convention))
}

const cache = new WeakMap<MetricDef, readonly OtlpName[]>()

export function otlpNameOf(metric: MetricDef, labels: Labels): OtlpName {
  let names = cache.get(metric)
  if (names === undefined) cache.set(metric, (names = otlpNames(metric)))
  return names.find(({ convention }) => convention?.when === undefined || fits(labels, convention.when)) ?? named(metric, undefined)
}
