// Pictures of every page of the dashboard in every state, to be looked at before a release: node scripts/run.mjs scripts/screenshots.ts FOLDER [STATE ...] [SIZE | SIZE-THEME ...]
// A picture is FOLDER/STATE/PAGE-SIZE-THEME.png. Needs the build and Debian's chromium. What no scenario changes (Explain, Fit, dialogs …) is taken in few states.
// Of each it says what a machine can see: text that is cut, sticks out or is over other text. FOLDER `-`: no pictures, only that and axe's contrast, for all sizes.
// Without a size: phone, desk and wide. `screenshots.ts out xid zoom print-light`: one state at 200 % zoom, and as printed from the light theme.
// `page=NAME` takes only pages whose name begins so: `screenshots.ts out xid page=overview page=gpus`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import * as z from 'zod'
import { SCENARIO_CHOICES } from '../agent/config/sections/simulate.ts'
import { incidentSummary } from '../agent/http/api/incident-schemas.ts'
import { hostOf, type FakeScenario } from '../test/fakes/nvml/scenario.ts'
import { FULL_PAST, startAgent, type RunningAgent } from '../test/setup/agent.ts'
import { faults, LAYOUT_RULES, loadAxe } from '../test/setup/axe.ts'
import { launchBrowser, openPage, PHONE } from '../test/setup/browser.ts'
import { layoutFaults } from '../test/setup/layout-faults.ts'
import { goTo, pagesOf } from '../test/setup/dashboard-walk.ts'
import { poll } from '../test/setup/poll.ts'

type State = {
  readonly flags: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Once the pages are there, before they are taken. */
  readonly befalls?: (agent: RunningAgent, page: Page) => Promise<unknown>
  /** The state has no more than this page. */
  readonly alone?: true
  /** What no scenario changes is taken here too. */
  readonly whole?: true
  /** A host of its own instead of a simulated one. */
  readonly host?: FakeScenario
}

const SPEED = 10
/** Of the story; what each scenario is about has come by then, the memory error of oom-leak after 214 s. */
const STORY_S = 300
/** In these nothing goes wrong. */
const CALM = ['healthy', 'mig', 'slurm', 'kubernetes']
const SETTLE_MS = 600
const CHECK_SETTLE_MS = 200

const scenario = (name: string): State => ({ flags: [`--simulate=${name}`], env: { WARPWATCH_SIMULATE__SPEED: String(SPEED) } })
const STATES: Readonly<Record<string, State>> = {
  ...Object.fromEntries(SCENARIO_CHOICES.filter((name) => name !== 'off').map((name) => [name, scenario(name)])),
  healthy: { ...scenario('healthy'), whole: true },
  // Cards that nobody uses, and no containers.
  idle: { flags: [], host: hostOf(2, () => ({ mem_used: 512 * 1024 ** 2, util: 0, util_mem: 0, power: 71_000, reasons: 1 })) },
  // The agent finds no NVML library.
  'no-driver': { flags: [], whole: true },
  'no-gpu': { flags: [], env: { WARPWATCH_GPU__SOURCE: 'off' } },
  token: { flags: ['--simulate'], env: { WARPWATCH_HTTP__TOKEN: 'none-of-your-business' }, alone: true },
  disconnected: { ...scenario('healthy'), befalls: (agent, page) => agent.kill().then(() => page.waitForSelector('.content.stale')), alone: true },
}

type Size = BrowserContextOptions & { readonly printed?: true }
const SIZES: Readonly<Record<string, Size>> = {
  phone: { ...PHONE, viewport: { width: 390, height: 844 } },
  tablet: { viewport: { width: 768, height: 1024 } },
  small: { viewport: { width: 1024, height: 768 } },
  desk: { viewport: { width: 1280, height: 800 } },
  large: { viewport: { width: 1920, height: 1080 } },
  wide: { viewport: { width: 2560, height: 1300 } },
  // What a window of 1280 × 800 is at 200 %.
  zoom: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  still: { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' },
  print: { viewport: { width: 1280, height: 800 }, printed: true },
}
const CHECKED = ['phone', 'tablet-light', 'small-dark', 'desk', 'large-dark', 'wide-light', 'zoom-dark']
const USUAL_SIZES = ['phone', 'desk', 'wide']
const THEMES = ['dark', 'light'] as const
type Theme = (typeof THEMES)[number]
/** Sizes and their themes, by what may be asked for. */
const LOOKS: Readonly<Record<string, Readonly<Record<string, readonly Theme[]>>>> = Object.fromEntries(
  Object.keys(SIZES).flatMap((size) => [[size, { [size]: THEMES }], ...THEMES.map((theme) => [`${size}-${theme}`, { [size]: [theme] }])]),
)
const SAME_EVERYWHERE = ['#/explain', '#/fit', '#/doctor', '#/hosts', '#/agent']
/** By the key that opens it. */
const DIALOGS = { palette: 'Control+k', shortcuts: '?', settings: ',' } as const

const nameOf = (hash: string): string =>
  hash
    .replace('#/', '')
    .replaceAll('/', '-')
    .replace(/^jobs-.*/, 'jobs-one')
    .replace(/^incidents-.*/, 'incidents-one')
    .replace(/[?].*/, '') || 'overview'

type Story = {
  readonly incident?: string | undefined
  readonly gpu?: number | undefined
  /** As the list of jobs has it in its address: a container, a pod with its namespace, a Slurm job. */
  readonly job?: string | undefined
}
const CARDS = z.array(z.object({ index: z.int(), mig: z.array(z.unknown()).optional() }))

/** What it is about, the same for every size: the first critical incident, else the first, and its GPU; where nothing fires the one that is divided. */
async function storyOf(agent: RunningAgent): Promise<Story> {
  const reported = z
    .array(incidentSummary)
    .parse(await agent.json('/api/v1/incidents'))
    .toSorted((a, b) => a.started_at - b.started_at)
  const incident = reported.find(({ severity }) => severity === 'critical') ?? reported[0]
  const divided = CARDS.parse(await agent.json('/api/v1/gpus')).find(({ mig = [] }) => mig.length > 0)
  const { container } = incident?.subject ?? {}
  const slurm = incident?.facts.job_id
  const job =
    container?.pod === undefined ? (container?.name ?? (slurm === undefined ? undefined : `slurm:${String(slurm)}`)) : `${container.namespace}/${container.pod}`
  return { incident: incident?.id, gpu: incident?.subject.gpu?.index ?? divided?.index, job }
}

/** A window as high as the page, as charts are drawn when they come into sight. */
async function stretch(page: Page, { width = 0, height = 0 }: { readonly width?: number; readonly height?: number }): Promise<void> {
  await page.setViewportSize({ width, height })
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'))
  await page.setViewportSize({ width, height: Math.max(height, whole) })
}

/** What came late has made the page higher than its window, and a chart below the window is not drawn. */
const hasGrown = async (page: Page): Promise<boolean> =>
  (await page.evaluate('document.documentElement.scrollHeight > document.documentElement.clientHeight')) === true

/** The address of a job that the table of jobs lists, where there is one: of the story's job, else the first. */
async function oneJob(page: Page, job: string | undefined): Promise<readonly string[]> {
  await goTo(page, '#/jobs')
  const links = z
    .array(z.string())
    .parse(await page.evaluate(`Array.from(document.querySelectorAll('.jobs-page tbody a[href*="#/jobs/"]'), (link) => new URL(link.href).hash)`))
  const one = links.find((hash) => job !== undefined && decodeURIComponent(hash) === `#/jobs/${job}`) ?? links[0]
  return one === undefined ? [] : [one]
}

/** Said once, however many pictures have it. */
const said = new Set<string>()
function seen(fault: string): void {
  if (!said.has(fault)) process.stdout.write(`  ${fault}\n`)
  said.add(fault)
}

type Look = { readonly size: Size; readonly sizeName: string; readonly themes: readonly Theme[] }
type Sitting = { readonly agent: RunningAgent; readonly state: State; readonly story: Story; readonly folder: string | undefined }

async function takeAll(browser: Browser, { agent, state, story: { incident, gpu, job }, folder }: Sitting, { size, sizeName, themes }: Look): Promise<void> {
  const { printed, ...context } = size
  await using opened = await openPage(browser, agent.url, context)
  const { page } = opened
  await loadAxe(page)
  const all = async (): Promise<readonly string[]> => {
    const pages = [...(await pagesOf(page, incident ?? 'none')), ...(gpu === undefined || gpu === 0 ? [] : [`#/gpus/${gpu}`]), ...(await oneJob(page, job))]
    return pages.filter((hash) => hash !== '#/incidents/none' && (state.whole === true || !SAME_EVERYWHERE.includes(hash)) && isAskedPage(nameOf(hash)))
  }
  const take = async (name: string, fullPage = true): Promise<void> => {
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme, media: 'screen' })
      const settleMs = folder === undefined ? CHECK_SETTLE_MS : SETTLE_MS
      await delay(settleMs) // for charts and what they wait for: these are pictures, not tests
      if (fullPage && (await hasGrown(page))) {
        await stretch(page, size.viewport ?? {})
        await delay(settleMs)
      }
      if (printed === true) await page.emulateMedia({ media: 'print' })
      else
        for (const fault of [...(await layoutFaults(page)), ...(folder === undefined ? await faults(page, LAYOUT_RULES) : [])])
          seen(`${name} ${sizeName}-${colorScheme}: ${fault}`)
      if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${sizeName}-${colorScheme}.png`), fullPage })
    }
  }
  for (const hash of state.alone === true ? ['#/'] : await all()) {
    if (state.alone !== true) await goTo(page, hash)
    else await page.waitForSelector('.gpu, form')
    await state.befalls?.(agent, page)
    await stretch(page, size.viewport ?? {})
    await take(nameOf(hash))
  }
  if (state.whole === true && printed !== true && onlyPages.length === 0) {
    await page.setViewportSize(size.viewport ?? { width: 0, height: 0 })
    await goTo(page, '#/')
    for (const [name, key] of Object.entries(DIALOGS)) {
      await page.keyboard.press(key)
      await page.waitForSelector('dialog[open]')
      // Its backdrop covers the window, not the page.
      await take(name, false)
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
  }
  for (const complaint of opened.complaints) process.stdout.write(`  ${sizeName}: the browser complains: ${complaint}\n`)
}

const PAGE = 'page='
const [out, ...given] = process.argv.slice(2)
const onlyPages = given.filter((each) => each.startsWith(PAGE)).map((each) => each.slice(PAGE.length))
const isAskedPage = (name: string): boolean => onlyPages.length === 0 || onlyPages.some((start) => name.startsWith(start))
const asked = given.filter((each) => !each.startsWith(PAGE))
const names = asked.filter((each) => each in STATES)
const unknown = asked.filter((each) => !(each in STATES) && !(each in LOOKS))
if (out === undefined || unknown.length > 0) {
  process.stderr.write(
    `screenshots: expected a folder, states of ${Object.keys(STATES).join(', ')} and sizes of ${Object.keys(SIZES).join(', ')}, came ${process.argv.slice(2).join(' ') || 'nothing'}\n`,
  )
  process.exit(2)
}
const askedLooks = asked.filter((each) => !(each in STATES))
const looks: readonly Look[] = (askedLooks.length > 0 ? askedLooks : out === '-' ? CHECKED : USUAL_SIZES).flatMap((each) =>
  Object.entries(LOOKS[each] ?? {}).map(([sizeName, themes]) => ({ size: SIZES[sizeName] ?? {}, sizeName, themes })),
)
const browser = await launchBrowser()
for (const [name, state] of Object.entries(STATES).filter(([known]) => names.length === 0 || names.includes(known))) {
  process.stdout.write(`${name}\n`)
  const folder = out === '-' ? undefined : join(out, name)
  if (folder !== undefined) mkdirSync(folder, { recursive: true })
  // What a page alone shows may need the agent's end.
  const rounds = state.alone === true ? looks.map((look) => [look]) : [looks]
  for (const round of rounds) {
    const agent = await startAgent({
      args: state.flags,
      ready: true,
      env: { ...FULL_PAST, WARPWATCH_HOST_NAME: 'gpu-node-07', ...state.env },
      ...(state.host !== undefined && { scenario: state.host }),
    })
    try {
      if (state.alone !== true) await delay(state.flags.length === 0 ? 2_000 : (STORY_S / SPEED) * 1000)
      if (state.flags.length > 0 && state.alone !== true && !CALM.includes(name))
        await poll(async () => (await storyOf(agent)).incident, { what: `an incident of ${name}`, deadlineMs: 120_000, everyMs: 500 })
      const story = state.alone === true ? {} : await storyOf(agent)
      for (const look of round) await takeAll(browser, { agent, state, story, folder }, look)
    } finally {
      await agent.stop()
    }
  }
}
await browser.close()
