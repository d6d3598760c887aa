// A time within which something from the network must have come.

export type Deadline = { readonly late: () => boolean; readonly clear: () => void }

/** Timers run before what the network brought: after a stall of the agent itself the answer may be there already, so it has two more turns. */
export function startDeadline(ms: number, end: () => void): Deadline {
  let late = false
  const pass = (): void => {
    late = true
    end()
  }
  const timer = setTimeout(() => setImmediate(() => setImmediate(pass)), ms)
  return { late: () => late, clear: () => clearTimeout(timer) }
}
