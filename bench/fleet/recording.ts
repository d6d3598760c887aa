// Pages of /metrics of a real simulated agent, one for each 15 seconds of its story: what the hosts of the simulated fleet say again.
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { poll } from '../../test/setup/poll.ts'
import { get, startAgentProcess } from '../lib/agent-process.ts'

/** How far two pages lie apart in the story. */
export const PAGE_S = 15
const PAGES = 32
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0'

export const recordingShape = z.object({
  /** The last page, whose lines are the template: in both formats, since engines ask for different ones. */
  text: z.string(),
  openmetrics: z.string(),
  /** Values of each series (`name{labels}`) over the pages. */
  values: z.record(z.string(), z.array(z.number())),
  counters: z.array(z.string()),
  /** Series that were not on every page (an allocator that has not flushed yet), and so are left out. */
  leftOut: z.number(),
})
export type Recording = z.infer<typeof recordingShape>

const isSample = (line: string): boolean => line !== '' && !line.startsWith('#')
export const keyOf = (line: string): string => line.slice(0, line.lastIndexOf(' '))

async function pageOf(url: string, accept: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept } })
  if (answer.status !== 200) throw new Error(`${url}: expected status 200, came ${answer.status}`)
  return answer.text()
}

/** Names that a page declares as counters. */
function countersOf(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name = '']) => name)
}

/** The same page as `metrics.dcgm: off` makes it. */
export function withoutDcgm(recording: Recording): Recording {
  const without = (page: string): string => page.replace(/^(?:# \S+ )?DCGM_.*\n/gm, '')
  return { ...recording, text: without(recording.text), openmetrics: without(recording.openmetrics) }
}

export async function record(port: number, pages = PAGES): Promise<Recording> {
  const agent = startAgentProcess({
    port,
    args: ['--simulate=healthy'],
    env: { WARPWATCH_SIMULATE__SPEED: String(PAGE_S), WARPWATCH_HOST_NAME: 'template-host' },
  })
  try {
    await poll(async () => (await get(`${agent.url}/metrics`))?.includes('warpwatch_gpu_power_watts{') === true, {
      what: () => `a page with GPUs; the agent said ${agent.stderr()}`,
      deadlineMs: 60_000,
      everyMs: 200,
    })
    const texts: string[] = []
    for (let n = 0; n < pages; n += 1) {
      texts.push(await pageOf(`${agent.url}/metrics`, 'text/plain'))
      await delay(1_000) // the agent's own tick
    }
    const seen = new Map<string, number[]>()
    for (const line of texts.flatMap((text) => text.split('\n').filter(isSample))) {
      const list = seen.get(keyOf(line)) ?? []
      list.push(Number(line.slice(line.lastIndexOf(' ') + 1)))
      seen.set(keyOf(line), list)
    }
    const whole = [...seen].filter(([, values]) => values.length === pages)
    return {
      text: texts.at(-1) ?? '',
      openmetrics: await pageOf(`${agent.url}/metrics`, OPENMETRICS),
      values: Object.fromEntries(whole),
      counters: [...countersOf(texts.at(-1) ?? '')],
      leftOut: seen.size - whole.length,
    }
  } finally {
    await agent.stop()
  }
}
