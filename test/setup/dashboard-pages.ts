// The agent on a simulated host and the browser that the dashboard's tests of one file share, and the incident that they wait for.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import * as z from 'zod'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { startAgent, type RunningAgent } from './agent.ts'
import { launchTestBrowser } from './browser.ts'
import { atFileEnd } from './file-end.ts'
import { poll } from './poll.ts'

/** Story seconds per second: what befalls the simulated host then comes within moments. */
export const FAST = { WARPWATCH_SIMULATE__SPEED: '20' } as const

/** So that charts have a line; each second of it takes as much of the CPU as one that is watched. Who looks further back asks for it with `FULL_PAST`. */
const SOME_PAST = { WARPWATCH_SIMULATE__PAST: '2m' } as const

/** Waits until an incident of this kind fires, and gives its id. */
export const incidentOf = (agent: RunningAgent, kind: string): Promise<string> =>
  poll(async () => z.array(incidentSummary).parse(await agent.json(`/api/v1/incidents?kind=${kind}`))[0]?.id, {
    what: `an incident ${kind}`,
    deadlineMs: 60_000,
    everyMs: 200,
  })

let browser: Promise<Browser> | undefined
/** The one browser of a test file, begun by the first test that wants it. */
export function fileBrowser(): Promise<Browser> {
  if (browser !== undefined) return browser
  const launched = (browser = launchTestBrowser())
  atFileEnd(async () => {
    browser = undefined
    await (await launched).close()
  })
  return launched
}

export type IncidentScene = { readonly agent: RunningAgent; readonly browser: Browser; readonly incident: string }

/** An agent on a simulated host while the tests of a file or block run, and the file's browser. */
export function useSimulatedPage(simulate = '--simulate', env: Readonly<Record<string, string>> = {}): Omit<IncidentScene, 'incident'> {
  let scene: Omit<IncidentScene, 'incident'> | undefined
  const started = (): Omit<IncidentScene, 'incident'> => {
    if (scene === undefined) throw new Error(`the host of ${simulate} is there only while its tests run`)
    return scene
  }
  beforeAll(async () => {
    const agent = await startAgent({ args: [simulate], ready: true, env: { ...SOME_PAST, ...env } })
    scene = { agent, browser: await fileBrowser() }
  })
  afterAll(async () => {
    await scene?.agent.stop()
  })
  return {
    get agent() {
      return started().agent
    },
    get browser() {
      return started().browser
    },
  }
}

/** One agent in a scenario for all tests of a `describe`, from when an incident of this kind fires. `env`: slower where a detector waits, a shorter past. */
export function useIncidentScene(scenario: string, kind: string, env: Readonly<Record<string, string>> = {}): IncidentScene {
  const page = useSimulatedPage(`--simulate=${scenario}`, { ...FAST, ...env })
  let incident = ''
  beforeAll(async () => {
    incident = await incidentOf(page.agent, kind)
  })
  return {
    get agent() {
      return page.agent
    },
    get browser() {
      return page.browser
    },
    get incident() {
      return incident
    },
  }
}
