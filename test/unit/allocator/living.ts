// Processes for probes to speak of: they live until the test ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { afterEach } from 'vitest'

const children: ChildProcess[] = []
/** A process that lives until the test ends. */
export function living(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  children.push(child)
  if (child.pid === undefined) throw new Error('sleep could not be started')
  return child.pid
}
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
