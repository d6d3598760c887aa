// Waits until what was written to a stream has left this process. A full pipe or socket takes text later than it is written, and process.exit drops what still waits.
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** True when it has left, or can no longer; false when `withinMs` were not enough. */
export async function flushed(stream: Writable, withinMs: number): Promise<boolean> {
  const left = new AbortController()
  const written = new Promise<boolean>((resolve) => stream.write('', () => resolve(true)))
  const late = delay(withinMs, false, { signal: left.signal }).catch(() => false)
  try {
    return await Promise.race([written, late])
  } finally {
    left.abort()
  }
}
