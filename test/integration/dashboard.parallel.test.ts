// The dashboard in a real Chromium on the real agent with a simulated host: figures against the API, reconnect, token, markup, policy, phone.
// Long: about 45 s.
import * as z from 'zod'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { FULL_PAST, startAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage, PHONE, STICKING_OUT, type Opened } from '../setup/browser.ts'
import { useSimulatedPage } from '../setup/dashboard-pages.ts'
import { poll } from '../setup/poll.ts'

/** One GPU's figures as its card writes them, units and all. */
const cardFigures = z.object({ uuid: z.string(), trouble: z.string().nullable(), figures: z.record(z.string(), z.string()) })
type CardFigures = z.infer<typeof cardFigures>
const rows = z.array(z.record(z.string(), z.unknown()))
const message = z.looseObject({ type: z.string(), gpus: rows.optional(), containers: rows.optional(), processes: rows.optional() })

const READ_CARDS = `Array.from(document.querySelectorAll('.gpu'), (card) => ({
  uuid: card.dataset.uuid,
  trouble: card.dataset.trouble ?? null,
  figures: Object.fromEntries(Array.from(card.querySelectorAll('[data-figure]'), (each) => [each.dataset.figure, each.textContent])),
}))`

/** Rows of pixels that differ from their neighbour above, in the first memory chart: a drawn stack has edges in most columns, an empty one none. */
const DRAWN_SHARE = `(() => {
  const canvas = document.querySelector('.memory-chart canvas')
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  let drawn = 0
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) if (data[(y * width + x) * 4 + 3] > 200) { drawn++; break }
  }
  return drawn / width
})()`

/** Bytes, or the figure in its own unit: what a person reads. */
function parseFigure(text: string): { readonly value: number; readonly half: number } {
  const match = /^(-?[\d.]+)\s*(\S*)$/u.exec(text.replaceAll('\u202f', ' ').trim())
  if (match === null) throw new Error(`expected a figure and its unit, came ${JSON.stringify(text)}`)
  const [, digits = '', unit = ''] = match
  const scale = { GiB: 2 ** 30, MiB: 2 ** 20, KiB: 1024, '%': 0.01 }[unit] ?? 1
  // Half of the last digit shown: what rounding may hide.
  const half = (0.5 * scale) / 10 ** (digits.split('.')[1]?.length ?? 0)
  return { value: Number(digits) * scale, half: half * 1.0001 }
}

const COMPARED = [
  'memory_used_bytes',
  'memory_total_bytes',
  'memory_free_bytes',
  'memory_used_peak_bytes',
  'utilization_ratio',
  'power_watts',
  'temperature_celsius',
] as const

function difference(card: CardFigures, row: Readonly<Record<string, unknown>>): string | undefined {
  for (const measure of COMPARED) {
    const figure = card.figures[measure] ?? ''
    const reported = row[measure]
    if (figure === '') return `GPU ${String(row['index'])}: the card shows no ${measure}`
    const shown = parseFigure(figure)
    if (typeof reported !== 'number') return `GPU ${String(row['index'])}: the API tells no ${measure}`
    if (Math.abs(shown.value - reported) > shown.half)
      return `GPU ${String(row['index'])} ${measure}: the API tells ${reported}, the card shows ${card.figures[measure]}`
  }
  return undefined
}

describe.skipIf(!hasChromium)('dashboard in a real Chromium (needs Debian’s chromium)', () => {
  const scene = useSimulatedPage('--simulate', FULL_PAST)

  const open = (url: string, options: BrowserContextOptions = DESKTOP, prepare?: (page: Page) => Promise<void>): Promise<Opened> =>
    openPage(scene.browser, url, options, prepare)
  const cards = async (page: Page): Promise<readonly CardFigures[]> => z.array(cardFigures).parse(await page.evaluate(READ_CARDS))
  const state = (page: Page, name: string): Promise<unknown> => page.waitForSelector(`[data-connection="${name}"]`)

  test('all cards show the API’s figures of the same second, without a complaint of the browser', async () => {
    await using opened = await open(scene.agent.url)
    const { page, complaints } = opened
    await page.waitForSelector('.gpu')
    let last = 'no answer yet'
    await poll(
      async () => {
        const reported = rows.parse(await scene.agent.json('/api/v1/gpus'))
        const shown = await cards(page)
        expect(reported).toHaveLength(8)
        expect(shown.map((card) => card.uuid)).toEqual(reported.map((row) => row['uuid']))
        const wrong = shown.flatMap((card, i) => difference(card, reported[i] ?? {}) ?? [])
        last = wrong.join('; ')
        return wrong.length === 0
      },
      { what: () => `cards equal to the API: ${last}`, everyMs: 60, deadlineMs: 20_000 },
    )
    await page.waitForSelector('.status .fine')
    expect(complaints).toEqual([])
  })

  test('charts have the past at once', async () => {
    await using opened = await open(scene.agent.url)
    await opened.page.waitForSelector('.memory-chart canvas')
    // Live frames alone would need 12 minutes for so much of the width.
    const share = await poll(async () => z.number().parse(await opened.page.evaluate(DRAWN_SHARE)) > 0.8, {
      what: 'a chart drawn over 80 % of its width',
      deadlineMs: 5_000,
    })
    expect(share).toBe(true)
  })

  test('tables sort by what their columns hold and tell it to screen readers', async () => {
    await using opened = await open(scene.agent.url)
    const { page } = opened
    const header = page.locator('#containers th', { hasText: 'Container' })
    await header.getByRole('button').press('Enter')
    await poll(async () => (await header.getAttribute('aria-sort')) === 'ascending', { what: 'the column sorted' })
    const names = await page.locator('#containers tbody .name').allTextContents()
    expect(names.length).toBeGreaterThan(3)
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, undefined, { numeric: true, sensitivity: 'base' })))
  })

  test('an agent that goes away is told, its figures are dimmed, and the page comes back by itself with the hole filled', async () => {
    await using first = await startAgent({ args: ['--simulate'], ready: true, env: FULL_PAST })
    await using opened = await open(first.url)
    const { page } = opened
    await state(page, 'live')
    await page.waitForSelector('.gpu')
    await first.kill()
    await page.waitForSelector('.content.stale')
    expect(await page.textContent('#gpu-0 .activity')).toMatch(/^was (busy|idle)$/)
    await state(page, 'waiting')
    expect(await page.textContent('.status')).toMatch(/no news for \d+ s, figures are of \d\d:\d\d:\d\d/)
    // What was before is in the history of the first.
    await using _second = await startAgent({ args: ['--simulate'], ready: true, listen: first.listen, dataDir: first.dataDir })
    await state(page, 'live')
    await page.waitForSelector('.content:not(.stale) .gpu')
    // The agent may have gone before the page had what draws charts.
    await page.waitForSelector('.memory-chart canvas')
    await poll(async () => z.number().parse(await page.evaluate(DRAWN_SHARE)) > 0.8, { what: 'the chart filled again' })
  })

  test('with a token: asked for in the page, a wrong one is refused, the right one opens API and stream and stays for the session', async () => {
    await using guarded = await startAgent({ args: ['--simulate'], ready: true, env: { WARPWATCH_HTTP__TOKEN: 'right(token),%41/=' } })
    await using opened = await open(guarded.url)
    const { page } = opened
    await page.getByLabel('token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    // Who mistyped types on: the new form has the focus.
    await page.waitForSelector('input[name="token"]:focus')
    await page.getByLabel('token').fill('right(token),%41/=')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.gpu')
    await state(page, 'live')
    expect(page.url()).not.toContain('token')
    await page.reload()
    await page.waitForSelector('.gpu')
  })

  test('an unknown path is no page', async () => {
    const response = await fetch(new URL('no-such-page', scene.agent.url))
    expect(response.status).toBe(404)
  })

  test('a GPU that stops answering is named with its age, keeps its last figures dimmed, and heals', async () => {
    let hung = false
    let hungSince = 0
    await using opened = await open(scene.agent.url, DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        socket.connectToServer().onMessage((text) => {
          const real = message.parse(JSON.parse(String(text)))
          const gpus = real.gpus?.map((row) => {
            if (!hung || row['index'] !== 3 || real.type !== 'frame') return row
            const age = Number(real['t']) / 1000 - hungSince
            return { uuid: row['uuid'], index: 3, sample_age_seconds: age, gaps: [{ measure: 'memory_used_bytes', reason: 'timeout', detail: 'no answer' }] }
          })
          if (!hung) hungSince = Number(real['t']) / 1000
          const processes = real.processes?.filter((row) => !hung || row['gpu'] !== '3')
          socket.send(JSON.stringify({ ...real, gpus, processes }))
        })
      }),
    )
    const { page } = opened
    await page.waitForSelector('#gpu-3[data-uuid]:not([data-trouble])')
    const places = () =>
      page.evaluate(
        // Tools come to a chart after its first picture: of its classes only the one that names it.
        `['#gpu-3 .memory-figures', '#gpu-3 .memory-chart', '#gpu-3 .shares', '#gpu-3 .readouts', '#gpu-4'].map((part) => [part, Math.round(document.querySelector(part).getBoundingClientRect().top + scrollY)].join(' '))`,
      )
    await page.waitForSelector('#gpu-3 .trace canvas')
    const before = await places()
    hung = true
    await page.waitForSelector('#gpu-3[data-trouble="hung"] .trouble')
    expect(await places(), 'nothing of its card moves, nor the next card').toEqual(before)
    await poll(async () => /for ([3-9]|\d\d+) s/.test((await page.textContent('#gpu-3 .trouble')) ?? ''), { what: 'an age that goes on rising' })
    expect(await page.textContent('.status')).toMatch(/GPU 3 has not answered since \d\d:\d\d/)
    expect(await page.textContent('#gpu-3 .trouble')).toMatch(/No answer for \d+ s · figures of \d\d:\d\d:\d\d/)
    expect(parseFigure((await cards(page))[3]?.figures['memory_used_bytes'] ?? '').value).toBeGreaterThan(0)
    const inkOf = (gpu: number) => page.evaluate(`getComputedStyle(document.querySelector('#gpu-${gpu} .gpu-memory > :not(.trouble)')).color`)
    expect(await inkOf(3)).not.toBe(await inkOf(2))
    expect(await page.textContent('.table-note')).toBe('GPU 3 is not read: its processes are missing here.')
    expect(await page.textContent('.facts')).toContain('8 × H100')
    expect(await page.locator('.gpu[data-trouble]').count()).toBe(1)
    hung = false
    await page.waitForSelector('#gpu-3:not([data-trouble])')
    await page.waitForSelector('.status .fine')
  })

  test('markup in names from outside is shown as text', async () => {
    const evil = '<img src=x onerror="document.title=1"><b>bold</b>'
    await using opened = await open(scene.agent.url, DESKTOP, (page) =>
      page.routeWebSocket(/\/ws$/, (socket) => {
        const server = socket.connectToServer()
        server.onMessage((text) => {
          const real = message.parse(JSON.parse(String(text)))
          const renamed = (table: z.infer<typeof rows>) => table.map((row) => ({ ...row, container: evil, process: evil, image: evil, name: evil }))
          const { gpus = [], containers = [], processes = [] } = real
          const host = real.type === 'hello' ? evil : real['host']
          socket.send(JSON.stringify({ ...real, host, gpus: renamed(gpus), containers: renamed(containers), processes: renamed(processes) }))
        })
      }),
    )
    const { page, complaints } = opened
    await page.waitForSelector('#containers .name')
    expect(await page.textContent('#containers .name')).toBe(evil)
    expect(await page.textContent('#processes .name')).toBe(evil)
    expect(await page.textContent('.gpu-name')).toBe(evil)
    expect(await page.textContent('h1')).toBe(evil)
    expect(await page.locator('main img, main b, h1 b').count()).toBe(0)
    await poll(async () => (await page.title()).endsWith(' · Warpwatch'), { what: 'the title of the page' })
    expect(complaints).toEqual([])
  })

  test.each(['dark', 'light'] as const)('a phone shows everything without scrolling sideways, in %s', async (colorScheme) => {
    await using opened = await open(scene.agent.url, { ...PHONE, colorScheme })
    const { page } = opened
    await page.waitForSelector('#processes')
    await page.waitForSelector('.gpu')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    const wide = await page.evaluate(STICKING_OUT)
    expect(wide).toEqual([])
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(colorScheme)
    await page.getByRole('button', { name: /switch to/ }).click()
    await poll(async () => (await page.evaluate('document.documentElement.dataset.theme')) !== colorScheme, { what: 'the other theme' })
  })
})
