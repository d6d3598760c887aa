// What one writer of a log (a rank, or the whole job) has said so far: which bar or line counts its steps, and what the others add.
import { createLossWatch } from './lost.ts'
import { derived, newestLoss, timeLeft, totalOf } from './derived.ts'
import { accepted, isOwnEvaluation, opensEpoch, strong, withoutLoss, type Beside } from './evidence.ts'
import type { Observation, Phase, Rate } from './observation.ts'
import { saysTraining } from './phases.ts'
import type { Progress } from './progress.ts'
import { bestOf, besideLines, isTimed, tooFast, trainsMeanwhile } from './telling.ts'
import { finished, hasLossOfSteps, hasNotBegun, isEpochBar, isNameless, OF_EPOCH, trackIn, updateTrack, type Track } from './track.ts'

export type Writer = {
  /** `clock`: when it was read, in seconds, where the log itself has no times. */
  readonly see: (seen: Observation, clock?: number) => void
  /** Undefined while nothing shows how far the job is. `judged`: with the slow-down, which costs a look at all steps. */
  readonly progress: (judged?: boolean) => Progress | undefined
  readonly phase: () => Phase | undefined
  /** How much it says: 0 nothing. */
  readonly weight: () => number
  /** How often it said something of its progress. */
  readonly count: () => number
  /** How often the counter of its steps rose. */
  readonly rises: () => number
}

/** Lines that follow a counter and are of the same statement. */
const BLOCK = 8
/** Lines of one statement are together within so many. */
const NEAR = 48
/** A bar is over, or its program has gone on, when so many statements of another have come since. */
const STALE = 200

/** So often its counter must rise. */
const EVALUATED = 2

export function createWriter(): Writer {
  const tracks = new Map<string, Track>()
  const loss = createLossWatch()
  let now = 0
  let main: Track | undefined
  let bar: Track | undefined
  let phase: Phase | undefined
  let epoch: { value: number; of?: number; at: number } | undefined
  /** Said on a line of its own, before any other figure. */
  let looseEpoch: { value: number | undefined; of: number | undefined; at: number } | undefined
  let looseLoss: { value: number; at: number; part: boolean; step?: number } | undefined
  let looseRate: { value: Rate; at: number } | undefined
  /** A time left on a line of its own, or on another line of the same step. */
  let looseEta: { value: number; at: number; step?: number } | undefined
  /** Figures that only a training prints, on a line that says nothing else. */
  let looseMetricsAt: number | undefined
  let metricAt: number | undefined
  let learningRate: number | undefined
  let planned: number | undefined
  /** Of the last line that counted the steps of a validation. */
  let evaluatedAt = -Infinity
  let trained = false
  let count = 0

  const trackOf = (seen: Observation): Track => trackIn(tracks, seen, now, main)
  const update = (track: Track, seen: Observation, clock: number | undefined): void => {
    if (updateTrack(track, seen, now, clock)) looseRate = undefined
  }

  /** Bars: one is the job's own; others run inside it, before it, or after it. */
  const seeBar = (seen: Observation, clock: number | undefined): boolean => {
    const hasLoss = seen.loss !== undefined
    const busy = seen.phase
    // A bar that had no name before its first step: `0/58`, then `Capturing num tokens: 0/58`.
    if (main !== undefined && (busy !== undefined && busy !== 'evaluating' ? isNameless(main, seen) : tooFast(seen) && hasNotBegun(main, seen))) {
      tracks.delete(main.shape)
      main = undefined
      count = 0
    }
    if (busy !== undefined && !hasLoss) {
      if (busy !== 'evaluating' || trained || /sanity/i.test(seen.title ?? '')) {
        phase = busy
        return false
      }
    } else if (busy === 'evaluating' && trained) {
      phase = busy
      return false
    }
    // The bar of an epoch may count samples.
    const ofEpoch = seen.epoch !== undefined && OF_EPOCH.test(seen.title ?? '')
    if (!ofEpoch && tooFast(seen)) {
      phase = 'preparing'
      return false
    }
    if (main === undefined && besideLines(record(), seen)) {
      phase = 'evaluating'
      return false
    }
    if (isEpochBar(seen) && seen.step !== undefined) epoch = { value: seen.step, ...(seen.total === undefined ? {} : { of: seen.total }), at: now }
    if (hasLossOfSteps(seen, main?.last) && main !== undefined && seen.loss !== undefined) {
      main.loss = seen.loss
      loss.add(seen.loss, seen.gradNorm, main.last.step)
      trained = true
      return false
    }
    const track = trackOf(seen)
    const again = track.seen > 0
    const wasDone = again && finished(track.last)
    const restarted = again && (track.last.step ?? 0) > (seen.step ?? 0)
    bar = track
    // It prints its losses on lines of their own: a bar of another length is an evaluation.
    const training = trained && (main?.last.step ?? 0) > 1
    update(track, seen, clock)
    if (main === undefined || main === track || main.last.form !== 'bar') {
      if (main !== undefined && main !== track && !track.aside && main.last.form !== 'bar') main = track
      main ??= track
    } else if (isEpochBar(main.last) || (main.rose === 0 && !finished(main.last) && !training)) {
      if (!track.aside) main = track
    } else if (isEpochBar(seen)) {
      return true
    } else {
      const clearly = hasLoss || saysTraining(seen.title ?? '')
      const mainClear = training || main.loss !== undefined || saysTraining(main.last.title ?? '')
      const outlives = (seen.elapsedSeconds ?? 0) > 3 * (main.last.elapsedSeconds ?? 0) + 300
      if (!finished(main.last) && !outlives && (mainClear || !clearly)) track.aside = true
      else if (wasDone || restarted) {
        // The first bar begins again after another: what came between was a validation.
        if (!track.aside) {
          if (!mainClear || clearly) main.aside = true
          main = track
        }
      } else if (!track.aside && (clearly || !mainClear)) main = track
      else track.aside = true
    }
    if (track.aside) {
      phase = 'evaluating'
      return false
    }
    if (seen.phase !== 'evaluating') trained ||= hasLoss || saysTraining(seen.title ?? '')
    phase = seen.phase === 'evaluating' ? 'evaluating' : 'training'
    return main === track
  }

  const near = (at: number | undefined): boolean => at !== undefined && now - at <= NEAR
  const confirmed = new Set<string>()
  /** What evaluations count, while nothing trains, and the one that says how far it is. */
  const evaluations = new Map<string, Track>()
  let evaluation: Track | undefined
  const beside: Beside = {
    planned: () => planned,
    epoch: () => near(epoch?.at) || near(looseEpoch?.at),
    loss: () => near(looseLoss?.at),
    rate: () => near(looseRate?.at),
    metrics: () => near(looseMetricsAt),
    counted: () => [...tracks.values()].some((other) => confirmed.has(other.shape) && other.last.step !== undefined && near(other.at)),
  }

  const seeRecord = (seen: Observation, clock: number | undefined): boolean => {
    // `Train metrics: …` speaks of the training.
    const ofTraining =
      seen.phase === 'evaluating' && /(?<![a-z])train(?:ing)?/i.test(seen.title ?? '') && !/(?<![a-z])(?:valid|val|eval|test)/i.test(seen.title ?? '')
    // `Epoch 271: Validation Accuracy: 99.27%` is all that some trainings say.
    const epochsOnly =
      seen.phase === 'evaluating' &&
      seen.step === undefined &&
      seen.epoch !== undefined &&
      (primary()?.shape ?? seen.shape) === seen.shape &&
      OF_EPOCH.test(seen.title ?? '')
    if (!trained && main === undefined && looseLoss === undefined && !ofTraining && isOwnEvaluation(seen)) {
      evaluatedAt = now
      phase = seen.phase
      const track = trackIn(evaluations, seen, now, undefined)
      const counts = track.seen > 0 && track.last.total === seen.total
      updateTrack(track, seen, now, clock)
      if (!counts) {
        track.rose = 0
        if (evaluation === track) evaluation = undefined
      } else if ((track.rose >= EVALUATED || (seen.risen ?? 0) >= EVALUATED) && accepted(seen, track, beside)) evaluation = track
      return false
    }
    if (epochsOnly && seen.loss !== undefined && !ofTraining) return seeRecord(withoutLoss(seen), clock)
    if (seen.phase !== undefined && !ofTraining && !epochsOnly && !(seen.phase === 'preparing' && strong(seen))) {
      phase = seen.phase
      if (seen.phase === 'evaluating' && seen.step !== undefined) evaluatedAt = now
      return false
    }
    if (seen.metrics > 0 && seen.foreign !== true) {
      if (seen.metrics > 1 || near(metricAt)) looseMetricsAt = now
      metricAt = now
    }
    const trusted = seen.foreign !== true && (seen.loose !== true || seen.rate !== undefined || confirmed.size > 0)
    if (seen.etaSeconds !== undefined && trusted) looseEta = { value: seen.etaSeconds, at: now, ...(seen.step === undefined ? {} : { step: seen.step }) }
    // Losses of the validation whose counter is above them: `Test: [60/242]`, then `cos_loss 0.219`.
    if (phase === 'evaluating' && now - evaluatedAt <= BLOCK && seen.step === undefined && seen.epoch === undefined) return false
    const track = trackOf(seen)
    update(track, seen, clock)
    // The value of this step is beside its average on another line.
    const isMean = seen.lossIsMean === true && seen.step !== undefined && looseLoss?.step === seen.step && (seen.lossIsPart === true || !looseLoss.part)
    const isPart = seen.lossIsPart === true && looseLoss?.part === false && near(looseLoss.at)
    if (seen.loss !== undefined && !isMean && !isPart)
      looseLoss = { value: seen.loss, at: now, part: seen.lossIsPart === true, ...(seen.step === undefined ? {} : { step: seen.step }) }
    if (seen.rate !== undefined && seen.rateIsLoose !== true && !(seen.rate.of !== 'step' && looseRate?.value.of === 'step' && near(looseRate.at)))
      looseRate = { value: seen.rate, at: now }
    if (seen.foreign !== true && seen.step === undefined && (seen.loss !== undefined || seen.rate !== undefined || (seen.etaSeconds !== undefined && trusted)))
      for (const other of tracks.values())
        if (other.last.form === 'record' && (other.last.step ?? other.last.done) !== undefined && near(other.at)) {
          const { total, epochs } = other.last
          const alone = seen.loss === undefined && seen.rate === undefined
          // A time that nothing names says less than the movement of the counter.
          if ((alone || (seen.loss === undefined && seen.rateIsLoose === true) || other.last.foreign === true) && other.rose === 0) continue
          const timed = (other.last.done !== undefined && other.last.etaSeconds !== undefined) || (trusted && isTimed(other, seen))
          if (timed || (total ?? (seen.etaSeconds === undefined ? undefined : epochs)) !== undefined) confirmed.add(other.shape)
        }
    if (seen.epoch !== undefined && seen.step === undefined && seen.loss === undefined && near(looseLoss?.at)) epoch = { value: seen.epoch, at: now }
    if (opensEpoch(seen)) looseEpoch = { value: seen.epoch, of: seen.epochs, at: now }
    if (!accepted(seen, track, beside)) return confirmed.has(track.shape)
    confirmed.add(track.shape)
    if (seen.epoch !== undefined) epoch = { value: seen.epoch, ...(seen.epochs === undefined ? {} : { of: seen.epochs }), at: now }
    if (seen.loss !== undefined || seen.gradNorm !== undefined) trained = true
    if (seen.loss !== undefined && trainsMeanwhile(bar, main)) main = bar
    phase = seen.step === undefined && seen.loss === undefined && seen.rate?.of === 'token' ? 'serving' : 'training'
    return true
  }

  /** Of the lines that count, the one that says most; what has not come for long counts no more. */
  const record = (): Track | undefined => {
    const telling = [...tracks.values()].filter((track) => track.last.form !== 'bar' && confirmed.has(track.shape) && now - track.at < STALE)
    return bestOf(telling) ?? (trained || evaluation === undefined || now - evaluation.at >= STALE ? undefined : evaluation)
  }
  const primary = (): Track | undefined => {
    const best = record()
    if (main === undefined) return best
    if (best?.last.step === undefined) return main
    // A bar that is over, or silent, while lines go on counting was something before the training.
    if (isEpochBar(main.last)) return best
    const over = finished(main.last) || now - main.at > STALE
    return over && best.at > main.at && best.seen >= 2 ? best : main
  }

  return {
    see(seen, clock) {
      now += 1
      if (seen.form === 'plan') planned = seen.total
      if (seen.form === 'epoch' && seen.epoch !== undefined) epoch = { value: seen.epoch, ...(seen.epochs === undefined ? {} : { of: seen.epochs }), at: now }
      const counted = seen.form !== 'plan' && (seen.form === 'bar' ? seeBar(seen, clock) : seeRecord(seen, clock))
      if (!counted) return
      count += 1
      learningRate = seen.learningRate ?? learningRate
      loss.add(seen.loss, seen.gradNorm, seen.step)
      if (seen.form === 'bar' && seen.epoch !== undefined) epoch = { value: seen.epoch, ...(seen.epochs === undefined ? {} : { of: seen.epochs }), at: now }
    },
    progress(judged = true) {
      const track = primary()
      if (track === undefined) return undefined
      const best = record()
      const { last } = track
      const rateIs = track.last.rateIsLoose === true && near(looseRate?.at) ? looseRate?.value : (track.rate ?? best?.rate ?? looseRate?.value)
      // A time on a line of its own is that of the epoch where nothing but epochs is counted.
      const rate =
        last.step === undefined && last.epoch !== undefined && track.rate === undefined && rateIs === looseRate?.value && /^m?s\//.test(rateIs?.unit ?? '')
          ? undefined
          : rateIs
      const lossIs = track.lossIsMean === true && looseLoss?.step === last.step ? looseLoss?.value : (newestLoss(track, best) ?? looseLoss?.value)
      const epochIs = track.epoch !== undefined && (epoch === undefined || epoch.at <= track.at) ? track.epoch : (epoch?.value ?? looseEpoch?.value)
      const epochs = track.epochs ?? epoch?.of ?? looseEpoch?.of
      const pace = track.pace.now()
      // The epoch of a line that came after the bar has only begun, where it is not the one that the bar counted.
      const begun = epoch !== undefined && epoch.at > track.at && epoch.value !== track.epoch
      const total = totalOf(track, planned)
      const own = timeLeft(
        { ...track, ...(rate === undefined ? {} : { rate: track.rate ?? rate }), last: { ...last, ...(total === undefined ? {} : { total }) } },
        epochs === undefined || epochIs === undefined ? 0 : epochs - epochIs + (begun ? 1 : 0),
      )
      const otherStep = looseEta?.step !== undefined && looseEta.step !== last.step
      const time = last.etaSeconds === undefined && looseEta !== undefined && near(looseEta.at) && !otherStep ? { ...own, etaSeconds: looseEta.value } : own
      const slowdown = judged ? track.pace.slowdown(total) : undefined
      return {
        ...(last.step === undefined ? {} : { step: last.step }),
        ...(total === undefined ? {} : { total }),
        ...(last.done === undefined || last.step !== undefined ? {} : { done: last.done }),
        ...(rate === undefined ? derived(pace, track) : { rate }),
        ...(last.samplesRate === undefined ? {} : { samplesRate: last.samplesRate }),
        ...(last.tokensRate === undefined ? {} : { tokensRate: last.tokensRate }),
        ...(lossIs === undefined ? {} : { loss: lossIs }),
        ...(learningRate === undefined ? {} : { learningRate }),
        ...(epochIs === undefined ? {} : { epoch: epochIs }),
        ...(epochs === undefined ? {} : { epochs }),
        ...time,
        lost: loss.lost(),
        ...(loss.lost() ? { lostRun: loss.run() } : {}),
        ...(slowdown === undefined ? {} : { slowdown }),
        ...(phase === undefined ? {} : { phase }),
      }
    },
    weight() {
      const track = primary()
      if (track === undefined) return 0
      return (
        1 + (track.last.step === undefined ? 0 : 4) + (track.last.total === undefined ? 0 : 2) + (track.loss === undefined && looseLoss === undefined ? 0 : 1)
      )
    },
    phase: () => phase,
    count: () => count,
    rises: () => primary()?.rose ?? 0,
  }
}
