// Metrics that probes in PyTorch processes bring, and what the agent says of its talk with them.
import { defineMetric, type MetricDef } from '../../model/metric.ts'

const LABELS = [
  ...(['gpu', 'uuid', 'gi', 'ci', 'pid', 'process', 'inner_pid'] as const),
  ...(['container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod', 'slurm_job', 'unit'] as const),
]
const gauge = <const Name extends string>(name: Name, help: string, unit = 'By') => defineMetric({ name, kind: 'gauge', unit, help, labels: LABELS })
const counter = <const Name extends string>(name: Name, unit: string, help: string) => defineMetric({ name, kind: 'counter', unit, help, labels: LABELS })

export const allocated = gauge('warpwatch_allocator_allocated_bytes', 'In use by tensors, in blocks of the allocator.')
export const reserved = gauge('warpwatch_allocator_reserved_bytes', 'Taken from the driver: in use, cached and in pieces.')
export const active = gauge('warpwatch_allocator_active_bytes', 'In use, or freed but still awaited by a stream.')
export const inactiveSplit = gauge(
  'warpwatch_allocator_inactive_split_bytes',
  'Free, but beside live blocks, so that it cannot be given back; 0 with expandable segments.',
)
export const requested = gauge('warpwatch_allocator_requested_bytes', 'What the program asked for, before rounding.')
export const retries = counter(
  'warpwatch_allocator_retries_total',
  '{retry}',
  'Requests for which the whole cache had to be given back first. The program can reset it.',
)
export const ooms = counter(
  'warpwatch_allocator_ooms_total',
  '{error}',
  'Out-of-memory errors that the allocator threw, caught ones too. The program can reset it.',
)
export const unreleasable = gauge('warpwatch_allocator_unreleasable_bytes', 'Active and inactive split: what giving the cache back would not free.')
export const headroom = gauge(
  'warpwatch_allocator_headroom_bytes',
  'The largest single request that can still be met after giving the cache back, within the memory fraction; with expandable segments an upper bound.',
)
export const stranded = gauge(
  'warpwatch_allocator_stranded_ratio',
  'Share of the memory that the process may use which lay stranded after its cache was last given back; absent before that.',
  '1',
)

export const probeConnections = defineMetric({
  name: 'warpwatch_agent_probe_connections',
  kind: 'gauge',
  unit: '{connection}',
  help: 'Open connections of probes.',
  labels: [],
})
export const probeRefusals = defineMetric({
  name: 'warpwatch_agent_probe_refusals_total',
  kind: 'counter',
  unit: '{refusal}',
  help: 'What probes, or somebody in their name, sent and the agent did not take, by reason.',
  labels: ['reason'],
})

export const allocatorMetrics: readonly MetricDef[] = [
  allocated,
  reserved,
  active,
  inactiveSplit,
  requested,
  retries,
  ooms,
  unreleasable,
  headroom,
  stranded,
  probeConnections,
  probeRefusals,
]
