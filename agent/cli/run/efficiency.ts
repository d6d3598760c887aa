// V8 as the agent wants it: few threads awake before speed, since who samples once a second waits for no compiler.
import { setFlagsFromString } from 'node:v8'

/** Older versions of V8 have no such mode and would write that on stderr. */
const FIRST_NODE = 24

/**
 * A tenth of the wake-ups of V8's own threads, and less CPU time (docs/measurements.md). Logs are scanned at two thirds of the speed; under a flood the whole
 * still costs less. Set here and not on the command line: a Node that does not know the flag would not start.
 */
export function runEfficiently(): void {
  if (Number(process.versions.node.split('.')[0]) >= FIRST_NODE) setFlagsFromString('--efficiency-mode')
}
