// How fast a card works, what holds it down, and what goes over its links.
import * as units from '@grafana/grafana-foundation-sdk/units'
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
      { expr: `max(warpwatch_gpu_utilization_ratio{${GPU}})`, legend: 'kernels' },
      { expr: `max(warpwatch_gpu_memory_utilization_ratio{${GPU}})`, legend: 'memory' },
      { expr: `max(warpwatch_gpu_encoder_utilization_ratio{${GPU}})`, legend: 'encoder' },
      { expr: `max(warpwatch_gpu_decoder_utilization_ratio{${GPU}})`, legend: 'decoder' },
    ],
  }),
  lines({
    title: 'How much of the card works',
    help: 'From the performance counters (Hopper and newer): multiprocessors with work, tensor cores, memory bandwidth. A card that is utilized but has idle multiprocessors gets batches that are too small.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      { expr: `max(warpwatch_gpu_gpm_sm_active_ratio{${GPU},gi=""})`, legend: 'multiprocessors' },
      { expr: `max(warpwatch_gpu_gpm_tensor_active_ratio{${GPU},gi=""})`, legend: 'tensor cores' },
      { expr: `max(warpwatch_gpu_gpm_memory_active_ratio{${GPU},gi=""})`, legend: 'memory bandwidth' },
    ],
  }),
  lines({
    title: 'Clocks',
    help: 'Of multiprocessors and memory, and the highest possible. Below it under load: look at what holds them down beside.',
    unit: units.Hertz,
    queries: [
      { expr: `max(warpwatch_gpu_clock_hertz{${GPU},domain="sm"})`, legend: 'multiprocessors' },
      { expr: `max(warpwatch_gpu_clock_hertz{${GPU},domain="memory"})`, legend: 'memory' },
      { expr: `max(warpwatch_gpu_clock_max_hertz{${GPU},domain="sm"})`, legend: 'multiprocessors, highest', colour: SKY },
      { expr: `max(warpwatch_gpu_clock_max_hertz{${GPU},domain="memory"})`, legend: 'memory, highest', colour: GREY },
    ],
  }),
  states({
    title: 'What holds the clocks down',
    help: 'Reasons other than idleness and settings. sw_power_cap is the power limit at work and mostly meant so; thermal: cool the card; hw_power_brake: the power supply brakes, call for hands.',
    queries: [{ expr: `max by (reason) (warpwatch_gpu_throttle_active{${GPU},reason!~"${HARMLESS}"})`, legend: '{{reason}}' }],
    mappings: byState('no', 'holds it down', WARN),
  }),
  lines({
    title: 'Time slowed down',
    help: 'Share of time for which a reason held the clocks down, counted by the driver between the scrapes too.',
    unit: units.PercentUnit,
    max: 1,
    queries: [{ expr: `max by (reason) (rate(warpwatch_gpu_throttle_seconds_total{${GPU}}${R}))`, legend: '{{reason}}' }],
    named: { sw_power_cap: BLUE, sw_thermal_slowdown: ORANGE, hw_thermal_slowdown: BAD, hw_power_brake_slowdown: PURPLE, sync_boost: GREY },
  }),
  lines({
    title: 'Power',
    help: 'Draw, and the limit in force: the lowest of all that apply. A limit below the default was set by somebody.',
    unit: units.Watt,
    queries: [
      { expr: `max(warpwatch_gpu_power_watts{${GPU}})`, legend: 'draw' },
      { expr: `max(warpwatch_gpu_power_limit_watts{${GPU}})`, legend: 'limit' },
      { expr: `max(warpwatch_gpu_power_limit_default_watts{${GPU}})`, legend: 'default limit', colour: GREY },
    ],
  }),
  lines({
    title: 'Temperature',
    help: 'Die and memory, and where the board protects itself. Memory runs hotter than the die; at its threshold the card is slowed down as well.',
    unit: units.Celsius,
    queries: [
      { expr: `max(warpwatch_gpu_temperature_celsius{${GPU}})`, legend: 'die' },
      { expr: `max(warpwatch_gpu_memory_temperature_celsius{${GPU}})`, legend: 'memory' },
      { expr: `max by (threshold) (warpwatch_gpu_temperature_threshold_celsius{${GPU}})`, legend: 'threshold: {{threshold}}', colour: GREY },
    ],
  }),
  lines({
    title: 'Fan',
    help: 'Intended speed. A blocked fan still shows what was asked of it. Cards that the chassis cools have none.',
    unit: units.PercentUnit,
    queries: [{ expr: `max(warpwatch_gpu_fan_speed_ratio{${GPU}})`, legend: 'fan' }],
  }),
]

export const wires = [
  lines({
    title: 'PCIe link',
    help: 'Generation and lanes now and at most. Narrower than its most under load: reseat the card or change the riser. An idle card lowers the generation by itself.',
    queries: [
      { expr: `max(warpwatch_gpu_pcie_link_width{${GPU}})`, legend: 'lanes' },
      { expr: `max(warpwatch_gpu_pcie_link_width_max{${GPU}})`, legend: 'lanes at most', colour: SKY },
      { expr: `max(warpwatch_gpu_pcie_link_generation{${GPU}})`, legend: 'generation', colour: ORANGE },
      { expr: `max(warpwatch_gpu_pcie_link_generation_max{${GPU}})`, legend: 'generation at most', colour: GREY },
    ],
  }),
  lines({
    title: 'PCIe traffic',
    help: 'To (rx) and from (tx) the card. Near the limit of the link: too much is copied between host and card.',
    unit: units.BytesPerSecondIEC,
    queries: [{ expr: `max by (direction) (warpwatch_gpu_pcie_throughput_bytes_per_second{${GPU}})`, legend: '{{direction}}' }],
    named: { rx: BLUE, tx: ORANGE },
  }),
  lines({
    title: 'NVLink traffic',
    help: 'Payload over all links, by direction. Nothing while a job over several cards runs: it takes the way over PCIe.',
    unit: units.BytesPerSecondIEC,
    queries: [{ expr: `max by (direction) (rate(warpwatch_gpu_nvlink_bytes_total{${GPU}}${R}))`, legend: '{{direction}}' }],
    named: { rx: BLUE, tx: ORANGE },
  }),
  lines({
    title: 'NVLinks down, and errors of links',
    help: 'Links that are down, errors of NVLink by type, and PCIe packets that had to be sent again, since the driver was loaded. Steps upward: cable, bridge, slot or board; see the runbooks nvlink_errors and pcie_degraded.',
    queries: [
      { expr: `sum(warpwatch_gpu_nvlink_active{${GPU}} == bool 0)`, legend: 'NVLinks down', colour: BAD },
      { expr: `max by (type) (warpwatch_gpu_nvlink_errors_total{${GPU}})`, legend: 'NVLink {{type}}', colour: ORANGE },
      { expr: `max(warpwatch_gpu_pcie_replay_total{${GPU}})`, legend: 'PCIe replays', colour: BLUE },
    ],
  }),
]
