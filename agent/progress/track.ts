// The statements of one shape: the newest figures, and how long its steps take.
import type { Observation, Rate } from './observation.ts'
import { createPace, type Pace } from './pace.ts'

export type Track = {
  readonly shape: string
  last: Observation
  /** Newest figures that not every line of the shape has. */
  loss?: number
  lossIsMean?: boolean
  epoch?: number
  epochs?: number
  rate?: Rate
  /** Statements so far, and how often the counter rose in a row. */
  seen: number
  rose: number
  /** The counter started over, as that of an epoch does. */
  fell: boolean
  /** The same of its epochs, and of its share of the whole. */
  epochRose: number
  doneRose: number
  at: number
  pace: Pace
  /** Of its epochs, where it counts those alone. */
  epochPace: Pace
  epochFrom?: { readonly epoch: number; readonly time: number }
  from?: { readonly step: number; readonly time: number }
  /** A bar that runs inside another, or a validation. */
  aside: boolean
}

const MAX_TRACKS = 48

const newTrack = (seen: Observation, now: number): Track => ({
  shape: seen.shape,
  last: seen,
  seen: 0,
  rose: 0,
  fell: false,
  epochRose: 0,
  doneRose: 0,
  at: now,
  pace: createPace(),
  epochPace: createPace(),
  aside: false,
})

/** The one of its shape; among too many the one that was silent longest goes, but for `main`. */
export function trackIn(tracks: Map<string, Track>, seen: Observation, now: number, main: Track | undefined): Track {
  const known = tracks.get(seen.shape)
  if (known !== undefined) return known
  if (tracks.size >= MAX_TRACKS) {
    const oldest = [...tracks.values()].filter((each) => each !== main).toSorted((a, b) => a.at - b.at)[0]
    if (oldest !== undefined) tracks.delete(oldest.shape)
  }
  const track = newTrack(seen, now)
  tracks.set(seen.shape, track)
  return track
}

export const finished = ({ step, total }: Observation): boolean => step !== undefined && total !== undefined && step >= total
/** The bar without a name that is at its beginning, and counts to the same. */
export const isNameless = ({ last: { title = '', step, total, form, metrics } }: Track, seen: Observation): boolean =>
  form === 'bar' && title.trim() === '' && step === 0 && metrics === 0 && total === seen.total && (seen.step ?? 0) <= 1

/** `0it [00:00, ?it/s]`, then `21it [00:00, 14987.30it/s]`: of the bar that turned out to be another's, the beginning. */
export const hasNotBegun = ({ shape, last: { title = '', step, form, metrics } }: Track, seen: Observation): boolean =>
  form === 'bar' && title.trim() === '' && shape === seen.shape && step === 0 && metrics === 0

/** `epochs:   0%| | 0/80 [18:20<?, ?it/s, loss=19.3]` below the bar of the steps: it has the loss of these. */
export const hasLossOfSteps = ({ title = '', loss, rate }: Observation, main: Observation | undefined): boolean =>
  loss !== undefined && rate === undefined && main?.form === 'bar' && main.rate !== undefined && /^\W*(?:total |training |overall )?epochs?\W*$/i.test(title)

/** A bar that only counts epochs; the steps are in another. */
export function isEpochBar({ title = '', metrics, step, total }: Observation): boolean {
  if (metrics > 0) return false
  if (/^\W*(?:total |training |overall )?epochs?\W*$/i.test(title)) return true
  // `Epoch (2/3):  33%| 1/3 [`: counts the same as its title.
  const [, epoch, epochs] = /^\W*epochs?\W*(\d{1,6})\s?(?:\/|of)\s?(\d{1,6})\W*$/i.exec(title) ?? []
  return epoch !== undefined && Number(epochs) === total && Math.abs(Number(epoch) - (step ?? Infinity)) <= 1
}

/** Takes in a statement; true when what seemed to be the time of a step has turned out to be the time since the start. */
export function updateTrack(track: Track, seen: Observation, now: number, clock: number | undefined): boolean {
  const before = track.seen === 0 ? undefined : track.last
  track.last = seen
  track.at = now
  track.seen += 1
  if (seen.loss !== undefined) {
    track.loss = seen.loss
    track.lossIsMean = seen.lossIsMean === true
  }
  if (seen.epoch !== undefined) {
    timeEpoch(track, seen.epoch, seen, clock)
    if (track.epoch !== undefined && seen.epoch > track.epoch) track.epochRose += 1
    track.epoch = seen.epoch
  }
  if (seen.epochs !== undefined) track.epochs = seen.epochs
  const mistaken = seen.rate === undefined && seen.form === 'record' && seen.elapsedSeconds !== undefined && track.rate !== undefined
  if (seen.rate !== undefined) track.rate = seen.rate
  else if (mistaken) {
    delete track.rate
    track.pace = createPace()
  }
  if (seen.done !== undefined && before?.done !== undefined && seen.done > before.done) track.doneRose += 1
  if (seen.step === undefined) return mistaken
  if (before?.step !== undefined && seen.step > before.step) track.rose += 1
  else if (before?.step !== undefined && seen.step < before.step) track.fell = true
  // What it counted to has become the counter: it was none.
  if (before?.total !== undefined && seen.total === undefined && seen.step >= before.total) {
    delete track.from
    track.pace = createPace()
  }
  const took = stepTime(track, seen, clock, before?.step === undefined ? seen.step : seen.step - before.step)
  // The last line of a bar is the mean of the whole run.
  const moved = before?.step === undefined || seen.step !== before.step
  if (moved && took !== undefined && !(seen.form === 'bar' && finished(seen))) track.pace.add(seen.step, took, seen.form === 'record')
  return mistaken
}

/** A log is looked at five times a second, and bars print whole seconds. */
const LEAST_SECONDS = 1.5

/** The time of an epoch: as printed, else from when its lines were written. A time that grows as the epochs do is one since the start. */
function timeEpoch(track: Track, epoch: number, { step, at, elapsedSeconds, epochSeconds }: Observation, clock: number | undefined): void {
  const { epochFrom: from } = track
  if (step !== undefined || (from !== undefined && epoch === from.epoch)) return
  const shown = elapsedSeconds ?? epochSeconds
  const time = at ?? shown ?? clock
  if (time !== undefined) track.epochFrom = { epoch, time }
  const passed = from === undefined || time === undefined || epoch < from.epoch ? 0 : (time - from.time) / (epoch - from.epoch)
  const own = at === undefined && shown !== undefined && !(4 * passed * Math.max(1, epoch) > shown)
  const seconds = own ? (from === undefined && elapsedSeconds !== undefined ? 0 : shown) : passed
  if (seconds > 0) track.epochPace.add(epoch, seconds)
}

/** `iter: 200/9000, eta: 0:29:20, time: 20.0`: by the time left a step takes 0.2 s, so that 20 s are those of the 100 since the last line. */
function isOfMany({ step = 0, total, etaSeconds, rate }: Observation, gap: number): boolean {
  if (total === undefined || etaSeconds === undefined || rate?.of !== 'step' || rate.secondsEach === undefined || total <= step || gap < 5) return false
  const each = etaSeconds / (total - step)
  return each > 0 && Math.abs(rate.secondsEach / gap / each - 1) < 0.2
}

/** The time of a step: as printed, else from the times at which lines were written. `gap`: steps since the last line. */
function stepTime(track: Track, seen: Observation, clock: number | undefined, gap: number): number | undefined {
  const { step = 0, at, rate } = seen
  const time = at ?? seen.elapsedSeconds ?? clock
  const { from } = track
  const steps = from === undefined ? 0 : step - from.step
  const passed = from === undefined || time === undefined ? 0 : time - from.time
  // A clock that is rounded says nothing of short times, but the first is better than none.
  const soon = at === undefined && track.pace.count() > 0 && passed < LEAST_SECONDS
  if (time !== undefined && (from === undefined || step < from.step || (passed !== 0 && !soon))) track.from = { step, time }
  const took = rate?.secondsEach
  if (took !== undefined && seen.form === 'record' && isOfMany(seen, gap)) {
    track.rate = { value: took / gap, unit: 's/it', of: 'step', secondsEach: took / gap }
    return took / gap
  }
  if (took !== undefined) {
    const ofAll =
      seen.form === 'record' &&
      rate?.of === 'step' &&
      at !== undefined &&
      steps > 1 &&
      gap > 1 &&
      (seen.rateIsLoose === true || Math.abs(passed - took) < 0.2 * took)
    if (!ofAll) return took
    // The time is that of all steps since the last line.
    const tokens = seen.tokensRate
    track.rate =
      tokens === undefined
        ? { value: took / steps, unit: 's/it', of: 'step', secondsEach: took / steps }
        : { value: tokens, unit: 'tokens/s', of: 'token', secondsEach: tokens > 0 ? 1 / tokens : undefined }
  }
  return steps > 0 && passed > 0 && !soon ? passed / steps : undefined
}

/** The epoch is before all else. */
export const OF_EPOCH = /^\W*epoch\b/i
