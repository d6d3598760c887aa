// Whether a GPU works: what a card does with its clocks and its link says something only then.
import { gpuGpmEngineActiveRatio } from '../../../metrics/gpm.ts'
import { gpuThrottleActive } from '../../../metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../../metrics/gpu-load.ts'
import type { Column } from './gpu-rows.ts'

export const LOAD_COLUMNS = {
  utilization: { metric: gpuUtilizationRatio.name },
  /** With MIG on, the driver reports no utilization, but the activity of each instance's engines (GPM). */
  engine: { metric: gpuGpmEngineActiveRatio.name, instances: true },
  /** nvmlClocksEventReasonGpuIdle: "nothing is running on the GPU and the clocks are dropping to Idle state". */
  idle: { metric: gpuThrottleActive.name, labels: { reason: 'gpu_idle' } },
} as const satisfies Readonly<Record<string, Column>>

type LoadRow = { readonly uuid: string; readonly now: { readonly [Name in keyof typeof LOAD_COLUMNS]?: number | undefined } }
export type Load = {
  /** True from the first busy reading until so long after the last; undefined where it cannot be determined. */
  readonly of: (t: number, row: LoadRow) => boolean | undefined
}

/** A loop of training is not busy in each second: between two steps it still works. */
const LINGERS_MS = 10_000
const MAX_GPUS = 1_024

export function createLoad(leastRatio: number, lingersMs = LINGERS_MS): Load {
  const busyT = new Map<string, number>()
  return {
    of(t, { uuid, now: { utilization, engine, idle } }) {
      const ratio = utilization ?? engine
      const busy = ratio === undefined ? (idle === undefined ? undefined : idle === 0) : ratio >= leastRatio
      if (busy === true) {
        if (busyT.size >= MAX_GPUS) busyT.clear()
        busyT.set(uuid, t)
        return true
      }
      const last = busyT.get(uuid)
      return busy === undefined ? undefined : last !== undefined && t >= last && t - last <= lingersMs
    },
  }
}

/** The same in PromQL, by uuid. */
export const loadPromql = (leastRatio: number): string => `max by (gpu, uuid) (${gpuUtilizationRatio.name} or ${gpuGpmEngineActiveRatio.name}) >= ${leastRatio}`
