// The machine around the GPUs: CPU, memory, disks, network.
import * as units from '@grafana/grafana-foundation-sdk/units'
import {
  hostDiskAvailableBytes,
  hostDiskReadBytesTotal,
  hostDiskTotalBytes,
  hostDiskWrittenBytesTotal,
  hostNetworkReceiveBytesTotal,
  hostNetworkTransmitBytesTotal,
} from '../../agent/metrics/host-io.ts'
import {
  hostCpuCores,
  hostCpuSecondsTotal,
  hostLoad1,
  hostMemoryAvailableBytes,
  hostMemoryCachedBytes,
  hostMemoryFreeBytes,
  hostMemoryTotalBytes,
  hostOomKillsTotal,
  hostPressureRatio,
  hostShmTotalBytes,
  hostShmUsedBytes,
} from '../../agent/metrics/host.ts'
import { targetLatencySeconds, targetUp } from '../../agent/metrics/target.ts'
import { BAD, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, words } from '../parts/look.ts'
import { lines, states } from '../parts/panels.ts'
import { HOST } from '../parts/select.ts'

const R = '[$__rate_interval]'

export const machine = [
  lines({
    title: 'CPU by mode',
    help: 'Cores at work. Much iowait: programs wait for disks. Much system: many small requests to the kernel, or memory pressure.',
    unit: units.Short,
    stacked: true,
    queries: [{ expr: `sum by (mode) (rate(${hostCpuSecondsTotal.name}{${HOST},mode!="idle"}${R}))`, legend: '{{mode}}' }],
    named: { user: BLUE, system: ORANGE, iowait: PURPLE, nice: SKY, irq: GREEN, softirq: GREY },
  }),
  lines({
    title: 'Memory of the host',
    help: 'When available nears nothing, the kernel kills. Cache is given back when it is needed, so free alone says little.',
    unit: units.BytesIEC,
    queries: [
      { expr: `sum(${hostMemoryAvailableBytes.name}{${HOST}})`, legend: 'available' },
      { expr: `sum(${hostMemoryFreeBytes.name}{${HOST}})`, legend: 'free', colour: SKY },
      { expr: `sum(${hostMemoryCachedBytes.name}{${HOST}})`, legend: 'cache', colour: GREEN },
      { expr: `sum(${hostMemoryTotalBytes.name}{${HOST}})`, legend: 'total', colour: GREY },
    ],
  }),
  lines({
    title: 'Pressure',
    help: 'Share of time in which some work waited for the resource. Above a tenth for long it costs: io points at disks or loaders, memory at too little of it. Kernels without PSI report none.',
    unit: units.PercentUnit,
    queries: [{ expr: `max by (resource) (${hostPressureRatio.name}{${HOST},kind="some"})`, legend: '{{resource}}' }],
    named: { cpu: BLUE, memory: ORANGE, io: PURPLE },
  }),
  lines({
    title: 'Shared memory',
    help: "The host's /dev/shm; containers have their own, of 64 MiB unless set otherwise. When it is full, loaders and NCCL fail (shm_exhausted).",
    unit: units.BytesIEC,
    queries: [
      { expr: `sum(${hostShmUsedBytes.name}{${HOST}})`, legend: 'used' },
      { expr: `sum(${hostShmTotalBytes.name}{${HOST}})`, legend: 'size', colour: GREY },
    ],
  }),
  lines({
    title: 'Disks: space in use',
    help: 'By file system. At 100 % checkpoints are cut off (disk_full); free space before, oldest checkpoints first.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      {
        expr: `1 - min by (mountpoint) (${hostDiskAvailableBytes.name}{${HOST}}) / max by (mountpoint) (${hostDiskTotalBytes.name}{${HOST}})`,
        legend: '{{mountpoint}}',
      },
    ],
    steps: [[0.95, BAD]],
  }),
  lines({
    title: 'Disks: traffic',
    help: 'Bytes by disk. Reads at the limit of the disk while GPUs wait: the data are the bottleneck; keep them nearer, or read ahead.',
    unit: units.BytesPerSecondIEC,
    queries: [
      { expr: `sum by (device) (rate(${hostDiskReadBytesTotal.name}{${HOST}}${R}))`, legend: '{{device}} read' },
      { expr: `sum by (device) (rate(${hostDiskWrittenBytesTotal.name}{${HOST}}${R}))`, legend: '{{device}} written' },
    ],
  }),
  lines({
    title: 'Network',
    help: 'Bytes by interface, without those of containers.',
    unit: units.BytesPerSecondIEC,
    queries: [
      { expr: `sum by (interface) (rate(${hostNetworkReceiveBytesTotal.name}{${HOST}}${R}))`, legend: '{{interface}} received' },
      { expr: `sum by (interface) (rate(${hostNetworkTransmitBytesTotal.name}{${HOST}}${R}))`, legend: '{{interface}} sent' },
    ],
  }),
  lines({
    title: 'Load and OOM kills',
    help: 'Threads that run or wait against the cores there are; and processes that the OOM killer killed since boot, in containers too: a step is a kill.',
    queries: [
      { expr: `max(${hostLoad1.name}{${HOST}})`, legend: 'load over 1 min' },
      { expr: `max(${hostCpuCores.name}{${HOST}})`, legend: 'cores', colour: GREY },
      { expr: `max(${hostOomKillsTotal.name}{${HOST}})`, legend: 'OOM kills since boot', colour: BAD },
    ],
  }),
  states({
    title: 'Services',
    help: 'Whether the newest health check of each service was answered as expected (targets of the configuration). A service that answers while its GPU is dead is an incident all the same.',
    queries: [{ expr: `max by (target) (${targetUp.name}{${HOST}})`, legend: '{{target}}' }],
    mappings: words(['0', 'down', BAD], ['1', 'up', GREEN]),
  }),
  lines({
    title: 'How long services take to answer',
    help: 'From the start of a check to the end of the answer; absent when there was no whole answer. Rising while the GPU is full of work: requests queue.',
    unit: units.Seconds,
    queries: [{ expr: `max by (target) (${targetLatencySeconds.name}{${HOST}})`, legend: '{{target}}' }],
  }),
]
