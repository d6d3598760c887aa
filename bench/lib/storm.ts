// Runs storm-child.ts: the agent's alerts alone in a process of their own, fed a storm of incidents, until a receiver has been told of all.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as z from 'zod'
import { nodeFlags } from '../../scripts/node-flags.mjs'
import { poll } from '../../test/setup/poll.ts'

export type StormOptions = {
  readonly url: string
  readonly incidents: number
  readonly seconds: number
  readonly perMinute: number
  /** Whether the receiver has heard of all. */
  readonly done: () => boolean
}
export type StormFigures = { readonly tookS: number; readonly cpuMsEach: number; readonly grownMiB: number }

const figures = z.object({ cpuMsEach: z.number(), grownMiB: z.number() })

export async function runStorm({ done, ...options }: StormOptions): Promise<StormFigures> {
  const begun = performance.now()
  // With the flags of the agent, as they decide how much V8 takes before it collects.
  const child = fork(join(import.meta.dirname, 'storm-child.ts'), [JSON.stringify(options)], { execArgv: nodeFlags([]) })
  try {
    const whole = (): boolean => {
      if (child.exitCode !== null) throw new Error(`the storm's process ended with ${child.exitCode}`)
      return done()
    }
    await poll(whole, { what: 'all incidents to be told', deadlineMs: 600_000, everyMs: 100 })
    const tookS = (performance.now() - begun) / 1_000
    const answer = once(child, 'message')
    child.send('stop')
    const ended = once(child, 'exit')
    const [said]: unknown[] = await answer
    await ended
    return { tookS, ...figures.parse(said) }
  } finally {
    child.kill('SIGKILL')
  }
}
