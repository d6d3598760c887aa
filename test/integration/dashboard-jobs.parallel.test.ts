// The jobs of the dashboard in a real Chromium: figures against the API, GPU time idle and lost, words and order in the address, who held which card, one job's page, markup as text.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { HOUR_MS, NO_USE } from '../../agent/model/ledger.ts'
import { createLedgerStore } from '../../agent/store/ledger.ts'
import { age } from '../../agent/text/span.ts'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import * as schemas from '../../agent/http/api/schemas.ts'
import { memory } from '../../dashboard/src/text/format.ts'
import { FULL_PAST, startAgent, type RunningAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, launchTestBrowser, openPage, PHONE, STICKING_OUT, type Opened, type Prepare } from '../setup/browser.ts'
import { FAST } from '../setup/dashboard-pages.ts'
import { poll } from '../setup/poll.ts'
import { variants } from '../setup/rounds.ts'

const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>'
/** Ada held a GPU for ten hours, four days ago, and ran nothing on it. */
function idleDay(directory: string): void {
  const ledger = createLedgerStore({ directory, log: { info() {}, warn() {}, error() {} } })
  const first = Math.floor(Date.now() / HOUR_MS) - 4 * 24
  const owner = { user: 'ada', account: 'physics', job: 'notebook-1', job_id: '0123456789abcdef' }
  const use = { ...NO_USE, heldMs: HOUR_MS, idleMs: HOUR_MS, joules: 216_000 }
  const rows = Array.from({ length: 10 }, (_, i) => ({ hour: first + i, owner, card: { uuid: 'GPU-0', gpu: '0' }, use }))
  expect(ledger.write(rows, [])).toBe(true)
  ledger.close()
}
const hashOf = (page: Page): string => new URL(page.url()).hash
const cell = async (page: Page, key: string, column: string): Promise<string> =>
  ((await page.locator(`tr[data-row="${key}"] .col-${column}`).textContent()) ?? '').trim()

describe.skipIf(!hasChromium)('jobs in a real Chromium (needs Debian’s chromium)', () => {
  let browser: Browser
  let agent: RunningAgent
  beforeAll(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'warpwatch-dashboard-jobs-'))
    idleDay(dataDir)
    agent = await startAgent({
      args: ['--simulate=oom-leak'],
      ready: true,
      env: { ...FAST, ...FULL_PAST },
      dataDir,
      config: 'costs: { gpu_hour: 1.5, currency: EUR }\n',
    })
    browser = await launchTestBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await agent?.stop()
  })

  const open = (hash: string, prepare?: Prepare): Promise<Opened> => openPage(browser, `${agent.url}${hash}`, DESKTOP, prepare)
  const keys = (page: Page): Promise<readonly (string | null)[]> =>
    page.locator('#jobs tr[data-row]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')))
  const container = async (name: string) => {
    const found = z.array(schemas.container).parse(await agent.json('/api/v1/containers'))
    return found.find((row) => row.container === name)
  }

  test('containers, and the session outside of them, show what the API says in the same second', async () => {
    await using opened = await open('#/jobs')
    const { page, complaints } = opened
    await page.waitForSelector('#jobs')
    for (const name of ['chat-vllm-1', 'pretrain-trainer-1', 'chat-gateway-1']) {
      let last: unknown
      const same = async (): Promise<boolean> => {
        const row = await container(name)
        const held = Object.values(row?.gpu_memory_bytes ?? {})
        const wanted = [
          held.length === 0 ? '–' : memory(held.reduce((sum, bytes) => sum + bytes)),
          `${memory(row?.memory_bytes)} / ${memory(row?.memory_limit_bytes)}`,
        ]
        const shown = [await cell(page, name, 'memory'), await cell(page, name, 'host')]
        last = { wanted, shown }
        return wanted[0] === shown[0] && wanted[1] === shown[1]
      }
      await poll(same, { what: () => `the figures of ${name}: ${JSON.stringify(last)}`, deadlineMs: 30_000 })
    }
    const session = async (): Promise<boolean> => {
      const rows = z.array(schemas.process).parse(await agent.json('/api/v1/processes'))
      const own = rows.filter((row) => row.unit === 'session-12.scope').reduce((sum, row) => sum + (row.gpu_memory_bytes ?? 0), 0)
      return own > 0 && (await cell(page, 'unit:session-12.scope', 'memory')) === memory(own)
    }
    await poll(session, { what: 'the session’s GPU memory', deadlineMs: 30_000 })
    // Nobody measures the host memory of a session: that is not zero.
    expect(await cell(page, 'unit:session-12.scope', 'host')).toBe('–')
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('words, order and open rows stand in the address and work from it and from the keyboard', async () => {
    await using opened = await open('#/jobs?text=search-&sort=-job')
    const { page } = opened
    await page.waitForSelector('#jobs')
    expect(await keys(page)).toEqual(['search-reranker-1', 'search-index-1', 'search-embedder-1'])
    expect(await page.inputValue('input[name="text"]')).toBe('search-')
    await page.getByRole('button', { name: 'Job', exact: false }).first().click()
    await page.locator('th[aria-sort="ascending"]', { hasText: 'Job' }).waitFor()
    expect(hashOf(page)).toBe('#/jobs?text=search-&sort=job')
    const disclose = page.getByRole('button', { name: '4 processes of search-embedder-1' })
    await disclose.focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('tr[data-of="search-embedder-1"]')
    expect(await page.locator('tr[data-of="search-embedder-1"] li').count()).toBe(4)
    expect(new URLSearchParams(hashOf(page).split('?')[1]).get('open')).toBe('search-embedder-1')
    await page.getByLabel('Find').fill('gpu 0')
    await poll(async () => (await keys(page)).join() === 'pretrain-trainer-1', { what: 'the job on GPU 0 alone' })
    await page.getByLabel('Find').fill('no such job')
    await page.locator('.nothing', { hasText: 'no such job' }).waitFor()
    await page.getByRole('button', { name: 'show all' }).click()
    await page.waitForSelector('tr[data-row="chat-vllm-1"]')
  })

  test('one job: its peak and who held its card are history’s, its charts are drawn, its settings named, another range is asked for', async () => {
    await using opened = await open('#/jobs')
    const { page, complaints } = opened
    await page.click('tr[data-row="chat-vllm-1"] .job-link')
    await page.waitForSelector('.job-page[data-job="chat-vllm-1"]')
    for (const chart of ['memory', 'busy', 'cores', 'host']) await page.waitForSelector(`[data-chart="${chart}"] canvas`)
    const most = async (): Promise<string> => {
      const now = Date.now()
      const path = `/api/v1/series?metric=container_gpu_memory_bytes&container=chat-vllm-1&from=${now - HOUR_MS}&to=${now}&points=362`
      const rows = z.array(schemas.series).parse(await agent.json(path))
      return memory(Math.max(...rows.flatMap(({ max }) => max.map((value) => value ?? 0))))
    }
    const peak = page.locator('[data-figure="peak"] dd')
    await poll(async () => (await peak.textContent()) === (await most()), { what: 'the peak of history', deadlineMs: 30_000, everyMs: 200 })
    await page.locator('.timeline-list summary').focus()
    await page.keyboard.press('Enter')
    // The newest on top: under load the agent begins so late that the simulated past is a hold of its own.
    const held = page.locator('.timeline-list tbody tr', { hasText: 'chat-vllm-1' }).first()
    await held.waitFor()
    expect(await held.textContent()).toMatch(/GPU 4.*holds it/)
    // The session on the same card is named as well.
    await page.locator('.timeline-list tbody tr', { hasText: 'session-12.scope' }).first().waitFor()
    expect(await page.textContent('[data-setting="memory_limit"] dd')).toBe(memory((await container('chat-vllm-1'))?.memory_limit_bytes))
    const bar = page.locator('.timeline-bar[data-job="chat-vllm-1"]').last()
    await bar.hover()
    await page.locator('.timeline-tip', { hasText: 'chat-vllm-1' }).waitFor()
    expect(await page.textContent('.timeline-tip')).toMatch(/GPU 4: \d+\.\d GiB at \d\d:\d\d:\d\d.*to \d\d:\d\d, at most/)
    const asked = page.waitForRequest((request) => {
      const query = new URL(request.url()).searchParams
      return query.get('container') === 'chat-vllm-1' && Number(query.get('to')) - Number(query.get('from')) === 24 * HOUR_MS
    })
    await page.getByRole('button', { name: '24 h' }).click()
    await asked
    await page.locator('#timeline-title', { hasText: '24 h' }).waitFor()
    expect(hashOf(page)).toContain('range=24h')
    expect(complaints).toEqual([])
  })

  test('a job that runs out of memory shows its incident and the GPU time that it lost', async () => {
    const reported = await poll(
      async () => {
        const all = z.array(incidentSummary).parse(await agent.json('/api/v1/incidents?kind=cuda_oom'))
        return all.find(({ facts, subject }) => subject.container?.name === 'finetune-lora' && facts.gpu_seconds_lost !== undefined)
      },
      { what: 'the OOM of finetune-lora', deadlineMs: 90_000, everyMs: 200 },
    )
    await using opened = await open('#/jobs/finetune-lora')
    const { page } = opened
    const link = page.locator(`.job-incidents a[href="#/incidents/${reported.id}"]`)
    await link.waitFor()
    // Its title changes with each further crash.
    const beside = async (): Promise<readonly (string | null)[]> => {
      const { title } = incidentSummary.parse(await agent.json(`/api/v1/incidents/${reported.id}`))
      return [await link.textContent(), title]
    }
    await expect.poll(beside).toSatisfy(([shown, title]: readonly (string | null)[]) => shown === title)
    const lost = async (): Promise<string> => {
      const all = z.array(incidentSummary).parse(await agent.json('/api/v1/incidents'))
      const own = all.filter(({ subject }) => subject.container?.name === 'finetune-lora')
      return `lost to crashes: ${age(own.reduce((sum, { facts }) => sum + Number(facts.gpu_seconds_lost ?? 0), 0))}`
    }
    let last: readonly (string | null)[] = []
    const same = async (): Promise<boolean> => {
      last = [await page.locator('[data-figure="wasted"] dd > span').getAttribute('title'), await lost()]
      return last[0]?.endsWith(last[1] ?? '?') === true
    }
    await poll(same, { what: () => `the lost time: ${JSON.stringify(last)}`, deadlineMs: 30_000, everyMs: 100 })
  })

  test('a container that has gone stays with when it left; markup in its name and in those of others is text', async () => {
    const GONE = `gone ${EVIL}`
    const now = Math.floor(Date.now() / 10_000) * 10_000
    const [first] = z.array(schemas.gpu).parse(await agent.json('/api/v1/gpus'))
    const labels = { container: GONE, container_id: 'dead', uuid: first?.uuid ?? '', gpu: '0' }
    const t = [now - 600_000, now - 590_000]
    const past = [{ metric: 'warpwatch_container_gpu_memory_bytes', labels, step_ms: 10_000, t, min: [1, 1], mean: [1, 1], max: [2 ** 30, 2 ** 31] }]
    await using opened = await open('#/jobs?list=open', async (page) => {
      // One that stays: the story's own container dies meanwhile, and what the page asks of it then is rightly not found.
      await page.routeWebSocket(/\/ws$/, (socket) => {
        socket.connectToServer().onMessage((text) => socket.send(String(text).replaceAll('"chat-vllm-1"', JSON.stringify(EVIL))))
      })
      await page.route(/api\/v1\/series\?metric=warpwatch_container_gpu_memory_bytes/, (route) => route.fulfill({ json: past }))
    })
    const { page, complaints } = opened
    const gone = page.locator('#jobs tr[data-ended]', { hasText: GONE })
    await gone.waitFor()
    expect(await gone.textContent()).toMatch(/gone since (\d{4}-\d\d-\d\d )?\d\d:\d\d.*2\.0 GiB/)
    await page.locator('.timeline-list tbody tr', { hasText: GONE }).waitFor()
    await page.locator('#jobs .job-link', { hasText: EVIL }).first().waitFor()
    expect(await page.locator('main img, #jobs b, .timeline-bar b').count()).toBe(0)
    await page.locator('#jobs tr:not([data-ended]) .job-link', { hasText: EVIL }).click()
    await page.locator('#job-title', { hasText: EVIL }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.title()).toMatch(/Jobs · \S+ · Warpwatch$/)
    expect(complaints).toEqual([])
  })

  test('who held GPUs idle, how long, at what cost and what to change; for another period and by account, on a phone too', async () => {
    await using opened = await open('#/jobs')
    const { page, complaints } = opened
    await page.getByRole('link', { name: 'Idle and lost GPU time' }).click()
    const ada = page.locator('#waste tr[data-row="ada"]')
    await ada.waitFor()
    expect(await ada.locator('td').allTextContents()).toEqual([
      'ada',
      '10.0 h',
      '10.0 h',
      '10.0 h',
      '0.0 h',
      '15.00 EUR',
      'Ending idle sessions frees 10.0 GPU hours: whole hours in which the GPU ran nothing',
    ])
    expect(await page.textContent('.waste-total')).toMatch(
      /^\d+\.\d GPU hours idle or lost \(\d+\.\d\d EUR\) of the \d+\.\d that (?:this user|these users) held in the last 7 days\.$/,
    )
    await page.getByRole('button', { name: '1 day, the last day' }).click()
    await ada.waitFor({ state: 'detached' })
    expect(hashOf(page)).toContain('days=1')
    await page.getByRole('button', { name: '31 days' }).click()
    await page.getByRole('button', { name: 'account' }).click()
    await page.locator('#waste tr[data-row="physics"]', { hasText: '15.00 EUR' }).waitFor()
    expect(hashOf(page)).toContain('by=account')
    await page.setViewportSize(PHONE.viewport ?? { width: 375, height: 812 })
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('a job that nobody knows, and a past that cannot be fetched, say so; the present goes on', async () => {
    await using opened = await open('#/jobs/no-such-job')
    await opened.page.getByRole('heading', { name: 'No such job' }).waitFor()
    await using failing = await open('#/jobs', {
      shared: (page) =>
        page.route('**/api/v1/series*', (route) => route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the disk is away' } } })),
    })
    await failing.page.locator('[role="alert"]', { hasText: 'the disk is away' }).waitFor()
    await failing.page.waitForSelector('tr[data-row="chat-vllm-1"]')
    expect(await failing.page.locator('.timeline').count()).toBe(0)
  })

  test.each(variants(['dark', 'light'] as const, 1))('a phone shows list and page without scrolling sideways, in %s', async (colorScheme) => {
    await using opened = await openPage(browser, `${agent.url}#/jobs?open=notebook-lab-1&list=open`, { ...PHONE, colorScheme })
    const { page } = opened
    await page.waitForSelector('.timeline-bar')
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    await page.goto(`${agent.url}#/jobs/pretrain-trainer-1`)
    await page.waitForSelector('[data-chart="host"] canvas')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
  })
})
