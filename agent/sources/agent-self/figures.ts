// What the agent says of its own parts, and of its own process.
import { agentOtlpRefusedTotal, agentOtlpRequestsTotal, agentSinkDroppedTotal, agentStreamReaders } from '../../metrics/agent-delivery.ts'
import { agentGapsTotal, agentSourceDurationSeconds, agentSourceUp } from '../../metrics/agent-sources.ts'
import {
  agentConsumerFailuresTotal,
  agentCpuModeSecondsTotal,
  agentEventLoopUtilizationRatio,
  agentEventsTotal,
  agentHistoryBytes,
  agentHistoryDegraded,
  agentHistorySeries,
  buildInfo,
  configLastReloadSuccessTimestampSeconds,
  configLastReloadSuccessful,
  processCpuSecondsTotal,
  processOpenFds,
  processResidentMemoryBytes,
  processStartTimeSeconds,
} from '../../metrics/agent.ts'
import { type MetricDef } from '../../model/metric.ts'
import type { ReloadState } from '../../model/reload.ts'
import type { Labels } from '../../model/series.ts'

// Named shorter for the composition root, which fills them.
export { agentConsumerFailuresTotal as consumerFailures } from '../../metrics/agent.ts'
export { agentSinkDroppedTotal as sinkDropped, agentStreamReaders as streamReaders } from '../../metrics/agent-delivery.ts'

/** One figure of one part, as the composition root hands it in. */
export type SelfFigure = { readonly metric: MetricDef; readonly labels: Labels; readonly value: number }

/** By signal, how many requests came to which result. */
export function otlpFigures(counts: Readonly<Record<string, Readonly<Record<'delivered' | 'retry' | 'rejected' | 'refused', number>>>>): readonly SelfFigure[] {
  return Object.entries(counts).flatMap(([signal, { refused, ...results }]) => [
    ...Object.entries(results).map(([result, value]) => ({ metric: agentOtlpRequestsTotal, labels: { signal, result }, value })),
    { metric: agentOtlpRefusedTotal, labels: { signal }, value: refused },
  ])
}
export const reloadFigures = ({ successful, succeededAt }: ReloadState): readonly SelfFigure[] => [
  { metric: configLastReloadSuccessful, labels: {}, value: successful ? 1 : 0 },
  { metric: configLastReloadSuccessTimestampSeconds, labels: {}, value: succeededAt / 1_000 },
]

export const selfMetrics: readonly MetricDef[] = [
  buildInfo,
  configLastReloadSuccessful,
  configLastReloadSuccessTimestampSeconds,
  agentSourceUp,
  agentSourceDurationSeconds,
  agentGapsTotal,
  agentEventsTotal,
  agentConsumerFailuresTotal,
  agentSinkDroppedTotal,
  agentOtlpRequestsTotal,
  agentOtlpRefusedTotal,
  agentStreamReaders,
  agentHistoryBytes,
  agentHistorySeries,
  agentHistoryDegraded,
  agentEventLoopUtilizationRatio,
  processCpuSecondsTotal,
  agentCpuModeSecondsTotal,
  processResidentMemoryBytes,
  processStartTimeSeconds,
  processOpenFds,
]
