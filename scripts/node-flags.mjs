// How Node is started for the agent; other commands run with Node's own settings.

/**
 * A young generation of at most 2 MiB: the agent makes little garbage, and this keeps some 6 MiB of memory free. One helper thread of V8 in place of four: with so little
 * to do they only wake each other, a third of the agent's wake-ups. Its last compiler begins with a function's 60,000th call in place of its 3,000th: most of what
 * runs once a second would never give back what compiling it costs, and long loops are compiled while they run in any case (see docs/measurements.md).
 */
const AGENT_FLAGS = ['--max-semi-space-size=2', '--v8-pool-size=1', '--invocation-count-for-turbofan=60000']

/** Hours beside a job, a screen a second: a small young generation is worth more than speed (bench/top.ts: 34 MiB instead of 41). */
const TOP_FLAGS = ['--max-semi-space-size=1']

/** `run` is the default command, so flags alone mean it too. */
export const nodeFlags = (args) => (args[0] === undefined || args[0] === 'run' || args[0].startsWith('-') ? AGENT_FLAGS : args[0] === 'top' ? TOP_FLAGS : [])
