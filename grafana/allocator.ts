// PyTorch's allocator as the probe tells it: where reserved memory is, what can still be had, when it runs out.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { memoryExhaustionEarliestSeconds, memoryExhaustionLatestSeconds } from '../agent/metrics/incident.ts'
import {
  allocatorActiveBytes,
  allocatorAllocatedBytes,
  allocatorHeadroomBytes,
  allocatorInactiveSplitBytes,
  allocatorOomsTotal,
  allocatorRequestedBytes,
  allocatorReservedBytes,
  allocatorRetriesTotal,
  allocatorStrandedRatio,
  allocatorUnreleasableBytes,
  processGpuMemoryBytes,
} from '../agent/metrics/process.ts'
import type { MetricDef } from '../agent/model/metric.ts'
import type { Board } from './parts/board.ts'
import { toContainer } from './parts/links.ts'
import { forecastFigure } from './parts/forecast.ts'
import { BAD, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, WARN } from './parts/look.ts'
import { figure, lines } from './parts/panels.ts'
import { containers, GPU, manyGpus, manyHosts } from './parts/select.ts'
import { rows } from './parts/table.ts'

const A = `${GPU},container=~"$container"`
/** One allocator: a process on a card or MIG instance. */
const ONE = 'instance, uuid, gpu, gi, pid, container'
const NAME = '{{container}} {{pid}} GPU {{gpu}}'
const sum = ({ name }: MetricDef): string => `sum by (${ONE}) (${name}{${A}})`

const now = [
  figure({
    title: 'Processes with the probe',
    help: 'Programs with the probe. Others appear on the GPU dashboard only; probe/README.md of the repository says how a program gets the probe.',
    queries: [{ expr: `count(${sum(allocatorReservedBytes)})` }],
    none: 'none',
  }),
  figure({
    title: 'Reserved',
    help: 'What all of them have taken from the driver.',
    unit: units.BytesIEC,
    queries: [{ expr: `sum(${allocatorReservedBytes.name}{${A}})` }],
  }),
  figure({
    title: 'In use by tensors',
    help: 'Share of what they have reserved; the rest is cache and pieces.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `sum(${allocatorAllocatedBytes.name}{${A}}) / sum(${allocatorReservedBytes.name}{${A}})` }],
  }),
  figure({
    title: 'Least headroom',
    help: 'The largest single request that can still be met, of the process for which that is least. A request that is larger fails, whatever the driver calls free.',
    unit: units.BytesIEC,
    queries: [{ expr: `min(${allocatorHeadroomBytes.name}{${A}})` }],
  }),
  figure({
    title: 'Most stranded',
    help: 'Share of its memory that lay in pieces after the last flush, of the worst process; absent before the first flush. Above a tenth: try expandable segments (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True).',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `max(${allocatorStrandedRatio.name}{${A}})` }],
    steps: [[0.1, WARN]],
    none: 'no flush yet',
  }),
  forecastFigure(A, {
    title: 'Runs out in, at the earliest',
    help: 'The nearest forecast. None: nothing grows in a way from which one may conclude.',
  }),
  figure({
    title: 'Flushes',
    help: 'Requests for which the whole cache had to be given back, in the time shown. Each costs a second or so; many of them are an allocator_retry_storm.',
    decimals: 0,
    queries: [{ expr: `sum(increase(${allocatorRetriesTotal.name}{${A}}[$__range]))` }],
    steps: [[0.5, WARN]],
  }),
  figure({
    title: 'Out of memory',
    help: 'Errors that the allocators threw in the time shown, those that the program caught too.',
    decimals: 0,
    queries: [{ expr: `sum(increase(${allocatorOomsTotal.name}{${A}}[$__range]))` }],
    steps: [[0.5, BAD]],
  }),
]

const list = [
  rows({
    title: 'Allocators',
    help: 'Each process with the probe, the least headroom last. Much reserved, little in use and little headroom: pieces.',
    height: 9,
    columns: [
      { label: 'instance', name: 'Host' },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { label: 'pid', name: 'PID', width: 90 },
      { label: 'gpu', name: 'GPU', width: 70 },
      { label: 'gi', name: 'GI', width: 60 },
      { label: 'uuid', name: 'UUID' },
      { expr: sum(allocatorReservedBytes), name: 'Reserved', unit: units.BytesIEC },
      { expr: sum(allocatorAllocatedBytes), name: 'In use', unit: units.BytesIEC },
      { expr: sum(allocatorUnreleasableBytes), name: 'Cannot be given back', unit: units.BytesIEC },
      { expr: sum(allocatorHeadroomBytes), name: 'Headroom', unit: units.BytesIEC },
      { expr: sum(allocatorRetriesTotal), name: 'Flushes', steps: [[1, WARN]] },
      { expr: sum(allocatorOomsTotal), name: 'OOMs', steps: [[1, BAD]] },
      { expr: `min by (instance, uuid, pid, container) (${memoryExhaustionEarliestSeconds.name}{${A}})`, name: 'Runs out in', unit: units.Seconds },
    ],
    worst: ['Reserved'],
    none: 'no process with the probe',
  }),
]

const where = [
  lines({
    title: 'Where reserved memory is',
    help: 'All chosen processes together: requested by the program, allocated in blocks (rounded up), active (still awaited by a stream), reserved. The gap from active to reserved is cache, and pieces. Choose one GPU or container to look at one.',
    unit: units.BytesIEC,
    queries: [
      { expr: `sum(${allocatorRequestedBytes.name}{${A}})`, legend: 'requested', colour: SKY },
      { expr: `sum(${allocatorAllocatedBytes.name}{${A}})`, legend: 'allocated', colour: GREEN },
      { expr: `sum(${allocatorActiveBytes.name}{${A}})`, legend: 'active', colour: PURPLE },
      { expr: `sum(${allocatorReservedBytes.name}{${A}})`, legend: 'reserved', colour: BLUE },
    ],
  }),
  lines({
    title: 'In pieces',
    help: 'Inactive split: free, but beside blocks in use, so that it cannot be given back (always 0 with expandable segments). It grows with sequences of changing length; pad to a few lengths, or use expandable segments.',
    unit: units.BytesIEC,
    queries: [{ expr: sum(allocatorInactiveSplitBytes), legend: NAME, colour: ORANGE }],
    links: [toContainer('series')],
  }),
  lines({
    title: 'Reserved by process',
    help: 'What each process has taken from the driver. Steps that never come down are its high-water mark; a line that climbs is a leak or pieces.',
    unit: units.BytesIEC,
    queries: [{ expr: sum(allocatorReservedBytes), legend: NAME }],
    links: [toContainer('series')],
  }),
  lines({
    title: 'Headroom',
    help: 'The largest single request that can still be met after the cache is given back, within the memory fraction; an upper bound with expandable segments. At 0 the next larger request fails.',
    unit: units.BytesIEC,
    queries: [{ expr: sum(allocatorHeadroomBytes), legend: NAME, colour: GREEN }],
    links: [toContainer('series')],
  }),
  lines({
    title: 'Stranded',
    help: 'Share of the memory that a process may use which lay in pieces after its cache was last given back; absent before that.',
    unit: units.PercentUnit,
    queries: [{ expr: `max by (${ONE}) (${allocatorStrandedRatio.name}{${A}})`, legend: NAME, colour: ORANGE }],
    steps: [[0.1, WARN]],
  }),
  lines({
    title: "Outside of PyTorch's allocator",
    help: 'What the driver counts for the process beyond what its allocator has reserved: CUDA context, NCCL, libraries. Some hundred MiB are normal; what grows here no cache can give back.',
    unit: units.BytesIEC,
    queries: [
      {
        expr: `sum by (${ONE}) (${processGpuMemoryBytes.name}{${A}}) - ${sum(allocatorReservedBytes)}`,
        legend: NAME,
        colour: GREY,
      },
    ],
  }),
]

const when = [
  lines({
    title: 'Forecast: runs out in',
    help: 'Seconds until the process runs out of GPU memory if its growth goes on: at the earliest and at the latest. Absent where the data does not support a forecast; without the probe only a near end is forecast.',
    unit: units.Seconds,
    queries: [
      {
        expr: `min by (instance, uuid, pid, container) (${memoryExhaustionEarliestSeconds.name}{${A}})`,
        legend: '{{container}} {{pid}}, earliest',
        colour: BAD,
      },
      {
        expr: `min by (instance, uuid, pid, container) (${memoryExhaustionLatestSeconds.name}{${A}})`,
        legend: '{{container}} {{pid}}, latest',
        colour: ORANGE,
      },
    ],
  }),
  lines({
    title: 'Flushes and out of memory',
    help: 'Counts of the process; each step is one. A program can set them back.',
    queries: [
      { expr: sum(allocatorRetriesTotal), legend: `${NAME}, flushes`, colour: ORANGE },
      { expr: sum(allocatorOomsTotal), legend: `${NAME}, out of memory`, colour: BAD },
    ],
  }),
]

export const allocator: Board = {
  name: 'allocator',
  title: 'allocator',
  about: "PyTorch's memory from inside: where it is, what can still be had, when it runs out. Generated: edit grafana/*.ts in the repository.",
  variables: [manyHosts, manyGpus, containers],
  marks: `${A},kind=~"cuda_oom|memory_exhaustion_forecast|memory_leak|fragmentation_pressure|allocator_.*|oom_restart_loop|neighbour_pressure"`,
  rows: [
    ['Now', now],
    ['Processes', list],
    ['Where the memory is', where],
    ['When it runs out', when],
  ],
}
