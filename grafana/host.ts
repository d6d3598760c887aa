// One host: what fires, its GPUs and who holds them, and the machine around them.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { containerGpuMemoryBytes } from '../agent/metrics/container.ts'
import { gpuThrottleActive } from '../agent/metrics/gpu-clocks.ts'
import { gpuSampleAgeSeconds } from '../agent/metrics/gpu-identity.ts'
import { gpuUtilizationRatio } from '../agent/metrics/gpu-load.ts'
import { gpuMemoryTotalBytes, gpuMemoryUnattributedBytes, gpuMemoryUsedBytes, gpuMemoryUsedPeakBytes } from '../agent/metrics/gpu-memory.ts'
import { gpuEnergyJoulesTotal, gpuPowerWatts } from '../agent/metrics/gpu-power.ts'
import { gpuTemperatureCelsius } from '../agent/metrics/gpu-temperature.ts'
import { hostCpuCores, hostCpuSecondsTotal, hostMemoryAvailableBytes, hostMemoryTotalBytes } from '../agent/metrics/host.ts'
import { incidentActive, incidentsSilenced } from '../agent/metrics/incident.ts'
import { processGpuMemoryBytes } from '../agent/metrics/process.ts'
import type { Board } from './parts/board.ts'
import { toAgent, toContainer, toGpu } from './parts/links.ts'
import { forecastFigure } from './parts/forecast.ts'
import { BAD, BLUE, GREEN, GREY, ORANGE, PURPLE, WARN, words, SEVERITIES } from './parts/look.ts'
import { figure, lines } from './parts/panels.ts'
import { HOST, oneHost } from './parts/select.ts'
import { rows } from './parts/table.ts'
import { machine } from './rows/host-machine.ts'

/** MIG instances are parts of their card and would count twice. */
const CARDS = `${HOST},gi=""`
const R = '[$__rate_interval]'

const now = [
  figure({
    title: 'Firing incidents',
    help: 'Faults that the agent judges to go on now, all severities. The list is below; each has a runbook.',
    queries: [{ expr: `count(${incidentActive.name}{${HOST}}) or 0 * sum(${incidentsSilenced.name}{${HOST}})` }],
    steps: [[1, WARN]],
    none: 'not reported',
  }),
  figure({
    title: 'GPUs that answer',
    help: 'Cards whose newest reading is younger than 15 s. Fewer than there should be: a card is lost or its driver hangs, see the table of GPUs and the incidents.',
    queries: [{ expr: `sum(${gpuSampleAgeSeconds.name}{${HOST}} < bool 15)`, legend: 'answer' }],
  }),
  figure({
    title: 'GPU memory in use',
    help: 'Of all cards together. High is well as long as nothing runs out: look at the forecast beside.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `sum(${gpuMemoryUsedBytes.name}{${CARDS}}) / sum(${gpuMemoryTotalBytes.name}{${CARDS}})` }],
  }),
  figure({
    title: 'GPU utilization',
    help: 'Mean over the cards of the share of time in which a kernel ran, in the last five minutes. Says nothing about how much of a card that kernel used. Cards with MIG report none.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `avg(avg_over_time(${gpuUtilizationRatio.name}{${HOST}}[5m]))` }],
  }),
  forecastFigure(HOST, {
    title: 'Memory runs out in',
    help: 'The nearest forecast among all processes, at the earliest. No forecast means that nothing grows in a way from which one may conclude. Otherwise open the allocator of that process, and save its state.',
  }),
  figure({
    title: 'GPU power',
    help: 'Draw of all cards together, about 5 % accurate.',
    unit: units.Watt,
    queries: [{ expr: `sum(${gpuPowerWatts.name}{${HOST}})` }],
  }),
  figure({
    title: 'CPU busy',
    help: 'Share of all cores that worked. Near 100 % with GPUs that wait: the loaders of the training are the bottleneck.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `1 - sum(rate(${hostCpuSecondsTotal.name}{${HOST},mode=~"idle|iowait"}${R})) / sum(${hostCpuCores.name}{${HOST}})` }],
    steps: [[0.95, WARN]],
  }),
  figure({
    title: 'Memory available',
    help: "Main memory that new work can get without swapping. Little of it, and the kernel will kill something: a container's limit should strike first.",
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `sum(${hostMemoryAvailableBytes.name}{${HOST}}) / sum(${hostMemoryTotalBytes.name}{${HOST}})` }],
    steps: [
      [0, BAD],
      [0.05, WARN],
      [0.1, BLUE],
    ],
  }),
]

const incidents = [
  rows({
    title: 'Firing now',
    help: 'One row for each fault and subject. The kind leads to its runbook, GPU and container to their dashboards; verdict and evidence are on the page of the agent.',
    height: 7,
    columns: [
      { label: 'severity', name: 'Severity', width: 110, mappings: words(...SEVERITIES) },
      { label: 'kind', name: 'Kind', links: [{ title: 'Runbook', url: 'http://${instance}/runbooks/${__data.fields.kind}', targetBlank: true }] },
      { label: 'gpu', name: 'GPU', width: 80, links: [toGpu()] },
      { label: 'uuid', name: 'UUID' },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { expr: `max by (severity, kind, gpu, uuid, container) (${incidentActive.name}{${HOST}})`, name: 'fires' },
    ],
    hidden: ['fires'],
    none: 'nothing fires',
  }),
]

const byCard = 'gpu, uuid'
const gpus = [
  rows({
    title: 'GPUs',
    help: 'All GPUs of the host now. An empty cell: the driver does not report it (a GPU that is lost or hangs reports nothing). GPU opens the dashboard of that GPU.',
    height: 9,
    columns: [
      { label: 'gpu', name: 'GPU', width: 70, links: [toGpu()] },
      { label: 'uuid', name: 'UUID', width: 330 },
      {
        expr: `max by (${byCard}) (${gpuSampleAgeSeconds.name}{${HOST}})`,
        name: 'Age of the reading',
        unit: units.Seconds,
        decimals: 0,
        steps: [[15, BAD]],
      },
      { expr: `sum by (${byCard}) (${gpuMemoryUsedBytes.name}{${CARDS}})`, name: 'Memory used', unit: units.BytesIEC },
      {
        expr: `sum by (${byCard}) (${gpuMemoryUsedBytes.name}{${CARDS}}) / sum by (${byCard}) (${gpuMemoryTotalBytes.name}{${CARDS}})`,
        name: 'of its memory',
        unit: units.PercentUnit,
        decimals: 1,
      },
      { expr: `max by (${byCard}) (${gpuUtilizationRatio.name}{${HOST}})`, name: 'Utilization', unit: units.PercentUnit },
      { expr: `max by (${byCard}) (${gpuPowerWatts.name}{${HOST}})`, name: 'Power', unit: units.Watt, decimals: 0 },
      {
        expr: `max by (${byCard}) (${gpuTemperatureCelsius.name}{${HOST}})`,
        name: 'Temperature',
        unit: units.Celsius,
        steps: [
          [83, WARN],
          [90, BAD],
        ],
      },
      {
        expr: `max by (${byCard}) (${gpuThrottleActive.name}{${HOST},reason!~"gpu_idle|applications_clocks_setting|sync_boost|display_clocks_setting|sw_power_cap"})`,
        name: 'Slowed down',
        mappings: words(['0', 'no', GREY], ['1', 'yes', WARN]),
      },
    ],
  }),
  lines({
    title: 'Memory in use by GPU',
    help: 'Peaks of the last 60 s, so that none is missed between two scrapes. A curve that climbs without end is a leak; one that ends is a card that is not read any more.',
    unit: units.BytesIEC,
    queries: [{ expr: `max by (gpu, uuid) (${gpuMemoryUsedPeakBytes.name}{${HOST}})`, legend: 'GPU {{gpu}}' }],
    links: [toGpu('series')],
  }),
  lines({
    title: 'Memory by container',
    help: 'Who holds the memory of all cards. Outside of containers: programs of the host. Unattributed: memory that no listed process holds; if it stays after programs ended, see the runbook unattributed_memory.',
    unit: units.BytesIEC,
    stacked: true,
    queries: [
      { expr: `sum by (container) (${containerGpuMemoryBytes.name}{${HOST}})`, legend: '{{container}}' },
      { expr: `sum(${processGpuMemoryBytes.name}{${HOST},container=""})`, legend: 'outside of containers', colour: ORANGE },
      { expr: `sum(${gpuMemoryUnattributedBytes.name}{${HOST}})`, legend: 'unattributed', colour: GREY },
    ],
    links: [toContainer('series')],
  }),
  lines({
    title: 'Utilization by GPU',
    help: 'Share of time in which a kernel ran. Teeth that fall to nothing again and again: the card waits for its input. One card below its peers in one job: a straggler.',
    unit: units.PercentUnit,
    max: 1,
    queries: [{ expr: `max by (gpu, uuid) (${gpuUtilizationRatio.name}{${HOST}})`, legend: 'GPU {{gpu}}' }],
    links: [toGpu('series')],
  }),
  lines({
    title: 'Power by GPU',
    help: 'Draw of each card. At its limit for long: clocks are held down, which is fine where the limit is set on purpose.',
    unit: units.Watt,
    queries: [{ expr: `max by (gpu, uuid) (${gpuPowerWatts.name}{${HOST}})`, legend: 'GPU {{gpu}}', colour: PURPLE }],
    links: [toGpu('series')],
  }),
  lines({
    title: 'Temperature by GPU',
    help: 'Of the die. One card hotter than the others beside it: dust, a fan, blocked air. At its threshold the board slows itself down.',
    unit: units.Celsius,
    queries: [{ expr: `max by (gpu, uuid) (${gpuTemperatureCelsius.name}{${HOST}})`, legend: 'GPU {{gpu}}', colour: ORANGE }],
    links: [toGpu('series')],
  }),
  lines({
    title: 'Energy by GPU',
    help: "Draw by the card's own energy counter: exact also where power is an average or a single moment.",
    unit: units.Watt,
    queries: [{ expr: `sum by (gpu, uuid) (rate(${gpuEnergyJoulesTotal.name}{${HOST}}${R}))`, legend: 'GPU {{gpu}}', colour: GREEN }],
    links: [toGpu('series')],
  }),
]

export const host: Board = {
  name: 'host',
  title: 'host',
  about: 'One host: what fires, its GPUs and who holds their memory, CPU, memory, disks. Generated: edit grafana/*.ts in the repository.',
  variables: [oneHost],
  marks: HOST,
  links: [toAgent],
  rows: [
    ['Now', now],
    ['Incidents', incidents],
    ['GPUs', gpus],
    ['The machine', machine],
  ],
}
