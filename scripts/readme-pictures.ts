// The pictures of the README, made again from the build and simulated hosts: node scripts/run.mjs scripts/readme-pictures.ts [NAME ...]
// `top` runs in a real terminal of 120 x 38; its cells are drawn by Chromium. Needs the build, Debian's chromium and python3.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import * as z from 'zod'
import { incidentSummary } from '../agent/http/api/incident-schemas.ts'
import { FULL_PAST, startAgent, type RunningAgent } from '../test/setup/agent.ts'
import { launchBrowser, openPage } from '../test/setup/browser.ts'
import { goTo } from '../test/setup/dashboard-walk.ts'
import { screenOf, type Cell } from '../test/setup/terminal-screen.ts'

const ROOT = join(import.meta.dirname, '..')
const IMAGES = join(ROOT, 'docs/images')
const SPEED = 10
/** Of the story: by then there is a past to be seen, and the memory error of oom-leak has come (after 214 s). */
const STORY_S = 300
/** In their own time the past that is played at the start fills the charts. */
const CALM_S = 20
/** Of oom-leak in its own time: the first memory error, before the job restarts and fails again. */
const FIRST_S = 232
/** In the forecast's own time, as the agent waits for a trend: it fires after some 750 s. */
const FORECAST_S = 840
const [COLUMNS, ROWS] = [120, 38]
const CELL = { width: 9, height: 20 }

const pathOf = (name: string): string => join(IMAGES, `${name}.png`)

async function pageOf(browser: Browser, agent: RunningAgent, hash: string, name: string): Promise<void> {
  await using opened = await openPage(browser, agent.url, { viewport: { width: 1440, height: 1132 } })
  if (hash !== '#/') await goTo(opened.page, hash)
  await opened.page.waitForSelector(hash === '#/' ? '.gpu' : 'canvas')
  await delay(3_000) // for charts: these are pictures, not tests
  await opened.page.screenshot({ path: pathOf(name) })
}

async function incidentOf(browser: Browser, agent: RunningAgent): Promise<void> {
  const reported = z.array(incidentSummary).parse(await agent.json('/api/v1/incidents'))
  const worst = reported.find(({ severity }) => severity === 'critical')
  if (worst === undefined) throw new Error('readme-pictures: expected a critical incident of oom-leak, came none')
  await pageOf(browser, agent, `#/incidents/${worst.id}`, 'dashboard-incident')
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const cssOf = (style: string): string => {
  const codes = style.split(';')
  const at = codes.indexOf('38')
  const colour = codes[at + 1] === '2' ? `rgb(${codes.slice(at + 2, at + 5).join()})` : '#8a8a8a' // 38;5;245, for what is dim
  const own = at === -1 ? [] : [`color:${colour}`]
  const rest = at === -1 ? codes : codes.slice(0, at)
  return [...own, ...(rest.includes('1') ? ['font-weight:bold'] : []), ...(rest.includes('7') ? ['background:#ddd', 'color:#111'] : [])].join(';')
}
/** Each cell in its own place: fonts have no braille of the letters' width. */
function drawing(cells: readonly (readonly Cell[])[]): string {
  const spans = cells.flatMap((row, y) =>
    row.flatMap(({ char, style }, x) =>
      char === '' || (char === ' ' && !style.includes('7'))
        ? []
        : [`<b style="left:${x * CELL.width}px;top:${y * CELL.height}px;${cssOf(style)}">${HTML[char] ?? char}</b>`],
    ),
  )
  const size = `width:${COLUMNS * CELL.width}px;height:${ROWS * CELL.height}px`
  return `<style>body{margin:0;background:#16181d}div{position:relative;margin:14px;${size}}
b{position:absolute;width:${CELL.width}px;height:${CELL.height}px;font:15px/${CELL.height}px 'DejaVu Sans Mono',monospace;color:#d4d4d4;overflow:hidden}</style><div>${spans.join('')}</div>`
}
async function topOf(browser: Browser, agent: RunningAgent): Promise<void> {
  const script = `stty rows ${ROWS} cols ${COLUMNS}; exec "$@"`
  const command = [process.execPath, join(ROOT, 'dist/main.js'), 'top', '--listen', new URL(agent.url).host]
  const steps = ['await GPU', 'run sleep 62', 'type q']
  const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', TERM: 'xterm-256color', COLORTERM: 'truecolor' }
  const { stdout } = await promisify(execFile)(
    'python3',
    [join(ROOT, 'test/integration/exec-terminal.py'), JSON.stringify(steps), 'sh', '-c', script, 'sh', ...command],
    { env, maxBuffer: 2 ** 26 },
  )
  const out = Buffer.from(z.object({ out: z.string() }).parse(JSON.parse(stdout)).out, 'latin1').toString('utf8')
  const viewport = { width: COLUMNS * CELL.width + 28, height: ROWS * CELL.height + 28 }
  const page: Page = await browser.newPage({ viewport })
  await page.setContent(drawing(screenOf(out, COLUMNS, ROWS).cells))
  await page.screenshot({ path: pathOf('top') })
}

type Picture = {
  readonly scenario: string
  /** Seconds of the story per second, and how far it has come; SPEED and STORY_S where not given. */
  readonly speed?: number
  readonly storyS?: number
  readonly take: (browser: Browser, agent: RunningAgent) => Promise<void>
}
const PICTURES: Readonly<Record<string, Picture>> = {
  'dashboard-dark': { scenario: 'healthy', speed: 1, storyS: CALM_S, take: (browser, agent) => pageOf(browser, agent, '#/', 'dashboard-dark') },
  'dashboard-incident': { scenario: 'oom-leak', speed: 1, storyS: FIRST_S, take: incidentOf },
  'dashboard-forecast': {
    scenario: 'oom-forecast',
    speed: 1,
    storyS: FORECAST_S,
    take: (browser, agent) => pageOf(browser, agent, '#/', 'dashboard-forecast'),
  },
  top: { scenario: 'oom-leak', take: topOf },
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in PICTURES))
if (unknown.length > 0) {
  process.stderr.write(`readme-pictures: expected any of ${Object.keys(PICTURES).join(', ')}, came ${unknown.join(', ')}\n`)
  process.exit(2)
}
const browser = await launchBrowser()
for (const [name, { scenario, speed = SPEED, storyS = STORY_S, take }] of Object.entries(PICTURES).filter(
  ([known]) => names.length === 0 || names.includes(known),
)) {
  process.stdout.write(`${name}\n`)
  const env = { ...FULL_PAST, WARPWATCH_HOST_NAME: 'gpu-node-07', WARPWATCH_SIMULATE__SPEED: String(speed) }
  const agent = await startAgent({ args: [`--simulate=${scenario}`], ready: true, env })
  try {
    await delay((storyS / speed) * 1_000)
    await take(browser, agent)
  } finally {
    await agent.stop()
  }
}
await browser.close()
