// Poison-message detection: which message to try next when either the receiver is down or one message makes it fail.

/** So often a message alone may fail with an answered error or without an answer before others are tried in its place. */
const STRIKES = 5
/** Messages that are put together and not delivered. */
const MOST_OPEN = 3

export type PoisonMessages = {
  /** `form` puts one more together, if there is something and it may go. */
  readonly choose: (open: readonly string[], form: () => string | undefined) => string | undefined
  /** It failed. True: others passed since it became suspect, and it failed once more, so it is the poison message. */
  readonly strike: (key: string) => boolean
  readonly passed: (key: string) => void
  /** The receiver could not be reached, or asked for time: who is to blame is open again. */
  readonly silent: () => void
  readonly forget: (key: string) => void
}

export function createPoisonMessages(): PoisonMessages {
  const strikes = new Map<string, number>()
  /** Suspects after which another message passed. */
  const proven = new Set<string>()
  let turn = 0
  const isSuspect = (key: string): boolean => (strikes.get(key) ?? 0) >= STRIKES
  const forget = (key: string): void => {
    strikes.delete(key)
    proven.delete(key)
  }
  return {
    choose(open, form) {
      // Once it is known that the receiver lives, what was under suspicion has its last try.
      const sure = open.find((key) => proven.has(key)) ?? open.find((key) => !isSuspect(key))
      if (sure !== undefined) return sure
      const other = open.length < MOST_OPEN ? form() : undefined
      return other ?? open[turn++ % Math.max(1, open.length)]
    },
    strike(key) {
      if (proven.has(key)) return true
      strikes.set(key, (strikes.get(key) ?? 0) + 1)
      return false
    },
    passed(key) {
      forget(key)
      for (const other of strikes.keys()) if (isSuspect(other)) proven.add(other)
    },
    silent: () => proven.clear(),
    forget,
  }
}
