// Which seconds an agent's history has, and how long it was without a reading at most.
import * as z from 'zod'
import { get, type RunningAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'

const series = z.array(z.object({ step_ms: z.number(), t: z.array(z.number()), mean: z.array(z.number().nullable()) }))
const METRIC = 'warpwatch_gpu_power_watts'
/** So many points are answered second by second. */
const CHUNK_S = 3_000
const MOST_STEP_MS = 60_000

/** Unix seconds with a reading of GPU 0, from its history; throws where an answer is of minutes or hours. */
export async function sampledSeconds(url: string, fromMs: number, toMs: number): Promise<readonly number[]> {
  const found: number[] = []
  for (let from = Math.floor(fromMs / 1_000); from <= toMs / 1_000; from += CHUNK_S) {
    const to = Math.min(Math.floor(toMs / 1_000), from + CHUNK_S - 1)
    const { status, text } = await get(`${url}/api/v1/series?metric=${METRIC}&gpu=0&from=${from * 1_000}&to=${to * 1_000}&points=5000`)
    if (status !== 200) throw new Error(`history: expected 200, came ${status} ${text}`)
    for (const { step_ms: step, t, mean } of series.parse(JSON.parse(text))) {
      // Readings that a starved machine let come further apart are answered at that distance.
      if (step > MOST_STEP_MS) throw new Error(`history: expected steps of ${MOST_STEP_MS} ms at most, came ${step}`)
      found.push(...t.flatMap((at, i) => (typeof mean[i] === 'number' ? [at / 1_000] : [])))
    }
  }
  return found.toSorted((a, b) => a - b)
}

/** The most seconds in a row, all of them within [from, to], that are not in `seconds`; 0 where none is missing. */
export function longestHole(seconds: Iterable<number>, from: number, to: number): number {
  const present = new Set(seconds)
  let [longest, running] = [0, 0]
  for (let second = from; second <= to; second++) {
    running = present.has(second) ? 0 : running + 1
    longest = Math.max(longest, running)
  }
  return longest
}

/** Resolves once the agent has `count` more seconds with a reading than there were; `now` is the agent's clock, Unix ms. */
export async function samplesCome(agent: RunningAgent, count: number, { now = Date.now, deadlineMs = 30_000 } = {}): Promise<void> {
  const from = now() + 1_000
  let came = 0
  await poll(
    async () => {
      came = (await sampledSeconds(agent.url, from, now() + 1_000)).length
      return came >= count
    },
    { what: () => `${count} samples of GPU 0, came ${came}; the agent's log: ${agent.stderr().slice(-2_000)}`, deadlineMs, everyMs: 100 },
  )
}
