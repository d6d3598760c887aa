// What follows from the figures of a bar or line: its loss where another line has it, the time left, the rate.
import type { Rate } from './observation.ts'
import type { Pace } from './pace.ts'
import type { Track } from './track.ts'
import type { Progress } from './progress.ts'

export function newestLoss(track: Track, best: Track | undefined): number | undefined {
  if (best === undefined || best.loss === undefined) return track.loss
  return track.loss === undefined ? best.loss : track.loss
}

/** What its counter counts to: as printed, else as the training said before its first step. */
export function totalOf({ last, fell }: Track, planned: number | undefined): number | undefined {
  const { step, total, stepIsAside } = last
  return total ?? (planned === undefined || fell || stepIsAside === true || step === undefined || step > planned ? undefined : planned)
}

/** As printed; else the steps that are left at the usual pace. Where an epoch is done, those of the epochs to come. */
export function timeLeft({ last, rate, pace, epochPace }: Track, epochsLeft: number): Pick<Progress, 'etaSeconds' | 'etaRange'> {
  const { step, total, etaSeconds } = last
  const ofEpochs = step === undefined && etaSeconds === undefined && epochsLeft > 0 ? epochPace.now() : undefined
  if (ofEpochs !== undefined) return { etaSeconds: epochsLeft * ofEpochs.seconds, etaRange: [epochsLeft * ofEpochs.low, epochsLeft * ofEpochs.high] }
  const usual = pace.now()
  const each = rate === undefined || rate.of === 'step' ? (usual?.seconds ?? rate?.secondsEach) : undefined
  const ofEpoch = step === undefined || total === undefined ? undefined : Math.max(0, total - step)
  const left = ofEpoch === 0 && total !== undefined && etaSeconds === undefined ? Math.max(0, epochsLeft) * total : ofEpoch
  const seconds = etaSeconds ?? (left === undefined || each === undefined ? undefined : left * each)
  const range = left === undefined || each === undefined || usual === undefined ? undefined : ([left * usual.low, left * usual.high] as const)
  return { ...(seconds === undefined ? {} : { etaSeconds: seconds }), ...(range === undefined ? {} : { etaRange: range }) }
}

/** From the times in the log, where it prints no rate. */
export function derived(pace: ReturnType<Pace['now']>, track: Track): { rate?: Rate } {
  if (pace === undefined || track.rate !== undefined) return {}
  return { rate: { value: pace.seconds, unit: 's/it', of: 'step', secondsEach: pace.seconds } }
}
