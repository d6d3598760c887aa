// Where a metric belongs in the rows of the present: which subject, and under which name there.
export type Subject = 'gpu' | 'container' | 'process' | 'allocator' | 'host'
export type Place = { readonly subject: Subject; readonly measure: string }

const SUBJECTS: readonly Subject[] = ['gpu', 'container', 'process', 'allocator', 'host']
/** Forecasts are of the GPU whose memory runs out, by the process that fails. */
const FORECAST = 'warpwatch_memory_exhaustion_'
const places = new Map<string, Place | undefined>()

/** `warpwatch_gpu_power_watts` is `power_watts` of a GPU; undefined for metrics of no row, such as the agent's own. */
export function placeOf(metric: string): Place | undefined {
  if (places.has(metric)) return places.get(metric)
  const forecast = metric.startsWith(FORECAST)
  const subject = forecast ? 'gpu' : SUBJECTS.find((name) => metric.startsWith(`warpwatch_${name}_`))
  const place = subject === undefined ? undefined : { subject, measure: metric.slice(forecast ? 'warpwatch_'.length : `warpwatch_${subject}_`.length) }
  if (places.size < 10_000) places.set(metric, place)
  return place
}

/** Labels that say whose a reading is; they become fields of the row. Any other label is a dimension of the measure. */
const PLACEMENT = ['gpu', 'uuid', 'gi', 'ci'] as const
const CONTAINER = ['container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod'] as const
const PROCESS = ['pid', 'process', 'type', 'inner_pid', 'slurm_job', 'unit', 'user'] as const
export const IDENTITY_LABELS: Readonly<Record<Subject, ReadonlySet<string>>> = {
  gpu: new Set(PLACEMENT),
  container: new Set(CONTAINER),
  process: new Set([...PROCESS, ...CONTAINER, ...PLACEMENT]),
  allocator: new Set([...PROCESS, ...CONTAINER, ...PLACEMENT]),
  host: new Set(),
}
