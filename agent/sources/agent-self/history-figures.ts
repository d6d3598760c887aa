// What the history costs on disk, as the agent tells it of itself.
import { agentHistoryBytes, agentHistoryDegraded, agentHistorySeries } from '../../metrics/agent.ts'
import type { History, HistoryStats } from '../../store/history.ts'
import type { SelfFigure } from './figures.ts'

/** Asking for the sizes costs a few queries, so it is done every ten seconds: every other time. */
export function historyFigures(history: History): () => readonly SelfFigure[] {
  let asked = 0
  let reported: readonly SelfFigure[] = []
  return () => {
    if (asked++ % 2 === 0) reported = figuresOf(history.stats())
    return reported
  }
}
function figuresOf({ bytes, series, degraded }: HistoryStats): readonly SelfFigure[] {
  return [
    { metric: agentHistoryBytes, labels: {}, value: bytes },
    { metric: agentHistorySeries, labels: {}, value: series },
    { metric: agentHistoryDegraded, labels: {}, value: degraded === undefined ? 0 : 1 },
  ]
}
