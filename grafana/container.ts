// Containers and jobs: what they hold of the GPUs and of the machine, how near they are to their limits, how they end.
import * as units from '@grafana/grafana-foundation-sdk/units'
import {
  containerCpuLimitCores,
  containerCpuSecondsTotal,
  containerGpuAccessible,
  containerGpuMemoryBytes,
  containerGpuRequested,
  containerInfo,
  containerMemoryBytes,
  containerMemoryLimitBytes,
  containerOomKillsTotal,
  containerPids,
  containerPressureWaitingSecondsTotal,
  containerRestartsTotal,
} from '../agent/metrics/container.ts'
import { gpuUtilizationRatio } from '../agent/metrics/gpu-load.ts'
import { incidentActive, incidentsSilenced } from '../agent/metrics/incident.ts'
import { allocatorAllocatedBytes, allocatorReservedBytes } from '../agent/metrics/process.ts'
import type { Board } from './parts/board.ts'
import { toAllocator, toContainer, toGpu, toHost } from './parts/links.ts'
import { BAD, byState, GREEN, GREY, ORANGE, PURPLE, SEVERITIES, WARN, words } from './parts/look.ts'
import { figure, lines, states } from './parts/panels.ts'
import { CONTAINER, containers, HOST, manyHosts } from './parts/select.ts'
import { rows } from './parts/table.ts'

const R = '[$__rate_interval]'
const ONE = 'instance, container'

const now = [
  figure({
    title: 'Containers',
    help: 'That run now, of those that are chosen.',
    queries: [{ expr: `count(group by (${ONE}) (${containerInfo.name}{${CONTAINER}}))` }],
    none: 'none runs',
  }),
  figure({
    title: 'GPU memory',
    help: 'That they hold together, over all cards.',
    unit: units.BytesIEC,
    queries: [{ expr: `sum(${containerGpuMemoryBytes.name}{${CONTAINER}})` }],
    none: 'none held',
  }),
  figure({
    title: 'GPUs in use',
    help: 'Cards and MIG instances on which they hold memory.',
    queries: [{ expr: `count(group by (instance, uuid, gi, ci) (${containerGpuMemoryBytes.name}{${CONTAINER}}))` }],
    none: 'none',
  }),
  figure({
    title: 'Cores at work',
    help: 'CPU time in a second, of all of them together.',
    decimals: 1,
    queries: [{ expr: `sum(rate(${containerCpuSecondsTotal.name}{${CONTAINER}}${R}))` }],
  }),
  figure({
    title: 'Nearest to its limit',
    help: 'Memory against the limit, of the container for which that is highest; without a limit there is no figure. Near 100 %: the kernel kills (host_oom_kill); raise the limit or load less at once.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `max(${containerMemoryBytes.name}{${CONTAINER}} / ${containerMemoryLimitBytes.name}{${CONTAINER}})` }],
    steps: [
      [0.9, WARN],
      [0.97, BAD],
    ],
    none: 'no limit',
  }),
  figure({
    title: 'OOM kills',
    help: 'Processes of theirs that the kernel killed, in the time shown.',
    decimals: 0,
    queries: [{ expr: `sum(increase(${containerOomKillsTotal.name}{${CONTAINER}}[$__range]))` }],
    steps: [[0.5, BAD]],
  }),
  figure({
    title: 'Restarts',
    help: 'By the policy of the engine, in the time shown. Repeated restarts after running out of memory are an oom_restart_loop.',
    decimals: 0,
    queries: [{ expr: `sum(increase(${containerRestartsTotal.name}{${CONTAINER}}[$__range]))` }],
    steps: [[0.5, WARN]],
  }),
  figure({
    title: 'Firing incidents',
    help: 'Faults of these containers that go on.',
    queries: [{ expr: `count(${incidentActive.name}{${CONTAINER},container!=""}) or 0 * sum(${incidentsSilenced.name}{${HOST}})` }],
    steps: [[1, WARN]],
    none: 'not reported',
  }),
]

const list = [
  rows({
    title: 'Each container',
    help: 'Those that run now. Restarts and OOM kills count since the container was created or restarted.',
    height: 9,
    columns: [
      { label: 'instance', name: 'Host', links: [toHost()] },
      { label: 'job', name: 'Job' },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { expr: `sum by (job, ${ONE}) (${containerGpuMemoryBytes.name}{${CONTAINER}})`, name: 'GPU memory', unit: units.BytesIEC },
      { expr: `sum by (job, ${ONE}) (rate(${containerCpuSecondsTotal.name}{${CONTAINER}}${R}))`, name: 'Cores', decimals: 2 },
      { expr: `sum by (job, ${ONE}) (${containerMemoryBytes.name}{${CONTAINER}})`, name: 'Memory', unit: units.BytesIEC },
      { expr: `sum by (job, ${ONE}) (${containerMemoryLimitBytes.name}{${CONTAINER}})`, name: 'Limit', unit: units.BytesIEC },
      { expr: `max by (job, ${ONE}) (${containerRestartsTotal.name}{${CONTAINER}})`, name: 'Restarts', steps: [[1, WARN]] },
      { expr: `max by (job, ${ONE}) (${containerOomKillsTotal.name}{${CONTAINER}})`, name: 'OOM kills', steps: [[1, BAD]] },
    ],
    worst: ['GPU memory'],
    none: 'no container runs',
  }),
]

const gpus = [
  lines({
    title: 'GPU memory by container',
    help: 'By container and card. What climbs without end leaks.',
    unit: units.BytesIEC,
    stacked: true,
    queries: [
      { expr: `sum by (instance, container, gpu, uuid, gi) (${containerGpuMemoryBytes.name}{${CONTAINER}})`, legend: '{{container}}, GPU {{gpu}} {{gi}}' },
    ],
    links: [toAllocator('series')],
  }),
  lines({
    title: 'Utilization of their GPUs',
    help: 'Of the cards on which they hold memory. A card that several containers share does not show who worked.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      {
        expr: `max by (instance, gpu, uuid) (${gpuUtilizationRatio.name}{${HOST}}) and on (instance, uuid) group by (instance, uuid) (${containerGpuMemoryBytes.name}{${CONTAINER}})`,
        legend: '{{instance}} GPU {{gpu}}',
      },
    ],
    links: [toGpu('series')],
  }),
  rows({
    title: 'GPUs asked for, and used',
    help: 'Each card that a container was given. No memory on it: it is not used, and others could have it. Not reachable: its permission was taken away (container_lost_gpu); start the container again.',
    height: 7,
    columns: [
      { label: 'instance', name: 'Host' },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { label: 'gpu', name: 'GPU', width: 80 },
      { label: 'uuid', name: 'UUID', links: [toAllocator()] },
      { expr: `max by (${ONE}, gpu, uuid) (${containerGpuRequested.name}{${CONTAINER}})`, name: 'Given', mappings: words(['1', 'yes', GREY]) },
      { expr: `sum by (${ONE}, gpu, uuid) (${containerGpuMemoryBytes.name}{${CONTAINER}})`, name: 'Holds', unit: units.BytesIEC },
      { expr: `min by (${ONE}, gpu, uuid) (${containerGpuAccessible.name}{${CONTAINER}})`, name: 'Reachable', mappings: byState('no', 'yes', GREEN) },
    ],
    none: 'no container was given a GPU',
  }),
]

const machine = [
  lines({
    title: 'Cores',
    help: 'CPU time in a second, and the limit where there is one. At its limit: the container is throttled, and its loaders cannot feed the GPU.',
    queries: [
      { expr: `sum by (${ONE}) (rate(${containerCpuSecondsTotal.name}{${CONTAINER}}${R}))`, legend: '{{container}}' },
      { expr: `max by (${ONE}) (${containerCpuLimitCores.name}{${CONTAINER}})`, legend: '{{container}}, limit', colour: GREY },
    ],
  }),
  lines({
    title: 'Memory against the limit',
    help: 'Working set by limit; only containers with a limit. At 100 % the kernel kills a process of the container.',
    unit: units.PercentUnit,
    queries: [
      {
        expr: `max by (${ONE}) (${containerMemoryBytes.name}{${CONTAINER}} / ${containerMemoryLimitBytes.name}{${CONTAINER}})`,
        legend: '{{container}}',
      },
    ],
    steps: [[0.97, BAD]],
  }),
  lines({
    title: 'Memory',
    help: 'Working set: without the page cache that the kernel gives back first.',
    unit: units.BytesIEC,
    queries: [{ expr: `max by (${ONE}) (${containerMemoryBytes.name}{${CONTAINER}})`, legend: '{{container}}' }],
  }),
  lines({
    title: 'Waiting for resources',
    help: 'Share of time in which some work of the container waited (PSI of cgroup v2; v1 has none).',
    unit: units.PercentUnit,
    queries: [
      {
        expr: `max by (${ONE}, resource) (rate(${containerPressureWaitingSecondsTotal.name}{${CONTAINER},kind="some"}${R}))`,
        legend: '{{container}}, {{resource}}',
      },
    ],
  }),
  lines({
    title: 'OOM kills and restarts',
    help: 'Counts; each step is one. They start over when the container is recreated.',
    queries: [
      { expr: `max by (${ONE}) (${containerOomKillsTotal.name}{${CONTAINER}})`, legend: '{{container}}, OOM kills', colour: BAD },
      { expr: `max by (${ONE}) (${containerRestartsTotal.name}{${CONTAINER}})`, legend: '{{container}}, restarts', colour: ORANGE },
    ],
  }),
  lines({
    title: 'Processes and threads',
    help: 'A number that only grows: processes are left behind, mostly loader workers of runs that ended.',
    queries: [{ expr: `max by (${ONE}) (${containerPids.name}{${CONTAINER}})`, legend: '{{container}}', colour: PURPLE }],
  }),
]

const inside = [
  lines({
    title: "PyTorch's reserved and allocated memory",
    help: 'Reserved is taken from the driver, allocated is in use by tensors; what is between is cache and pieces. Only programs with the probe report it; the allocator dashboard has more.',
    unit: units.BytesIEC,
    queries: [
      { expr: `sum by (${ONE}, uuid) (${allocatorReservedBytes.name}{${CONTAINER}})`, legend: '{{container}}, reserved' },
      { expr: `sum by (${ONE}, uuid) (${allocatorAllocatedBytes.name}{${CONTAINER}})`, legend: '{{container}}, allocated', colour: GREEN },
    ],
    links: [toAllocator('series')],
  }),
  states({
    title: 'Incidents',
    help: 'When which fault of which container went on.',
    queries: [{ expr: `max by (kind, container) (${incidentActive.name}{${CONTAINER},container!=""})`, legend: '{{container}}: {{kind}}' }],
    mappings: words(['1', 'fires', BAD]),
  }),
  rows({
    title: 'Firing now',
    help: 'Faults of these containers. The kind leads to its runbook.',
    height: 6,
    columns: [
      { label: 'severity', name: 'Severity', width: 110, mappings: words(...SEVERITIES) },
      {
        label: 'kind',
        name: 'Kind',
        links: [{ title: 'Runbook', url: 'http://${__data.fields.instance}/runbooks/${__data.fields.kind}', targetBlank: true }],
      },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { label: 'gpu', name: 'GPU', width: 80 },
      { label: 'instance', name: 'Host' },
      { expr: `max by (severity, kind, container, gpu, instance) (${incidentActive.name}{${CONTAINER},container!=""})`, name: 'fires' },
    ],
    hidden: ['fires'],
    none: 'nothing fires',
  }),
]

export const container: Board = {
  name: 'container',
  title: 'containers and jobs',
  about: 'What containers hold of GPUs and machine, how near they are to their limits, and how they end. Generated: edit grafana/*.ts in the repository.',
  variables: [manyHosts, containers],
  marks: `${CONTAINER},container!=""`,
  rows: [
    ['Now', now],
    ['Containers', list],
    ['GPUs', gpus],
    ['CPU and memory', machine],
    ['Inside, and what went wrong', inside],
  ],
}
