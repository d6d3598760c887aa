#!/usr/bin/env node
// The command line: `warpwatch [command] [flags]`.
import { dispatch } from './cli/dispatch.ts'

// A reader that has seen enough (`warpwatch config | head -1`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

// A log that cannot be written (its reader has gone, its disk is full) is no reason to end: the next line is tried again.
process.stderr.on('error', () => {})

process.exitCode = await dispatch(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
  // 0: a serial console that does not say.
  ...(process.stdout.isTTY && process.stdout.columns > 0 ? { columns: process.stdout.columns } : {}),
})
