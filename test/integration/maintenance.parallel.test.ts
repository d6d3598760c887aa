// Maintenance on the whole agent: a card with a bad memory row, driven through the fake NVML library, is silenced, acknowledged and set healthy, over restarts and in a browser.
// Long: about 60 s.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { incident, incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { silence } from '../../agent/http/api/maintenance-schemas.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, withGpu, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { hasChromium, launchTestBrowser, openPage } from '../setup/browser.ts'
import { poll } from '../setup/poll.ts'

const HOUR = 3_600_000

const rows = (scenario: FakeScenario, gpu: number, count: number): FakeScenario => withGpu(scenario, gpu, { remap_pending: 1, remap_uncorrected: count })
const one = rows(eightH100(), 3, 1)
type Summary = z.infer<typeof incidentSummary>

describe.skipIf(compiler === undefined)('maintenance (needs a C compiler)', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'warpwatch-maintenance-'))
  let agent: RunningAgent
  const start = (scenario: FakeScenario): Promise<RunningAgent> => startAgent({ scenario, dataDir })
  beforeAll(async () => {
    agent = await start(one)
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const firing = async (gpu: number): Promise<readonly Summary[]> =>
    z
      .array(incidentSummary)
      .parse(await agent.json('/api/v1/incidents?status=firing&kind=row_remap_failure'))
      .filter(({ subject }) => subject.gpu?.index === gpu)
  const fires = (gpu: number): Promise<Summary> => poll(async () => (await firing(gpu))[0], { what: `a bad row of GPU ${gpu}`, deadlineMs: 30_000 })
  const send = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${agent.url}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) })
  const silenced = async (): Promise<number | undefined> => (await agent.metrics()).value('warpwatch_incidents_silenced')

  test('silenced, it fires on and is told so, also after kill -9', async () => {
    const { id } = await fires(3)
    const stream = new WebSocket(`${agent.url.replace('http', 'ws')}/ws`)
    const seen: Summary[] = []
    stream.on('message', (data: Buffer) => {
      const text = data.toString()
      if (text.startsWith('{"type":"incident"')) seen.push(z.object({ incident: incidentSummary }).parse(JSON.parse(text)).incident)
    })
    await poll(() => seen.some((reported) => reported.id === id), { what: 'the incident on the stream' })
    const made = silence.parse(await (await send('POST', '/api/v1/silences', { gpu: '3', for_ms: HOUR, reason: 'a test', by: 'kim' })).json())
    await poll(() => seen.some((reported) => reported.silenced?.id === made.id), { what: 'the silence on the stream' })
    stream.terminate()
    expect((await firing(3)).map((reported) => [reported.id, reported.silenced])).toEqual([[id, { until: made.until, id: made.id }]])
    await poll(async () => (await silenced()) === 1, { what: 'the metric to count it' })

    await agent.kill()
    await agent[Symbol.asyncDispose]()
    agent = await start(one)
    expect(await agent.json('/api/v1/silences')).toEqual([made])
    expect(await fires(3)).toMatchObject({ id, silenced: { id: made.id } })
    expect((await send('DELETE', `/api/v1/silences/${made.id}`)).status).toBe(204)
    expect((await fires(3)).silenced).toBeUndefined()
    await poll(async () => (await silenced()) === 0, { what: 'the metric to fall' })
  })

  test('set healthy, it stays quiet while nothing changes, over a restart too, and fires with the next row', async () => {
    const { id } = await fires(3)
    const answer = await send('POST', `/api/v1/incidents/${id}/resolve`, { by: 'kim', note: 'board tested' })
    expect(incident.parse(await answer.json())).toMatchObject({ id, status: 'resolved', resolution: 'set healthy by kim: board tested' })
    // What is read and judged together with it fires: so it was looked at again.
    agent.tell(rows(one, 5, 1))
    await fires(5)
    expect(await firing(3)).toEqual([])
    await agent.terminate()
    await agent[Symbol.asyncDispose]()
    agent = await start(rows(rows(one, 5, 1), 6, 1))
    await fires(6)
    expect(await firing(3)).toEqual([])
    agent.tell(rows(rows(rows(eightH100(), 3, 2), 5, 1), 6, 1))
    expect((await fires(3)).id).not.toBe(id)
  })

  test.skipIf(!hasChromium)('on the dashboard (needs Debian’s chromium): acknowledge, silence for an hour, end it', async () => {
    const { id } = await fires(3)
    const browser = await launchTestBrowser()
    try {
      await using opened = await openPage(browser, agent.url)
      const { page, complaints } = opened
      const entry = page.locator('.incident', { hasText: 'GPU 3' })
      await entry.getByRole('button', { name: 'acknowledge' }).click()
      await entry.getByText('acknowledged').waitFor()
      await entry.getByRole('button', { name: 'silence 1 h' }).click()
      await entry.getByText('silenced until').waitFor()
      await page.locator('.silences li', { hasText: 'row_remap_failure' }).waitFor()
      const reported = (await firing(3)).find((each) => each.id === id)
      expect([reported?.acknowledged === undefined, reported?.silenced === undefined]).toEqual([false, false])
      await page.locator('.silences').getByRole('button').click()
      await page.locator('.silences').waitFor({ state: 'detached' })
      expect(await agent.json('/api/v1/silences')).toEqual([])
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
