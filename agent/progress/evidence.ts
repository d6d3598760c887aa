// Whether one line by itself shows that a training goes on.
import type { Observation } from './observation.ts'

/** It needs no other line. */
export function strong(seen: Observation): boolean {
  const { step, stepIsAside, total, loss: lossIs, gradNorm, rate, etaSeconds, epoch: epochIs, metrics, risen, shape, sure, done, foreign } = seen
  if (sure === true && step !== undefined) return true
  if (risen !== undefined)
    return risen >= 2 && (lossIs !== undefined || gradNorm !== undefined || metrics > 0 || (total !== undefined && etaSeconds !== undefined))
  if (step !== undefined)
    return (
      lossIs !== undefined ||
      gradNorm !== undefined ||
      (rate !== undefined && stepIsAside !== true) ||
      etaSeconds !== undefined ||
      (total !== undefined && ((metrics > 0 && foreign !== true) || epochIs !== undefined))
    )
  if (lossIs !== undefined) return (epochIs ?? gradNorm ?? done) !== undefined
  if (done !== undefined && etaSeconds !== undefined && epochIs !== undefined) return true
  return rate !== undefined && epochIs !== undefined ? true : rate?.of === 'token' && /throughput|generation|speed|eval time/.test(shape)
}
