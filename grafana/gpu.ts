// One card in depth: memory and its holders, speed and what holds it down, links, errors.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { gpuInfo, gpuPerformanceState, gpuSampleAgeSeconds } from '../agent/metrics/gpu-identity.ts'
import { gpuUtilizationRatio } from '../agent/metrics/gpu-load.ts'
import {
  gpuBar1TotalBytes,
  gpuBar1UsedBytes,
  gpuMemoryReservedBytes,
  gpuMemoryTotalBytes,
  gpuMemoryUnattributedBytes,
  gpuMemoryUsedBytes,
  gpuMemoryUsedPeakBytes,
} from '../agent/metrics/gpu-memory.ts'
import { gpuTemperatureCelsius } from '../agent/metrics/gpu-temperature.ts'
import { incidentActive, incidentsSilenced } from '../agent/metrics/incident.ts'
import { processGpuMemoryBytes } from '../agent/metrics/process.ts'
import type { Board } from './parts/board.ts'
import { toAgent, toAllocator, toContainer } from './parts/links.ts'
import { BAD, BLUE, GREY, PURPLE, WARN, words } from './parts/look.ts'
import { figure, lines } from './parts/panels.ts'
import { GPU, oneGpu, oneHost } from './parts/select.ts'
import { rows } from './parts/table.ts'
import { health } from './rows/gpu-health.ts'
import { speed, wires } from './rows/gpu-speed.ts'

const CARD = `${GPU},gi=""`

const now = [
  figure({
    title: 'Card',
    help: 'Name of the card, driver and place on the bus.',
    width: 6,
    text: true,
    queries: [{ expr: `group by (name, driver_version, pci_bus_id) (${gpuInfo.name}{${GPU}})`, legend: '{{name}}, driver {{driver_version}}, {{pci_bus_id}}' }],
    none: 'not read now',
  }),
  figure({
    title: 'Age of the reading',
    help: 'Rises while the driver does not answer for this card, and all other figures of it are absent then.',
    unit: units.Seconds,
    decimals: 0,
    queries: [{ expr: `max(${gpuSampleAgeSeconds.name}{${GPU}})` }],
    steps: [[15, BAD]],
  }),
  figure({
    title: 'Memory in use',
    help: 'Share of all memory, without what driver and firmware keep.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `sum(${gpuMemoryUsedBytes.name}{${CARD}}) / sum(${gpuMemoryTotalBytes.name}{${CARD}})` }],
    steps: [[0.98, WARN]],
  }),
  figure({
    title: 'Utilization now',
    help: 'Share of time in which a kernel ran; a card with MIG reports none.',
    unit: units.PercentUnit,
    queries: [{ expr: `max(${gpuUtilizationRatio.name}{${GPU}})` }],
  }),
  figure({
    title: 'Temperature now',
    help: 'Of the die. The limits of the board itself are in the chart below.',
    unit: units.Celsius,
    queries: [{ expr: `max(${gpuTemperatureCelsius.name}{${GPU}})` }],
    steps: [
      [83, WARN],
      [90, BAD],
    ],
  }),
  figure({
    title: 'Performance state',
    help: 'P0 is the fastest, P15 the slowest; a busy card should be at P0 to P2.',
    queries: [{ expr: `max(${gpuPerformanceState.name}{${GPU}})` }],
    mappings: words(...Array.from({ length: 16 }, (_, state) => [String(state), `P${state}`, BLUE] as const)),
  }),
  figure({
    title: 'Firing incidents',
    help: 'Faults of this card that go on; see the list at the end.',
    queries: [{ expr: `count(${incidentActive.name}{${GPU}}) or 0 * sum(${incidentsSilenced.name}{job=~"$job",instance=~"$instance"})` }],
    steps: [[1, WARN]],
    none: 'not reported',
  }),
]

const memory = [
  lines({
    title: 'Memory',
    help: 'Used against what there is. The peak holds the highest of all samples of the last 60 s. Reserved is what driver and firmware keep. Nothing can be had any more when used and reserved reach total.',
    unit: units.BytesIEC,
    queries: [
      { expr: `max(${gpuMemoryUsedBytes.name}{${CARD}})`, legend: 'used' },
      { expr: `max(${gpuMemoryUsedPeakBytes.name}{${GPU}})`, legend: 'peak of 60 s' },
      { expr: `max(${gpuMemoryReservedBytes.name}{${CARD}})`, legend: 'reserved by the driver', colour: PURPLE },
      { expr: `max(${gpuMemoryTotalBytes.name}{${CARD}})`, legend: 'total', colour: GREY },
    ],
  }),
  lines({
    title: 'Who holds it',
    help: 'Memory of each process. Unattributed belongs to no listed process: other pid namespaces, the driver, or programs that ended badly; if it stays, the card must be reset.',
    unit: units.BytesIEC,
    stacked: true,
    queries: [
      { expr: `sum by (process, pid, container) (${processGpuMemoryBytes.name}{${GPU}})`, legend: '{{process}} {{pid}} {{container}}' },
      { expr: `sum(${gpuMemoryUnattributedBytes.name}{${GPU}})`, legend: 'unattributed', colour: GREY },
    ],
    links: [toContainer('series')],
  }),
  lines({
    title: 'MIG instances',
    help: 'Memory in use of each instance; one that is full fails though its card has free memory. Empty for a card without MIG.',
    unit: units.BytesIEC,
    queries: [
      { expr: `sum by (gi, ci) (${gpuMemoryUsedBytes.name}{${GPU},gi!=""})`, legend: 'GI {{gi}} CI {{ci}} used' },
      { expr: `sum by (gi, ci) (${gpuMemoryTotalBytes.name}{${GPU},gi!=""})`, legend: 'GI {{gi}} CI {{ci}} size', colour: GREY },
    ],
  }),
  lines({
    title: 'BAR1 window',
    help: 'The window through which others reach the memory of this card. Full: peer-to-peer and RDMA mappings fail.',
    unit: units.BytesIEC,
    queries: [
      { expr: `max(${gpuBar1UsedBytes.name}{${GPU}})`, legend: 'mapped' },
      { expr: `max(${gpuBar1TotalBytes.name}{${GPU}})`, legend: 'size', colour: GREY },
    ],
  }),
  rows({
    title: 'Processes',
    help: 'Who holds memory now. The container leads to its dashboard; a process with the probe has more under the allocator.',
    height: 7,
    columns: [
      { label: 'pid', name: 'PID', width: 100 },
      { label: 'process', name: 'Process' },
      { label: 'type', name: 'Type', width: 80 },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { label: 'uuid', name: 'GPU', links: [toAllocator()] },
      { label: 'unit', name: 'Unit' },
      { expr: `sum by (pid, process, type, container, uuid, unit) (${processGpuMemoryBytes.name}{${GPU}})`, name: 'Memory', unit: units.BytesIEC },
    ],
    worst: ['Memory'],
    none: 'nobody holds memory',
  }),
]

export const gpu: Board = {
  name: 'gpu',
  title: 'GPU',
  about: 'One card in depth: memory and who holds it, speed and what holds it down, links, errors. Generated: edit grafana/*.ts in the repository.',
  variables: [oneHost, oneGpu],
  marks: GPU,
  links: [toAgent],
  rows: [
    ['Now', now],
    ['Memory', memory],
    ['Speed', speed],
    ['Links', wires],
    ['Health', health],
  ],
}
