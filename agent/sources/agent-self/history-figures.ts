// What the history costs on disk, as the agent tells it of itself.
import type { History, HistoryStats } from '../../store/history.ts'
import * as figures from './figures.ts'
import type { SelfFigure } from './figures.ts'

/** Asking for the sizes costs a few queries, so it is done every ten seconds: every other time. */
export function historyFigures(history: History): () => readonly SelfFigure[] {
  let asked = 0
  let told: readonly SelfFigure[] = []
  return () => {
    if (asked++ % 2 === 0) told = figuresOf(history.stats())
    return told
  }
}
function figuresOf({ bytes, series, degraded }: HistoryStats): readonly SelfFigure[] {
  return [
    { metric: figures.historyBytes, labels: {}, value: bytes },
    { metric: figures.historySeries, labels: {}, value: series },
    { metric: figures.historyDegraded, labels: {}, value: degraded === undefined ? 0 : 1 },
  ]
}
