// Ten minutes of the dashboard with 16 GPUs whose figures change each second, each view opened in turn: tasks that hold the page up, what moves by itself,
// and what a visit takes over the wire afterwards.
import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startAgent } from '../test/setup/agent.ts'
import { hasChromium, launchBrowser } from '../test/setup/browser.ts'
import { hostOf, type FakeScenario } from '../test/fakes/nvml/scenario.ts'
import { startSlowLink } from './lib/slow-link.ts'
import { printTable } from './lib/table.ts'

const GPUS = 16
const PROCESSES = 40
const GIB = 2 ** 30
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 600)
const VIEW_S = 15
const LIMIT_TASK_MS = 200
const LIMIT_SHIFT = 0.02
const LIMIT_KB = 700
const FIRST_MS = 5_000

/** A browser reports tasks of at least 50 ms. Shifts as CLS counts them: the largest sum within 5 s without a pause of 1 s, none within half a second of a key. */
const WATCH = `{
  window.seen = { tasks: [], shift: 0, at: '' }
  let [from, last, sum] = [-Infinity, -Infinity, 0]
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.seen.tasks.push([Math.round(duration), location.hash])
  }).observe({ type: 'longtask', buffered: true })
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, startTime, value } of list.getEntries()) {
      if (hadRecentInput) continue
      if (startTime - last > 1_000 || startTime - from > 5_000) [from, sum] = [startTime, 0]
      last = startTime
      sum += value
      if (sum > window.seen.shift) [window.seen.shift, window.seen.at] = [sum, location.hash]
    }
  }).observe({ type: 'layout-shift', buffered: true })
}`
type Seen = { readonly tasks: readonly (readonly [number, string])[]; readonly shift: number; readonly at: string }
const seenBy = (page: Page): Promise<Seen> => page.evaluate('window.seen')

export async function run(): Promise<void> {
  if (!hasChromium) {
    process.stdout.write('long-view: skipped, Debian’s chromium is not installed\n')
    return
  }
  const sleepers = Array.from({ length: PROCESSES }, () => spawn('sleep', ['100000'], { stdio: 'ignore' }))
  const pids = sleepers.flatMap(({ pid }) => pid ?? [])
  const sceneAt = (t: number): FakeScenario => {
    // What is used is what the processes hold and the driver's own part: memory that nobody holds would be an incident after five minutes, and move the page.
    const each = (index: number): number => Math.round((6 + 4 * Math.abs(Math.sin(t / 40 + index))) * GIB)
    const holds = (index: number) => pids.filter((_, n) => n % GPUS === index).map((pid) => ({ pid, bytes: each(index) }))
    const host = hostOf(GPUS, (index) => ({
      mem_used: holds(index).reduce((sum, { bytes }) => sum + bytes, GIB / 2),
      util: Math.round(50 + 50 * Math.sin(t / 7 + index)),
      power: Math.round(300_000 + 200_000 * Math.sin(t / 5 + index)),
      temp: Math.round(60 + 15 * Math.sin(t / 60 + index)),
    }))
    return { ...host, gpus: host.gpus.map((gpu, index) => ({ ...gpu, processes: holds(index) })) }
  }
  await using agent = await startAgent({ scenario: sceneAt(0), ready: true })
  const begun = performance.now()
  const seconds = (): number => Math.floor((performance.now() - begun) / 1_000)
  const changing = setInterval(() => agent.tell(sceneAt(seconds())), 1_000)
  const browser = await launchBrowser()
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.addInitScript(WATCH)
  await page.goto(agent.url)
  const views = ['jobs', 'incidents', 'servers', 'allocator', 'doctor', 'hosts', 'agent', 'fit', 'explain']
  for (let n = 0; seconds() < SECONDS; n += 1) {
    // Half of the time on the overview, which draws the most.
    const view = n % 2 === 0 ? '' : (views[((n - 1) / 2) % views.length] ?? '')
    await page.click(`nav a[href="#/${view}"]`)
    await delay(VIEW_S * 1_000)
  }
  const { tasks, shift, at } = await seenBy(page)
  await page.close()

  const link = await startSlowLink(agent.url, { bitsPerSecond: 1_000_000_000, roundTripMs: 1 })
  const visit = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await visit.goto(link.url, { waitUntil: 'commit' })
  await delay(FIRST_MS)
  const bytes = link.bytes()
  await browser.close()
  link.close()
  clearInterval(changing)
  for (const child of sleepers) child.kill()

  const long = tasks.filter(([ms]) => ms > LIMIT_TASK_MS)
  const longest = Math.max(0, ...tasks.map(([ms]) => ms))
  printTable([
    {
      what: `tasks over ${LIMIT_TASK_MS} ms in ${Math.round(SECONDS / 60)} min of ${GPUS} GPUs and ${PROCESSES} processes, each view opened`,
      figure: String(long.length),
      limit: '0',
      ok: long.length === 0,
    },
    { what: `… longest of ${tasks.length} over 50 ms`, figure: `${longest} ms ${tasks.find(([ms]) => ms === longest)?.[1] ?? ''}` },
    { what: 'layout shift (CLS) in that time', figure: `${shift.toFixed(4)} ${at}`, limit: String(LIMIT_SHIFT), ok: shift <= LIMIT_SHIFT },
    {
      what: `bytes of the first 5 s with ${GPUS} GPUs and ${Math.round(SECONDS / 60)} min of history`,
      figure: `${(bytes / 1_000).toFixed(0)} kB`,
      limit: `${LIMIT_KB} kB`,
      ok: bytes <= LIMIT_KB * 1_000,
    },
  ])
}

if (import.meta.main) await run()
