// The source of targets: one scrape for each check, on the grid; secrets stay in the configuration.
import { expect, test } from 'vitest'
import type { TargetConfig } from '../../../agent/config/sections/targets.ts'
import type { Event, Scrape } from '../../../agent/model/event.ts'
import { createTargetsSource } from '../../../agent/sources/targets.ts'
import { poll } from '../../setup/poll.ts'
import { webServer } from '../../setup/web-server.ts'

const target = (url: string, more: Partial<TargetConfig> = {}): TargetConfig => ({
  name: 'ui',
  url,
  interval_ms: 10_000,
  timeout_ms: 5_000,
  headers: {},
  ...more,
})

/** Starts the source; the grid comes round when the test says so. */
function run(targets: readonly TargetConfig[]) {
  const events: Event[] = []
  const said: string[] = []
  const due: { readonly periodMs: number; readonly run: (t: number) => void | Promise<void> }[] = []
  const source = createTargetsSource(targets)
  const word = (text: string): void => void said.push(text)
  void source.start({
    emit: (event) => void events.push(event),
    every: (periodMs, task) => {
      const entry = { periodMs, run: task }
      due.push(entry)
      return () => void due.splice(due.indexOf(entry), 1)
    },
    log: { info: word, warn: word, error: word },
  })
  const scrapes = (group: string): readonly Scrape[] => events.flatMap((event) => (event.type === 'scrape' && event.group === group ? [event] : []))
  return {
    events,
    said,
    due,
    source,
    scrapes,
    next: async (group: string, count: number): Promise<Scrape> =>
      poll(() => scrapes(group)[count - 1], { what: () => `scrape ${count} of ${group}; so far ${scrapes(group).length}`, deadlineMs: 15_000 }),
  }
}
const values = (scrape: Scrape): Readonly<Record<string, number>> => Object.fromEntries(scrape.readings.map(({ series, value }) => [series.key, value]))

test('each check is a scrape: first at once, then on its grid; a change of state is logged once', async () => {
  let status = 200
  const server = await webServer((_, answer) => answer.writeHead(status).end())
  const { next, due, said, source, scrapes } = run([target(`${server.url}/health`)])
  const first = values(await next('ui', 1))
  expect(first).toMatchObject({ 'warpwatch_target_up{target="ui"}': 1, 'warpwatch_target_status{target="ui"}': 200 })
  expect(first['warpwatch_target_latency_seconds{target="ui"}']).toBeGreaterThan(0)
  expect(first['warpwatch_target_latency_seconds{target="ui"}']).toBeLessThan(5)

  const grid = due.find(({ periodMs, run: task }) => periodMs === 10_000 && task.length === 0)
  if (grid === undefined) throw new Error('expected a task on the grid')
  status = 500
  await grid.run(0)
  await grid.run(0)
  const bad = await next('ui', 3)
  expect(values(bad)).toMatchObject({
    'warpwatch_target_up{target="ui"}': 0,
    'warpwatch_target_failed_checks{target="ui"}': 2,
    'warpwatch_target_failing{target="ui",reason="status"}': 1,
  })
  expect(bad.gaps).toEqual([
    { metric: 'warpwatch_target_failing', labels: { target: 'ui' }, reason: 'driver_error', detail: 'status 500 instead of 200 to 299' },
  ])
  expect(bad.ttlMs).toBe(30_000)
  expect(bad.t % 1_000).toBe(0)
  expect(said).toEqual(['target ui is not well: status: status 500 instead of 200 to 299'])

  status = 204
  await grid.run(0)
  expect(said.at(-1)).toBe('target ui is well again')
  expect(scrapes('ui')).toHaveLength(4)
  expect(values(await next('ui', 4))['warpwatch_target_failed_checks{target="ui"}']).toBe(0)
  await source.stop()
  expect(due).toEqual([])
  await server.close()
})

test('the secrets of a target are in no event and no word', async () => {
  const server = await webServer((_, answer) => answer.writeHead(401).end())
  const url = `http://ann:s3cret@127.0.0.1:${server.port}/health?token=s3cret`
  const { next, events, said, source } = run([target(url, { headers: { authorization: 'Bearer s3cret' }, container: 'trainer' })])
  await next('ui', 1)
  const info = await next('', 1)
  expect(info.readings.map(({ series }) => series.labels)).toEqual([
    { target: 'ui', url: `http://(hidden)@127.0.0.1:${server.port}/health?(hidden)`, container: 'trainer' },
  ])
  expect(JSON.stringify(events) + said.join()).not.toContain('s3cret')
  await source.stop()
  await server.close()
})

test('a stop in the middle of a check ends it, and nothing more is told', async () => {
  let asked = 0
  const server = await webServer(() => void asked++)
  const { scrapes, source } = run([target(server.url)])
  await poll(() => asked > 0, { what: () => 'the service to be asked', deadlineMs: 10_000 })
  await source.stop()
  await server.close()
  expect(scrapes('ui')).toEqual([])
})

test('other targets while it runs: one that stays the same goes on counting, one that is gone leaves nothing behind', async () => {
  const server = await webServer((_, answer) => answer.writeHead(500).end())
  const [kept, gone, added] = ['kept', 'gone', 'added'].map((name) => target(`${server.url}/${name}`, { name }))
  if (kept === undefined || gone === undefined || added === undefined) throw new Error('expected three targets')
  const { source, next, scrapes, due } = run([kept, gone])
  await Promise.all([next('kept', 1), next('gone', 1)])
  const grid = due.filter(({ periodMs, run: task }) => periodMs === 10_000 && task.length === 0)
  source.configure([{ ...kept }, added])
  await next('added', 1)
  expect(scrapes('gone').at(-1)).toMatchObject({ readings: [], gaps: [] })
  expect(
    scrapes('')
      .at(-1)
      ?.readings.map(({ series }) => series.labels['target']),
  ).toEqual(['kept', 'added'])
  await grid[0]?.run(0)
  expect(values(await next('kept', 2))['warpwatch_target_failed_checks{target="kept"}']).toBe(2)
  // Its own task is not on the grid any more: the one that renews the list, and one for each target.
  expect(due).toHaveLength(3)
  source.configure([])
  expect([due, scrapes('').at(-1)?.readings]).toEqual([[], []])
  await source.stop()
  await server.close()
})
