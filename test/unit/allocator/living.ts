// Processes for probes to speak of: they live until the test ends.
import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** A process that lives until the test ends. */
export function living(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error('sleep could not be started')
  return child.pid
}
