// The agents themselves: what they cost, what they could not read, whether anything was dropped or not delivered.
import * as units from '@grafana/grafana-foundation-sdk/units'
import {
  agentHeartbeatsTotal,
  agentNotificationLastSuccessTimestampSeconds,
  agentNotificationsOldestSeconds,
  agentNotificationsTotal,
  agentNotificationsWaiting,
  agentOtlpRefusedTotal,
  agentOtlpRequestsTotal,
  agentSinkDroppedTotal,
  agentStreamReaders,
} from '../agent/metrics/agent-delivery.ts'
import {
  agentGapsTotal,
  agentLogLagSeconds,
  agentLogLinesTotal,
  agentLogSkippedTotal,
  agentProbeConnections,
  agentProbeRefusalsTotal,
  agentSamplerAbandoned,
  agentSamplerHangsTotal,
  agentSamplerRestartsTotal,
  agentSourceDurationSeconds,
  agentSourceUp,
} from '../agent/metrics/agent-sources.ts'
import {
  agentConsumerFailuresTotal,
  agentEventLoopUtilizationRatio,
  agentEventsTotal,
  agentHistoryBytes,
  agentHistoryDegraded,
  processCpuSecondsTotal,
  processOpenFds,
  processResidentMemoryBytes,
  processStartTimeSeconds,
} from '../agent/metrics/agent.ts'
import type { Board } from './parts/board.ts'
import { toHost } from './parts/links.ts'
import { BAD, BLUE, byState, GREEN, ORANGE, PURPLE, SKY, WARN, words } from './parts/look.ts'
import { figure, lines, states } from './parts/panels.ts'
import { HOST, manyHosts } from './parts/select.ts'
import { rows } from './parts/table.ts'

const R = '[$__rate_interval]'

const now = [
  figure({ title: 'Agents', help: 'Agents that answer the scrape, of those that are chosen.', queries: [{ expr: `sum(up{${HOST}})` }] }),
  figure({
    title: 'Sources that are down',
    help: 'Without a reading for 15 s. The chart below says which; the log of the agent says why.',
    queries: [{ expr: `sum(${agentSourceUp.name}{${HOST}} == bool 0)` }],
    steps: [[1, BAD]],
  }),
  figure({
    title: 'Most CPU',
    help: 'Of the main process, in cores, of the agent that needs most. The sampler child comes on top.',
    decimals: 3,
    queries: [{ expr: `max(rate(${processCpuSecondsTotal.name}{${HOST}}${R}))` }],
    steps: [[0.1, WARN]],
  }),
  figure({
    title: 'Most memory',
    help: 'Resident memory of the main process, of the largest agent.',
    unit: units.BytesIEC,
    queries: [{ expr: `max(${processResidentMemoryBytes.name}{${HOST}})` }],
  }),
  figure({
    title: 'History in memory only',
    help: 'Agents whose history cannot be written: the disk is full, read-only or gone. They try again by themselves.',
    queries: [{ expr: `sum(${agentHistoryDegraded.name}{${HOST}})` }],
    steps: [[1, BAD]],
  }),
  figure({
    title: 'Dropped',
    help: 'By sinks in the time shown: readers or receivers could not keep up.',
    decimals: 0,
    queries: [{ expr: `sum(increase(${agentSinkDroppedTotal.name}{${HOST}}[$__range]))` }],
    steps: [[1, WARN]],
  }),
  figure({
    title: 'Messages that wait',
    help: 'Notifications that have not been delivered yet.',
    queries: [{ expr: `sum(${agentNotificationsWaiting.name}{${HOST}})` }],
    steps: [[1, WARN]],
    none: 'no notifier',
  }),
  figure({
    title: 'Processes that hang',
    help: 'Samplers that were killed and have not ended, as they hang in the kernel: a driver that is stuck. Reboot when you can.',
    queries: [{ expr: `sum(${agentSamplerAbandoned.name}{${HOST}})` }],
    steps: [[1, BAD]],
    none: 'no sampler',
  }),
]

const cost = [
  rows({
    title: 'Each agent',
    help: 'What each costs. Host leads to its dashboard.',
    columns: [
      { label: 'instance', name: 'Host', links: [toHost()] },
      { label: 'job', name: 'Job' },
      { expr: `max by (job, instance) (rate(${processCpuSecondsTotal.name}{${HOST}}${R}))`, name: 'Cores', decimals: 3 },
      { expr: `max by (job, instance) (${processResidentMemoryBytes.name}{${HOST}})`, name: 'Memory', unit: units.BytesIEC },
      {
        expr: `max by (job, instance) (${agentEventLoopUtilizationRatio.name}{${HOST}})`,
        name: 'Event loop',
        unit: units.PercentUnit,
        steps: [[0.5, WARN]],
      },
      { expr: `max by (job, instance) (${processOpenFds.name}{${HOST}})`, name: 'Descriptors' },
      { expr: `max by (job, instance) (${processStartTimeSeconds.name}{${HOST}}) * 1000`, name: 'Started', unit: units.DateTimeFromNow },
      { expr: `max by (job, instance) (scrape_duration_seconds{${HOST}})`, name: 'Scrape', unit: units.Seconds },
      { expr: `max by (job, instance) (scrape_samples_scraped{${HOST}})`, name: 'Series' },
      { expr: `max by (job, instance) (${agentHistoryBytes.name}{${HOST}})`, name: 'History', unit: units.BytesIEC },
    ],
    worst: ['Cores'],
    none: 'no agent',
  }),
  lines({
    title: 'CPU',
    help: 'Cores that the main process needs. Its sampler child comes on top.',
    queries: [{ expr: `sum by (instance) (rate(${processCpuSecondsTotal.name}{${HOST}}${R}))`, legend: '{{instance}}' }],
    links: [toHost('series')],
  }),
  lines({
    title: 'Memory',
    help: 'Resident memory of the main process. It should stay flat over weeks; if it does not, that is a fault of the agent: please report it.',
    unit: units.BytesIEC,
    queries: [{ expr: `max by (instance) (${processResidentMemoryBytes.name}{${HOST}})`, legend: '{{instance}}', colour: PURPLE }],
  }),
]

const sources = [
  states({
    title: 'Sources',
    help: 'Whether each has reported within 15 s. gpu or nvidia-smi down: the driver; containers down: the engine; others: the log of the agent.',
    queries: [{ expr: `min by (source) (${agentSourceUp.name}{${HOST}})`, legend: '{{source}}' }],
    mappings: words(['0', 'down', BAD], ['1', 'up', GREEN]),
  }),
  lines({
    title: 'How long a scrape of a source takes',
    help: 'The newest, of the slowest agent. Rising for gpu: the driver slows down, often before it hangs.',
    unit: units.Seconds,
    queries: [{ expr: `max by (source) (${agentSourceDurationSeconds.name}{${HOST}})`, legend: '{{source}}' }],
  }),
  lines({
    title: 'Gaps',
    help: 'Readings that could not be had, by reason, since the agents started. not_supported is the nature of a card; timeout and driver_error are faults, no_permission a matter of set-up.',
    queries: [{ expr: `sum by (source, reason) (${agentGapsTotal.name}{${HOST}})`, legend: '{{source}}: {{reason}}', colour: ORANGE }],
  }),
  lines({
    title: 'Samplers',
    help: 'Restarts by reason, calls that hung or crashed, and events on which a part of the agent failed. All of them should be absent or flat.',
    queries: [
      { expr: `sum by (reason) (${agentSamplerRestartsTotal.name}{${HOST}})`, legend: 'restarts: {{reason}}', colour: BLUE },
      { expr: `sum by (function, gpu) (${agentSamplerHangsTotal.name}{${HOST}})`, legend: 'hangs: {{function}}, GPU {{gpu}}', colour: BAD },
      { expr: `sum by (consumer) (${agentConsumerFailuresTotal.name}{${HOST}})`, legend: 'failures: {{consumer}}', colour: ORANGE },
    ],
  }),
]

const flow = [
  lines({
    title: 'Events',
    help: 'That passed through the agents in a second, by type.',
    unit: units.CountsPerSecond,
    queries: [{ expr: `sum by (type) (rate(${agentEventsTotal.name}{${HOST}}${R}))`, legend: '{{type}}' }],
  }),
  lines({
    title: 'History',
    help: 'Size on disk, which reaches a plateau by the retention that is configured.',
    unit: units.BytesIEC,
    queries: [{ expr: `max by (instance) (${agentHistoryBytes.name}{${HOST}})`, legend: '{{instance}}', colour: PURPLE }],
  }),
  lines({
    title: 'Lines of logs',
    help: 'Read in a second, by stream; and those that could not be judged, by reason.',
    unit: units.CountsPerSecond,
    queries: [
      { expr: `sum by (stream) (rate(${agentLogLinesTotal.name}{${HOST}}${R}))`, legend: '{{stream}}', colour: BLUE },
      { expr: `sum by (stream, reason) (rate(${agentLogSkippedTotal.name}{${HOST}}${R}))`, legend: '{{stream}} skipped: {{reason}}', colour: BAD },
    ],
  }),
  lines({
    title: 'How late logs are read',
    help: 'Age of the newest lines when they were read, of the slowest log. Absent while nothing is written.',
    unit: units.Seconds,
    queries: [{ expr: `max by (stream) (${agentLogLagSeconds.name}{${HOST}})`, legend: '{{stream}}' }],
  }),
  lines({
    title: 'Dropped by sinks',
    help: 'Since the agents started: frames of the live stream, events of a recording, exports. Incidents are never dropped by the live stream.',
    queries: [{ expr: `sum by (sink) (${agentSinkDroppedTotal.name}{${HOST}})`, legend: '{{sink}}', colour: ORANGE }],
  }),
  lines({
    title: 'Readers and probes',
    help: 'Readers of the live stream, connections of probes, and what probes sent that was not taken, by reason.',
    queries: [
      { expr: `sum(${agentStreamReaders.name}{${HOST}})`, legend: 'readers', colour: BLUE },
      { expr: `sum(${agentProbeConnections.name}{${HOST}})`, legend: 'probes', colour: GREEN },
      { expr: `sum by (reason) (${agentProbeRefusalsTotal.name}{${HOST}})`, legend: 'refused: {{reason}}', colour: BAD },
    ],
  }),
]

const reported = [
  lines({
    title: 'Notifications',
    help: 'By what became of them. failed_try is tried again; set_aside: the receiver refuses it, see warpwatch alerts; expired: it was too old when the receiver came back.',
    queries: [{ expr: `sum by (notifier, result) (${agentNotificationsTotal.name}{${HOST}})`, legend: '{{notifier}}: {{result}}' }],
  }),
  lines({
    title: 'Oldest that waits',
    help: 'For how long the oldest message could have been sent. Absent when nothing waits.',
    unit: units.Seconds,
    queries: [{ expr: `max by (notifier) (${agentNotificationsOldestSeconds.name}{${HOST}})`, legend: '{{notifier}}', colour: ORANGE }],
    steps: [[300, BAD]],
  }),
  rows({
    title: 'Notifiers',
    help: 'When each delivered its last message, and what waits. warpwatch alerts test NAME sends one on purpose.',
    width: 12,
    columns: [
      { label: 'instance', name: 'Host' },
      { label: 'notifier', name: 'Notifier' },
      {
        expr: `max by (instance, notifier) (${agentNotificationLastSuccessTimestampSeconds.name}{${HOST}}) * 1000`,
        name: 'Last delivered',
        unit: units.DateTimeFromNow,
      },
      { expr: `max by (instance, notifier) (${agentNotificationsWaiting.name}{${HOST}})`, name: 'Waiting', steps: [[1, WARN]] },
    ],
    none: 'no notifier',
  }),
  lines({
    title: 'OTLP and heartbeats',
    help: 'Requests to the OTLP receiver by what came of them, data points that it refused, and heartbeats. Rejected or refused: the receiver does not want them, see its log.',
    queries: [
      { expr: `sum by (signal, result) (${agentOtlpRequestsTotal.name}{${HOST}})`, legend: 'OTLP {{signal}}: {{result}}', colour: BLUE },
      { expr: `sum by (signal) (${agentOtlpRefusedTotal.name}{${HOST}})`, legend: 'OTLP {{signal}}: refused', colour: BAD },
      { expr: `sum by (result) (${agentHeartbeatsTotal.name}{${HOST}})`, legend: 'heartbeats: {{result}}', colour: SKY },
    ],
  }),
  states({
    title: 'History degraded',
    help: 'While an agent keeps history in memory only, since its disk cannot be written.',
    width: 24,
    height: 6,
    queries: [{ expr: `max by (instance) (${agentHistoryDegraded.name}{${HOST}})`, legend: '{{instance}}' }],
    mappings: byState('no', 'yes', BAD),
  }),
]

export const agent: Board = {
  name: 'agent',
  title: 'agents',
  about: 'The agents themselves: cost, gaps, drops, deliveries. Generated: edit grafana/*.ts in the repository.',
  variables: [manyHosts],
  rows: [
    ['Now', now],
    ['Cost', cost],
    ['Sources', sources],
    ['Flow', flow],
    ['Telling others', reported],
  ],
}
