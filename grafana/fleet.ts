// Hundreds of hosts: the worst first, and how much of all the GPUs is used, idle, lost.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { gpuSampleAgeSeconds } from '../agent/metrics/gpu-identity.ts'
import { gpuPowerWatts } from '../agent/metrics/gpu-power.ts'
import { incidentActive, incidentsSilenced } from '../agent/metrics/incident.ts'
import type { Board } from './parts/board.ts'
import { toHost, toRunbook } from './parts/links.ts'
import { BAD, BLUE, GREEN, GREY, ORANGE, SEVERITIES, SKY, WARN, words } from './parts/look.ts'
import { figure, lines } from './parts/panels.ts'
import { JOB } from './parts/select.ts'
import { rows } from './parts/table.ts'

const EACH = 'job, instance'
/** A zero only where the agent tells incidents at all. */
const TOLD = `0 * max by (${EACH}) (${incidentsSilenced.name}{${JOB}})`

const now = [
  figure({
    title: 'Hosts that answer',
    help: 'Agents that were scraped, that is hosts that are monitored.',
    queries: [{ expr: `sum(up{${JOB}})` }],
  }),
  figure({
    title: 'Hosts that do not',
    help: 'Host, agent or network is down. Nobody watches them now: they are listed below.',
    queries: [{ expr: `sum(1 - up{${JOB}})` }],
    steps: [[1, BAD]],
  }),
  figure({
    title: 'GPUs',
    help: 'Cards that agents know, those that do not answer included.',
    queries: [{ expr: `count(${gpuSampleAgeSeconds.name}{${JOB}})` }],
  }),
  figure({
    title: 'GPUs that do not answer',
    help: 'Cards without a reading for 15 s: hung, or lost.',
    queries: [{ expr: `sum(${gpuSampleAgeSeconds.name}{${JOB}} >= bool 15)` }],
    steps: [[1, BAD]],
  }),
  figure({
    title: 'GPU memory in use',
    help: 'Mean over the hosts, from the recording rules.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `avg(instance:warpwatch_gpu_memory_used:ratio{${JOB}})` }],
    none: 'no recording rules',
  }),
  figure({
    title: 'GPU utilization',
    help: 'Mean over the hosts, of five minutes.',
    unit: units.PercentUnit,
    decimals: 1,
    queries: [{ expr: `avg(instance:warpwatch_gpu_utilization:avg5m{${JOB}})` }],
    none: 'no recording rules',
  }),
  figure({
    title: 'GPUs held for nothing',
    help: 'Processes hold memory on them and nothing ran for five minutes. Ask who: the runbook idle_gpu_held.',
    queries: [{ expr: `sum(instance:warpwatch_gpus_idle:count{${JOB}})` }],
    steps: [[1, WARN]],
    none: 'no recording rules',
  }),
  figure({
    title: 'GPU time lost in a day',
    help: 'By crashes, from the last saved state to the end of the job.',
    unit: units.Seconds,
    queries: [{ expr: 'sum(kind:warpwatch_gpu_seconds_lost:increase1d)' }],
    none: 'no recording rules',
  }),
]

const hosts = [
  rows({
    title: 'Hosts, the worst first',
    help: 'Sorted by critical and warning incidents. Host leads to its dashboard. An empty cell is not a zero: that host reports nothing of it.',
    height: 14,
    columns: [
      { label: 'instance', name: 'Host', links: [toHost()] },
      { label: 'job', name: 'Job' },
      { expr: `max by (${EACH}) (up{${JOB}})`, name: 'Answers', mappings: words(['0', 'no', BAD], ['1', 'yes', GREY]) },
      { expr: `count by (${EACH}) (${incidentActive.name}{${JOB},severity="critical"}) or ${TOLD}`, name: 'Critical', steps: [[1, BAD]] },
      { expr: `count by (${EACH}) (${incidentActive.name}{${JOB},severity="warning"}) or ${TOLD}`, name: 'Warning', steps: [[1, WARN]] },
      { expr: `count by (${EACH}) (${gpuSampleAgeSeconds.name}{${JOB}})`, name: 'GPUs' },
      { expr: `sum by (${EACH}) (${gpuSampleAgeSeconds.name}{${JOB}} >= bool 15)`, name: 'do not answer', steps: [[1, BAD]] },
      { expr: `max by (${EACH}) (instance:warpwatch_gpu_memory_used:ratio{${JOB}})`, name: 'Memory', unit: units.PercentUnit, decimals: 1 },
      { expr: `max by (${EACH}) (instance:warpwatch_gpu_utilization:avg5m{${JOB}})`, name: 'Utilization', unit: units.PercentUnit, decimals: 1 },
      { expr: `max by (${EACH}) (instance:warpwatch_gpus_idle:count{${JOB}})`, name: 'Idle GPUs', steps: [[1, WARN]] },
      { expr: `max by (${EACH}) (instance:warpwatch_gpus_idle:hours1d{${JOB}}) * 3600`, name: 'Idle in a day', unit: units.Seconds },
      { expr: `sum by (${EACH}) (increase(instance_kind:warpwatch_gpu_seconds_lost:sum{${JOB}}[1d]))`, name: 'Lost in a day', unit: units.Seconds },
    ],
    worst: ['Critical', 'Warning'],
    none: 'no host',
  }),
]

const faults = [
  rows({
    title: 'What fires, and where',
    help: 'Every firing incident of the fleet. Host leads to its dashboard, kind to the runbook on the agent.',
    width: 14,
    height: 10,
    columns: [
      { label: 'severity', name: 'Severity', width: 110, mappings: words(...SEVERITIES) },
      { label: 'kind', name: 'Kind', links: [toRunbook] },
      { label: 'instance', name: 'Host', links: [toHost()] },
      { label: 'job', name: 'Job' },
      { label: 'gpu', name: 'GPU', width: 80 },
      { label: 'container', name: 'Container' },
      { expr: `max by (severity, kind, instance, job, gpu, container) (${incidentActive.name}{${JOB}})`, name: 'fires' },
    ],
    hidden: ['fires'],
    none: 'nothing fires',
  }),
  rows({
    title: 'Kinds',
    help: 'Firing now, and what the last day brought, over the whole fleet. One kind on many hosts at once has one cause: a driver, an image, the cooling.',
    width: 10,
    height: 10,
    columns: [
      { label: 'kind', name: 'Kind' },
      { expr: 'sum by (kind) (kind_severity:warpwatch_incidents_active:count)', name: 'Fire now' },
      { expr: 'kind:warpwatch_incidents:increase1d > 0', name: 'In a day', decimals: 0 },
      { expr: 'kind:warpwatch_gpu_seconds_lost:increase1d > 0', name: 'GPU time lost', unit: units.Seconds },
    ],
    worst: ['Fire now'],
    none: 'none, or no recording rules',
  }),
  rows({
    title: 'Hosts that do not answer',
    help: 'The scrape failed. First try to reach the host; then the agent: systemctl status warpwatch.',
    width: 10,
    height: 8,
    columns: [
      { label: 'instance', name: 'Host', links: [toHost()] },
      { label: 'job', name: 'Job' },
      { expr: `max by (${EACH}) (up{${JOB}}) == 0`, name: 'down' },
    ],
    hidden: ['down'],
    none: 'all answering',
  }),
  lines({
    title: 'Firing over time',
    help: 'Incidents of the fleet by severity. A wave over many hosts: look for what changed at that time.',
    width: 14,
    stacked: true,
    queries: [{ expr: 'sum by (severity) (kind_severity:warpwatch_incidents_active:count)', legend: '{{severity}}' }],
    named: { critical: BAD, warning: ORANGE, info: SKY },
  }),
]

const use = [
  lines({
    title: 'GPU memory over the hosts',
    help: 'Over the hosts: the fullest, the tenth part that is fullest, the one in the middle.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      { expr: `max(instance:warpwatch_gpu_memory_used:ratio{${JOB}})`, legend: 'fullest', colour: ORANGE },
      { expr: `quantile(0.9, instance:warpwatch_gpu_memory_used:ratio{${JOB}})`, legend: '90th percentile', colour: SKY },
      { expr: `quantile(0.5, instance:warpwatch_gpu_memory_used:ratio{${JOB}})`, legend: 'median', colour: BLUE },
    ],
  }),
  lines({
    title: 'GPU utilization over the hosts',
    help: 'Over the hosts, of five minutes: the busiest tenth, the one in the middle, the least busy tenth.',
    unit: units.PercentUnit,
    max: 1,
    queries: [
      { expr: `quantile(0.9, instance:warpwatch_gpu_utilization:avg5m{${JOB}})`, legend: '90th percentile', colour: SKY },
      { expr: `quantile(0.5, instance:warpwatch_gpu_utilization:avg5m{${JOB}})`, legend: 'median', colour: BLUE },
      { expr: `quantile(0.1, instance:warpwatch_gpu_utilization:avg5m{${JOB}})`, legend: '10th percentile', colour: GREY },
    ],
  }),
  lines({
    title: 'GPUs held for nothing, over time',
    help: 'Sum over the hosts. Nights and weekends show who forgets; the hosts are in the table above.',
    queries: [{ expr: `sum(instance:warpwatch_gpus_idle:count{${JOB}})`, legend: 'idle GPUs', colour: ORANGE }],
  }),
  lines({
    title: 'Power',
    help: 'Draw of all GPUs of the fleet together, about 5 % accurate.',
    unit: units.Watt,
    queries: [{ expr: `sum(${gpuPowerWatts.name}{${JOB}})`, legend: 'all GPUs', colour: GREEN }],
  }),
]

export const fleet: Board = {
  name: 'fleet',
  title: 'fleet',
  about:
    'Hundreds of hosts, the worst first. Needs the recording rules of alerts/prometheus/warpwatch.rules.yml (warpwatch rules). Generated: edit grafana/*.ts in the repository.',
  variables: [],
  from: 'now-6h',
  rows: [
    ['Now', now],
    ['Hosts', hosts],
    ['Faults', faults],
    ['Use', use],
  ],
}
