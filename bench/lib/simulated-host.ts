// The agent's HTTP server and live stream on the simulated host, without a clock: a second passes when it is told to.
import { setImmediate as turn } from 'node:timers/promises'
import { createSimulation } from '../../agent/sources/simulated.ts'
import { createLiveServer } from './live-server.ts'

export type SimulatedHost = {
  readonly url: string
  /** Lets a second pass and tells it to every reader. */
  readonly tick: () => void
  /** Resolves when every reader was sent all of it: frames are compressed on another thread, and one that is behind is passed over. */
  readonly sent: () => Promise<void>
  /** Frames that readers were too slow for. */
  readonly skipped: () => number
  readonly close: () => Promise<void>
}

export async function startSimulatedHost(size: { readonly gpus: number; readonly containers: number; readonly processes: number }): Promise<SimulatedHost> {
  let t = Math.floor(Date.now() / 1000) * 1000
  const { latest, views, live, server } = createLiveServer({ simulated: true, maxReaders: 4 })
  const simulation = createSimulation({ scenario: 'healthy', seed: 1, hostname: 'bench', ...size }, t, 0)
  const tick = (): void => {
    for (const event of simulation.tick(t)) if (event.type === 'scrape') latest.apply(event)
    views.invalidate()
    live.tick(t)
    t += 1000
  }
  tick()
  return {
    url: `${await server.listen()}/`,
    tick,
    async sent() {
      while (live.bufferedBytes() > 0) await turn()
    },
    skipped: live.dropped,
    async close() {
      await live.close()
      await server.close()
    },
  }
}
