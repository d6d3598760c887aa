// Recording rules for dashboards and fleets: figures that are dear, or easily got wrong, when each panel asks for them again.
import { gpuSampleAgeSeconds } from '../../agent/metrics/gpu-identity.ts'
import { gpuUtilizationRatio } from '../../agent/metrics/gpu-load.ts'
import { gpuMemoryTotalBytes, gpuMemoryUsedBytes } from '../../agent/metrics/gpu-memory.ts'
import { gpuPowerWatts } from '../../agent/metrics/gpu-power.ts'
import { gpuSecondsLostTotal, incidentActive, incidentsTotal } from '../../agent/metrics/incident.ts'
import { processGpuMemoryBytes } from '../../agent/metrics/process.ts'
import type { RecordRule, RuleGroup } from './rule.ts'

/** As the detector idle-gpu-held has it: nothing ran, and someone holds as much as no driver's overhead is. */
const IDLE_RATIO = 0.01
const HELD_BYTES = 1024 ** 3

const rules: readonly RecordRule[] = [
  {
    comment: 'How many cards the host has, those that do not answer too: what the shares below are weighed by where several Prometheus are joined.',
    record: 'instance:warpwatch_gpus:count',
    expr: `count by (job, instance) (${gpuSampleAgeSeconds.name})`,
  },
  {
    comment: "What the host's cards draw together.",
    record: 'instance:warpwatch_gpu_power_watts:sum',
    expr: `sum by (job, instance) (${gpuPowerWatts.name})`,
  },
  {
    comment: 'How full the memory of the host\'s cards is. gi="": MIG instances are parts of their card and would count twice.',
    record: 'instance:warpwatch_gpu_memory_used:ratio',
    expr: `sum by (job, instance) (${gpuMemoryUsedBytes.name}{gi=""})\n/\nsum by (job, instance) (${gpuMemoryTotalBytes.name}{gi=""})`,
  },
  {
    comment: 'How busy the cards are: one scrape is a single second, five minutes are a picture. Cards with MIG have no such figure and do not count.',
    record: 'instance:warpwatch_gpu_utilization:avg5m',
    expr: `avg by (job, instance) (avg_over_time(${gpuUtilizationRatio.name}[5m]))`,
  },
  {
    comment: 'Cards whose memory is held and on which nothing ran for five minutes. 0 where cards are read and none is idle; absent where nothing is known.',
    record: 'instance:warpwatch_gpus_idle:count',
    expr: [
      'count by (job, instance) (',
      `  max by (job, instance, gpu, uuid) (max_over_time(${gpuUtilizationRatio.name}[5m])) < ${IDLE_RATIO}`,
      `  and on (job, instance, gpu, uuid) sum by (job, instance, gpu, uuid) (${processGpuMemoryBytes.name}{type!="G"}) >= ${HELD_BYTES}`,
      ')',
      'or',
      `0 * count by (job, instance) (${gpuUtilizationRatio.name})`,
    ].join('\n'),
  },
  {
    comment: 'GPU hours of the last day in which cards were held for nothing. Sixty of these recordings are an hour; hours without readings do not count.',
    record: 'instance:warpwatch_gpus_idle:hours1d',
    expr: 'sum_over_time(instance:warpwatch_gpus_idle:count[1d]) / 60',
  },
  {
    comment: [
      "GPU time lost to crashes since the agent's start. Its series appear with their first loss, which no increase() would see: the counts of incidents,",
      'there from the start for every kind, lend them their zero.',
    ].join('\n'),
    record: 'instance_kind:warpwatch_gpu_seconds_lost:sum',
    expr: `sum by (job, instance, kind) (${gpuSecondsLostTotal.name})\nor\n0 * ${incidentsTotal.name}`,
  },
  {
    comment: 'GPU seconds wasted in the last day, by kind, over the fleet. The sum above is safe to take increases of: all its parts restart with the agent.',
    record: 'kind:warpwatch_gpu_seconds_lost:increase1d',
    expr: 'sum by (kind) (increase(instance_kind:warpwatch_gpu_seconds_lost:sum[1d]))',
  },
  {
    comment: 'What fires now over the fleet.',
    record: 'kind_severity:warpwatch_incidents_active:count',
    expr: `count by (kind, severity) (${incidentActive.name})`,
  },
  {
    comment: 'Incidents of the last day by kind, over the fleet; increases are taken before the sum, so that one restarted agent is no fall of all.',
    record: 'kind:warpwatch_incidents:increase1d',
    expr: `sum by (kind) (increase(${incidentsTotal.name}[1d]))`,
  },
]

/** The hour above is counted in its intervals. */
export const recordingGroup: RuleGroup = {
  name: 'warpwatch-recording',
  comment: 'Figures for dashboards. The interval is part of one of them.',
  interval: '1m',
  rules,
}
