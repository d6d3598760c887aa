// How well the agent delivers: the live stream, sinks, OTLP, notifications, heartbeats.
import { defineMetric } from '../model/metric.ts'

export const agentStreamReaders = defineMetric({
  name: 'warpwatch_agent_stream_readers',
  subject: 'agent',
  kind: 'gauge',
  unit: '{reader}',
  help: 'Readers of the live stream.',
  labels: [],
})
export const agentSinkDroppedTotal = defineMetric({
  name: 'warpwatch_agent_sink_dropped_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{event}',
  help: 'What a sink left out because it or its reader could not keep up: frames of the live stream, events of a recording, incidents and whole exports over OTLP.',
  labels: ['sink'],
})
export const agentOtlpRequestsTotal = defineMetric({
  name: 'warpwatch_agent_otlp_requests_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{request}',
  help: 'Requests to the OTLP receiver by signal (metrics, incidents) and what came of them: delivered; retry (not delivered, tried again); rejected (the receiver does not want them).',
  labels: ['signal', 'result'],
})
export const agentOtlpRefusedTotal = defineMetric({
  name: 'warpwatch_agent_otlp_refused_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{item}',
  help: 'Data points and log records that the OTLP receiver refused out of requests that it took (partial success).',
  labels: ['signal'],
})
export const agentNotificationsTotal = defineMetric({
  name: 'warpwatch_agent_notifications_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{notification}',
  help: 'Messages by what became of them: delivered; expired (too old, never delivered); set_aside (the receiver refuses it); failed_try (a try that is made again). Counted over restarts.',
  labels: ['notifier', 'result'],
})
export const agentNotificationsWaiting = defineMetric({
  name: 'warpwatch_agent_notifications_waiting',
  subject: 'agent',
  kind: 'gauge',
  unit: '{notification}',
  help: 'Notifications that have not been delivered yet.',
  labels: ['notifier'],
})
export const agentNotificationsOldestSeconds = defineMetric({
  name: 'warpwatch_agent_notifications_oldest_seconds',
  subject: 'agent',
  kind: 'gauge',
  unit: 's',
  help: 'For how long the oldest of what waits could have been sent; absent when nothing waits.',
  labels: ['notifier'],
})
export const agentNotificationLastSuccessTimestampSeconds = defineMetric({
  name: 'warpwatch_agent_notification_last_success_timestamp_seconds',
  subject: 'agent',
  kind: 'gauge',
  unit: 's',
  help: 'When a message was last delivered, Unix time; absent before the first.',
  labels: ['notifier'],
  history: false,
})
export const agentHeartbeatsTotal = defineMetric({
  name: 'warpwatch_agent_heartbeats_total',
  subject: 'agent',
  kind: 'counter',
  unit: '{heartbeat}',
  help: "Heartbeats (alerts.heartbeat_url, and that of notifiers) since the agent's start, delivered or failed; none is sent while the agent does not sample.",
  labels: ['result'],
})
