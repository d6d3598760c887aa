// The description of the API names every route of the app: the abuse suite's matrix of who gets in walks through the description.
import { expect, test } from 'vitest'
import { createOpenApi } from '../../../agent/http/api/openapi.ts'
import { createApp } from '../../../agent/http/app.ts'
import { createViews } from '../../../agent/http/views.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import * as z from 'zod'

test('every route is described, with its method', () => {
  const latest = createLatestStore()
  const app = createApp({
    views: createViews({ latest, hostname: 'gpu-01' }),
    history: undefined,
    incidents: { incidents: { list: () => [], get: () => undefined }, report: () => '' },
    maintenance: { silences: () => [], silence: () => undefined, unsilence: () => false, acknowledge: () => {}, resolve: () => false },
    jobs: {
      view: { list: () => [], groups: () => [], runs: () => [] },
      waste: () => ({ host: '', from: 0, to: 0, rows: [] }),
      report: () => '',
      line: () => '',
      idOf: () => undefined,
      record: () => undefined,
      send: () => undefined,
    },
    doctor: () => Promise.reject(new Error('not asked')),
    dashboardDir: '/nonexistent',
    runbooksDir: '/nonexistent',
    onError: () => {},
    now: Date.now,
  })
  const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(createOpenApi())
  const described = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  const routes = app.routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
  expect(routes.length).toBeGreaterThan(20)
  // The description itself and the page's files are added by the matrix (test/abuse/parts/access-modes.ts).
  expect(routes.filter((route) => !described.includes(route))).toEqual(['GET /api/v1/openapi.json', 'GET /*'])
})
