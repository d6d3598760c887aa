// The incidents of the dashboard in a real Chromium: figures against the API, filters in the address, a list that does not move, words, markup as text.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { incident as incidentSchema, incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { DESKTOP, hasChromium, launchTestBrowser, openPage, PHONE, STICKING_OUT, type Opened, type Prepare } from '../setup/browser.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>'
/** The origin of a line is its file: a name that holds markup is as real as a line that does. */
const EVIL_FILE = '<b>evil<b>.log'
const oom = (note: string): string =>
  `epoch 3 ${note}\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free. ${note}\n`

describe.skipIf(!hasChromium)('incidents in a real Chromium (needs Debian’s chromium)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-incident-logs-'))
  let browser: Browser
  /** A host of whom only log files are known. */
  let logs: RunningAgent
  /** The simulated host, whose first Xid comes 45 s after its start. */
  let simulated: RunningAgent

  beforeAll(async () => {
    simulated = await startAgent({ args: ['--simulate=xid'], ready: true })
    logs = await startAgent({
      ready: true,
      config: "actions: [{name: note, match: {kind: cuda_oom}, command: [/bin/echo, 'noted <b>{incident}</b>']}]",
      env: { WARPWATCH_LOGS__FILES: join(directory, '*.log'), WARPWATCH_LOGS__KERNEL: 'false', WARPWATCH_GPU__SOURCE: 'off' },
    })
    browser = await launchTestBrowser()
    writeFileSync(join(directory, EVIL_FILE), oom(EVIL))
  })
  afterAll(async () => {
    await browser?.close()
    await logs?.stop()
    await simulated?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const open = (agent: RunningAgent, hash: string, prepare?: Prepare): Promise<Opened> =>
    openPage(browser, `${agent.url}${hash}`, { ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] }, prepare)
  const reported = async (agent: RunningAgent, query = '') => z.array(incidentSummary).parse(await agent.json(`/api/v1/incidents${query}`))
  const whole = async (agent: RunningAgent, id: string) => incidentSchema.parse(await agent.json(`/api/v1/incidents/${id}`))
  const first = (agent: RunningAgent, query: string) =>
    poll(async () => (await reported(agent, query))[0], { what: `an incident of ${query}`, deadlineMs: 90_000, everyMs: 200 })
  const ids = (page: Page): Promise<readonly (string | null)[]> =>
    page.locator('#incidents tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')))

  test('markup in log lines and names is shown as text, in the list and on the page', async () => {
    const { id } = await first(logs, '?kind=cuda_oom')
    await using opened = await open(logs, '')
    const { page, complaints } = opened
    await page.waitForSelector('.navigation')
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.click(`tr[data-row="${id}"] .row-link`)
    await page.waitForSelector(`.incident-page[data-id="${id}"]`)
    await page.waitForSelector('.fault-line')
    expect(await page.textContent('.fault-line .log-text')).toContain(EVIL)
    expect(await page.textContent('.fault-line .log-origin')).toContain(EVIL_FILE)
    expect(await page.locator('main img, .log-lines b, .whom b').count()).toBe(0)
    const results = page.locator('section[aria-labelledby="action-results-title"]')
    expect(await results.locator('summary').textContent()).toMatch(/^note done after [\d.]+ m?s: exit code 0/)
    expect(await results.locator('pre').textContent()).toBe(`noted <b>${id}</b>`)
    expect(await page.title()).toMatch(/Incidents · \S+ · Warpwatch$/)
    await page.goto(`${logs.url}#/`)
    await page.locator(`.incident b a[href="#/incidents/${id}"]`).click()
    await page.waitForSelector(`.incident-page[data-id="${id}"]`)
    expect(complaints).toEqual([])
  })

  test('markup in containers, processes, verdicts and settings from the agent is shown as text', async () => {
    const { id } = await first(logs, '?kind=cuda_oom')
    await using opened = await open(logs, `#/incidents/${id}`, {
      shared: (page) =>
        page.route(`**/api/v1/incidents/${id}`, async (route) => {
          const real = await whole(logs, id)
          const { evidence, started_at: t } = real
          const labels = { uuid: 'GPU-1', gpu: '1', container: EVIL, pid: '7', process: EVIL }
          const series = ['gpu_memory_used', 'container_gpu_memory', 'process_gpu_memory'].map((name) => ({
            metric: `warpwatch_${name}_bytes`,
            labels,
            t: [t - 1000],
            value: [2 ** 30],
          }))
          const changed = {
            ...real,
            title: EVIL,
            verdict: EVIL,
            subject: { container: { name: EVIL, image: EVIL }, process: { pid: 7, name: EVIL }, gpu: { index: 1, name: EVIL } },
            facts: { path: EVIL },
            remedies: [{ text: EVIL, command: EVIL }],
            resolution: EVIL,
            acknowledged: { at: t, by: EVIL, note: EVIL },
            evidence: {
              ...evidence,
              series,
              processes: [{ pid: 7, process: EVIL, container: EVIL, gpu: EVIL, gpu_memory_bytes: 5 }],
              container: { ipc_mode: EVIL, env: { [EVIL]: EVIL } },
            },
          }
          await route.fulfill({ json: changed })
        }),
    })
    const { page, complaints } = opened
    for (const place of [
      '#incident-title',
      '.verdict',
      '.fact-list dd',
      '.remedies code',
      '.env dt',
      '#processes-then-title + table .name',
      '.legend-entry >> nth=1',
    ])
      await page.locator(place, { hasText: EVIL }).first().waitFor()
    expect(await page.locator('main img, .incident-top b, .account b, table b').count()).toBe(0)
    expect(await page.title()).toMatch(/Incidents · \S+ · Warpwatch$/)
    expect(complaints).toEqual([])
  })

  test('filters stand in the address, work from it, and say when nothing fits', async () => {
    const { id } = await first(logs, '?kind=cuda_oom')
    await using opened = await open(logs, '#/incidents?state=firing&kind=cuda_oom')
    const { page } = opened
    await page.waitForSelector(`tr[data-row="${id}"]`)
    expect(await page.inputValue('select[name="state"]')).toBe('firing')
    await page.selectOption('select[name="state"]', 'resolved')
    await page.waitForSelector('.nothing')
    expect(new URL(page.url()).hash).toBe('#/incidents?state=resolved&kind=cuda_oom')
    await page.getByRole('button', { name: 'show all' }).click()
    await page.waitForSelector(`tr[data-row="${id}"]`)
    expect(new URL(page.url()).hash).toBe('#/incidents')
    await page.getByLabel('Find').fill('no such words')
    await page.waitForSelector('.nothing')
    await page.getByLabel('Find').fill('OUT of memory EVIL')
    await page.waitForSelector('#incidents')
    expect(await ids(page)).toEqual((await reported(logs)).filter(({ kind }) => kind === 'cuda_oom').map((each) => each.id))
  })

  test('the list stands still under the pointer, and takes what is new when it leaves', async () => {
    await first(logs, '?kind=cuda_oom')
    await using opened = await open(logs, '#/incidents')
    const { page } = opened
    await page.waitForSelector('#incidents tbody tr')
    const before = await ids(page)
    await page.hover('#incidents tbody tr')
    appendFileSync(
      join(directory, 'second.log'),
      'RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that dataloader’s workers are out of shared memory.\n',
    )
    await page.waitForSelector('.waits')
    expect(await ids(page)).toEqual(before)
    await page.mouse.move(5, 5)
    await poll(async () => (await ids(page)).length === before.length + 1, { what: 'the new incident in the list' })
  })

  test('words: acknowledged with a note, silenced for four hours, heard again, set healthy; each shows and stands in the API', async () => {
    const { id } = await first(logs, '?kind=cuda_oom')
    await using opened = await open(logs, `#/incidents/${id}`)
    const { page } = opened
    const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name, exact: true }).click()
    await press('Acknowledge …')
    await page.getByLabel('Note', { exact: true }).fill(`kim looks ${EVIL}`)
    await page.keyboard.press('Enter')
    await page.locator('.said', { hasText: `kim looks ${EVIL}` }).waitFor()
    expect((await whole(logs, id)).acknowledged?.note).toBe(`kim looks ${EVIL}`)
    await press('Silence …')
    await page.locator('select[name="for"]').selectOption('4 hours')
    await press('Silence')
    await page.locator('.said', { hasText: 'Silenced until' }).waitFor()
    const { until } = (await whole(logs, id)).silenced ?? { until: 0 }
    expect(Math.abs(until - Date.now() - 4 * 3_600_000)).toBeLessThan(60_000)
    await press('End the silence')
    await page.getByRole('button', { name: 'Silence …' }).waitFor()
    expect((await whole(logs, id)).silenced).toBeUndefined()
    await press('Set healthy …')
    await press('Set healthy')
    await page.waitForSelector('.incident-top[data-status="resolved"]')
    expect(await page.textContent('.resolution')).toMatch(/^Resolved: set healthy/)
    expect((await whole(logs, id)).status).toBe('resolved')
  })

  test.each(['with the browser’s clipboard', 'without one, as over plain HTTP'])('the report is copied as Markdown %s', async (how) => {
    const { id } = await first(logs, '?kind=cuda_oom')
    await using opened = await open(logs, `#/incidents/${id}`, async (page) => {
      if (how.startsWith('without'))
        await page.addInitScript(
          'const { clipboard } = navigator; window.kept = clipboard; Object.defineProperty(navigator, "clipboard", { value: undefined })',
        )
    })
    const { page } = opened
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await page.locator('.copy', { hasText: 'copied' }).first().waitFor()
    const copied = z.string().parse(await page.evaluate('(window.kept ?? navigator.clipboard).readText()'))
    expect(copied).toBe(await (await fetch(new URL(`api/v1/incidents/${id}/report`, logs.url))).text())
  })

  test('an incident that nobody knows, and one that cannot be fetched, say so', async () => {
    await using opened = await open(logs, '#/incidents/0000000000000000')
    await opened.page.getByRole('heading', { name: 'No such incident' }).waitFor()
    expect(await opened.page.textContent('.notice code')).toBe('0000000000000000')
    await using failing = await open(logs, '#/incidents/0000000000000001', {
      shared: (page) =>
        page.route('**/api/v1/incidents/*', (route) => route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the disk is away' } } })),
    })
    await failing.page.locator('[role="alert"]', { hasText: 'the disk is away' }).waitFor()
  })

  test('an Xid shows its evidence: charts, processes and figures of any second are the API’s, by slider, keyboard and address', async () => {
    const { id } = await first(simulated, '?kind=xid')
    // Cut again 30 s after the fault.
    const complete = await poll(
      async () => {
        const now = await whole(simulated, id)
        return now.evidence.series.some(({ t }) => (t.at(-1) ?? 0) >= now.started_at + 25_000) ? now : undefined
      },
      { what: 'the readings after the fault', deadlineMs: 60_000, everyMs: 500 },
    )
    const power = complete.evidence.series.find(({ metric }) => metric === 'warpwatch_gpu_power_watts')
    const wattsAt = (offset: number): string => {
      const at = power?.t.findIndex((t) => Math.round(t / 1000) === Math.round(complete.started_at / 1000) + offset) ?? -1
      return `${(power?.value[at] ?? Number.NaN).toFixed(0)} W`
    }
    // A busy machine may have missed a second: the newest, and one long before, of those that were sampled.
    const known = Array.from({ length: 40 }, (_, n) => -1 - n).filter((offset) => wattsAt(offset) !== 'NaN W')
    const early = known.find((offset) => offset <= -20) ?? Number.NaN
    await using opened = await open(simulated, `#/incidents/${id}?at=${early}`)
    const { page, complaints } = opened
    const shown = page.locator('[data-chart="power"] .legend-entry b')
    await shown.waitFor()
    expect(await shown.textContent()).toBe(wattsAt(early))
    // On a busy machine a line may be older than the moment.
    const until = (Math.round(complete.started_at / 1000) + early + 1) * 1000
    const later = complete.evidence.log_lines.filter(({ t }) => t >= until)
    expect(later.length).toBeGreaterThan(0)
    await expect.poll(() => page.locator('.log-lines [data-later]').count()).toBe(later.length)
    const slider = page.getByRole('slider', { name: 'moment of the evidence' })
    await slider.focus()
    await page.keyboard.press('ArrowRight')
    await poll(() => new URL(page.url()).hash.endsWith(`?at=${early + 1}`), { what: 'the second in the address' })
    expect(await slider.getAttribute('aria-valuetext')).toContain(`${-early - 1} s before`)
    await page.keyboard.press('Home')
    const last = known[0] ?? Number.NaN
    await page.locator('h3', { hasText: 'Processes on the GPU, 2 min 0 s before' }).waitFor()
    await page.getByRole('button', { name: 'just before the fault' }).click()
    await page.locator('h3', { hasText: `Processes on the GPU, ${-last} s before` }).waitFor()
    await page.evaluate(`location.hash = '#/incidents/${id}?at=${last}'`)
    await poll(async () => (await shown.textContent()) === wattsAt(last), { what: `${wattsAt(last)} in the chart's figures` })
    await page.locator('.runbook summary').click()
    await page.locator('.runbook h4', { hasText: 'What to do now' }).waitFor()
    expect(complaints).toEqual([])
  })

  test.each(['dark', 'light'] as const)('a phone shows list and page without scrolling sideways, in %s', async (colorScheme) => {
    const { id } = await first(simulated, '?kind=xid')
    await using opened = await openPage(browser, `${simulated.url}#/incidents`, { ...PHONE, colorScheme })
    const { page } = opened
    await page.waitForSelector('#incidents tbody tr')
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    await page.goto(`${simulated.url}#/incidents/${id}?runbook=open`)
    await page.waitForSelector('.evidence-figure canvas')
    await page.waitForSelector('.runbook h4')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
  })
})
