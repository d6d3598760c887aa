// Long: about 72 s.
// Ways through the dashboard of people with a question: from the first screen to the answer in at most three clicks, and again by the keyboard alone. No screen on the way has a serious fault.
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { runChecks } from '../../agent/doctor/runner.ts'
import * as hostChecks from '../../agent/doctor/checks/host/index.ts'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { startAgent } from '../setup/agent.ts'
import { faults, loadAxe } from '../setup/axe.ts'
import { DESKTOP, hasChromium, openPage } from '../setup/browser.ts'
import { fileBrowser, useIncidentScene, type IncidentScene } from '../setup/dashboard-pages.ts'
import { walk, type Screen, type Way } from '../setup/dashboard-story.ts'
import { poll } from '../setup/poll.ts'
import { part } from '../setup/rounds.ts'
import { card, NO_MODULE } from '../unit/doctor/hosts.ts'
import { buildScene } from '../unit/doctor/scene.ts'

/** In `npm test` each story goes one of the ways, in turn. */
const WAYS: readonly Way[] = ['mouse', 'keyboard']
const MOST_PRESSES = 3

/** Nothing may complain on the way. axe looks at each screen once: by mouse and by keyboard they are the same. */
async function tell(page: Page, complaints: readonly string[], way: Way, screens: readonly Screen[]): Promise<void> {
  if (way === 'mouse') await loadAxe(page)
  const looked = screens.map(({ press, sees }): Screen => {
    const seesWell = async (): Promise<void> => {
      await sees(page)
      const grave = way === 'mouse' ? await faults(page) : []
      expect(grave, `the screen after ${press ?? 'the start'}`).toEqual([])
    }
    return { ...(press !== undefined && { press }), sees: seesWell }
  })
  expect(await walk(page, looked, way)).toBeLessThanOrEqual(MOST_PRESSES)
  expect(complaints).toEqual([])
}

/** `from`: the address that the person comes by. */
async function story(scene: IncidentScene, way: Way, screens: readonly Screen[], from = ''): Promise<void> {
  await using opened = await openPage(scene.browser, `${scene.agent.url}${from}`, DESKTOP)
  await tell(opened.page, opened.complaints, way, screens)
}

const shows =
  (selector: string): Screen['sees'] =>
  (page) =>
    page.waitForSelector(selector)

describe.skipIf(!hasChromium)('stories on a host with a lost GPU (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('lost-gpu', 'xid')

  test.each(part(WAYS, 0, 2))('paged at night by a link in Slack, by %s: what is wrong, with which card, what to do, and what else that card had', (way) =>
    story(
      scene,
      way,
      [
        {
          sees: async (page) => {
            await page.waitForSelector('.incident-page .remedies')
            expect(await page.textContent('#incident-title')).toMatch(/^GPU 5\b/)
            expect(await page.textContent('.card-identity')).toMatch(/serial \d+ · bus 0000\w*:9B:00\.0 · UUID GPU-/i)
          },
        },
        {
          press: '.whom a[href^="#/gpus/5"]',
          sees: async (page) => {
            await page.waitForSelector('.gpu-incidents a')
            expect(await page.textContent('#gpu-title')).toContain('GPU 5')
          },
        },
      ],
      // As alerts/messages/links.ts writes it.
      `/#/incidents/${scene.incident}`,
    ),
  )

  test.each(part(WAYS, 1, 2))('paged at night, from the first screen by %s: the status line leads to what is wrong', (way) =>
    story(scene, way, [
      { sees: shows('.status .incident-link') },
      {
        press: '.status .incident-link',
        sees: async (page) => {
          await page.waitForSelector('.incident-page .remedies')
          expect(await page.textContent('#incident-title')).toMatch(/^GPU 5\b/)
        },
      },
    ]),
  )

  test.each(part(WAYS, 2, 2))('who fills GPU 3, by %s: its job, who started it and since when, from the containers on the first screen', (way) => {
    let job: string | null = null
    return story(scene, way, [
      { sees: shows('#containers .holding') },
      {
        press: '#containers .holding[href^="#/gpus/3"]',
        sees: async (page) => {
          await page.waitForSelector('#gpu-processes td.col-user:has-text("root")')
          await page.waitForSelector('#gpu-processes td.col-age')
          expect(await page.textContent('#gpu-processes .command-line')).toContain('train.py')
          job = await page.getAttribute('#gpu-processes tbody a', 'href')
        },
      },
      {
        press: '#gpu-processes tbody a',
        sees: async (page) => {
          await page.waitForSelector('.job-figures')
          expect(new URL(page.url()).hash).toBe(job)
        },
      },
    ])
  })
})

describe.skipIf(!hasChromium)('stories on a host with a job that died (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('oom-neighbour', 'cuda_oom')

  test.each(part(WAYS, 3, 2))('my job died, by %s: the cause, then the job itself with the run that failed', (way) => {
    let whose: string | null = null
    return story(scene, way, [
      { sees: shows('.incident[data-kind="cuda_oom"] a') },
      {
        press: '.incident[data-kind="cuda_oom"] b a',
        sees: async (page) => {
          await page.waitForSelector('.incident-page .verdict')
          whose = await page.textContent('.whom a[href^="#/jobs/"]')
        },
      },
      {
        press: '.whom a[href^="#/jobs/"]',
        sees: async (page) => {
          await page.waitForSelector('.job-incidents a')
          expect(await page.textContent('main h2')).toContain(whose)
          await page.waitForSelector('#job-runs .col-outcome .bad')
        },
      },
    ])
  })
})

describe.skipIf(!hasChromium)('stories on a host with a job that hangs (needs Debian’s chromium)', () => {
  // The job is restarted after 25 minutes, here five.
  const scene = useIncidentScene('job-hang', 'job_hang', { WARPWATCH_SIMULATE__SPEED: '5' })

  test.each(part(WAYS, 4, 2))('all four GPUs are held and nothing is logged, by %s: which rank holds the job up and where, then its GPU', (way) =>
    story(scene, way, [
      { sees: shows('#gpu-0 .alarms a[href^="#/incidents/"]') },
      {
        press: '#gpu-0 .alarms a',
        sees: async (page) => {
          await page.waitForSelector('.ranks')
          expect(await page.locator('.ranks tr[data-culprit]').allTextContents()).toEqual([
            expect.stringMatching(/^3holds it up3\d+data.*\/app\/data\.py:57 next_batch/),
          ])
          const states = page.locator('.ranks td.call[data-call]')
          expect((await states.allTextContents()).toSorted()).toEqual(['not joined', 'not joined', 'not joined', 'waits', 'waits', 'waits'])
        },
      },
      {
        press: '.ranks a[href^="#/gpus/3"]',
        sees: async (page) => {
          await page.waitForSelector('.gpu-incidents a')
          expect(await page.textContent('#gpu-title')).toContain('GPU 3')
          expect(await page.textContent('.gpu-incidents')).toContain('pretrain-trainer-1 hangs: rank 3')
        },
      },
    ]),
  )
})

describe.skipIf(!hasChromium)('stories on a host with hot GPUs (needs Debian’s chromium)', () => {
  const scene = useIncidentScene('throttling', 'throttling', { WARPWATCH_SIMULATE__SPEED: '2' })
  // The cards are hot for one minute of two. What is over has no row when the page is opened; while the slowdown is on, the incident has 30 s to go.
  beforeEach(() =>
    poll(
      async () => {
        const known = z.array(incidentSummary).parse(await scene.agent.json('/api/v1/incidents?kind=throttling'))
        const fires = known.some(({ status, title }) => status === 'firing' && title.includes('thermally throttled'))
        return fires && /gpu_throttle_active\{.*reason="sw_thermal_slowdown"\} 1$/m.test((await scene.agent.get('/metrics')).text)
      },
      { what: 'a GPU that is thermally throttled', deadlineMs: 240_000, everyMs: 200 },
    ),
  )

  test.each(part(WAYS, 5, 2))('why is it slower than yesterday, by %s: the GPU that is throttled, why, and its clock on a chart of both days', (way) => {
    // Another GPU's memory is too hot, which is of the same kind.
    const throttled = '.incident[data-kind="throttling"] b a:has-text("thermally throttled")'
    return story(scene, way, [
      { sees: shows(throttled) },
      {
        press: throttled,
        sees: async (page) => {
          await page.waitForSelector('.incident-page .verdict')
          expect(await page.textContent('.incident-page')).toMatch(/thermal/i)
          expect(await page.textContent('.incident-page .remedies')).toMatch(/air|fan|cool/i)
        },
      },
      { press: '.whom a[href^="#/gpus/"]', sees: shows('[data-chart="clocks"]') },
      {
        press: '.range-picker button[aria-label^="24 h"]',
        sees: async (page) => {
          await page.waitForFunction(`location.hash.endsWith('range=24h')`)
          await page.waitForSelector('[data-chart="throttling"]')
        },
      },
    ])
  })
})

describe.skipIf(!hasChromium)('stories on a laptop without a driver (needs Debian’s chromium)', () => {
  test.each(part(WAYS, 6, 2))(
    'a new laptop, by %s: the first screen says what is missing and which command brings it; the doctor has the rest',
    async (way) => {
      // What the doctor's own checks say of a host with a card and no driver: this machine has none to be found.
      const laptop = await buildScene({ files: card(undefined), programs: { modinfo: NO_MODULE } })
      const report = await runChecks({ checks: Object.values(hostChecks), around: laptop.around, host: 'laptop' })
      laptop.remove()
      await using agent = await startAgent({ ready: true, env: { WARPWATCH_GPU__SOURCE: 'nvml' } })
      await using opened = await openPage(await fileBrowser(), agent.url, DESKTOP, (page) =>
        page.route('**/api/v1/doctor', (route) => route.fulfill({ json: report })),
      )
      await tell(opened.page, opened.complaints, way, [
        {
          sees: async (page) => {
            await page.locator('.no-gpu h2', { hasText: 'No GPU can be read on this host' }).waitFor()
            const steps = page.locator('.no-gpu .next-steps')
            await steps.first().waitFor()
            expect(await steps.first().textContent()).toMatch(/driver/i)
            expect(await steps.first().locator('.command code').first().textContent()).toMatch(/apt|install/)
          },
        },
        { press: '.no-gpu a[href="#/doctor"]', sees: shows('.complaint') },
      ])
    },
  )
})
