// Incidents: what fires where, what happened when, how often, and what it cost.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { gpuSecondsLostTotal, incidentActive, incidentLastTimestampSeconds, incidentsSilenced, incidentsTotal } from '../agent/metrics/incident.ts'
import type { Board } from './parts/board.ts'
import { toContainer, toGpu, toHost, toRunbook } from './parts/links.ts'
import { BAD, BLUE, ORANGE, SEVERITIES, SKY, WARN, words } from './parts/look.ts'
import { figure, lines, states } from './parts/panels.ts'
import { HOST, JOB, kinds, manyHosts, severities } from './parts/select.ts'
import { rows } from './parts/table.ts'

const KIND = `${HOST},kind=~"$kind"`
const ACTIVE = `${KIND},severity=~"$severity"`
const NOTHING = `0 * sum(${incidentsSilenced.name}{${HOST}})`

const now = [
  ...SEVERITIES.map(([severity, , colour]) =>
    figure({
      title: severity,
      help: `Firing incidents of severity ${severity}, of the chosen kinds. Critical: work is lost or a GPU cannot be used. Warning: it will be, or it is slow. Info: worth knowing.`,
      queries: [{ expr: `count(${incidentActive.name}{${KIND},severity="${severity}"}) or ${NOTHING}` }],
      steps: [[1, colour]],
      none: 'not reported',
    }),
  ),
  figure({
    title: 'Silenced',
    help: 'Firing incidents that notify nobody, as a silence covers them (warpwatch silence).',
    queries: [{ expr: `sum(${incidentsSilenced.name}{${HOST}})` }],
    steps: [[1, WARN]],
  }),
  figure({
    title: 'Hosts with incidents',
    help: 'On which something of the chosen kinds fires.',
    queries: [{ expr: `count(group by (job, instance) (${incidentActive.name}{${ACTIVE}})) or ${NOTHING}` }],
    steps: [[1, WARN]],
    none: 'not reported',
  }),
  figure({
    title: 'New',
    help: 'Incidents that began in the time shown.',
    decimals: 0,
    queries: [{ expr: `sum(increase(${incidentsTotal.name}{${KIND}}[$__range]))` }],
  }),
  figure({
    title: 'GPU time lost in a day',
    help: 'By crashes: from the last saved state of the job to its end, over the whole fleet, from the recording rules. Saving more often makes it less.',
    width: 6,
    unit: units.Seconds,
    queries: [{ expr: `sum(kind:warpwatch_gpu_seconds_lost:increase1d{kind=~"$kind"})` }],
    none: 'no recording rules, or nothing yet',
  }),
]

const list = [
  rows({
    title: 'Firing now',
    help: 'One row for each fault and subject. The kind leads to the runbook on the agent, host, GPU and container to their dashboards.',
    height: 10,
    columns: [
      { label: 'severity', name: 'Severity', width: 110, mappings: words(...SEVERITIES) },
      { label: 'kind', name: 'Kind', links: [toRunbook] },
      { label: 'instance', name: 'Host', links: [toHost()] },
      { label: 'job', name: 'Job' },
      { label: 'gpu', name: 'GPU', width: 80, links: [toGpu()] },
      { label: 'uuid', name: 'UUID' },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { expr: `max by (severity, kind, instance, job, gpu, uuid, container) (${incidentActive.name}{${ACTIVE}})`, name: 'fires' },
    ],
    hidden: ['fires'],
    none: 'nothing fires',
  }),
]

const story = [
  states({
    title: 'What fired when',
    help: 'A band for each kind and host while it fires. What begins together mostly belongs together; the first is not always the cause, the page of the agent shows which is.',
    width: 24,
    height: 10,
    queries: [{ expr: `max by (kind, instance) (${incidentActive.name}{${ACTIVE}})`, legend: '{{kind}} {{instance}}' }],
    mappings: words(['1', 'fires', BAD]),
  }),
  lines({
    title: 'Firing, by severity',
    help: 'How many at each moment. There is no curve while nothing of that severity fires.',
    stacked: true,
    queries: [{ expr: `count by (severity) (${incidentActive.name}{${ACTIVE}})`, legend: '{{severity}}' }],
    named: { critical: BAD, warning: ORANGE, info: SKY },
  }),
  lines({
    title: 'GPU time lost, by kind',
    help: 'Since the start of the agents, added over the hosts: a step is a crash, its height what the GPUs had worked since the last saved state.',
    unit: units.Seconds,
    queries: [{ expr: `sum by (kind) (${gpuSecondsLostTotal.name}{${KIND}})`, legend: '{{kind}}', colour: BAD }],
  }),
]

const counts = [
  rows({
    title: 'By kind',
    help: 'How often each kind began in the time shown, and when it was last seen.',
    width: 12,
    height: 10,
    columns: [
      { label: 'kind', name: 'Kind' },
      { expr: `sum by (kind) (increase(${incidentsTotal.name}{${KIND}}[$__range])) > 0`, name: 'Began', decimals: 0 },
      { expr: `max by (kind) (${incidentLastTimestampSeconds.name}{${KIND}}) * 1000`, name: 'Last seen', unit: units.DateTimeFromNow },
    ],
    worst: ['Last seen'],
    none: 'none in the time shown',
  }),
  rows({
    title: 'The last day, by kind',
    help: 'Over the whole fleet, by the recording rules of alerts/prometheus/warpwatch.rules.yml.',
    width: 12,
    height: 10,
    columns: [
      { label: 'kind', name: 'Kind' },
      { expr: 'kind:warpwatch_incidents:increase1d{kind=~"$kind"} > 0', name: 'Incidents', decimals: 0 },
      { expr: 'kind:warpwatch_gpu_seconds_lost:increase1d{kind=~"$kind"} > 0', name: 'GPU time lost', unit: units.Seconds },
    ],
    worst: ['GPU time lost'],
    none: 'none in a day, or no recording rules',
  }),
  lines({
    title: 'Agents that answer',
    help: 'Share of the agents that answer. What an agent does not report cannot be seen here.',
    width: 24,
    height: 6,
    unit: units.PercentUnit,
    max: 1,
    queries: [{ expr: `avg(up{${JOB}})`, legend: 'agents that answer', colour: BLUE }],
  }),
]

export const incidents: Board = {
  name: 'incidents',
  title: 'incidents',
  about: 'What fires where, what happened when, how often, and what it cost. Generated: edit grafana/*.ts in the repository.',
  variables: [manyHosts, kinds, severities],
  marks: ACTIVE,
  from: 'now-6h',
  rows: [
    ['Now', now],
    ['Firing', list],
    ['The chain', story],
    ['Counts', counts],
  ],
}
