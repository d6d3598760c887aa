// The allocator of the dashboard in a real Chromium: figures against the API, a process that ends, no probe, and a snapshot file from the drop to the answer.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { analyse } from '../../agent/allocator/snapshot/analyse.ts'
import { readSnapshot } from '../../agent/allocator/snapshot/file.ts'
import { memory } from '../../dashboard/src/text/format.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, launchTestBrowser, openPage, PHONE, STICKING_OUT, type Opened } from '../setup/browser.ts'
import { poll } from '../setup/poll.ts'
import { MARKUP, trainingSnapshot } from '../setup/snapshot-file.ts'
import { jitPickle } from '../unit/allocator/snapshot/pickler.ts'
import { GIB, snapshot } from '../unit/allocator/snapshot/scene.ts'

const row = z.looseObject({ pid: z.number(), gpu: z.string(), allocated_bytes: z.number(), reserved_bytes: z.number(), headroom_bytes: z.number() })
const rows = z.array(row)
const frames = z.looseObject({ type: z.string(), allocators: rows.optional(), host: z.looseObject({}).or(z.string()).optional() })

describe.skipIf(!hasChromium)('the allocator in a real Chromium (needs Debian’s chromium)', () => {
  let browser: Browser
  let agent: RunningAgent
  beforeAll(async () => {
    agent = await startAgent({ args: ['--simulate=healthy'], ready: true })
    browser = await launchTestBrowser()
    // Ready is who has read a GPU; the first lines of the probes may come a moment later.
    await poll(async () => rows.parse(await agent.json('/api/v1/allocators')).length >= 2, { what: 'two processes with a probe', deadlineMs: 30_000 })
  })
  afterAll(async () => {
    await browser?.close()
    await agent?.stop()
  })

  const open = (hash: string, options = DESKTOP, prepare?: (page: Page) => Promise<unknown>): Promise<Opened> =>
    openPage(browser, `${agent.url}${hash}`, options, prepare)
  const withFile = async (page: Page, name: string, bytes: Uint8Array): Promise<void> =>
    page.setInputFiles('input[type="file"]', { name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) })
  /** Frames pass through `change` on their way to the page. */
  const changed = (change: (allocators: z.infer<typeof rows>) => z.infer<typeof rows>, gaps?: readonly unknown[]) => (page: Page) =>
    page.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer()
      server.onMessage((text) => {
        const message = frames.parse(JSON.parse(String(text)))
        const { allocators, host } = message
        socket.send(
          JSON.stringify(
            allocators === undefined
              ? message
              : { ...message, allocators: change(allocators), host: gaps === undefined ? host : { ...(typeof host === 'object' ? host : {}), gaps } },
          ),
        )
      })
    })

  test('shows what the API says in the same second, of the process that the address names', async () => {
    const [first] = rows.parse(await agent.json('/api/v1/allocators'))
    if (first === undefined) throw new Error('expected a process with a probe, came none')
    await using opened = await open(`#/allocator?process=${first.pid}-${first.gpu}`)
    const { page, complaints } = opened
    const same = async (): Promise<boolean> => {
      const now = rows.parse(await agent.json('/api/v1/allocators')).find(({ pid, gpu }) => pid === first.pid && gpu === first.gpu)
      if (now === undefined) throw new Error('expected the process to be there still')
      const shown = await page.locator('.tile .figure').allTextContents()
      const [headroom = '', allocated = '', reserved = ''] = shown.map((text) => text.replace(/\s/g, ' '))
      return [allocated, reserved, headroom].join() === [now.allocated_bytes, now.reserved_bytes, now.headroom_bytes].map(memory).join()
    }
    await page.waitForSelector('[data-figure="headroom"]')
    await poll(same, { what: 'the figures of the API on the page', everyMs: 60, deadlineMs: 40_000 })
    expect(await page.inputValue('select[name="process"]')).toBe(`${first.pid}-${first.gpu}`)
    await page.getByLabel('24 h').check()
    await poll(() => new URL(page.url()).hash.includes('range=24h'), { what: 'the span in the address' })
    expect(complaints).toEqual([])
  })

  test('a forecast is told with both its ends; without one nothing is', async () => {
    const reported = (end: string, seconds: number) => (page: Page) =>
      page.route(`**/api/v1/series?metric=memory_exhaustion_${end}_seconds*`, (route) =>
        route.fulfill({ json: [{ metric: 'm', labels: {}, step_ms: 1000, t: [Date.now()], min: [seconds], mean: [seconds], max: [seconds] }] }),
      )
    await using opened = await open('#/allocator', DESKTOP, async (page) => {
      await reported('earliest', 7_200)(page)
      await reported('latest', 86_400)(page)
    })
    const outlook = opened.page.locator('[data-tile="forecast"]')
    await outlook.filter({ hasText: /1 h 59 min|2 h 0 min/ }).waitFor()
    await outlook.filter({ hasText: /23 h 59 min at the latest|1 d 0 h at the latest/ }).waitFor()
    await using silent = await open('#/allocator')
    await silent.page.locator('[data-tile="forecast"]', { hasText: 'no forecast' }).waitFor()
    expect(opened.complaints).toEqual([])
  })

  test('a process that ends keeps its past, and leads to its successor', async () => {
    const [first, second] = rows.parse(await agent.json('/api/v1/allocators'))
    if (first === undefined || second === undefined) throw new Error('expected two processes with a probe')
    let ended = false
    const twin = { ...second, pid: 999_999, gpu: first.gpu, uuid: first['uuid'], container: first['container'] }
    const change = (all: z.infer<typeof rows>): z.infer<typeof rows> =>
      ended ? [...all.filter(({ pid, gpu }) => pid !== first.pid || gpu !== first.gpu), twin] : all
    await using opened = await open(`#/allocator?process=${first.pid}-${first.gpu}`, DESKTOP, changed(change))
    const { page } = opened
    await page.waitForSelector('[data-figure="headroom"]')
    ended = true
    await page.waitForSelector('.ended')
    expect(await page.locator('.tiles').count()).toBe(0)
    await page.waitForFunction('document.querySelector(\'[data-layer="inUse"] b\')?.textContent?.includes("iB") ?? false')
    await page.getByRole('button', { name: 'pid 999999' }).click()
    await page.waitForSelector('.tiles')
    expect(new URL(page.url()).hash).toBe(`#/allocator?process=999999-${first.gpu}`)
  })

  test('where no probe speaks it says what stands in the way, and how to add one', async () => {
    await using opened = await open('#/allocator', { ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      await changed(() => [], [{ measure: 'allocator', reason: 'driver_error', detail: 'probe.sock: another agent listens there' }])(page)
      await page.route('**/api/v1/series?metric=allocator_*', (route) => route.fulfill({ json: [] }))
    })
    const { page, complaints } = opened
    await page.waitForSelector('.no-probe')
    await page.locator('.no-probe .bad', { hasText: 'probe.sock: another agent listens there' }).waitFor()
    await page.getByRole('button', { name: 'copy the two lines' }).click()
    await page.waitForSelector('.copy[data-said="copied"]')
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('PYTHONPATH: /opt/warpwatch-probe/sitecustomize')
    expect(complaints).toEqual([])
  })

  test('a snapshot is read in the browser: totals, markup as text, what would fit, blocks by keyboard, pools and sites', async () => {
    const bytes = trainingSnapshot()
    const of = (requestBytes: number) => analyse(readSnapshot(bytes), { requestBytes, device: 0 }).analysis
    await using opened = await open('#/allocator/snapshot?request=1GiB')
    const { page, complaints } = opened
    await page.waitForSelector('.drop-notice')
    const sent: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()))
    await withFile(page, `${MARKUP}.pickle`, bytes)
    await page.waitForSelector('.map-box')
    const [device] = of(1).devices
    if (device === undefined) throw new Error('expected a device')
    expect(await page.textContent('.verdict')).toBe(device.verdict)
    const parts = {
      allocated: device.allocated_bytes,
      pending: device.pending_bytes,
      stranded: device.stranded_bytes,
      releasable: device.releasable_bytes,
      reserved: device.reserved_bytes,
    }
    for (const [part, figureOf] of Object.entries(parts)) expect(await page.textContent(`[data-part="${part}"] b`)).toBe(memory(figureOf))
    expect(await page.textContent('.snapshot-head h2')).toBe(`${MARKUP}.pickle`)
    await page.locator('.site-name', { hasText: MARKUP }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    // The question in the address is answered at once.
    await page.locator('.request-answer', { hasText: of(2 ** 30).request?.verdict ?? 'a verdict' }).waitFor()
    await page.getByLabel('A request of').fill('9000 GiB')
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.locator('.request-answer', { hasText: of(9000 * 2 ** 30).request?.verdict ?? 'a verdict' }).waitFor()
    await page.getByLabel('A request of').fill('much')
    await page.keyboard.press('Enter')
    await page.locator('.request-answer', { hasText: 'must be a size such as 2GiB' }).waitFor()

    await page.focus('.map-box')
    await page.keyboard.press('ArrowDown')
    await page.locator('#block-title', { hasText: '2.0 GiB' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.locator('.block-place', { hasText: 'optimizer.py:57 init_state, zeros_like' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.locator('.block-place', { hasText: 'model.py:301 feed_forward' }).waitFor()
    await page.keyboard.press('+')
    await page.locator('.zoom output', { hasText: '2×' }).waitFor()
    await page.getByLabel('Pool and stream').selectOption({ label: 'Private pool 0,1, stream 0, large blocks (512 MiB)' })
    await page.locator('.site-list button').first().click()
    expect(new URL(page.url()).hash).toBe('#/allocator/snapshot?request=much&zoom=1&pool=2&site=0')
    await page.getByText('Segments as a table').click()
    expect(await page.locator('#segments tbody tr').count()).toBe(1)
    expect(await page.title()).toMatch(/Allocator · \S+ · Warpwatch$/)
    expect(sent).toEqual([])
    expect(complaints).toEqual([])
  })

  test('a file that is none, or an empty one, says so; another one follows by dropping it', async () => {
    await using opened = await open('#/allocator/snapshot')
    const { page, complaints } = opened
    await page.waitForSelector('.drop-notice')
    await withFile(page, 'notes.txt', new TextEncoder().encode('these are my notes'))
    await page.locator('.bad', { hasText: 'not a snapshot: it must be a file of torch.cuda.memory._dump_snapshot' }).waitFor()
    await withFile(page, 'empty.pickle', jitPickle(snapshot([])))
    await page.getByText('PyTorch held no memory').waitFor()
    const pools = [
      {
        pool: [0, 1],
        stream: 3,
        kind: 'large',
        expandable: false,
        segments: 12,
        total_bytes: 12 * GIB,
        active_bytes: 10 * GIB,
        free_bytes: 2 * GIB,
        free_blocks: 30,
        largest_free_bytes: GIB,
      },
    ]
    await withFile(page, 'oom.json', new TextEncoder().encode(JSON.stringify({ type: 'oom', device: 0, request_bytes: GIB, pools })))
    await page.locator('#pools', { hasText: 'Private pool 0,1, stream 3, large blocks' }).waitFor()
    await page.goto(`${agent.url}#/allocator`)
    await page.waitForSelector('.allocator-process')
    const dropped = Buffer.from(trainingSnapshot(100)).toString('base64')
    await page.evaluate(`{
      const transfer = new DataTransfer()
      transfer.items.add(new File([Uint8Array.from(atob('${dropped}'), (char) => char.charCodeAt(0))], 'dropped.pickle'))
      document.querySelector('.drop-target').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }))
    }`)
    await page.locator('.snapshot-head h2', { hasText: 'dropped.pickle' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#/allocator/snapshot')
    // Kept by the browser for this tab, until it is closed.
    await poll(async () => (await page.evaluate(`sessionStorage.getItem('warpwatch.snapshot')`)) !== null, { what: 'the file kept' })
    await page.reload()
    await page.locator('.snapshot-head h2', { hasText: 'dropped.pickle' }).waitFor()
    await page.getByRole('button', { name: /close/i }).click()
    await page.waitForSelector('.drop-notice')
    await poll(async () => (await page.evaluate(`sessionStorage.getItem('warpwatch.snapshot')`)) === null, { what: 'the file forgotten' })
    expect(complaints).toEqual([])
  })

  test.each(['dark', 'light'] as const)('a phone shows everything without scrolling sideways, in %s', async (colorScheme) => {
    await using opened = await open('#/allocator', { ...PHONE, colorScheme })
    const { page } = opened
    await page.waitForSelector('.allocator-chart canvas')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    await page.goto(`${agent.url}#/allocator/snapshot`)
    await page.waitForSelector('.drop-notice')
    await withFile(page, 'snapshot.pickle', trainingSnapshot())
    await page.waitForSelector('.map-box canvas[width]')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    await page.tap('.map-box', { position: { x: 100, y: 60 } })
    await page.locator('#block-title', { hasText: 'GiB' }).waitFor()
  })
})
