// What a metric is: declared once, in agent/metrics; every output follows from the declaration, and whoever means a metric imports it.

/** Of a `histogram` each reading is one of its parts, which the label `le` says (agent/model/histogram.ts). */
export type MetricKind = 'gauge' | 'counter' | 'histogram' | 'info'

/**
 * Whose the reading is. The first six have rows in the API (a reading of `gpu` with the labels of a MIG instance goes to the instance's row,
 * `allocator` is what PyTorch's allocator says in one process on one GPU); what is of the driver, a target, an incident or the agent has none; of `inference` the rows are those of servers, of `job` those of its progress.
 */
export type Subject = 'gpu' | 'mig' | 'container' | 'process' | 'allocator' | 'host' | 'driver' | 'target' | 'job' | 'inference' | 'incident' | 'agent'

/** A name of the same quantity in dcgm-exporter: `value * scale` is in that name's unit. */
export type DcgmName = {
  readonly name: string
  readonly kind: 'gauge' | 'counter'
  readonly help: string
  readonly scale: number
  /** Only the series whose labels carry these values have this name (one of our families can hold several of theirs). */
  readonly when?: Readonly<Record<string, string>>
  /** Labels of ours that this name carries too, and further ones that always say the same. */
  readonly labels?: readonly string[]
  readonly fixed?: Readonly<Record<string, string>>
}

/** A name of the same quantity in OpenTelemetry's semantic conventions, with the same value and the same unit. */
export type OtelName = {
  readonly name: string
  /** Where the conventions spell a count in braces otherwise; else `unit` of the declaration. */
  readonly unit?: string
  /** A sum that may fall, where the conventions say so; else a gauge stays a gauge and a counter a monotonic sum. */
  readonly upDown?: true
  /** What every point carries, such as `hw.type`. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Only the series whose labels carry these values have this name; `attributes` replace them. */
  readonly when?: Readonly<Record<string, string>>
  /** Attributes by label, where the label's own name is not the one (`mode` is `cpu.mode`). */
  readonly labels?: Readonly<Record<string, string>>
  /** The metric of the sum over `labels`: where these parts are known its series is left out, since a name has either points with an attribute or points without it. */
  readonly partsOf?: MetricDef
}

export type MetricDef = {
  /** Full public name with the base unit in it, such as `warpwatch_gpu_power_watts`. */
  readonly name: string
  readonly subject: Subject
  /** Its name in the subject's row of the API, such as `power_watts`, and among the row's gaps; absent: in no row. Of an info the labels are the row's fields. */
  readonly field?: string
  /** The label whose value distinguishes readings of one field; absent: all labels that do not name the subject, joined by `_`. */
  readonly by?: string
  readonly kind: MetricKind
  /** UCUM unit of the value: `By`, `1`, `W`, `Cel`, `J`, `Hz`, `s`, `By/s`; counts in braces, such as `{page}`. */
  readonly unit: string
  readonly help: string
  /** Label names in the order in which they are written. */
  readonly labels: readonly string[]
  /** dcgm-exporter's names up to 4.8 (`classic`) and from 4.9 on (`current`); see shared reference metrics-dcgm-exporter. */
  readonly dcgm?: { readonly classic?: readonly DcgmName[]; readonly current?: readonly DcgmName[] }
  /** Names in OpenTelemetry's conventions, where there are any: the first that fits a series is its name there, else it has our own. */
  readonly otel?: readonly OtelName[]
  /** Kept in history unless false. */
  readonly history?: boolean
}

/** The word for a unit at the end of a name, by its UCUM code: in our names, in OpenMetrics, and behind what Prometheus takes over OTLP. */
export const UNIT_WORDS: Readonly<Record<string, string>> = {
  By: 'bytes',
  'By/s': 'bytes_per_second',
  '1': 'ratio',
  W: 'watts',
  Cel: 'celsius',
  J: 'joules',
  Hz: 'hertz',
  s: 'seconds',
}

/** Declares a metric. Throws when the name breaks the naming rules, so that a bad name cannot ship. */
export function defineMetric<const Def extends MetricDef>(def: Def): Def {
  if (!/^(warpwatch|process)_[a-z][a-z0-9_]*$/.test(def.name))
    throw new Error(`metric name ${def.name}: expected warpwatch_ (or process_ for the agent's own process) and snake_case`)
  if ((def.kind === 'counter') !== def.name.endsWith('_total')) throw new Error(`metric ${def.name}: counters, and only counters, end in _total`)
  if ((def.kind === 'histogram') !== def.labels.includes('le')) throw new Error(`metric ${def.name}: histograms, and only they, have the label le`)
  if ((def.kind === 'info') !== def.name.endsWith('_info')) throw new Error(`metric ${def.name}: info metrics, and only they, end in _info`)
  return def
}
