// What the hosts of the simulated fleet say: the page of a real simulated agent, and two hours of the same simulated host's values.
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { createExposition } from '../../agent/http/exposition.ts'
import { createSimulation } from '../../agent/sources/simulated.ts'
import { createLatestStore } from '../../agent/store/latest.ts'
import { poll } from '../../test/setup/poll.ts'
import { startAgentProcess } from '../lib/agent-process.ts'

/** How far two recorded values lie apart. */
export const PAGE_S = 15
/** Two hours: a block of Prometheus. */
const PAGES = 480
/** Of the agent's own, which only a real agent tells, so many are seen, a second apart, and told again and again. */
const OWN_PAGES = 8
const HOST = 'template-host'
const SCENARIO = 'healthy'
const SEED = 1
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0'

export const recordingShape = z.object({
  /** The agent's page, whose lines are the template: in both formats, since engines ask for different ones. */
  text: z.string(),
  openmetrics: z.string(),
  /** Values of each series (`name{labels}`) from page to page. */
  values: z.record(z.string(), z.array(z.number())),
  counters: z.array(z.string()),
})
export type Recording = z.infer<typeof recordingShape>

export const samplesOf = (page: string): readonly string[] => page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
export const keyOf = (line: string): string => line.slice(0, line.lastIndexOf(' '))
const valueOf = (line: string): number => Number(line.slice(line.lastIndexOf(' ') + 1))

async function pageOf(url: string, accept: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept } })
  if (answer.status !== 200) throw new Error(`${url}: expected status 200, came ${answer.status}`)
  return answer.text()
}

/** Only series that are on every page, since the template's lines are fixed. */
function collect(pages: readonly string[]): Record<string, number[]> {
  const seen = new Map<string, number[]>()
  for (const line of pages.flatMap(samplesOf)) {
    const list = seen.get(keyOf(line)) ?? []
    list.push(valueOf(line))
    seen.set(keyOf(line), list)
  }
  return Object.fromEntries([...seen].filter(([, values]) => values.length === pages.length))
}

/** The simulated host without an agent and without a clock: the same seed is the same cards, containers and processes. */
function story(pages: number): readonly string[] {
  const begin = Date.UTC(2026, 10, 22)
  const simulation = createSimulation({ scenario: SCENARIO, seed: SEED, hostname: HOST }, begin, 0)
  const latest = createLatestStore()
  const exposition = createExposition({ latest, dcgm: 'classic', hostnameLabel: 'Hostname', hostname: HOST })
  return Array.from({ length: pages }, (_, page) => {
    for (let second = 0; second < PAGE_S; second += 1)
      for (const event of simulation.tick(begin + (page * PAGE_S + second) * 1_000)) if (event.type === 'scrape') latest.apply(event)
    exposition.invalidate()
    return exposition.page('text').body.toString()
  })
}

/** The same page as `metrics.dcgm: off` makes it. */
export function withoutDcgm(recording: Recording): Recording {
  const without = (page: string): string => page.replace(/^(?:# \S+ )?DCGM_.*\n/gm, '')
  return { ...recording, text: without(recording.text), openmetrics: without(recording.openmetrics) }
}

/** What comes last of the agent's own: the first sealed history, and what jobs used; and the cards, whose readings a busy machine may be late with. */
const WHOLE = [
  /^warpwatch_gpu_utilization_ratio\{/m,
  /^warpwatch_agent_source_up\{source="allocator"\}|^warpwatch_agent_history_series [1-9]/m,
  /^warpwatch_agent_source_up\{source="agent"\}/m,
  /^warpwatch_job_energy_joules_total\{/m,
]

export async function record(port: number, pages = PAGES): Promise<Recording> {
  const agent = startAgentProcess({
    port,
    args: [`--simulate=${SCENARIO}`],
    env: { WARPWATCH_SIMULATE__SEED: String(SEED), WARPWATCH_HOST_NAME: HOST },
  })
  try {
    const wholePage = async (accept: string): Promise<string> =>
      poll(
        async () => {
          const page = await pageOf(`${agent.url}/metrics`, accept).catch(() => '')
          return WHOLE.every((last) => last.test(page)) ? page : undefined
        },
        {
          what: () => `a whole page; the agent said ${agent.stderr()}`,
          deadlineMs: 60_000,
          everyMs: 200,
        },
      )
    // The agent's own series come with its first ticks.
    await wholePage('text/plain')
    const own: string[] = []
    for (let n = 0; n < OWN_PAGES; n += 1) {
      await delay(1_000) // the agent's tick
      own.push(await wholePage('text/plain'))
    }
    const text = own.at(-1) ?? ''
    return {
      text,
      openmetrics: await wholePage(OPENMETRICS),
      values: { ...collect(own), ...collect(story(pages)) },
      counters: [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name = '']) => name),
    }
  } finally {
    await agent.stop()
  }
}
