// Alerts about the agent itself: that it is there, hears everything, and is heard. The agent cannot say most of this, so Prometheus has to.
import { agentNotificationsOldestSeconds, agentNotificationsTotal } from '../../agent/metrics/agent-delivery.ts'
import { agentGapsTotal, agentSourceUp } from '../../agent/metrics/agent-sources.ts'
import { agentHistoryDegraded, processStartTimeSeconds } from '../../agent/metrics/agent.ts'
import { incidentActive, incidentsTotal } from '../../agent/metrics/incident.ts'
import { literal, quoted, type AlertRule, type AlertSeverity, type Links, type RuleGroup } from './rule.ts'

type AgentAlert = { readonly comment: string; readonly alert: string; readonly expr: string; readonly for?: string; readonly severity: AlertSeverity }
type Words = { readonly summary: string; readonly description: string }

const ON = ' on {{ $labels.instance }}'
/** Names for Alertmanager: one to have its absence reported, one that explains the silence of all others. */
export const HEARTBEAT_ALERT = 'WarpwatchHeartbeat'
export const DOWN_ALERT = 'WarpwatchAgentDown'

const alerts = (job: string): readonly (AgentAlert & Words)[] => [
  {
    comment: [
      'Two minutes are eight scrapes: an update of the agent is over before. absent(): a job whose targets are all gone has no up that could be 0.',
      'A single target that service discovery forgets causes no alert: it looks like a host that was taken away on purpose.',
    ].join('\n'),
    alert: DOWN_ALERT,
    expr: `up{job=${quoted(job)}} == 0\nor\nabsent(up{job=${quoted(job)}})`,
    for: '2m',
    severity: 'critical',
    summary: 'Warpwatch does not answer{{ with $labels.instance }} on {{ . }}{{ else }}: no target of job {{ $labels.job }}{{ end }}',
    description:
      'Nobody watches the GPUs of this host: the host, its network or the agent is down. What fired before goes on firing until the agent says otherwise. First see whether the host answers, then the log of the agent (journalctl -u warpwatch).',
  },
  {
    comment: 'Three restarts within an hour are no update. A restart is seen by the start time, not by up: it is often over between two scrapes.',
    alert: 'WarpwatchAgentRestarting',
    expr: `changes(${processStartTimeSeconds.name}{job=${quoted(job)}}[1h]) >= 3`,
    severity: 'warning',
    summary: `Warpwatch starts again and again${ON}`,
    description: 'The agent was started three times or more within an hour; between the lives nobody watches. First read its log: journalctl -u warpwatch.',
  },
  {
    comment: 'A gauge that the agent itself keeps at 0, so that a silent source is no absent series.',
    alert: 'WarpwatchSourceDown',
    expr: `${agentSourceUp.name} == 0`,
    for: '2m',
    severity: 'warning',
    summary: `Source {{ $labels.source }} of Warpwatch reports nothing${ON}`,
    description: 'What this source would show is unknown, and its incidents can neither begin nor end. First ask the agent why: /api/v1/gaps.',
  },
  {
    comment: [
      'Gaps are counted when they appear. One cause (a lost GPU) makes many of them at once and is an incident of its own; here scrapes are counted, in which',
      'new ones came: readings that come and go. Five changes an hour are more than a restart or a reset of a card.',
    ].join('\n'),
    alert: 'WarpwatchTelemetryGaps',
    expr: `changes(${agentGapsTotal.name}{reason!~"not_supported|no_permission"}[1h]) > 5`,
    severity: 'warning',
    summary: `Readings of {{ $labels.source }} come and go ({{ $labels.reason }})${ON}`,
    description:
      'The driver, or what else is asked, fails now and then; charts have holes and judgments come late. First see which readings they are: /api/v1/gaps.',
  },
  {
    comment: [
      'Ten minutes are beyond the first retries of a receiver that is away for a moment. The counts are 0 from the start and go on over restarts,',
      'so that the first one is an increase.',
    ].join('\n'),
    alert: 'WarpwatchNotificationsFailing',
    expr: [
      `${agentNotificationsOldestSeconds.name} > 600`,
      'or',
      `sum by (job, instance, notifier) (increase(${agentNotificationsTotal.name}{result=~"expired|set_aside"}[1h])) > 0`,
    ].join('\n'),
    severity: 'warning',
    summary: `Notifier {{ $labels.notifier }} does not deliver${ON}`,
    description:
      'Whoever is notified this way does not learn of incidents: its receiver is down, refuses the messages, or the network is cut. First see what it answered: warpwatch alerts, or /api/v1/notifiers.',
  },
  {
    comment: 'Five minutes: the agent tries again every ten seconds and says so at once in its log.',
    alert: 'WarpwatchHistoryDegraded',
    expr: `${agentHistoryDegraded.name} == 1`,
    for: '5m',
    severity: 'warning',
    summary: `Warpwatch cannot write its history${ON}`,
    description:
      'The disk of data_dir is full, read-only or broken; history is kept in memory and lost with the next restart. First see how full it is: df -h.',
  },
  {
    comment: [
      'An incident that began and ended between two scrapes has no series that a rule could see. All counts are 0 from the start, so that the first',
      'incident of a kind is an increase, and a restart of the agent is none.',
    ].join('\n'),
    alert: 'WarpwatchIncidentBetweenScrapes',
    expr: [
      `sum by (job, instance, kind) (increase(${incidentsTotal.name}[5m])) > 0`,
      `unless on (job, instance, kind) max_over_time(${incidentActive.name}[5m])`,
    ].join('\n'),
    severity: 'warning',
    summary: `A short incident of kind {{ $labels.kind }}${ON}`,
    description: 'It began and ended between two scrapes, so that no other alert reported it. First look it up in the list of incidents: warpwatch incidents.',
  },
  {
    comment: [
      'Fires always: route it to a service that notifies you when it stops. It shows that Prometheus evaluates, and that Alertmanager and the way',
      'to the receiver work; a silent part would then be noticed.',
    ].join('\n'),
    alert: HEARTBEAT_ALERT,
    expr: 'vector(1)',
    severity: 'none',
    summary: 'The rules of Warpwatch are evaluated',
    description: 'It fires for as long as all is well: have its absence reported.',
  },
]

export function agentGroup(job: string, { dashboard }: Links): RuleGroup {
  const rules = alerts(job).map(({ comment, alert, expr, for: lasts, severity, summary, description }): AlertRule => {
    // The heartbeat is of no host, and an agent that is down shows nothing.
    const isThere = alert !== HEARTBEAT_ALERT && alert !== DOWN_ALERT
    return {
      comment,
      alert,
      expr,
      ...(lasts === undefined ? {} : { for: lasts }),
      labels: { severity },
      annotations: { summary, description: literal(description), ...(isThere ? { dashboard } : {}) },
    }
  })
  return { name: 'warpwatch-agent', comment: 'About the agent itself.', interval: '15s', rules }
}
