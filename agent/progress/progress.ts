// What a log says of its job's progress.
import type { LostRun } from './lost.ts'
import type { Phase, Rate } from './observation.ts'
import type { Slowdown } from './pace.ts'

export type Progress = {
  readonly step?: number
  readonly total?: number
  /** 0 to 1, where the job prints a share instead of its steps. */
  readonly done?: number
  readonly rate?: Rate
  readonly samplesRate?: number
  readonly tokensRate?: number
  readonly loss?: number
  readonly learningRate?: number
  readonly epoch?: number
  readonly epochs?: number
  /** As printed, or computed from step, total and pace. */
  readonly etaSeconds?: number
  readonly etaRange?: readonly [low: number, high: number]
  readonly lost: boolean
  readonly lostRun?: LostRun
  readonly slowdown?: Slowdown
  readonly phase?: Phase
}
