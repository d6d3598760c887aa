// One signal's way to the receiver: one request at a time, pauses that grow while it does not arrive, counts of what became of it.
import type { Log } from '../../model/source.ts'
import { shortened, type Transport } from './transport.ts'

export type Parcel = {
  readonly request: Uint8Array
  readonly delivered: () => void
  /** It was not delivered; `again` when it may be tried again. */
  readonly failed: (again: boolean) => void
}
/** Items that the receiver refused out of a request that it took, and its words. */
export type Refusal = { readonly items: number; readonly words: string }

export type OutletOptions = {
  /** For people: `metrics`, `incidents`. */
  readonly what: string
  /** Where it goes, for people: a host, no URL. */
  readonly to: string
  readonly transport: Transport
  /** What is to be sent now, if anything. */
  readonly next: (t: number) => Parcel | undefined
  readonly refusalOf: (answer: Uint8Array) => Refusal | undefined
  readonly log: Log
}
export type OutletCounts = { readonly delivered: number; readonly retry: number; readonly rejected: number; readonly refused: number }
export type Outlet = {
  /** At least once a second; costs nothing while nothing is due. */
  readonly maintain: (t: number) => void
  /** Resolves when nothing is on its way. */
  readonly idle: () => Promise<void>
  readonly counts: () => OutletCounts
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** A receiver that asks for more is believed to be mistaken. */
const LONGEST_ASKED_MS = 3_600_000

/** Half of it by chance, so that a fleet does not come back in step. */
export function pauseMs(failures: number, askedMs = 0): number {
  const own = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10))
  return Math.max(own, Math.min(askedMs, LONGEST_ASKED_MS)) * (1 + Math.random() / 2)
}

export function createOutlet({ what, to, transport, next, refusalOf, log }: OutletOptions): Outlet {
  const counts = { delivered: 0, retry: 0, rejected: 0, refused: 0 }
  let underWay: Promise<void> | undefined
  let failures = 0
  /** By the monotonic clock: a clock that was set must neither hurry nor silence it. */
  let notBefore = 0
  let trouble = false

  const noteProblem = (problem: string | undefined): void => {
    if (problem !== undefined && !trouble) log.warn(`${what} do not reach ${to}: ${problem}`)
    if (problem === undefined && trouble) log.info(`${what} reach ${to} again`)
    trouble = problem !== undefined
  }
  const taken = (answer: Uint8Array): void => {
    const refusal = refusalOf(answer)
    counts.refused += refusal?.items ?? 0
    if (refusal === undefined) noteProblem(undefined)
    else noteProblem(`${refusal.items} refused out of a request that was taken${refusal.words === '' ? '' : `: ${shortened(refusal.words)}`}`)
  }
  const send = async ({ request, delivered, failed }: Parcel): Promise<void> => {
    const answer = await transport.send(request)
    counts[answer.result] += 1
    if (answer.result === 'delivered') {
      failures = 0
      delivered()
      taken(answer.body)
    } else if (answer.result === 'rejected') {
      failures = 0
      failed(false)
      noteProblem(`${answer.why}; what it says no to is not sent again`)
    } else {
      failures += 1
      notBefore = performance.now() + pauseMs(failures, answer.afterMs)
      failed(true)
      noteProblem(`${answer.why}; tried again with growing pauses`)
    }
  }
  return {
    maintain(t) {
      if (underWay !== undefined || performance.now() < notBefore) return
      const parcel = next(t)
      if (parcel === undefined) return
      underWay = send(parcel).finally(() => {
        underWay = undefined
      })
    },
    idle: async () => underWay,
    counts: () => counts,
  }
}
