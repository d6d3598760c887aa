// The doctor's and the fit's pages in a real Chromium: what they show is what the API told them, the address holds the question, markup is text, phone.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { doctorReport } from '../../agent/http/api/doctor-schemas.ts'
import { report as fitSchema, room } from '../../agent/http/api/fit-schemas.ts'
import { memory } from '../../dashboard/src/text/format.ts'
import { SHORT_PAST, startAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, openPage, PHONE, STICKING_OUT, type Opened, type SharedPage } from '../setup/browser.ts'
import { useSimulatedPage } from '../setup/dashboard-pages.ts'
import { poll } from '../setup/poll.ts'
import { REPORT } from '../unit/doctor/report-fixture.ts'

const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>'
const LLAMA = {
  model_type: 'llama',
  hidden_size: 4096,
  intermediate_size: 14336,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  torch_dtype: 'bfloat16',
}
const texts = z.array(z.string())

describe.skipIf(!hasChromium)('doctor and fit in a real Chromium (needs Debian’s chromium)', () => {
  const scene = useSimulatedPage('--simulate', SHORT_PAST)

  /** With what the agent told the page since, the newest last. */
  async function open(hash: string, path: string, prepare?: (page: SharedPage) => Promise<unknown>): Promise<Opened & { readonly reported: unknown[] }> {
    const reported: unknown[] = []
    const opened = await openPage(
      scene.browser,
      `${scene.agent.url}${hash}`,
      { ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] },
      {
        shared: async (page) => {
          page.on('response', (response) => {
            if (response.ok() && new URL(response.url()).pathname === path) void response.json().then((body: unknown) => reported.push(body))
          })
          await prepare?.(page)
        },
      },
    )
    return { ...opened, reported }
  }
  /** What the page received; that comes here a moment after it is shown there. */
  const answered = (reported: readonly unknown[], is: (report: z.infer<typeof fitSchema>) => boolean): Promise<z.infer<typeof fitSchema>> =>
    poll(() => reported.map((one) => fitSchema.parse(one)).findLast(is), { what: 'the answer of the API' })
  const textsOf = async (page: Page, selector: string): Promise<readonly string[]> =>
    texts.parse(await page.locator(selector).evaluateAll((all) => all.map((each) => each.textContent)))
  const attributes = (page: Page, selector: string, name: string): Promise<readonly (string | null)[]> =>
    page.locator(selector).evaluateAll((all, attribute) => all.map((each) => each.getAttribute(attribute)), name)
  const inAddress = (page: Page, ...parts: readonly string[]): Promise<unknown> =>
    poll(() => parts.every((part) => new URL(page.url()).hash.includes(part)), { what: () => `${parts.join(' and ')} in ${page.url()}` })

  test('the doctor looks when its page is opened: every check by group, folded; which are open stands in the address', async () => {
    await using opened = await open('#/doctor', '/api/v1/doctor')
    const { page, complaints, reported } = opened
    await page.waitForSelector('.check-group')
    const report = doctorReport.parse(await poll(() => reported.at(-1), { what: 'the report' }))
    expect(await page.locator('.doctor-top time').getAttribute('datetime')).toBe(new Date(report.t).toISOString())
    expect(await page.textContent('.doctor-line')).toContain(`${report.counts.pass} passed, ${report.counts.skipped} skipped of ${report.checks.length} checks`)
    const wrong = report.checks.filter(({ status }) => status === 'fail' || status === 'warn').map(({ id }) => id)
    expect(new Set(await attributes(page, '.complaint', 'data-check'))).toEqual(new Set(wrong))
    await page.locator('[data-group="host"] summary').focus()
    await page.keyboard.press('Enter')
    await inAddress(page, 'open=host')
    const ids = await attributes(page, '.check', 'data-check')
    expect(ids).toHaveLength(report.checks.length)
    expect(new Set(ids)).toEqual(new Set(report.checks.map(({ id }) => id)))
    expect(await page.locator('[data-check="disk-space"].check').isVisible()).toBe(true)
    expect(await page.locator('[data-group="toolkit"] .check').first().isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Look again' }).click()
    await poll(() => reported.length > 1, { what: 'a second answer' })
    expect(complaints).toEqual([])
  })

  test('failures stand first with steps to copy; markup is text; while it looks it says so; a failure to look says why', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<undefined>()
    let broken = false
    const [first, second] = REPORT.checks
    const checks = [
      { ...first, title: EVIL, findings: [{ status: 'pass', subject: EVIL, summary: EVIL }] },
      {
        ...second,
        title: EVIL,
        findings: [{ status: 'fail', subject: EVIL, summary: EVIL, detail: EVIL, remedies: [{ text: EVIL, command: `echo 1\n${EVIL}` }] }],
      },
      ...REPORT.checks.slice(2),
    ]
    await using opened = await open('#/doctor?open=host', '/api/v1/doctor', (page) =>
      page.route('**/api/v1/doctor', async (route) => {
        await mayAnswer
        await (broken
          ? route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the host is away' } } })
          : route.fulfill({ json: { ...REPORT, checks, host: EVIL } }))
      }),
    )
    const { page } = opened
    await page.locator('.looking', { hasText: 'Looking at the host' }).waitFor()
    expect(await page.locator('.doctor-top button').isDisabled()).toBe(true)
    answer(undefined)
    await page.getByRole('heading', { name: '1 failed, 1 warning' }).waitFor()
    expect(await attributes(page, '.complaint', 'data-status')).toEqual(['fail', 'warn'])
    for (const place of ['.complaint h4', '.subjects li', '.complaint-detail', '.remedies li', '.check-title', '.check-findings li'])
      expect([place, (await page.locator(place).first().textContent())?.includes(EVIL)]).toEqual([place, true])
    // Nobody is told that the made-up host was looked at.
    expect(await page.textContent('.doctor-line')).not.toContain(EVIL)
    expect(await page.locator('main img').count()).toBe(0)
    expect(await textsOf(page, '.complaint[data-status="warn"] .subjects li')).toEqual(['trainer', 'server'])
    await page.locator('.complaint .copy').first().click()
    await page.locator('.copy', { hasText: 'copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`echo 1\n${EVIL}`)
    broken = true
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.locator('[role="alert"]', { hasText: 'the host is away' }).waitFor()
    expect(await page.locator('.complaint').count()).toBe(2)
  })

  test('where no GPU is looked for, no library is told to have been tried; the doctor names the host that it looked at', async () => {
    await using bare = await startAgent({ ready: true, env: { WARPWATCH_GPU__SOURCE: 'off' } })
    await using opened = await openPage(scene.browser, bare.url, DESKTOP, (page) =>
      page.route('**/api/v1/doctor', (route) => route.fulfill({ json: { ...REPORT, host: EVIL } })),
    )
    const { page } = opened
    const notice = page.locator('.notice', { hasText: 'No GPU can be read on this host' })
    await notice.waitFor()
    expect(await notice.textContent()).toMatch(/gpu\.source is off|All checks of the doctor/)
    await page.goto(`${bare.url}#/doctor`)
    await page.locator('.doctor-line', { hasText: `on ${EVIL}` }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('the fit shows what the GPUs have, then what the agent answers to the form; the address holds the question', async () => {
    await using opened = await open('#/', '/api/v1/fit')
    const { page, complaints, reported } = opened
    await page.waitForSelector('.navigation')
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.waitForSelector('.fit-gpus tbody tr')
    const rooms = z.array(room).parse(await scene.agent.json('/api/v1/fit/gpus'))
    expect(await textsOf(page, '.fit-gpus [data-label="Usable memory"]')).toEqual(rooms.map(({ capacity_bytes: bytes }) => memory(bytes)))
    await page.getByLabel('Parameters').fill('8b')
    await page.getByRole('radio', { name: 'LoRA', exact: true }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByLabel('Context').fill('4096')
    await inAddress(page, 'params=8b', 'train=qlora', 'context=4096')
    await page.locator('.fit-line', { hasText: 'LoRA of rank 16 with adamw, nf4, 1 × 4096 tokens' }).waitFor()
    const { estimate, gpus } = await answered(reported, ({ estimate: { settings } }) => settings.context === 4096 && settings.dtype === 'nf4')
    expect(await textsOf(page, '.parts-table .likely-figure')).toEqual([...estimate.parts, estimate.total].map((part) => memory(part.likely_bytes)))
    expect(await textsOf(page, '.parts-table [data-label="To"]')).toEqual([...estimate.parts, estimate.total].map((part) => memory(part.high_bytes)))
    expect((await page.textContent('[data-figure="likely"]'))?.replace('\u202f', ' ')).toBe(memory(estimate.total.likely_bytes))
    expect(await attributes(page, '.verdict-mark', 'data-verdict')).toEqual(gpus.map(({ verdict }) => verdict))
    expect(await textsOf(page, '.fit-gpus [data-label="Left now"]')).toEqual(gpus.map(({ headroom }) => memory(headroom.now_bytes).replace('-', '−')))
    expect(await page.textContent('.fit-command code')).toBe('warpwatch fit --params 8b --train qlora --context 4096')
    // The same by its address, and back again.
    await page.reload()
    await page.locator('.fit-line', { hasText: '1 × 4096 tokens' }).waitFor()
    expect(await page.getByRole('radio', { name: 'QLoRA' }).isChecked()).toBe(true)
    expect(await page.locator('select[name="dtype"]').inputValue()).toBe('')
    await page.getByRole('link', { name: 'Start over' }).click()
    await page.getByRole('heading', { name: 'Does it fit?' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('a GPU that the agent could not read is named as such, beside what the others have and in the answer', async () => {
    const rooms = z.array(room).parse(await scene.agent.json('/api/v1/fit/gpus'))
    const lost = rooms.find(({ index }) => index === 3)?.uuid
    await using opened = await open('#/fit', '/api/v1/fit', async (page) => {
      await page.route('**/api/v1/fit/gpus', (route) => route.fulfill({ json: rooms.filter(({ uuid }) => uuid !== lost) }))
      await page.route('**/api/v1/fit?*', async (route) => {
        const real = fitSchema.parse(await scene.agent.json('/api/v1/fit?params=8b'))
        await route.fulfill({ json: { ...real, gpus: real.gpus.filter(({ gpu }) => gpu.uuid !== lost) } })
      })
    })
    const { page } = opened
    const row = page.locator(`tr[data-row="${lost}"]`, { hasText: 'not read' })
    await row.waitFor()
    expect(await row.locator('.name').textContent()).toBe('GPU 3')
    expect(await page.locator('.fit-gpus tbody tr').count()).toBe(rooms.length)
    await page.getByLabel('Parameters').fill('8b')
    await page.waitForSelector('.verdict-mark')
    expect(await attributes(page, '.fit-gpus tr[data-unread]', 'data-row')).toEqual([lost])
  })

  test('a suggestion is a link to the question with that change, and back', async () => {
    await using opened = await open('#/fit?params=70b&train=full', '/api/v1/fit')
    const { page, reported } = opened
    const suggestion = page.locator('.suggestion').first()
    const changes = await suggestion.locator('code').allTextContents()
    const promised = await suggestion.locator('b').textContent()
    await suggestion.click()
    await inAddress(page, ...changes.flatMap((change) => Array.from(change.matchAll(/([a-z-]+) (\S+)/g), ([, name, value]) => `${name}=${value}`)))
    await poll(async () => (await page.textContent('.total .likely-figure')) === promised, { what: `${promised} in all` })
    expect((await answered(reported, ({ estimate: { total } }) => memory(total.likely_bytes) === promised)).fits.now).toBeGreaterThan(0)
    await page.goBack()
    await page.locator('.fit-line', { hasText: '70.00 billion parameters; full training' }).waitFor()
  })

  test('a config.json is asked about, stands in the address, and where it is too long for it the page says so', async () => {
    await using opened = await open('#/fit', '/api/v1/fit')
    const { page, complaints } = opened
    await page.getByRole('radio', { name: 'By its config.json' }).check()
    const field = page.locator('textarea[name="config"]')
    await field.fill('{"model_type":')
    await page.locator('[role="alert"]', { hasText: 'That is no JSON' }).waitFor()
    await field.fill(JSON.stringify(LLAMA, null, 2))
    await page.locator('.fit-line', { hasText: '8.03 billion parameters' }).waitFor()
    await page.reload()
    await page.locator('.fit-line', { hasText: '8.03 billion parameters' }).waitFor()
    expect(JSON.parse(await field.inputValue())).toEqual(LLAMA)
    const labels = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [i, `LABEL_${i}`]))
    await field.fill(JSON.stringify({ ...LLAMA, num_hidden_layers: 16, id2label: labels }))
    await page.locator('.fit-line', { hasText: '4.54 billion parameters' }).waitFor()
    await inAddress(page, 'config=held')
    await page.reload()
    await page.locator('.warned', { hasText: 'paste it again' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('what the agent refuses stands in the place of an answer, beside its field; cards by name; markup is text', async () => {
    await using opened = await open('#/fit?params=8b&batch=0', '/api/v1/fit', (page) =>
      page.route('**/api/v1/fit?*params=9b*', async (route) => {
        const real = fitSchema.parse(await scene.agent.json('/api/v1/fit?params=100b'))
        const gpus = real.gpus.map((answer) => ({ ...answer, gpu: { ...answer.gpu, name: EVIL }, why: EVIL }))
        await route.fulfill({ json: { ...real, gpus, estimate: { ...real.estimate, notes: [EVIL], unknown: [EVIL] } } })
      }),
    )
    const { page } = opened
    await page.locator('.fit-problem', { hasText: 'batch: must be a whole number' }).waitFor()
    expect(await page.locator('input[name="batch"]').getAttribute('aria-invalid')).toBe('true')
    await page.locator('input[name="batch"]').fill('2')
    await page.getByLabel('By name or memory').fill('T4, 200GiB')
    await poll(async () => (await textsOf(page, '.fit-gpus .name')).join() === 'T4,200 GiB', { what: 'the two cards' })
    expect(await attributes(page, '.verdict-mark', 'data-verdict')).toEqual(['never', 'fits'])
    await page.goto(`${scene.agent.url}#/fit?params=9b`)
    for (const place of ['.col-gpu-name .sub', '.col-verdict .sub', '.fit-notes li']) await page.locator(place, { hasText: EVIL }).first().waitFor()
    expect(await page.locator('main img, .fit-answer td b').count()).toBe(0)
  })

  test.each(['dark', 'light'] as const)('a phone shows both without scrolling sideways, in %s', async (colorScheme) => {
    await using opened = await openPage(scene.browser, `${scene.agent.url}#/fit?params=8b&train=full`, { ...PHONE, colorScheme }, (page) =>
      page.route('**/api/v1/doctor', (route) => route.fulfill({ json: REPORT })),
    )
    const { page } = opened
    await page.waitForSelector('.parts-table tbody tr')
    // On a phone the settings are folded, so that the answer is near.
    expect(await page.locator('select[name="optimizer"]').isVisible()).toBe(false)
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    await page.evaluate(`location.hash = '#/doctor?open=host,container,wsl2'`)
    await page.waitForSelector('.complaint')
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
  })
})
