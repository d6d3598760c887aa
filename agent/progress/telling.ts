// Of the lines of one writer that count, the one that says most of the progress.
import type { Observation } from './observation.ts'
import { saysTraining } from './phases.ts'
import { finished, type Track } from './track.ts'

function weight({ last, loss, rate, seen, rose, fell }: Track): number {
  return (
    (last.total === undefined ? 0 : 4) +
    (last.done === undefined ? 0 : 3) +
    (loss === undefined ? 0 : last.lossIsPart === true ? 1 : 2) +
    (rate === undefined ? 0 : 2) +
    (last.step === undefined ? -6 : 0) +
    (last.stepIsAside === true ? -2 : 0) +
    // It says the same step again and again: so many batches each time.
    (last.step !== undefined && seen > 2 && rose === 0 && !fell ? -5 : 0) +
    Math.min(seen, 3) / 3
  )
}
/** The names with which lines of one shape begin. */
const headOf = (shape: string): string => shape.split(' | ').slice(0, 2).join(' | ')

/** The same counter, further on: each so many steps a line says less. */
const goesOn = (next: Observation, { step, total }: Observation): boolean =>
  next.step !== undefined && step !== undefined && next.step > step && next.total === total && next.stepIsAside !== true

/** A count that is complete and has no loss: a validation, where lines with steps and losses go on below it. */
const isOver = ({ last: { step, total }, loss, at }: Track, tracks: readonly Track[]): boolean =>
  step !== undefined &&
  total !== undefined &&
  step >= total &&
  loss === undefined &&
  tracks.some(({ last, ...other }) => other.loss !== undefined && (last.step ?? last.epoch) !== undefined && other.at > at)

export function bestOf(all: readonly Track[]): Track | undefined {
  const tracks = all.filter((track) => !isOver(track, all))
  const best = tracks.toSorted((a, b) => weight(b) - weight(a) || b.at - a.at)[0]
  if (best === undefined) return undefined
  // The same statement, which this time has a figure more or less at its end.
  const alike = tracks.filter((track) => headOf(track.shape) === headOf(best.shape) && (weight(track) > weight(best) - 1 || goesOn(track.last, best.last)))
  return alike.toSorted((a, b) => b.at - a.at)[0]
}

/** A bar without a loss that counts to less than lines with losses have counted already: a validation. */
export function besideLines(lines: Track | undefined, { loss, title = '', total }: Observation): boolean {
  if (lines?.loss === undefined || lines.last.step === undefined || lines.seen < 2) return false
  if (loss !== undefined || total === undefined || saysTraining(title)) return false
  return lines.last.total === undefined ? total < lines.last.step : total !== lines.last.total
}

/** Faster than any training step: bars over files, lines, embeddings. */
const TOO_FAST = 2_000
export const tooFast = ({ rate, loss }: Observation): boolean =>
  loss === undefined && rate?.of === 'step' && rate.secondsEach !== undefined && 1 / rate.secondsEach > TOO_FAST

/** So often it must move. */
const MOVED = 2
/** A loss came while another bar than the training's moved: the training goes on with that one. */
export function trainsMeanwhile(bar: Track | undefined, main: Track | undefined): bar is Track {
  if (bar === undefined || bar === main || !bar.aside || bar.rose < MOVED || finished(bar.last)) return false
  bar.aside = false
  return true
}

/** A time that is left on a line of its own, again and again, is that of the counter beside it, whatever it counts to. */
export const isTimed = ({ rose, last }: Track, { etaSeconds }: Observation): boolean =>
  etaSeconds !== undefined && rose > 0 && last.step !== undefined && last.foreign !== true && last.stepIsAside !== true
