// The overview and one GPU at large in a real Chromium: ranges in the address, what needs attention, figures against the API, a cut connection.
import * as z from 'zod'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { DESKTOP, hasChromium, openPage, PHONE, STICKING_OUT, type Opened } from '../setup/browser.ts'
import { useSimulatedPage } from '../setup/dashboard-pages.ts'
import { FULL_PAST } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

const rows = z.array(z.record(z.string(), z.unknown()))
const series = z.array(z.object({ t: z.array(z.number()), mean: z.array(z.number().nullable()), max: z.array(z.number().nullable()) }))
const columns = z.object({ drawn: z.number(), holes: z.number(), toEnd: z.boolean() })
const EVIL = '<b>evil</b>'
const LONG = `${EVIL}${' again'.repeat(40)}`
const FIVE = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, kind: 'xid' }))

/**
 * Columns of pixels of the first memory chart, its axes left out: the share that is drawn, how many between the first and the last are not, and
 * whether it is drawn up to the live end.
 * The middle of the height is below what the simulated GPU 0 uses.
 */
const COLUMNS = `(() => {
  const canvas = document.querySelector('.memory-chart canvas')
  if (canvas === null) return { drawn: 0, holes: 0, toEnd: false }
  const width = canvas.width - 36
  const [top, height] = [Math.floor(canvas.height * 0.4), Math.floor(canvas.height * 0.3)]
  // Read from a copy: the browser complains of a canvas that is read again and again.
  const copy = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true })
  copy.drawImage(canvas, 0, top, width, height, 0, 0, width, height)
  const { data } = copy.getImageData(0, 0, width, height)
  const drawn = []
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) if (data[(y * width + x) * 4 + 3] > 200) { drawn.push(x); break }
  }
  const holes = drawn.length === 0 ? 0 : drawn.at(-1) - drawn[0] + 1 - drawn.length
  return { drawn: drawn.length / width, holes, toEnd: drawn.at(-1) === width - 1 }
})()`

describe.skipIf(!hasChromium)('overview in a real Chromium (needs Debian’s chromium)', () => {
  const scene = useSimulatedPage('--simulate', FULL_PAST)

  const open = (hash: string, options = DESKTOP, prepare?: (page: Page) => Promise<unknown>): Promise<Opened> =>
    openPage(scene.browser, `${scene.agent.url}${hash}`, options, prepare)
  const drawn = async (page: Page): Promise<z.infer<typeof columns>> => columns.parse(await page.evaluate(COLUMNS))
  const label = async (page: Page): Promise<string> => (await page.locator('.memory-chart').first().getAttribute('aria-label')) ?? ''

  test('a longer range is kept in the address, brings its past with the peaks, and goes on live', async () => {
    await using opened = await open('#/')
    const { page, complaints } = opened
    await page.getByRole('button', { name: 'the last hour' }).click()
    await page.waitForFunction(`location.hash === '#/?range=1h'`)
    expect(await label(page)).toContain('over the last hour')
    // The simulated host has 15 minutes of past: a quarter of the hour, and the page says since when.
    await poll(async () => (await drawn(page)).drawn > 0.2, { what: 'a past of 15 minutes', deadlineMs: 30_000 })
    expect((await drawn(page)).drawn).toBeLessThan(0.5)
    await page.locator('.chart-moment', { hasText: /recorded since \d\d:\d\d/ }).waitFor()
    await page.reload()
    await page.locator('button[aria-pressed="true"]', { hasText: '1 h' }).waitFor()
    await page.locator('.gpu-name a').first().click()
    await page.waitForFunction(`location.hash === '#/gpus/0?range=1h'`)
    await page.waitForSelector('.gpu-page[data-uuid]')
    expect(complaints).toEqual([])
  })

  test('the chart of a longer range holds the means of the history under the pointer', async () => {
    await using opened = await open('#/gpus/0?range=6h')
    const { page } = opened
    const [gpu] = rows.parse(await scene.agent.json('/api/v1/gpus'))
    await poll(async () => (await drawn(page)).drawn > 0.02, { what: 'a past', deadlineMs: 30_000 })
    const power = page.locator('[data-chart="power"]')
    const box = await power.locator('.u-over').boundingBox()
    if (box === null) throw new Error('expected a chart of the power, came none')
    // Some minutes before the end: a cell that is complete.
    await page.mouse.move(box.x + box.width - 6, box.y + 40)
    await power.locator('.chart-tip', { hasText: /\d\d:\d\d:\d\d/ }).waitFor()
    const watts = z.coerce.number().parse(/draw (\d+) W/.exec((await power.locator('.legend').textContent()) ?? '')?.[1])
    const now = Date.now()
    const path = `/api/v1/series?metric=warpwatch_gpu_power_watts&uuid=${String(gpu?.['uuid'])}&from=${now - 21_600_000}&to=${now}&points=722`
    const [past] = series.parse(await scene.agent.json(path))
    expect((past?.mean ?? []).flatMap((mean) => (mean === null ? [] : [Math.round(mean)]))).toContain(watts)
  })

  test('one GPU at large shows the API’s figures and processes of the same second, and leads to its neighbours', async () => {
    await using opened = await open('#/gpus/3')
    const { page, complaints } = opened
    await page.waitForSelector('.gpu.large')
    const shown = (name: string): Promise<string | null> => page.locator(`.gpu.large [data-figure="${name}"]`).textContent()
    let last = ''
    await poll(
      async () => {
        const gpu = rows.parse(await scene.agent.json('/api/v1/gpus')).find(({ index }) => index === 3)
        const pids = rows.parse(await scene.agent.json('/api/v1/processes')).flatMap(({ uuid, pid }) => (uuid === gpu?.['uuid'] ? [String(pid)] : []))
        const used = `${(Number(gpu?.['memory_used_bytes']) / 2 ** 30).toFixed(1)} GiB`
        const watts = `${Number(gpu?.['power_watts']).toFixed(0)} W`
        const seen = [await shown('memory_used_bytes'), await page.locator('[data-chart="power"] b >> nth=1').textContent()]
        const rowKeys = await page.locator('#gpu-processes tbody tr').evaluateAll((each) => each.map((row) => row.getAttribute('data-row')))
        last = JSON.stringify({ seen, used, watts, rowKeys, pids })
        return (
          seen.map((text) => text?.replaceAll('\u202f', ' ')).join() === [used, watts].join() &&
          rowKeys.every((key) => key !== null && pids.includes(key)) &&
          rowKeys.length === pids.length &&
          pids.length > 0
        )
      },
      { what: () => `GPU 3 as the API tells it: ${last}`, everyMs: 60, deadlineMs: 20_000 },
    )
    for (const chart of ['utilization', 'power', 'temperature', 'clocks', 'pcie', 'nvlink', 'throttling']) await page.waitForSelector(`[data-chart="${chart}"]`)
    expect(await page.textContent('.gpu-facts')).toMatch(/ECC errors, uncorrected, lifetime\s*\d/)
    await page.getByRole('link', { name: 'GPU 4', exact: true }).click()
    await page.locator('#gpu-title', { hasText: 'GPU 4' }).waitFor()
    expect(await page.getAttribute('.navigation a[aria-current]', 'href')).toBe('#/')
    await page.goto(`${scene.agent.url}#/gpus/99`)
    await page.locator('.notice', { hasText: 'This host has no GPU 99' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('what fires, and memory that runs out, stand on the card and in the status line, and sick GPUs come first', async () => {
    await using opened = await open('#/', DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        socket.connectToServer().onMessage((text) => {
          const real = z.looseObject({ type: z.string(), gpus: rows.optional() }).parse(JSON.parse(String(text)))
          const gpus = real.gpus?.map((row) => {
            const ahead = { memory_exhaustion_earliest_seconds: { '7_a': 1_200 }, memory_exhaustion_latest_seconds: { '7_a': 2_100 } }
            return row['index'] === 5 ? { ...row, ...ahead } : row
          })
          socket.send(JSON.stringify({ ...real, gpus }))
          if (real.type !== 'frame') return
          const uuid = real.gpus?.find(({ index }) => index === 6)?.['uuid']
          const said = { id: 'abc', kind: 'cuda_oom', severity: 'critical', status: 'firing', title: `GPU 6: ${LONG}`, verdict: EVIL, facts: {}, count: 1 }
          const whom = { subject: { gpu: { index: 6, uuid } }, started_at: real['t'], last_seen_at: real['t'], remedies: [], consequences: [] }
          socket.send(JSON.stringify({ type: 'incident', incident: { ...said, ...whom } }))
          socket.send(JSON.stringify({ type: 'incident', incident: { ...said, ...whom, id: 'older', severity: 'warning', started_at: 0, led_to: FIVE } }))
        })
      }),
    )
    const { page } = opened
    await page.waitForSelector('#gpu-6[data-alarm="critical"]')
    expect(await page.locator('#gpu-6 .alarms a').first().getAttribute('href')).toBe('#/incidents/abc')
    expect(await page.locator('#gpu-6 .alarms a').first().textContent()).toBe(LONG)
    expect(await page.textContent('.status .incident-link')).toMatch(/^GPU 6: <b>evil<\/b>( again)+ · since \d\d:\d\d$/)
    await page.locator('.status .more.warning[href="#/incidents?state=firing"]', { hasText: /^1 more$/ }).waitFor()
    await page.locator('.story').nth(3).waitFor({ state: 'attached' })
    expect(await page.locator('.story').allTextContents()).toEqual(['led to: xid', 'led to: xid', 'led to: xid', 'and 2 earlier'])
    expect(await page.locator('#gpu-6').evaluate((card) => card.scrollWidth - card.clientWidth)).toBe(0)
    await page.locator('#gpu-5 [data-forecast]', { hasText: /^(\+\d.+\/min, )?full in 20–35 min$/ }).waitFor()
    // At the latest when nobody has touched the page for a minute.
    await expect
      .poll(() => page.locator('.gpu').evaluateAll((cards) => cards.map(({ id }) => id)))
      .toEqual([6, 5, 0, 1, 2, 3, 4, 7].map((index) => `gpu-${index}`))
    expect(await page.locator('.alarms b, .status b').count()).toBe(0)
  })

  test('a row that has grown beyond its height fades at its end, and is shown whole at a press', async () => {
    let verdict: string | undefined
    await using opened = await open('#/', DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        socket.connectToServer().onMessage((text) => {
          const real = z.looseObject({ t: z.number().optional(), type: z.string() }).parse(JSON.parse(String(text)))
          socket.send(String(text))
          if (real.type !== 'frame' || verdict === undefined) return
          const said = { id: 'grows', kind: 'throttling', severity: 'warning', status: 'firing', title: 'throttled', verdict, facts: {}, count: 1 }
          const whom = { subject: {}, started_at: real.t, last_seen_at: real.t, remedies: [], consequences: [] }
          socket.send(JSON.stringify({ type: 'incident', incident: { ...said, ...whom } }))
        })
      }),
    )
    const { page } = opened
    const button = page.locator('.incidents-head button')
    await page.locator('.over', { hasText: 'None in the last hour.' }).waitFor()
    verdict = 'It is hot.'
    await button.filter({ hasText: /^Show$/ }).press('Enter')
    await page.locator('.incident-more[open]', { hasText: verdict }).waitFor()
    expect(await page.locator('.incident-rows[data-more]').count()).toBe(0)
    verdict = 'It is hotter than it was. '.repeat(60)
    await page.locator('.incident-rows[data-more]').waitFor()
    await button.filter({ hasText: /^Show all$/ }).press('Enter')
    await page.locator('.incident-rows:not([data-more])').waitFor()
    expect(await button.count()).toBe(0)
  })

  test('what is not read is not called idle, a GPU whose hang is still told not calm, and what lies stranded is named', async () => {
    await using opened = await open('#/', DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        socket.connectToServer().onMessage((text) => {
          const real = z.looseObject({ t: z.number().optional(), gpus: rows.optional(), allocators: rows.optional() }).parse(JSON.parse(String(text)))
          const split = { gi: '1', ci: '0', profile: '3g.40gb' }
          const gpus = real.gpus?.map((row) => (row['index'] === 7 ? { ...row, utilization_ratio: undefined, mig: [split] } : row))
          const holes = { reserved_bytes: 34 * 2 ** 30, active_bytes: 2 ** 30, inactive_split_bytes: 30 * 2 ** 30 }
          const allocators = real.allocators?.map((row) => (row['gpu'] === '6' ? { ...row, ...holes } : row))
          socket.send(JSON.stringify({ ...real, gpus, allocators }))
          const uuid = real.gpus?.find(({ index }) => index === 5)?.['uuid']
          const said = { id: 'abc', kind: 'driver_hung', severity: 'critical', status: 'firing', title: 'hangs', verdict: '', facts: {}, count: 1 }
          const whom = { subject: { gpu: { index: 5, uuid } }, started_at: real.t, last_seen_at: real.t, remedies: [], consequences: [] }
          if (real.t !== undefined) socket.send(JSON.stringify({ type: 'incident', incident: { ...said, ...whom } }))
        })
      }),
    )
    const { page } = opened
    await page.locator('#gpu-7 .activity', { hasText: /^MIG$/ }).waitFor()
    await page.locator('#gpu-5 .activity', { hasText: /^answers again$/ }).waitFor()
    expect(await page.textContent('#gpu-7 .mig-name')).toBe('7·1 · 3g.40gb')
    await page.locator('#gpu-6 .serious', { hasText: 'stranded 30.0' }).waitFor()
    expect(await page.locator('.serious').count()).toBe(1)
  })

  test('without a GPU nothing is claimed of processes', async () => {
    await using opened = await open('#/', DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        socket.connectToServer().onMessage((text) => {
          const real = z.looseObject({}).parse(JSON.parse(String(text)))
          socket.send(JSON.stringify({ ...real, gpus: [] }))
        })
      }),
    )
    await opened.page.waitForSelector('#containers-title')
    expect(await opened.page.locator('#processes-title').count()).toBe(0)
  })

  test('a cut connection comes back without a gap: what was missed is fetched', async () => {
    const cuts: (() => Promise<void>)[] = []
    let away = false
    await using opened = await open('#/gpus/0', DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        if (away) {
          void socket.close()
          return
        }
        const server = socket.connectToServer()
        cuts.push(async () => {
          await server.close()
          await socket.close()
        })
      }),
    )
    const { page } = opened
    await poll(async () => (await drawn(page)).drawn > 0.8, { what: 'a past of 15 minutes', deadlineMs: 30_000 })
    // A host that has just begun may have a hole of its own.
    const before = (await drawn(page)).holes
    away = true
    await cuts[0]?.()
    // Some eight pixels of the chart.
    await page.locator('.status', { hasText: /no news for ([5-9]|\d\d) s/ }).waitFor()
    away = false
    await page.waitForSelector('.content:not(.stale)')
    await poll(
      async () => {
        const { holes, toEnd } = await drawn(page)
        return toEnd && holes <= before + 2
      },
      { what: `no more holes than the ${before} columns of before`, deadlineMs: 30_000 },
    )
    expect(cuts.length).toBeGreaterThan(1)
  })

  test('a phone shows one GPU without scrolling sideways', async () => {
    await using opened = await open('#/gpus/0', { ...PHONE, colorScheme: 'light' })
    const { page } = opened
    await page.waitForSelector('#gpu-processes')
    await page.waitForSelector('[data-chart="pcie"] canvas')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
  })
})
