// Pictures of every page of the dashboard in every state, to be looked at before a release: node scripts/run.mjs scripts/screenshots.ts FOLDER [STATE ...]
// A picture is FOLDER/STATE/PAGE-SIZE-THEME.png. Needs the build and Debian's chromium.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import * as z from 'zod'
import { SCENARIO_CHOICES } from '../agent/config/sections/simulate.ts'
import { incidentSummary } from '../agent/http/api/incident-schemas.ts'
import { startAgent, type RunningAgent } from '../test/setup/agent.ts'
import { launchBrowser, openPage, PHONE } from '../test/setup/browser.ts'
import { goTo, pagesOf } from '../test/setup/dashboard-pages.ts'

type State = {
  readonly flags: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Once the pages are there, before they are taken. */
  readonly befalls?: (agent: RunningAgent, page: Page) => Promise<unknown>
  /** The state has no more than this page. */
  readonly alone?: true
}

const SPEED = 10
/** Of the story; what each scenario is about has come by then, the memory error of oom-leak after 214 s. */
const STORY_S = 300

const scenario = (name: string): State => ({ flags: [`--simulate=${name}`], env: { WARPWATCH_SIMULATE__SPEED: String(SPEED) } })
const STATES: Readonly<Record<string, State>> = {
  ...Object.fromEntries(SCENARIO_CHOICES.filter((name) => name !== 'off').map((name) => [name, scenario(name)])),
  'no-gpu': { flags: [], env: { WARPWATCH_GPU__SOURCE: 'off' } },
  token: { flags: ['--simulate'], env: { WARPWATCH_HTTP__TOKEN: 'none-of-your-business' }, alone: true },
  disconnected: { ...scenario('healthy'), befalls: (agent, page) => agent.kill().then(() => page.waitForSelector('.content.stale')), alone: true },
}

const SIZES: Readonly<Record<string, BrowserContextOptions>> = { desk: { viewport: { width: 1440, height: 900 } }, phone: { ...PHONE, deviceScaleFactor: 2 } }
const THEMES = ['dark', 'light'] as const

const nameOf = (hash: string): string =>
  hash
    .replace('#/', '')
    .replaceAll('/', '-')
    .replace(/-[0-9a-f]{16}$/, '-one') || 'overview'

type Story = { readonly incident?: string | undefined; readonly gpu?: number | undefined }
const CARDS = z.array(z.object({ index: z.int(), mig: z.array(z.unknown()).optional() }))

/** What it is about, the same for every size: the first critical incident, else the first, and its GPU; where nothing fires the one that is divided. */
async function storyOf(agent: RunningAgent): Promise<Story> {
  const told = z
    .array(incidentSummary)
    .parse(await agent.json('/api/v1/incidents'))
    .toSorted((a, b) => a.started_at - b.started_at)
  const incident = told.find(({ severity }) => severity === 'critical') ?? told[0]
  const divided = CARDS.parse(await agent.json('/api/v1/gpus')).find(({ mig = [] }) => mig.length > 0)
  return { incident: incident?.id, gpu: incident?.subject.gpu?.index ?? divided?.index }
}

/** A window as high as the page, as charts are drawn when they come into sight. */
async function stretch(page: Page, { width = 0, height = 0 }: { readonly width?: number; readonly height?: number }): Promise<void> {
  await page.setViewportSize({ width, height })
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'))
  await page.setViewportSize({ width, height: Math.max(height, whole) })
}

type Sitting = { readonly agent: RunningAgent; readonly state: State; readonly story: Story; readonly folder: string }

async function takeAll(
  browser: Browser,
  { agent, state, story: { incident, gpu }, folder }: Sitting,
  size: BrowserContextOptions,
  sizeName: string,
): Promise<void> {
  await using opened = await openPage(browser, agent.url, size)
  const { page } = opened
  const all = async (): Promise<readonly string[]> => (await pagesOf(page, incident ?? 'none')).filter((hash) => hash !== '#/incidents/none')
  const pages = state.alone === true ? ['#/'] : [...(await all()), ...(gpu === undefined || gpu === 0 ? [] : [`#/gpus/${gpu}`])]
  for (const hash of pages) {
    if (state.alone !== true) await goTo(page, hash)
    else await page.waitForSelector('.gpu, form')
    await state.befalls?.(agent, page)
    await stretch(page, size.viewport ?? {})
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      await delay(1_500) // for charts and what they wait for: these are pictures, not tests
      await page.screenshot({ path: join(folder, `${nameOf(hash)}-${sizeName}-${colorScheme}.png`), fullPage: true })
    }
  }
  for (const complaint of opened.complaints) process.stdout.write(`  ${sizeName}: the browser complains: ${complaint}\n`)
}

const [out, ...names] = process.argv.slice(2)
const unknown = names.filter((name) => !(name in STATES))
if (out === undefined || unknown.length > 0) {
  process.stderr.write(`screenshots: expected a folder and states of ${Object.keys(STATES).join(', ')}, came ${process.argv.slice(2).join(' ') || 'nothing'}\n`)
  process.exit(2)
}
const browser = await launchBrowser()
for (const [name, state] of Object.entries(STATES).filter(([known]) => names.length === 0 || names.includes(known))) {
  process.stdout.write(`${name}\n`)
  const folder = join(out, name)
  mkdirSync(folder, { recursive: true })
  // What a page alone shows may need the agent's end.
  const rounds = state.alone === true ? Object.entries(SIZES).map((size) => [size]) : [Object.entries(SIZES)]
  for (const sizes of rounds) {
    const agent = await startAgent({ args: state.flags, ready: true, env: { WARPWATCH_HOST_NAME: 'gpu-node-07', ...state.env } })
    try {
      if (state.alone !== true) await delay((STORY_S / SPEED) * 1000)
      const story = state.alone === true ? {} : await storyOf(agent)
      for (const [sizeName, size] of sizes) await takeAll(browser, { agent, state, story, folder }, size, sizeName)
    } finally {
      await agent.stop()
    }
  }
}
await browser.close()
