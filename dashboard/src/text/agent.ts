// The agent's parts and figures in a person's words.
import { tookText } from '../../../agent/text/span.ts'
import { factLabel } from '../../../agent/text/fact-label.ts'
import { DASH } from './format.ts'
import { gapText } from './words.ts'

const SOURCES: Readonly<Record<string, string>> = {
  gpu: 'GPUs (NVML)',
  'nvidia-smi': 'GPUs (nvidia-smi)',
  'gpu-presence': 'Which GPUs there are',
  'driver-version': 'Driver version',
  'device-access': 'Access of containers to GPUs',
  containers: 'Containers',
  host: 'Host',
  allocator: 'PyTorch probes',
  'container-logs': 'Container logs',
  'kernel-log': 'Kernel log',
  'log-files': 'Log files',
  journald: 'journald',
  targets: 'Services asked',
  incidents: 'Incidents',
  notifications: 'Notifications',
  agent: 'The agent itself',
  recording: 'Recording',
  jobs: 'Jobs',
  hangs: 'Job hangs',
  'process-details': 'Process details',
}
export const sourceName = (source: string): string => SOURCES[source] ?? source

/** `warpwatch_gpu_fan_speed_ratio` as "GPU fan speed"; a source's id as its name. */
export const metricName = (metric: string): string =>
  metric.startsWith('warpwatch_') ? factLabel(metric.slice('warpwatch_'.length).replace(/_total$/, '')) : sourceName(metric)

/** Here it is not only the driver that answers. */
export const reasonText = (reason: string): string => (reason === 'driver_error' ? 'answered with an error' : gapText(reason))

export const STATUS_WORDS = { reads: 'reads', partly: 'reads in part', absent: 'nothing to read', silent: 'does not read' } as const

/** Durations of a scrape: microseconds matter as little as their digits. */
export function took(seconds: number | undefined): string {
  return seconds === undefined ? DASH : tookText(seconds * 1000)
}
