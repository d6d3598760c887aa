// Results of the service checks.
import { defineMetric } from '../model/metric.ts'

export const targetInfo = defineMetric({
  name: 'warpwatch_target_info',
  subject: 'target',
  kind: 'info',
  unit: '1',
  help: 'A service whose health is asked: its URL without credentials and query, and the container that it runs in.',
  labels: ['target', 'url', 'container'],
  history: false,
})
export const targetUp = defineMetric({
  name: 'warpwatch_target_up',
  subject: 'target',
  kind: 'gauge',
  unit: '1',
  help: '1 when the newest check of the service was answered as expected, else 0.',
  labels: ['target'],
})
export const targetLatencySeconds = defineMetric({
  name: 'warpwatch_target_latency_seconds',
  subject: 'target',
  kind: 'gauge',
  unit: 's',
  help: 'From the start of the newest check to the end of its answer; absent when there was no whole answer.',
  labels: ['target'],
})
export const targetStatus = defineMetric({
  name: 'warpwatch_target_status',
  subject: 'target',
  kind: 'gauge',
  unit: '1',
  help: 'HTTP status of the answer to the newest check; absent when there was none.',
  labels: ['target'],
})
export const targetFailing = defineMetric({
  name: 'warpwatch_target_failing',
  subject: 'target',
  kind: 'gauge',
  unit: '1',
  help: '1 with the reason why the newest check failed; absent when it did not.',
  labels: ['target', 'reason'],
})
export const targetFailedChecks = defineMetric({
  name: 'warpwatch_target_failed_checks',
  subject: 'target',
  kind: 'gauge',
  unit: '{check}',
  help: 'Checks that failed without a break up to the newest; 0 after one that went well.',
  labels: ['target'],
})
