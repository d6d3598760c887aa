// The dashboard in a real Chromium: how soon it shows figures, what a second's frame costs it, and whether it is after 20,000 of them as it was before.
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { hasChromium, launchBrowser } from '../test/setup/browser.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { openPlayed } from './lib/played-page.ts'
import { startSimulatedHost, type SimulatedHost } from './lib/simulated-host.ts'
import { percentile, printTable, type Row } from './lib/table.ts'

const RUNS = 15
const LIMIT_PAINT_MS = 300
/** A browser that has just opened a tab is still at it; one whose user types an address has come to rest. */
const AT_REST_MS = 1_000
/** Of a first visit; the first of all reads Chromium itself from the disk. */
const PATIENCE_MS = 30_000
const CARDS = 8
const GPUS = 16
/** The charts' window is then full. */
const FILL = 900
const MEASURED = 200
const LIMIT_TICK_MS = 8
const TICKS = 20_000
/** Frames between two paintings, as in a tab that is looked at now and then. */
const BATCH = 20
/** Longer than from one frame of the screen to the next. */
const REST_MS = 30
const LIMIT_GROWTH_MIB = 2
const MIB = 1024 ** 2

/** Calls `painted` with the moment at which Chromium put the last of the cards' memory figures on the screen. */
const USEFUL = `{
  let seen = 0
  let last = 0
  new PerformanceObserver((list) => {
    for (const { identifier, renderTime } of list.getEntries()) if (identifier === 'useful') { seen += 1; last = Math.max(last, renderTime) }
    if (seen === ${CARDS}) painted(last)
  }).observe({ type: 'element', buffered: true })
  new MutationObserver((_, observer) => {
    const figures = document.querySelectorAll('.gpu .memory-used')
    if (figures.length < ${CARDS} || ![...figures].every((each) => /\\d/.test(each.textContent))) return
    observer.disconnect()
    for (const each of figures) each.setAttribute('elementtiming', 'useful')
  }).observe(document, { childList: true, subtree: true, characterData: true })
}`

/** From the request to the cards' figures on the screen, each time in a browser profile that has never seen the page. */
async function firstPaint(browser: Browser): Promise<readonly Row[]> {
  const agent = startAgentProcess({ port: 19_843, args: ['--simulate'] })
  const deadline = performance.now() + 60_000
  while (!(await get(`${agent.url}/api/v1/gpus`))?.includes('memory_used_bytes')) {
    if (performance.now() > deadline) throw new Error(`no GPU within 60 s; the agent said:\n${agent.stderr()}`)
    await delay(20)
  }
  const times: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    const painted = Promise.withResolvers<number>()
    await page.addInitScript(USEFUL)
    await page.exposeFunction('painted', painted.resolve)
    await delay(AT_REST_MS)
    await page.goto(agent.url)
    const late = AbortSignal.timeout(PATIENCE_MS)
    late.addEventListener('abort', () =>
      painted.reject(new Error(`run ${run + 1}: expected the figures of ${CARDS} GPUs on the screen within ${PATIENCE_MS / 1000} s`)),
    )
    times.push(await painted.promise)
    await context.close()
  }
  await agent.stop()
  const median = percentile(times, 0.5)
  return [
    {
      what: `from the request to the figures of ${CARDS} GPUs on the screen, median of ${RUNS}`,
      figure: `${median.toFixed(0)} ms`,
      limit: `${LIMIT_PAINT_MS} ms`,
      ok: median <= LIMIT_PAINT_MS,
    },
    { what: '… slowest', figure: `${Math.max(...times).toFixed(0)} ms` },
  ]
}

/** So large that all charts are in sight, which is when they are drawn. */
const LARGE = { viewport: { width: 2400, height: 2600 } }

/** So many GPUs would stand compact, without charts: what is measured is the most that the page can have to draw. */
const AS_CARDS = `localStorage.setItem('warpwatch.settings', '{"layout":"cards"}')`

/** What Chromium counts of the page's thread. The last is all of it, with painting, which takes the more here as no GPU helps. */
const COUNTERS = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration', 'TaskDuration'] as const

const whole = (counters: readonly number[]): number => counters.at(-1) ?? Number.NaN

/** What the page does for a tick, in a page into which nothing was put to measure it: when its thread has come to rest, the tick is drawn. */
async function cost(browser: Browser, host: SimulatedHost): Promise<readonly Row[]> {
  const context = await browser.newContext(LARGE)
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  // The thread's own time: what else runs on this machine is not in it.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const now = async (): Promise<readonly number[]> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return COUNTERS.map((counter) => (metrics.find(({ name }) => name === counter)?.value ?? Number.NaN) * 1000)
  }
  /** When the thread has worked since and come to rest. */
  const settled = async (since: readonly number[]): Promise<readonly number[]> => {
    for (let last = await now(); ;) {
      await delay(REST_MS)
      const next = await now()
      if (whole(next) - whole(last) < 1 && whole(next) - whole(since) > 1) return next
      last = next
    }
  }
  let before = await now()
  await page.addInitScript(AS_CARDS)
  await page.goto(host.url)
  for (let n = 0; n < FILL; n += 1) {
    host.tick()
    if (n % BATCH === 0) before = await settled(before)
  }
  const charts = Number(await page.evaluate(`document.querySelectorAll('.gpu canvas').length`))
  const ticks: { readonly own: number; readonly all: number }[] = []
  for (let n = 0; n < MEASURED; n += 1) {
    host.tick()
    const after = await settled(before)
    const [script = Number.NaN, style = Number.NaN, layout = Number.NaN, all = Number.NaN] = after.map((ms, i) => ms - (before[i] ?? Number.NaN))
    ticks.push({ own: script + style + layout, all })
    before = after
  }
  await context.close()
  const own = (part: number): number =>
    percentile(
      ticks.map((tick) => tick.own),
      part,
    )
  const all = percentile(
    ticks.map((tick) => tick.all),
    0.5,
  )
  return [
    { what: `charts in sight, of ${GPUS} GPUs`, figure: String(charts), limit: String(GPUS * 4), ok: charts === GPUS * 4 },
    {
      what: `a tick: scripts, style and layout, median of ${MEASURED}`,
      figure: `${own(0.5).toFixed(1)} ms`,
      limit: `${LIMIT_TICK_MS} ms`,
      ok: own(0.5) <= LIMIT_TICK_MS,
    },
    { what: '… one in twenty takes more than', figure: `${own(0.95).toFixed(1)} ms` },
    { what: '… the whole thread, painting without a GPU included, median', figure: `${all.toFixed(1)} ms` },
  ]
}

async function memory(browser: Browser, host: SimulatedHost): Promise<readonly Row[]> {
  const { session, play, close } = await openPlayed(browser, host, LARGE)
  for (let n = 0; n < FILL; n += BATCH) await play(BATCH)
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage')
    return (await session.send('Runtime.getHeapUsage')).usedSize / MIB
  }
  const at: number[] = []
  for (let played = 0; played <= TICKS; played += TICKS / 4) {
    if (played > 0) for (let n = 0; n < TICKS / 4; n += BATCH) await play(BATCH)
    at.push(await heap())
  }
  await close()
  const growth = (at.at(-1) ?? Number.NaN) - (at[0] ?? Number.NaN)
  return [
    { what: `heap after each ${TICKS / 4} ticks`, figure: `${at.map((mib) => mib.toFixed(1)).join(', ')} MiB` },
    { what: `growth over ${TICKS} ticks`, figure: `${growth.toFixed(2)} MiB`, limit: `${LIMIT_GROWTH_MIB} MiB`, ok: growth <= LIMIT_GROWTH_MIB },
  ]
}

export async function run(): Promise<void> {
  if (!hasChromium) {
    process.stdout.write('dashboard: skipped, Debian’s chromium is not installed\n')
    return
  }
  const browser = await launchBrowser()
  printTable(await firstPaint(browser))
  const host = await startSimulatedHost({ gpus: GPUS, containers: 20, processes: 40 })
  try {
    printTable(await cost(browser, host))
    printTable([...(await memory(browser, host)), { what: 'frames skipped', figure: String(host.skipped()), limit: '0', ok: host.skipped() === 0 }])
  } finally {
    await browser.close()
    await host.close()
  }
}

if (import.meta.main) await run()
