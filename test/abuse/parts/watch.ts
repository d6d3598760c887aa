// What every case asks of the agent beside its own fault: that it lives, that it samples, how much memory it holds.
import * as z from 'zod'
import { poll } from '../../setup/poll.ts'
import type { RunningAgent } from '../../setup/agent.ts'

const seriesAnswer = z.array(z.object({ t: z.array(z.number()), mean: z.array(z.number().nullable()) }))

export const mib = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(0)} MiB`

/** Memory of the agent and its child, measured now; `growth` is what came on top since then. */
export function weigh(agent: RunningAgent) {
  const before = agent.pssBytes()
  let most = before
  const look = (): number => {
    const now = agent.pssBytes()
    most = Math.max(most, now)
    return now
  }
  const timer = setInterval(look, 100)
  timer.unref()
  return {
    growth: () => look() - before,
    most: () => (look(), most - before),
    text: () => `PSS ${mib(before)} before, at most ${mib(Math.max(most, look()))}, ${mib(agent.pssBytes())} after`,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** The GPUs' power on one page: what the fake library says now must be there, not what it said before. */
export async function sampled(agent: RunningAgent, gpus: readonly number[], deadlineMs = 30_000): Promise<void> {
  await poll(
    async () => {
      const page = await agent.metrics()
      return gpus.every((gpu) => page.value('warpwatch_gpu_power_watts', { gpu: String(gpu) }) !== undefined)
    },
    { what: () => `readings of GPUs ${gpus.join()}; the agent said: ${agent.stderr().slice(-2_000)}`, deadlineMs, everyMs: 50 },
  )
}

/** Ages of the GPUs' newest readings, looked at each 100 ms until stopped: the worst one, and how many looks saw a GPU older than `lateS`. */
export function watchAges(agent: RunningAgent, gpus: readonly number[], lateS = 2.5) {
  let [worst, looks, late, missing] = [0, 0, 0, 0]
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const page = await agent.metrics()
      for (const gpu of gpus) {
        const age = page.value('warpwatch_gpu_sample_age_seconds', { gpu: String(gpu) })
        looks++
        if (age === undefined) missing++
        else worst = Math.max(worst, age)
        if (age !== undefined && age > lateS) late++
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
      return { worst, looks, late, missing }
    },
  }
}

/** Seconds of history that lack a reading of a GPU between two times (Unix ms), counted by samples: what was missed stays missed. */
export async function missedSeconds(agent: RunningAgent, gpu: number, from: number, to: number): Promise<number> {
  const [first, last] = [Math.ceil(from / 1_000) * 1_000, Math.floor(to / 1_000) * 1_000]
  if (last < first) return 0
  const rows = seriesAnswer.parse(await agent.json(`/api/v1/series?metric=gpu_power_watts&gpu=${gpu}&from=${first}&to=${last}&points=5000`))
  const seen = new Set(rows.flatMap(({ t, mean }) => t.filter((_, at) => mean[at] !== null).map((at) => Math.round(at / 1_000))))
  let missed = 0
  for (let second = first / 1_000; second <= last / 1_000; second++) if (!seen.has(second)) missed++
  return missed
}
