// The agent's HTTP server and live stream on the simulated host, without a clock: a second passes when it is told to.
import { join } from 'node:path'
import { createExposition } from '../../agent/http/exposition.ts'
import { createReadiness } from '../../agent/http/health.ts'
import { createHttpServer } from '../../agent/http/server.ts'
import { createViews } from '../../agent/http/views.ts'
import { createLiveSink } from '../../agent/sinks/live.ts'
import { createSimulation } from '../../agent/sources/simulated.ts'
import { createLatestStore } from '../../agent/store/latest.ts'

const root = join(import.meta.dirname, '../..')

export type SimulatedHost = {
  readonly url: string
  /** Lets a second pass and tells it to every reader. */
  readonly tick: () => void
  /** Frames that readers were too slow for. */
  readonly skipped: () => number
  readonly close: () => Promise<void>
}

export async function startSimulatedHost(size: { readonly gpus: number; readonly containers: number; readonly processes: number }): Promise<SimulatedHost> {
  let t = Math.floor(Date.now() / 1000) * 1000
  const latest = createLatestStore()
  const views = createViews({ latest, hostname: 'bench' })
  const live = createLiveSink({ views, hostname: 'bench', simulated: true, maxReaders: 4 })
  const simulation = createSimulation({ scenario: 'healthy', seed: 1, hostname: 'bench', ...size }, t, 0)
  const server = createHttpServer({
    listen: '127.0.0.1:0',
    token: '',
    insecure: false,
    allowedOrigins: [],
    allowedHosts: [],
    views,
    history: undefined,
    exposition: createExposition({ latest, dcgm: 'off', hostnameLabel: 'Hostname', hostname: 'bench' }),
    live,
    ready: createReadiness(latest),
    dashboardDir: join(root, 'dist/dashboard'),
    runbooksDir: join(root, 'dist/runbooks'),
    log: { info: () => {}, warn: () => {}, error: (text) => process.stderr.write(`${text}\n`) },
  })
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
    skipped: live.dropped,
    async close() {
      await live.close()
      await server.close()
    },
  }
}
