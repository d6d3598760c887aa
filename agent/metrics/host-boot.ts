// How the boot before this one ended, on hosts whose GPU shares the host's memory: from what the agent wrote to disk each second.
import { defineMetric } from '../model/metric.ts'

const last = (what: string, unit: string, help: string) =>
  defineMetric({
    name: `warpwatch_host_previous_boot_${what}`,
    subject: 'host',
    field: `previous_boot_${what}`,
    kind: 'gauge',
    unit,
    help,
    labels: [],
    history: false,
  })

export const hostPreviousBootEndTimestampSeconds = last(
  'end_timestamp_seconds',
  's',
  'Unix time of the last second that the agent saw of the boot before, which ended without shutting the agent down.',
)
export const hostPreviousBootMemoryFreeRatio = last('memory_free_ratio', '1', 'Share of the memory of the host that was available in that second.')
export const hostPreviousBootMemoryFallRatio = last(
  'memory_fall_ratio',
  '1',
  'By how much of the whole memory the available part had fallen in the five minutes before that second.',
)
