// How Node is started for the agent; other commands run with Node's own settings.

/** A young generation of at most 2 MiB: the agent makes little garbage, and this keeps some 6 MiB of memory free (see docs/measurements.md). */
const AGENT_FLAGS = ['--max-semi-space-size=2']

/** `run` is the default command, so flags alone mean it too. */
export const nodeFlags = (args) => (args[0] === undefined || args[0] === 'run' || args[0].startsWith('-') ? AGENT_FLAGS : [])
