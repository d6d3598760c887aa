// How Node is started for the agent; other commands run with Node's own settings.

/**
 * A young generation of at most 2 MiB: the agent makes little garbage, and this keeps some 6 MiB of memory free. One helper thread of V8 in place of four, and that only to
 * mark the old generation: with so little to do compiling and collecting elsewhere only wakes threads, a third of the agent's wake-ups (see docs/measurements.md).
 * No flag here may change what V8 compiles: Node would refuse the compiled form of its own modules that it brings, and compile them again at each start
 * (test/unit/scripts/node-flags.test.ts). Such flags are set once the agent runs (agent/cli/run/run.ts).
 */
const AGENT_FLAGS = [
  '--max-semi-space-size=2',
  '--v8-pool-size=1',
  '--no-concurrent-recompilation',
  '--no-concurrent-sparkplug',
  '--no-parallel-scavenge',
  '--no-concurrent-sweeping',
  '--no-concurrent-array-buffer-sweeping',
]

/** Hours beside a job, a screen a second: a small young generation is worth more than speed (bench/top.ts: 34 MiB instead of 41). */
const TOP_FLAGS = ['--max-semi-space-size=1']

/** `run` is the default command, so flags alone mean it too. */
export const nodeFlags = (args) => (args[0] === undefined || args[0] === 'run' || args[0].startsWith('-') ? AGENT_FLAGS : args[0] === 'top' ? TOP_FLAGS : [])
