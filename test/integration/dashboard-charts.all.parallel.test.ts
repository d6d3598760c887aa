// Charts in a real Chromium, by mouse and by keys: zooming, moving, pausing, times of one's own, the shared crosshair, marks, and what is saved.
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { incident as incidentDetail } from '../../agent/http/api/incident-schemas.ts'
import { DESKTOP, hasChromium, openPage, PHONE, STICKING_OUT, type Opened } from '../setup/browser.ts'
import { changed, drag, lengthOf, live, secondOfDay, shows, tipAt, windowIn } from '../setup/chart-hands.ts'
import { useIncidentScene } from '../setup/dashboard-pages.ts'
import { FULL_PAST } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

describe.skipIf(!hasChromium)('charts in a real Chromium (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('oom-neighbour', 'cuda_oom', FULL_PAST)
  const open = (hash: string, options = DESKTOP): Promise<Opened> => openPage(scene.browser, `${scene.agent.url}${hash}`, { ...options, timezoneId: 'UTC' })
  const ready = async (page: Page): Promise<Locator> => {
    await page.waitForSelector('.memory-chart.has-tools')
    return page.locator('.memory-chart').first()
  }

  test('dragging over a chart shows that time in all of them, in the address too; a step back shows what was there', async () => {
    await using opened = await open('#/gpus/6')
    const { page, complaints } = opened
    const chart = await ready(page)
    const end = Date.now() / 1000
    await drag(page, chart, [0.25, 0.5])
    const window = await changed(page, undefined)
    expect(lengthOf(window)).toBeGreaterThan(215)
    expect(lengthOf(window)).toBeLessThan(235)
    expect(Math.abs(window.to - (end - 450))).toBeLessThan(10)
    for (const one of [chart, page.locator('[data-chart="power"] .chart')]) await shows(page, one, window)
    // Nothing moves on: the page says which time it shows, and the same after a reload.
    await page.locator('button', { hasText: 'Go live' }).waitFor()
    await page.reload()
    await shows(page, await ready(page), window)
    await drag(page, chart, [0.2, 0.6])
    const closer = await changed(page, window)
    expect(closer.from).toBeGreaterThanOrEqual(window.from)
    expect(closer.to).toBeLessThanOrEqual(window.to)
    await page.getByRole('button', { name: 'Back to the time shown before' }).click()
    expect(await changed(page, closer)).toEqual(window)
    await shows(page, chart, window)
    await drag(page, chart, [0.5, 0.75], 'Shift')
    const earlier = await changed(page, window)
    expect(lengthOf(earlier)).toBe(lengthOf(window))
    expect(Math.abs(window.from - earlier.from - lengthOf(window) / 4)).toBeLessThan(3)
    await page.getByRole('button', { name: 'Go live' }).click()
    await live(page)
    expect(complaints).toEqual([])
  })

  test('the same by keys alone', async () => {
    await using opened = await open('#/gpus/6')
    const { page, complaints } = opened
    const chart = await ready(page)
    await chart.focus()
    await page.keyboard.press('Space')
    const paused = await changed(page, undefined)
    expect(lengthOf(paused)).toBe(900)
    await page.keyboard.press('+')
    const closer = await changed(page, paused)
    expect(lengthOf(closer)).toBe(450)
    await page.keyboard.press('Shift+ArrowLeft')
    const earlier = await changed(page, closer)
    expect([lengthOf(earlier), Math.round((closer.from - earlier.from) / 10)]).toEqual([450, 11])
    // Charts of a window that has come are made again; the focus is still on this one.
    await page.waitForFunction(`document.activeElement?.classList.contains('memory-chart')`)
    const said = await poll(
      async () => {
        await page.keyboard.press('ArrowLeft')
        const text = (await chart.locator('.chart-tip').textContent()) ?? ''
        return /^\d\d:\d\d:\d\d UTC/.test(text) ? text : undefined
      },
      { what: 'the time that the arrows go to' },
    )
    await page.keyboard.press('ArrowLeft')
    await poll(async () => (await chart.locator('.chart-tip').textContent()) !== said, { what: `another time than ${said}` })
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await changed(page, earlier)
    await page.waitForFunction(`document.activeElement?.classList.contains('memory-chart')`)
    await page.keyboard.press('Space')
    await live(page)
    expect(complaints).toEqual([])
  })

  test('times of one’s own, and the address of what is shown', async () => {
    await using opened = await open('#/')
    const { page, complaints } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await ready(page)
    await page.locator('.chart-custom summary').focus()
    await page.keyboard.press('Enter')
    const end = Math.floor(Date.now() / 1000) - 120
    const field = (second: number): string => new Date(second * 1000).toISOString().slice(0, 19)
    await page.fill('.chart-custom [name="from"]', field(end))
    await page.fill('.chart-custom [name="to"]', field(end - 300))
    await page.keyboard.press('Enter')
    expect(windowIn(page)).toBeUndefined()
    await page.fill('.chart-custom [name="from"]', field(end - 300))
    await page.fill('.chart-custom [name="to"]', field(end))
    await page.keyboard.press('Enter')
    expect(await changed(page, undefined)).toEqual({ from: end - 300, to: end })
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.locator('.chart-controls [data-said="copied"]').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url())
    // From a card to its GPU the time goes along.
    await page.locator('.gpu-name a').first().click()
    await page.waitForSelector('.gpu-page[data-uuid]')
    expect(windowIn(page)).toEqual({ from: end - 300, to: end })
    await page.getByRole('button', { name: '1 h, the last hour' }).click()
    await live(page)
    expect(complaints).toEqual([])
  })

  test('the pointer on one chart is a line on all, and says the time and what happened there', async () => {
    const incident = incidentDetail.parse(await scene.agent.json(`/api/v1/incidents/${scene.incident}`))
    const first = Math.round(incident.started_at / 1000)
    await using opened = await open(`#/gpus/6?from=${first - 60}&to=${first + 5}`)
    const { page, complaints } = opened
    const chart = await ready(page)
    await shows(page, chart, { from: first - 60, to: first + 5 })
    const said = await poll(
      async () => {
        const text = await tipAt(page, chart, 60 / 65)
        return text.includes('ran out of memory') ? text : undefined
      },
      { what: 'what happened then' },
    )
    expect(Math.abs(secondOfDay(said) - (first % 86_400))).toBeLessThanOrEqual(2)
    const lines = z
      .array(z.number())
      .parse(
        await page.evaluate(
          `Array.from(document.querySelectorAll('.gpu-page .u-over'), (over) => { const line = over.querySelector('.u-cursor-x'); return line.getBoundingClientRect().width === 0 && line.classList.contains('u-off') ? -1 : (line.getBoundingClientRect().left - over.getBoundingClientRect().left) / over.clientWidth })`,
        ),
      )
    expect(lines.length).toBeGreaterThan(4)
    for (const part of lines) expect(Math.abs(part - 60 / 65)).toBeLessThan(0.02)
    expect(await page.locator('.chart-tip:visible').count()).toBe(1)
    expect(complaints).toEqual([])
  })

  test('a chart is saved as the readings that it shows, and as a picture', async () => {
    const now = Math.floor(Date.now() / 1000)
    await using opened = await open(`#/gpus/6?from=${now - 400}&to=${now - 100}`)
    const { page, complaints } = opened
    const chart = await ready(page)
    await shows(page, chart, { from: now - 400, to: now - 100 })
    const saved = async (name: string): Promise<Buffer> => {
      const [download] = await Promise.all([page.waitForEvent('download'), chart.getByRole('button', { name }).click()])
      expect(download.suggestedFilename()).toMatch(/^gpu-6-memory-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d\.(csv|png)$/)
      return readFile(await download.path())
    }
    const [head = '', ...rows] = (await saved('Save gpu-6-memory as CSV')).toString().trimEnd().split('\r\n')
    expect(head.split(',').slice(0, 2)).toEqual(['time', 'used bytes'])
    expect(rows).toHaveLength(301)
    const uuid = await page.getAttribute('.gpu-page', 'data-uuid')
    const at = now - 200
    const series = z
      .array(z.object({ labels: z.record(z.string(), z.string()), t: z.array(z.number()), mean: z.array(z.number().nullable()) }))
      .parse(await scene.agent.json(`/api/v1/series?metric=gpu_memory_used_bytes&uuid=${uuid}&from=${at * 1000}&to=${at * 1000}&points=1`))
    const row = rows.find((each) => each.startsWith(new Date(at * 1000).toISOString().slice(0, 19)))
    expect(Number(row?.split(',')[1])).toBe(series[0]?.mean[0])
    const picture = await saved('Save gpu-6-memory as PNG')
    expect(picture.subarray(1, 4).toString()).toBe('PNG')
    expect(picture.readUInt32BE(16)).toBeGreaterThan(900)
    expect(complaints).toEqual([])
  })

  test('charts of a job do the same', async () => {
    await using opened = await open('#/jobs/finetune-lora')
    const { page, complaints } = opened
    const chart = page.locator('[data-chart="memory"] .chart.has-tools')
    await drag(page, chart, [0.7, 0.9])
    const window = await changed(page, undefined)
    expect(Math.abs(lengthOf(window) - 720)).toBeLessThan(20)
    await page.locator('#job-charts-title', { hasText: /\d+ min/ }).waitFor()
    await chart.focus()
    await page.keyboard.press('-')
    expect(lengthOf(await changed(page, window))).toBeGreaterThan(lengthOf(window) * 1.9)
    expect(complaints).toEqual([])
  })

  test('one occurrence of an incident at a time, the newest first, and from each to its GPU at that time', async () => {
    const whole = (): Promise<z.infer<typeof incidentDetail>> =>
      scene.agent.json(`/api/v1/incidents/${scene.incident}`).then((value) => incidentDetail.parse(value))
    await poll(async () => ((await whole()).occurrences ?? []).length > 1, { what: 'three occurrences', everyMs: 200 })
    await using opened = await open(`#/incidents/${scene.incident}`)
    const { page, complaints } = opened
    const choices = page.locator('.occurrence-picker a')
    await choices.nth(2).waitFor()
    expect(await choices.first().textContent()).toContain('newest')
    expect(await choices.first().getAttribute('aria-current')).toBe('true')
    await choices.nth(1).focus()
    await page.keyboard.press('Enter')
    const at = Number(await poll(() => Promise.resolve(/occurrence=(\d+)/.exec(page.url())?.[1]), { what: 'an occurrence in the address' }))
    const found = (await whole()).occurrences?.find((each) => each.at === at)
    if (found === undefined) throw new Error(`expected an occurrence of ${at}`)
    await poll(async () => (await page.textContent('.incident-page .verdict')) === found.verdict, { what: `its verdict: ${found.verdict}` })
    expect(await page.locator('#log .fault-line .log-text, .evidence .fault-line .log-text').first().textContent()).toContain(
      found.log_lines.find(({ matched }) => matched === true)?.text.slice(0, 60),
    )
    await page.reload()
    await poll(async () => (await page.textContent('.incident-page .verdict')) === found.verdict, { what: 'the same after a reload' })
    await page.locator('.whom a', { hasText: /^GPU \d+ at that time$/ }).click()
    await page.waitForSelector('.gpu-page[data-uuid]')
    const window = windowIn(page)
    expect(window !== undefined && window.from * 1000 < at && at < window.to * 1000).toBe(true)
    await page.goBack()
    await poll(async () => (await page.textContent('.incident-page .verdict')) === found.verdict, { what: 'the same after going back' })
    await page.locator('.whom a', { hasText: 'Allocator at that time' }).click()
    await page.waitForSelector('.allocator-figure canvas')
    const chosen = page.locator('.process-choice select')
    // Those that ran then are fetched; until they are there the page shows one that runs now.
    const then = `${found.pid ?? ''}-6`
    await poll(async () => (await chosen.inputValue()) === then, { what: `the process of that time: ${then}`, deadlineMs: 30_000 })
    expect(await chosen.locator('option:checked').textContent()).toContain('finetune-lora')
    expect(complaints).toEqual([])
  })

  test('an incident leads to its moment in the log of the job, which goes on as it is written', async () => {
    await using opened = await open(`#/incidents/${scene.incident}`)
    const { page, complaints } = opened
    await page.locator('.evidence a', { hasText: 'Log of finetune-lora now' }).click()
    await page.waitForSelector('.job-log li')
    await page.waitForSelector('.job-log [data-at]')
    const rows = z.array(z.looseObject({ container: z.string(), container_id: z.string() })).parse(await scene.agent.json('/api/v1/containers'))
    const id = rows.find(({ container }) => container === 'finetune-lora')?.container_id
    const reported = z.object({ lines: z.array(z.object({ t: z.number(), text: z.string() })), next: z.number() })
    const kept = reported.parse(await scene.agent.json(`/api/v1/containers/${id}/log`))
    const texts = await page.locator('.job-log .log-text').allTextContents()
    expect(kept.lines.map(({ text }) => text)).toEqual(expect.arrayContaining([texts.at(-1)]))
    // It prints again each time that it starts.
    await poll(async () => (await page.locator('.job-log li').count()) > texts.length, { what: 'new lines without a reload' })
    expect(complaints).toEqual([])
  })

  test('two GPUs in the same charts, and two jobs', async () => {
    await using opened = await open('#/gpus/6')
    const { page, complaints } = opened
    await ready(page)
    await page.locator('.compare select').selectOption('GPU 3')
    const both = page.locator('[data-chart="memory-both"] .legend')
    await poll(async () => /GPU 6 [\d.]+ GiB.*GPU 3 [\d.]+ GiB/.test(((await both.textContent()) ?? '').replaceAll(/\s/g, ' ')), { what: 'the memory of both' })
    expect(new URL(page.url()).hash).toBe('#/gpus/6?with=3')
    await page.evaluate(`location.hash = '#/jobs/finetune-lora'`)
    await page.locator('.compare select').selectOption('notebook-lab-1')
    const legend = page.locator('[data-chart="memory"] .legend')
    await poll(async () => /finetune-lora .*notebook-lab-1 /.test(((await legend.textContent()) ?? '').replaceAll(/\s/g, ' ')), {
      what: 'the memory of both jobs',
    })
    expect(complaints).toEqual([])
  })

  test('on a phone the buttons are there, and nothing sticks out', async () => {
    await using opened = await open('#/gpus/6', PHONE)
    const { page, complaints } = opened
    await ready(page)
    await page.getByRole('button', { name: 'Zoom in' }).tap()
    const window = await changed(page, undefined)
    await page.getByRole('button', { name: 'Earlier' }).tap()
    expect(lengthOf(await changed(page, window))).toBe(lengthOf(window))
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    expect(complaints).toEqual([])
  })
})
