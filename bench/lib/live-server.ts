// The agent's HTTP server with pages and live stream over a store of the bench's own; without history, token and clock.
import { join } from 'node:path'
import { createExposition } from '../../agent/http/exposition.ts'
import { createReadiness } from '../../agent/http/health.ts'
import { createHttpServer } from '../../agent/http/server.ts'
import { createViews } from '../../agent/http/views.ts'
import { createLiveSink } from '../../agent/sinks/live.ts'
import { createLatestStore } from '../../agent/store/latest.ts'

const dist = join(import.meta.dirname, '../../dist')

export function createLiveServer({ simulated, maxReaders }: { readonly simulated: boolean; readonly maxReaders: number }) {
  const latest = createLatestStore()
  const views = createViews({ latest, hostname: 'bench' })
  const live = createLiveSink({ views, hostname: 'bench', simulated, maxReaders })
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
    dashboardDir: join(dist, 'dashboard'),
    runbooksDir: join(dist, 'runbooks'),
    log: { info: () => {}, warn: () => {}, error: (text) => process.stderr.write(`${text}\n`) },
  })
  return { latest, views, live, server }
}
