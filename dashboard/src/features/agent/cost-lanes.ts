// What the agent costs, on the timeline of the charts: CPU and memory of its main process, from its own history.
import type { SeriesRow } from '../../../../agent/model/live.ts'
import { secondOf } from '../../parts/live/lanes.ts'
import type { Timeline } from '../../parts/live/timeline.ts'
import { agentEventLoopUtilizationRatio, processCpuSecondsTotal, processResidentMemoryBytes } from '../../text/metric-names.ts'

export const COST = { cpu: 'agent cpu', memory: 'agent memory', busy: 'agent busy' } as const
export type Lane = keyof typeof COST
export const COST_METRICS = {
  cpu: processCpuSecondsTotal,
  memory: processResidentMemoryBytes,
  busy: agentEventLoopUtilizationRatio,
} as const
/** The agent speaks of itself each five seconds: a step holds one reading or two, so none is empty between. */
export const COST_POINTS = 90

type Step = { readonly from: number; readonly to: number; readonly value: number }

/** Steps with a value, each until the next; what is missing for longer than two steps stays a hole. */
export function stepsOf({ t, mean, step_ms: stepMs }: Pick<SeriesRow, 't' | 'mean' | 'step_ms'>): readonly Step[] {
  const steps: Step[] = []
  for (const [i, at] of t.entries()) {
    const value = mean[i]
    if (value === null || value === undefined) continue
    steps.push({ from: at, to: at + stepMs, value })
  }
  return steps.map((step, i) => {
    const next = steps[i + 1]
    return next !== undefined && next.from - step.to <= stepMs ? { ...step, to: next.from } : step
  })
}

/** Cores in use between the readings of a counter of CPU seconds; a counter that fell belongs to a new process. */
export function coresOf(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step, i) => {
    const before = steps[i - 1]
    if (before === undefined || step.value < before.value) return []
    return [{ from: step.from, to: step.to, value: (step.value - before.value) / ((step.from - before.from) / 1000) }]
  })
}

/** When the record begins, where that is later than the window does: its first step lies across its edge, and may be empty. */
export const recordedSince = ([row]: readonly SeriesRow[]): number | undefined => {
  const first = row?.mean.findIndex((value) => typeof value === 'number') ?? -1
  return first > 1 ? row?.t[first] : undefined
}

export function recordCost(timeline: Timeline, lane: Lane, rows: readonly SeriesRow[]): number | undefined {
  const [row] = rows
  if (row === undefined) return undefined
  const steps = lane === 'cpu' ? coresOf(stepsOf(row)) : stepsOf(row)
  // The newest step is still being filled: its mean may change, and a lane's value does not.
  for (const { from, to, value } of steps.slice(0, -1)) timeline.fill(COST[lane], secondOf(from), secondOf(to), value)
  return (steps.at(-2) ?? steps.at(-1))?.value
}
