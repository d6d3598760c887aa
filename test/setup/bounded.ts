// Finds what would go on for minutes or for ever: a pattern that backtracks, a parser that looks everything up again. No measure of speed, which is measured in bench/:
// what is sound takes milliseconds for the texts that this is asked of.
import { createContext, Script } from 'node:vm'

/** Then it is cut off. */
const CUT_MS = 60_000
const context = createContext({ work: () => {} })
const script = new Script('work()')

/** False: it took more CPU than that, or was cut off after a minute. Errors of the work are thrown. */
export function isBounded(work: () => void, mostSeconds = 0.5): boolean {
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
  return user + system < mostSeconds * 1e6
}
