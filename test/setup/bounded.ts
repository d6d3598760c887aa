// Finds what would go on for minutes or for ever: a pattern that backtracks, a parser that looks everything up again. No measure of speed, which is measured in bench/:
// what is sound takes milliseconds for the texts that this is asked of.
import { createContext, Script } from 'node:vm'

/** Then it is cut off. */
const CUT_MS = 60_000
const context = createContext({ work: () => {} })
const script = new Script('work()')

/** More CPU than a sound one takes, by far. */
const MOST_SECONDS = 0.5

/** Those that took more CPU than that, by their names; the last of them is the one that was cut off, and ends the list. Errors of the work are thrown. */
export function unbounded(works: Iterable<readonly [name: string, work: () => void]>, mostSeconds = MOST_SECONDS): readonly string[] {
  const slow: string[] = []
  let now = ''
  // One guarded call for all: each costs a thread that watches the time, which is more than a sound work takes.
  context['work'] = () => {
    for (const [name, work] of works) {
      now = name
      const before = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(before)
      if (user + system >= mostSeconds * 1e6) slow.push(name)
    }
  }
  try {
    script.runInContext(context, { timeout: CUT_MS })
  } catch (error) {
    // Of the other context, so no `instanceof`.
    if (typeof error !== 'object' || error === null || !('code' in error) || error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    slow.push(now)
  }
  return slow
}

/** False: it took more CPU than that, or was cut off after a minute. */
export const isBounded = (work: () => void, mostSeconds = MOST_SECONDS): boolean => unbounded([['', work]], mostSeconds).length === 0
