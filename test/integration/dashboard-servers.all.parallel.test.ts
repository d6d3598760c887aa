// Servers in a real browser: what one says is in the Servers view, on the card and the page of its GPU, and on its job's page; axe finds nothing serious.
import { spawn } from 'node:child_process'
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { h100 } from '../fakes/nvml/scenario.ts'
import { startAgent } from '../setup/agent.ts'
import { faults, loadAxe } from '../setup/axe.ts'
import { DESKTOP, hasChromium, openPage, PHONE } from '../setup/browser.ts'
import { fileBrowser } from '../setup/dashboard-pages.ts'
import { goTo } from '../setup/dashboard-walk.ts'
import { freePort } from '../setup/free-port.ts'
import { poll } from '../setup/poll.ts'
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
    await using opened = await openPage(await fileBrowser(), agent.url, options)
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
  })

  test.skipIf(compiler === undefined)('shows it on the card and the page of its GPU, and on its job’s page (needs a C compiler)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'servers-'))
    copyFileSync(join(import.meta.dirname, '../fakes/inference/server.cjs'), join(folder, 'vllm'))
    const port = await freePort()
    const LOG = '(EngineCore pid=7) INFO 11-20 10:00:00 [gpu_model_runner.py:1] Model loading took 14.25 GiB memory and 3.5 seconds\n'
    const log = join(folder, 'log')
    const output = openSync(log, 'w')
    // A session of its own, as a service has it; its log is a file.
    const server = spawn(process.execPath, [join(folder, 'vllm'), 'serve', 'lab/small', '--port', String(port)], {
      detached: true,
      env: { LISTEN: `127.0.0.1:${port}`, PAGES: JSON.stringify(PAGES), LOG },
      stdio: ['ignore', output, output],
    })
    closeSync(output)
    const children = (): string => readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim()
    const engine = Number(await poll(() => (readFileSync(log, 'utf8').includes('Model loading') && children()) || undefined, { what: 'the stand-in’s engine' }))
    const scenario = { values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 }, gpus: [h100(0, {}, [{ pid: engine, bytes: 2 ** 35 }])] }
    await using agent = await startAgent({ scenario, ready: true })
    try {
      await using opened = await openPage(await fileBrowser(), agent.url, DESKTOP)
      const { page } = opened
      await loadAxe(page)
      for (const [at, within] of [
        ['#/', 'article.gpu'],
        ['#/gpus/0', '.gpu-page'],
        [`#/jobs/${encodeURIComponent(`pid:${engine}`)}`, '.job-page'],
      ] as const) {
        await goTo(page, at)
        const lines = await page.waitForSelector(`${within} .server-lines li[data-state="ready"] small`)
        expect(await lines.innerText()).toContain('weights 14.3 GiB')
        const shown = (await page.innerText(`${within} .server-lines`)).replace(/\s+/g, ' ')
        for (const part of [`vllm:${port}`, '4 running, 2 waiting', 'KV cache 63 %']) expect(shown).toContain(part)
        expect(await faults(page)).toEqual([])
      }
    } finally {
      process.kill(engine, 'SIGKILL')
      server.kill('SIGKILL')
    }
  })
})
