// Finds what would go on for minutes or for ever: a pattern that backtracks, a parser that looks everything up anew. No measure of speed, which is measured in bench/:
// what is sound takes milliseconds for the texts that this is asked of.
import { createContext, Script } from 'node:vm'

/** Of CPU, so that other work on the machine does not count. */
const MOST_SECONDS = 1
/** Then it is cut off. */
const CUT_MS = 60_000
const context = createContext({ work: () => {} })
const script = new Script('work()')

/** False: it took more than a second of CPU, or was cut off after a minute. Errors of the work are thrown. */
export function isBounded(work: () => void): boolean {
  context['work'] = work
  const before = process.cpuUsage()
  try {
    script.runInContext(context, { timeout: CUT_MS })
  } catch (error) {
    // Of the other context, so no `instanceof`.
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
  const { user, system } = process.cpuUsage(before)
  return user + system < MOST_SECONDS * 1e6
}
