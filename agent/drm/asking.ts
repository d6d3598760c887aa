// Questions to the hardware of a card through its files: none while it is asleep or its firmware does not answer, and what an error means there.
import { failureOf, type Failure } from '../nvml/codes.ts'
import type { Card, FoundCard } from './card.ts'
import { isFailure, wholeNumber, type Files } from './files.ts'

/** Firmware that hangs answers each question after seconds with an error, and each adds a line to the kernel's log. */
const LEAVE_ALONE_MS = 30_000
const SLOW_MS = 500
const ETIME = 62
const ETIMEDOUT = 110
const EIO = 5
const EPERM = 1
const EBUSY = 16
const EOPNOTSUPP = 95

export type Asking = Pick<Card, 'pass' | 'asleep' | 'ask' | 'askNumber'> & {
  /** Before each pass over the card. */
  readonly begin: () => void
}

export function createAsking(files: Files, { device }: Pick<FoundCard, 'device'>, now = (): number => performance.now()): Asking {
  let pass = 0
  let asleep: boolean | undefined
  let silent: Failure | undefined
  let silentUntil = -Infinity
  const answered = new Set<string>()

  const isAsleep = (): boolean => {
    if (asleep === undefined) {
      const status = files.text(`${device}/power/runtime_status`)
      asleep = status === 'suspended' || status === 'suspending'
    }
    return asleep
  }
  const sleeping = failureOf(device, -10, 'not_supported', 'the card is asleep (power/runtime_status); reading this would wake it')
  const resetting = failureOf(
    device,
    -11,
    'driver_error',
    'the driver does not let the card be read now: it resets the card, or the card is going to sleep or waking up',
  )

  const explain = (path: string, failure: Failure): Failure => {
    // The files may be read by everybody: this is no permission of ours.
    if (failure.code === EPERM || failure.code === EBUSY) {
      asleep = undefined
      return isAsleep() ? sleeping : resetting
    }
    const stuck = failure.code === ETIME || failure.code === ETIMEDOUT || failure.code === EIO || (failure.code === EOPNOTSUPP && answered.has(path))
    if (!stuck) return failure
    silent = failureOf(
      device,
      -12,
      'timeout',
      `the firmware of the card does not answer (${failure.detail}); it is asked again after ${LEAVE_ALONE_MS / 1_000} s`,
    )
    silentUntil = now() + LEAVE_ALONE_MS
    return silent
  }
  const ask = (path: string): Buffer | Failure => {
    if (isAsleep()) return sleeping
    if (silent !== undefined && now() < silentUntil) return silent
    const begun = now()
    const bytes = files.bytes(path)
    if (!isFailure(bytes)) {
      if (silent !== undefined && now() - begun < SLOW_MS) silent = undefined
      if (answered.size < 1_000) answered.add(path)
      return bytes
    }
    return explain(path, bytes)
  }
  return {
    begin() {
      pass++
      asleep = undefined
    },
    pass: () => pass,
    asleep: isAsleep,
    ask,
    askNumber(path) {
      const bytes = ask(path)
      if (isFailure(bytes)) return bytes
      return wholeNumber(path, bytes.toString('utf8').trim())
    },
  }
}
