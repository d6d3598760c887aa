// Whether a run is lost to NaN: a loss that is not finite again and again. One such value under loss scaling is none.

export type LostRun = { readonly since: number | undefined; readonly lastGood: number | undefined }
export type LossWatch = {
  /** `step`: where it is known. */
  readonly add: (loss: number | undefined, gradNorm: number | undefined, step: number | undefined) => void
  readonly lost: () => boolean
  /** The first bad step, the last loss that was a number. */
  readonly run: () => LostRun
}

/** In a row. The loss itself says it sooner than its gradient, which a scaler may skip. */
const BAD_LOSSES = 2
const BAD_GRADIENTS = 3

export function createLossWatch(): LossWatch {
  let losses = 0
  let gradients = 0
  let zeros = 0
  let since: number | undefined
  let lastGood: number | undefined
  return {
    add(loss, gradNorm, step) {
      if (loss === undefined && gradNorm === undefined) return
      const badGradient = gradNorm !== undefined && !Number.isFinite(gradNorm)
      if (loss !== undefined) losses = Number.isFinite(loss) ? 0 : losses + 1
      if (gradNorm !== undefined || loss !== undefined) {
        gradients = badGradient && loss === undefined ? gradients + 1 : 0
        zeros = badGradient && loss === 0 ? zeros + 1 : 0
      }
      if (losses + gradients + zeros === 0) {
        since = undefined
        if (loss !== undefined) lastGood = loss
      } else since ??= step
    },
    lost: () => losses >= BAD_LOSSES || zeros >= BAD_LOSSES || gradients >= BAD_GRADIENTS,
    run: () => ({ since, lastGood }),
  }
}
