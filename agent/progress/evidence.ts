// Whether a line shows that a training goes on: by itself, or with what is near it.
import type { Observation } from './observation.ts'
import type { Track } from './track.ts'

/** A line whose only figure is a counter counts steps where it says so. */
const STEP_WORD = /\b(?:step|iter|itr|iteration|update|epoch)s?\b/
/** `--- 6910/6910 batches finished ---` of an epoch. */
const COUNTED_WORD = /\d\/\d{1,9} (?:batches|steps|iters|iterations) (?:done|finished|completed)\b/i
const SHARE_TITLE = /^\W*(?:(?:overall |total )?progress|training|train|fitting|optimi[sz]ing|learning|epoch|sampling)\b/i
/** `=== METRICS STEP 3 ===`, above the figures of the step. */
const HEADING = /^\s*[=*#-]{2,}.{1,72}[=*#-]{2,}\s*$/
/** `Simulating batch 18`, `3000 steps completed.` */
const DOING_STEP =
  /^\W*(?:train|simulat|iterat|solv|optimi[sz]|fitt|evolv|integrat)ing (?:\w+ )?(?:batch|step|iteration|generation|cycle|timestep) \d|^\s*\d[\d,]* (?:time)?steps (?:completed|done|finished)\b/i
/** The time of a step, or steps a second, in so many words. */
const PER_STEP = /\bper (?:time ?)?(?:step|iter|iteration|batch)\b|\/ ?(?:steps?|its?|iters?)\b|\b(?:steps?|its?|iters?) ?\/ ?s/
/** `Iteration: 900 / 2000 [45%]`: the share beside a counter is that of its total. */
const isShare = (step: number, total: number, done: number): boolean => Math.abs(step / total - done) < 0.015

/** Tokens a second of a server, which counts no steps. */
const isServing = ({ rate, step, shape }: Observation): boolean =>
  step === undefined && rate?.of === 'token' && /throughput|generation|speed|eval time/.test(shape)

/** `====> Epoch: 158, cost 90.36 s`: an epoch is over, and how long it took. */
const TIMED_EPOCH = /^\W{0,12}epoch\W{0,3}\d{1,6}\b\W{0,4}(?:(?:time|cost|took|in|done|finished|elapsed|taken)\W{1,3}){1,3}\d{1,6}(?:\.\d{1,6})? ?s/i

/** Copies and requests have counters, speeds and times left of their own. */
const isOfOthers = (seen: Observation): boolean =>
  seen.foreign === true && seen.loss === undefined && seen.gradNorm === undefined && seen.metrics === 0 && !isServing(seen)

/** What other optimizers minimise has the name too: routes, layouts, plans. */
const COST = /\bcosts?\b/
/** A loss, or what is called `val`, is that of a training's own evaluation. */
const OF_TRAINING = /loss|\bval(?:id\w*)?(?![a-z])/i
/** What a job counts that evaluates and trains nothing: `Evaluating answers.xlsx: 420/1164, Acc: 41.19%`. */
export const isOwnEvaluation = ({ phase, step, total, loss: lossIs, title = '' }: Observation): boolean =>
  phase === 'evaluating' && step !== undefined && total !== undefined && lossIs === undefined && !OF_TRAINING.test(title)

/** Of a line that speaks of an evaluation: its loss is that of the evaluation. */
export function withoutLoss(seen: Observation): Observation {
  const { loss, ...others } = seen
  return loss === undefined ? seen : others
}

/** `Epoch 12/40`, `[Epoch 12] Learning rate: 1.00e-4`: above the lines of its steps. */
export const opensEpoch = ({ epoch, epochs, learningRate, step }: Observation): boolean =>
  epoch !== undefined && step === undefined && (epochs ?? learningRate) !== undefined

/** TensorFlow's Estimator says its rate on a line of its own, under a name that nobody else has. */
const ESTIMATOR = /^line global step (?:per )?sec\b/
/** It needs no other line. */
export function strong(seen: Observation): boolean {
  const { step, stepIsAside, stepIsBare, total, loss: lossIs, gradNorm, rate, etaSeconds, epoch: epochIs, metrics, risen, shape, sure, done, foreign } = seen
  if (isOfOthers(seen)) return false
  if (sure === true && (step ?? epochIs) !== undefined) return true
  if (rate?.of === 'step' && ESTIMATOR.test(shape)) return true
  if (risen !== undefined)
    return (
      risen >= 2 &&
      (lossIs !== undefined ||
        gradNorm !== undefined ||
        metrics > 0 ||
        (total !== undefined && etaSeconds !== undefined) ||
        (rate?.of === 'step' && PER_STEP.test(shape)))
    )
  if (step !== undefined)
    return (
      lossIs !== undefined ||
      gradNorm !== undefined ||
      (rate !== undefined && stepIsAside !== true && stepIsBare !== true) ||
      etaSeconds !== undefined ||
      (total !== undefined && ((metrics > 0 && foreign !== true) || epochIs !== undefined))
    )
  if (lossIs !== undefined) return (epochIs ?? gradNorm ?? done) !== undefined
  if (done !== undefined && etaSeconds !== undefined && epochIs !== undefined) return true
  return rate !== undefined && epochIs !== undefined ? true : isServing(seen) && shape.includes('|')
}

/** What is near a line of the same writer. */
export type Beside = {
  readonly epoch: () => boolean
  readonly loss: () => boolean
  readonly rate: () => boolean
  /** Figures that only a training prints. */
  readonly metrics: () => boolean
  /** How many steps the program said that it would take. */
  readonly planned: () => number | undefined
  /** A line with a step that counts already. */
  readonly counted: () => boolean
}

/** What a line says may be too little by itself; with what is near it is enough. */
export function accepted(seen: Observation, track: Track, beside: Beside): boolean {
  if (strong(seen)) return true
  if (isOfOthers(seen)) return false
  const { step, stepIsAside, stepIsBare, total, loss: lossIs, epoch: epochIs, epochs, risen, metrics, at, loose, shape, rate, decimals } = seen
  // Generations and episodes count in other programs, too.
  if (stepIsAside === true && lossIs === undefined && metrics === 0 && !(beside.rate() && track.rose >= 1) && !(decimals === true && track.rose >= 4))
    return false
  if (epochIs !== undefined && track.epochRose > 0 && (epochs !== undefined || step !== undefined)) return true
  if (epochIs !== undefined && track.epochRose >= 1 && loose !== true && decimals === true && /^\W*epoch\b/i.test(seen.title ?? '')) return true
  if (epochIs !== undefined && track.epochRose >= 1 && loose !== true && TIMED_EPOCH.test(seen.title ?? '')) return true
  if (epochIs !== undefined && track.epochRose >= 2 && seen.phase === 'evaluating') return true
  if (epochIs !== undefined && track.epochRose >= 2 && loose !== true && decimals === true) return true
  if (seen.sure === true && beside.epoch()) return true
  // Alone on its line it may be the result of a benchmark; a server says it again and again.
  if (isServing(seen) && track.seen >= 2) return true
  // A rate that only a training has, again and again: `global_step/sec: 0.29`.
  if (rate?.of === 'step' && step === undefined && loose !== true && track.seen >= 3 && STEP_WORD.test(shape)) return true
  // A share that rises and a time left, under a name that says so: `Progress: 14% | ETA: 0:05:11`.
  if (seen.form === 'epoch') return track.doneRose >= 1 || track.epochRose >= (beside.metrics() ? 1 : 2)
  if (step !== undefined && total !== undefined && seen.done !== undefined && STEP_WORD.test(shape) && isShare(step, total, seen.done)) return track.rose >= 1
  if (seen.done !== undefined && seen.etaSeconds !== undefined && step === undefined)
    return loose !== true && track.doneRose >= 2 && (SHARE_TITLE.test(seen.title ?? '') || /^line progress\b/.test(shape))
  // Simulations say how long they have run and how long is left, and count without a word for it.
  const timed = seen.etaSeconds !== undefined && (seen.elapsedSeconds !== undefined || rate?.of === 'step') && loose !== true
  if (risen !== undefined && risen >= 2 && timed) return true
  if (risen !== undefined) return risen >= 2 && beside.metrics() && (total !== undefined || decimals === true)
  if (step !== undefined) {
    if (beside.loss() && beside.rate()) return true
    if (beside.loss() || beside.rate() || beside.metrics()) return total !== undefined || track.rose >= 1
    if (beside.epoch() && total !== undefined && stepIsBare !== true && COUNTED_WORD.test(seen.title ?? '')) return true
    if (metrics > 0 && track.rose >= 1 && seen.foreign !== true) return true
    if (track.rose >= 3 && DOING_STEP.test(seen.title ?? '')) return true
    // It counts to what was announced.
    if (track.rose >= 1 && step <= (beside.planned() ?? 0) && STEP_WORD.test(shape) && seen.foreign !== true) return true
    return (
      loose !== true &&
      track.rose >= 2 &&
      (total !== undefined || ((at !== undefined || decimals === true || HEADING.test(seen.title ?? '')) && (STEP_WORD.test(shape) || stepIsAside === true)))
    )
  }
  if (lossIs !== undefined) return (track.seen >= 2 && (!COST.test(shape) || /loss/.test(shape))) || beside.epoch() || beside.counted()
  return false
}
