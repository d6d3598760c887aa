// The Servers view with a server in it, in a real browser: what the server says is shown, and axe finds nothing serious.
import { describe, expect, test } from 'vitest'
import { startAgent } from '../setup/agent.ts'
import { faults, loadAxe } from '../setup/axe.ts'
import { DESKTOP, hasChromium, launchBrowser, openPage, PHONE } from '../setup/browser.ts'
import { goTo } from '../setup/dashboard-pages.ts'
import { webServer } from '../setup/web-server.ts'

const LABELS = '{engine="0",model_name="lab/small"}'
const PAGES: Readonly<Record<string, string>> = {
  '/version': '{"version":"0.30.1"}',
  '/v1/models': '{"data":[{"id":"lab/small","max_model_len":16384}]}',
  '/metrics': `vllm:num_requests_running${LABELS} 4\nvllm:num_requests_waiting${LABELS} 2\nvllm:kv_cache_usage_perc${LABELS} 0.625\nvllm:generation_tokens_total${LABELS} 5000\n`,
}

describe.skipIf(!hasChromium)('the Servers view in a real Chromium (needs Debian’s chromium)', () => {
  test.each([
    ['a desk', DESKTOP],
    ['a phone', PHONE],
  ])('shows what a server says, without a serious fault on %s, dark or light', async (_, options) => {
    const server = await webServer((request, answer) => void answer.end(PAGES[request.url ?? ''] ?? '{}'))
    await using agent = await startAgent({ config: `servers:\n  add:\n    chat: "vllm ${server.url}"\n`, ready: true })
    const browser = await launchBrowser()
    try {
      await using opened = await openPage(browser, agent.url, options)
      const { page } = opened
      await loadAxe(page)
      await goTo(page, '#/servers')
      const card = await page.waitForSelector('article.server[data-state="ready"]')
      const shown = (await card.innerText()).replace(/\s+/g, ' ')
      for (const part of ['chat', 'vllm 0.30.1', 'lab/small', '16,384 tokens of context', '63 %']) expect(shown).toContain(part)
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.waitForSelector(`html[data-theme="${colorScheme}"]`)
        expect(await faults(page)).toEqual([])
      }
    } finally {
      await browser.close()
    }
  })
})
