// Explain and the agent's own health in a real Chromium: the same answers as the CLI's and the API's, markup as text, nothing sent, one agent for all.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { FULL_PAST, startAgent, type RunningAgent } from '../setup/agent.ts'
import { DESKTOP, hasChromium, launchTestBrowser, openPage, PHONE, STICKING_OUT, type Opened } from '../setup/browser.ts'
import { freePort } from '../setup/free-port.ts'
import { poll } from '../setup/poll.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const EXAMPLES = join(import.meta.dirname, '../unit/diagnosis/examples')
const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>'
const OOM = (note: string): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.00 GiB is free. ${note}`
const fault = z.looseObject({ kind: z.string(), title: z.string(), verdict: z.string(), evidence: z.array(z.object({ line: z.int(), text: z.string() })) })

/** What `explain` of the built agent says of each text. */
function cliAnswers(texts: readonly string[]): readonly unknown[] {
  const input = texts.map((text, id) => JSON.stringify({ id, text })).join('\n')
  const { stdout, status } = spawnSync(process.execPath, [MAIN, 'explain', '--jsonl'], { input, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
  expect([0, 1]).toContain(status)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => z.object({ faults: z.array(z.unknown()) }).parse(JSON.parse(line)).faults)
}
async function exampleTexts(): Promise<readonly string[]> {
  const tables = await Promise.all(
    readdirSync(EXAMPLES).map(async (file) => {
      const loaded: { readonly examples: readonly { readonly text: string }[] } = await import(join(EXAMPLES, file))
      return loaded.examples
    }),
  )
  return tables.flat().map(({ text }) => text)
}
/** Asks one worker of the page's own kind for each text, in turn. */
const ASK = `async ({ url, texts }) => {
  const worker = new Worker(url, { type: 'module' })
  const answers = []
  for (const text of texts) {
    answers.push(await new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message))
      worker.onmessage = ({ data }) => data.type === 'answer' ? resolve(data.answer.faults) : data.type === 'failed' && reject(new Error(data.why))
      worker.postMessage(new Blob([text]))
    }))
  }
  worker.terminate()
  return answers
}`

describe.skipIf(!hasChromium)('explain and the agent’s own health in a real Chromium (needs Debian’s chromium)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-explain-'))
  let browser: Browser
  let agent: RunningAgent
  let receiver: Server
  const received: string[] = []

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      received.push(request.url ?? '')
      request.resume().on('end', () => response.end('ok'))
    })
    const port = await freePort()
    await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve))
    const config = join(directory, 'warpwatch.yaml')
    const notifier = (name: string, to: number): string => `  - { name: ${name}, type: webhook, url: "http://127.0.0.1:${to}/hidden-part" }\n`
    // On port 1 nobody listens.
    writeFileSync(config, `notifiers:\n${notifier('reached', port)}${notifier('lost', 1)}`)
    agent = await startAgent({ args: ['--simulate=healthy', '--config', config], ready: true, env: FULL_PAST })
    browser = await launchTestBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await agent?.stop()
    receiver?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const open = (hash: string): Promise<Opened> => openPage(browser, `${agent.url}${hash}`, { ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] })
  const explain = async (page: Page, name: string, text: string): Promise<void> => {
    await page.setInputFiles('input[name="file"]', { name, mimeType: 'text/plain', buffer: Buffer.from(text) })
    await page.waitForSelector('.log-head')
  }

  test('the worker answers every example as the CLI does, and long logs too', async () => {
    await using opened = await open('#/explain')
    const { page, complaints } = opened
    // The view has one made before there is a log.
    const url = await poll(() => Promise.resolve(page.workers()[0]?.url()), { what: 'a worker that reads logs' })
    await page.fill('textarea', OOM(''))
    await page.keyboard.press('Control+Enter')
    const filler = Array.from({ length: 9_000 }, (_, i) => `step ${i} loss 0.${i} tokens/s 11900 – ok`).join('\n')
    const examples = await exampleTexts()
    const texts = [...examples, `${filler}\n${OOM('')}\n${filler}`, '', '\n', `${OOM('')}\r\nDONE\r\n`]
    expect(examples.length).toBeGreaterThan(100)
    const answers: unknown = await page.evaluate(`(${ASK})(${JSON.stringify({ url, texts })})`)
    expect(answers).toEqual(cliAnswers(texts))
    expect(complaints).toEqual([])
  })

  test('a file: the root, its figures and its lines, which can be jumped to; nothing is sent', async () => {
    await using opened = await open('#/explain')
    const { page, complaints } = opened
    await page.waitForSelector('textarea')
    const sent: string[] = []
    page.on('request', (request) => (request.method() !== 'GET' || request.postData() !== null) && sent.push(request.url()))
    const log = [...Array.from({ length: 20_000 }, (_, i) => `step ${i + 1} loss 0.${i}`), OOM(''), ...Array.from({ length: 300 }, () => 'bye')].join('\n')
    await explain(page, 'job.log', log)
    const [root] = z.array(fault).parse(cliAnswers([log])[0])
    expect(root?.kind).toBe('cuda_oom')
    expect(await page.textContent('.incident-top h2')).toBe(root?.title)
    expect(await page.textContent('.verdict')).toBe(root?.verdict)
    expect(await page.textContent('.log-head p')).toContain('20,301 lines')
    expect(await page.textContent('[data-fact="requested_bytes"] dd')).toBe('2 GiB')
    expect(await page.locator('.log-gap').allTextContents()).toEqual(['19,988 lines left out', '288 lines left out'])
    await page.getByRole('button', { name: '20001', exact: true }).click()
    await page.waitForSelector('li[data-line="20001"][data-looked]')
    expect(await page.locator('li[data-looked] .log-text').textContent()).toContain(root?.evidence[0]?.text)
    expect(await page.evaluate('document.activeElement.dataset.line')).toBe('20001')
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await page.locator('.copy', { hasText: 'copied' }).first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`## ${root?.title ?? ''}`)
    expect(sent).toEqual([])
    expect(complaints).toEqual([])
  })

  test('pasted anywhere on the page; markup in it, and in a file’s name, is text; a compressed file is told as such', async () => {
    await using opened = await open('#/explain')
    const { page, complaints } = opened
    await page.waitForSelector('textarea')
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(`${EVIL}\n${OOM(EVIL)}`)})`)
    await page.keyboard.press('Control+V')
    await page.waitForSelector('.fault-line')
    expect(await page.textContent('.fault-line .log-text')).toContain(EVIL)
    await page.getByRole('button', { name: 'Change the log' }).click()
    expect(await page.inputValue('textarea')).toContain(EVIL)
    await explain(page, `${EVIL}.log`, `${EVIL}\nnothing here`)
    await page.getByRole('heading', { name: 'No known fault in this log' }).waitFor()
    expect(await page.textContent('.log-head b')).toBe(`${EVIL}.log`)
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.title()).toMatch(/Explain · \S+ · Warpwatch$/)
    await page.getByRole('button', { name: 'Another log' }).click()
    await page.setInputFiles('input[name="file"]', { name: "it's.gz", mimeType: 'application/gzip', buffer: Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0) })
    await page.getByRole('heading', { name: 'This file is not plain text' }).waitFor()
    expect(await page.textContent('.command code')).toBe("zcat 'it'\\''s.gz' > log.txt")
    expect(complaints).toEqual([])
  })

  test('the agent’s sources, gaps and version are the API’s', async () => {
    await using opened = await open('#/agent')
    const { page, complaints } = opened
    await page.getByRole('heading', { name: 'No: it is simulated' }).waitFor()
    // Asked again and again by the page: what speaks for the first time after its last question is there after its next.
    const alike = async (): Promise<boolean> => {
      const reported = z.array(z.object({ source: z.string() })).parse(await agent.json('/api/v1/sources'))
      const gaps = z.array(z.object({ reason: z.string() })).parse(await agent.json('/api/v1/gaps'))
      const rows = await page.locator('#sources tbody tr').evaluateAll((all) => all.map((row) => row.getAttribute('data-row') ?? ''))
      const names = new Set(reported.map(({ source }) => source))
      const reading = await page.locator('#sources [data-status="reads"]').count()
      const same = rows.length === names.size && rows.every((row) => names.has(row)) && (await page.textContent('#gaps-title .count')) === String(gaps.length)
      return same && reading === rows.length
    }
    await poll(alike, { what: 'the sources and gaps of the API on the page, each source with readings', everyMs: 500 })
    expect(await page.locator('[data-reason]').evaluateAll((all) => all.map((each) => each.getAttribute('data-reason')))).toEqual(['not_supported'])
    const { info } = z.object({ info: z.object({ version: z.string() }) }).parse(await agent.json('/api/v1/openapi.json'))
    await page.locator('dt:text-is("Version") + dd', { hasText: info.version }).waitFor()
    expect(complaints).toEqual([])
  })

  test('a test message to each notifier: one arrives, one does not, and no address is told', async () => {
    await using opened = await open('#/agent')
    const { page } = opened
    await page.getByRole('button', { name: 'send a test to reached' }).click()
    await page.locator('tr[data-row="reached"] [data-good="true"]', { hasText: 'The test arrived (HTTP 200' }).waitFor()
    expect(received).toEqual(['/hidden-part'])
    await page.getByRole('button', { name: 'send a test to lost' }).click()
    await page.locator('tr[data-row="lost"] [data-good="false"]', { hasText: 'did not arrive' }).waitFor()
    expect(await page.textContent('body')).not.toContain('hidden-part')
  })

  test.each(['dark', 'light'] as const)('a phone shows both without scrolling sideways, in %s', async (colorScheme) => {
    await using opened = await openPage(browser, `${agent.url}#/agent`, { ...PHONE, colorScheme })
    const { page } = opened
    await page.waitForSelector('#notifiers tbody tr')
    expect(await page.evaluate(STICKING_OUT)).toEqual([])
    await page.goto(`${agent.url}#/explain`)
    await page.getByRole('button', { name: 'Show an example' }).click()
    await page.waitForSelector('.log-lines .fault-line')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
  })

  test('when the agent is gone, what is shown is told to be old', async () => {
    await using opened = await open('#/agent')
    const { page } = opened
    await page.getByRole('heading', { name: 'No: it is simulated' }).waitFor()
    await agent.kill()
    await page.getByRole('heading', { name: 'No: it is old' }).waitFor()
    expect(await page.textContent('.doubts')).toContain('No news from the agent')
    const age = (): Promise<string | null> => page.textContent('#sources tr[data-row="host"] td[data-label="Newest reading"]')
    const before = await age()
    await poll(async () => (await age()) !== before, { what: 'an age that goes on', deadlineMs: 60_000 })
  })
})
