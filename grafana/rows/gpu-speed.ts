// How fast a card works, what holds it down, and what goes over its links.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { gpuGpmMemoryActiveRatio, gpuGpmSmActiveRatio, gpuGpmTensorActiveRatio } from '../../agent/metrics/gpm.ts'
import { gpuClockHertz, gpuClockMaxHertz, gpuThrottleActive, gpuThrottleSecondsTotal } from '../../agent/metrics/gpu-clocks.ts'
import {
  gpuNvlinkActive,
  gpuNvlinkBytesTotal,
  gpuNvlinkErrorsTotal,
  gpuPcieLinkGeneration,
  gpuPcieLinkGenerationMax,
  gpuPcieLinkWidth,
  gpuPcieLinkWidthMax,
  gpuPcieReplayTotal,
  gpuPcieThroughputBytesPerSecond,
} from '../../agent/metrics/gpu-links.ts'
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio, gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../agent/metrics/gpu-load.ts'
import { gpuPowerLimitDefaultWatts, gpuPowerLimitWatts, gpuPowerWatts } from '../../agent/metrics/gpu-power.ts'
import { gpuFanSpeedRatio, gpuMemoryTemperatureCelsius, gpuTemperatureCelsius, gpuTemperatureThresholdCelsius } from '../../agent/metrics/gpu-temperature.ts'
import { BAD, BLUE, byState, GREY, ORANGE, PURPLE, SKY, WARN } from '../parts/look.ts'
import { lines, states } from '../parts/panels.ts'
import { GPU } from '../parts/select.ts'

const R = '[$__rate_interval]'
/** What a GPU is asked for is no fault. */
const HARMLESS = 'gpu_idle|applications_clocks_setting|sync_boost|display_clocks_setting'

export const speed = [
  lines({
    title: 'Utilization',
    help: 'Kernel ran; memory was read or written; encoder and decoder worked. High for kernels and low for memory: it computes. Both low: it waits.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      { expr: `max(${gpuUtilizationRatio.name}{${GPU}})`, legend: 'kernels' },
      { expr: `max(${gpuMemoryUtilizationRatio.name}{${GPU}})`, legend: 'memory' },
      { expr: `max(${gpuEncoderUtilizationRatio.name}{${GPU}})`, legend: 'encoder' },
      { expr: `max(${gpuDecoderUtilizationRatio.name}{${GPU}})`, legend: 'decoder' },
    ],
  }),
  lines({
    title: 'How much of the card works',
    help: 'From the performance counters (Hopper and newer): multiprocessors with work, tensor cores, memory bandwidth. A card that is utilized but has idle multiprocessors gets batches that are too small.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      { expr: `max(${gpuGpmSmActiveRatio.name}{${GPU},gi=""})`, legend: 'multiprocessors' },
      { expr: `max(${gpuGpmTensorActiveRatio.name}{${GPU},gi=""})`, legend: 'tensor cores' },
      { expr: `max(${gpuGpmMemoryActiveRatio.name}{${GPU},gi=""})`, legend: 'memory bandwidth' },
    ],
  }),
  lines({
    title: 'Clocks',
    help: 'Of multiprocessors and memory, and the highest possible. Below it under load: look at what holds them down beside.',
    unit: units.Hertz,
    queries: [
      { expr: `max(${gpuClockHertz.name}{${GPU},domain="sm"})`, legend: 'multiprocessors' },
      { expr: `max(${gpuClockHertz.name}{${GPU},domain="memory"})`, legend: 'memory' },
      { expr: `max(${gpuClockMaxHertz.name}{${GPU},domain="sm"})`, legend: 'multiprocessors, highest', colour: SKY },
      { expr: `max(${gpuClockMaxHertz.name}{${GPU},domain="memory"})`, legend: 'memory, highest', colour: GREY },
    ],
  }),
  states({
    title: 'What holds the clocks down',
    help: 'Reasons other than idleness and settings. sw_power_cap is the power limit at work and mostly meant so; thermal: cool the card; hw_power_brake: the power supply brakes, call for hands.',
    queries: [{ expr: `max by (reason) (${gpuThrottleActive.name}{${GPU},reason!~"${HARMLESS}"})`, legend: '{{reason}}' }],
    mappings: byState('no', 'holds it down', WARN),
  }),
  lines({
    title: 'Time slowed down',
    help: 'Share of time for which a reason held the clocks down, counted by the driver between the scrapes too.',
    unit: units.PercentUnit,
    max: 1,
    queries: [{ expr: `max by (reason) (rate(${gpuThrottleSecondsTotal.name}{${GPU}}${R}))`, legend: '{{reason}}' }],
    named: { sw_power_cap: BLUE, sw_thermal_slowdown: ORANGE, hw_thermal_slowdown: BAD, hw_power_brake_slowdown: PURPLE, sync_boost: GREY },
  }),
  lines({
    title: 'Power',
    help: 'Draw, and the limit in force: the lowest of all that apply. A limit below the default was set by an operator.',
    unit: units.Watt,
    queries: [
      { expr: `max(${gpuPowerWatts.name}{${GPU}})`, legend: 'draw' },
      { expr: `max(${gpuPowerLimitWatts.name}{${GPU}})`, legend: 'limit' },
      { expr: `max(${gpuPowerLimitDefaultWatts.name}{${GPU}})`, legend: 'default limit', colour: GREY },
    ],
  }),
  lines({
    title: 'Temperature',
    help: 'Die and memory, and where the board protects itself. Memory runs hotter than the die; at its threshold the card is slowed down as well.',
    unit: units.Celsius,
    queries: [
      { expr: `max(${gpuTemperatureCelsius.name}{${GPU}})`, legend: 'die' },
      { expr: `max(${gpuMemoryTemperatureCelsius.name}{${GPU}})`, legend: 'memory' },
      { expr: `max by (threshold) (${gpuTemperatureThresholdCelsius.name}{${GPU}})`, legend: 'threshold: {{threshold}}', colour: GREY },
    ],
  }),
  lines({
    title: 'Fan',
    help: 'Intended speed. A blocked fan still shows what was asked of it. Cards that the chassis cools have none.',
    unit: units.PercentUnit,
    queries: [{ expr: `max(${gpuFanSpeedRatio.name}{${GPU}})`, legend: 'fan' }],
  }),
]

export const wires = [
  lines({
    title: 'PCIe link',
    help: 'Generation and lanes now and at most. Narrower than its most under load: reseat the card or change the riser. An idle card lowers the generation by itself.',
    queries: [
      { expr: `max(${gpuPcieLinkWidth.name}{${GPU}})`, legend: 'lanes' },
      { expr: `max(${gpuPcieLinkWidthMax.name}{${GPU}})`, legend: 'lanes at most', colour: SKY },
      { expr: `max(${gpuPcieLinkGeneration.name}{${GPU}})`, legend: 'generation', colour: ORANGE },
      { expr: `max(${gpuPcieLinkGenerationMax.name}{${GPU}})`, legend: 'generation at most', colour: GREY },
    ],
  }),
  lines({
    title: 'PCIe traffic',
    help: 'To (rx) and from (tx) the card. Near the limit of the link: too much is copied between host and card.',
    unit: units.BytesPerSecondIEC,
    queries: [{ expr: `max by (direction) (${gpuPcieThroughputBytesPerSecond.name}{${GPU}})`, legend: '{{direction}}' }],
    named: { rx: BLUE, tx: ORANGE },
  }),
  lines({
    title: 'NVLink traffic',
    help: 'Payload over all links, by direction. Nothing while a job over several cards runs: it takes the way over PCIe.',
    unit: units.BytesPerSecondIEC,
    queries: [{ expr: `max by (direction) (rate(${gpuNvlinkBytesTotal.name}{${GPU}}${R}))`, legend: '{{direction}}' }],
    named: { rx: BLUE, tx: ORANGE },
  }),
  lines({
    title: 'NVLinks down, and errors of links',
    help: 'Links that are down, errors of NVLink by type, and PCIe packets that had to be sent again, since the driver was loaded. Steps upward: cable, bridge, slot or board; see the runbooks nvlink_errors and pcie_degraded.',
    queries: [
      { expr: `sum(${gpuNvlinkActive.name}{${GPU}} == bool 0)`, legend: 'NVLinks down', colour: BAD },
      { expr: `max by (type) (${gpuNvlinkErrorsTotal.name}{${GPU}})`, legend: 'NVLink {{type}}', colour: ORANGE },
      { expr: `max(${gpuPcieReplayTotal.name}{${GPU}})`, legend: 'PCIe replays', colour: BLUE },
    ],
  }),
]
