// Reads the whole history of a soak over the API and finds holes, and values that nobody ever told.
import * as z from 'zod'
import { get } from '../setup/agent.ts'
import { usedAt, wattsAt, type LoadScenes } from './load.ts'

/** A life of the agent, Unix ms: from its first reading of all GPUs to its end. */
export type Life = { readonly firstReading: number; readonly end: number }
export type Hole = { readonly after: number; readonly missingMs: number; readonly beyondMs: number }
export type Verdict = { readonly rows: number; readonly invalid: readonly string[]; readonly worst: Hole | undefined; readonly holes: readonly Hole[] }

const series = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    step_ms: z.number(),
    t: z.array(z.number()),
    min: z.array(z.number().nullable()),
    mean: z.array(z.number().nullable()),
    max: z.array(z.number().nullable()),
  }),
)
/** At most 5,000 points an answer, so that each is a second. */
const WINDOW_MS = 3_600_000
const SHOULD: Readonly<Record<string, (gpu: number, second: number) => number>> = { gpu_power_watts: wattsAt, gpu_memory_used_bytes: usedAt }

export async function judge(url: string, from: number, to: number, lives: readonly Life[], reported: LoadScenes): Promise<Verdict> {
  const invalid: string[] = []
  const holes: Hole[] = []
  let rows = 0
  for (const [metric, should] of Object.entries(SHOULD)) {
    const times = new Map<string, number[]>()
    for (let start = from; start <= to; start += WINDOW_MS) {
      const until = Math.min(to, start + WINDOW_MS - 1000)
      const answer = await get(`${url}/api/v1/series?metric=${metric}&from=${start}&to=${until}&points=5000`)
      for (const { labels, step_ms, t, min, mean, max } of series.parse(JSON.parse(answer.text))) {
        const gpu = labels['gpu'] ?? ''
        if (step_ms !== 1000) invalid.push(`${metric} of GPU ${gpu}: expected steps of 1 s, came ${step_ms} ms`)
        const seen = times.get(gpu) ?? []
        times.set(gpu, seen)
        for (const [i, at] of t.entries()) {
          const value = mean[i] ?? null
          if (value === null) continue
          rows += 1
          seen.push(at)
          if (min[i] !== value || max[i] !== value)
            invalid.push(`${metric} of GPU ${gpu} at ${at}: one reading, but min ${min[i]}, mean ${value}, max ${max[i]}`)
          // What was reported in that second, or shortly before it by an answer that was late.
          const allowed = reported.during(at - 1000, at + 2000).map((second) => should(Number(gpu), second))
          // History keeps six decimals (agent/store/history/quantize.ts); what is told has two.
          if (!allowed.some((wanted) => Math.abs(wanted - value) < 1e-5))
            invalid.push(`${metric} of GPU ${gpu} at ${at}: came ${value}, told were ${allowed.join(', ')}`)
        }
      }
    }
    if (times.size !== 8) invalid.push(`${metric}: expected 8 GPUs, came ${times.size}`)
    for (const seen of times.values()) holes.push(...holesOf(seen, lives))
  }
  const worst = holes.reduce<Hole | undefined>((most, hole) => (most === undefined || hole.beyondMs > most.beyondMs ? hole : most), undefined)
  return { rows, invalid, worst, holes }
}

/** Seconds without a reading, less the time in which no agent was there to read. */
function holesOf(seen: readonly number[], lives: readonly Life[]): Hole[] {
  const found: Hole[] = []
  const first = lives[0]?.firstReading ?? 0
  const last = lives.at(-1)?.end ?? 0
  const points = [Math.floor(first / 1000) * 1000 - 1000, ...seen, Math.floor(last / 1000) * 1000]
  for (let i = 1; i < points.length; i++) {
    const [a = 0, b = 0] = [points[i - 1], points[i]]
    const missingMs = b - a - 1000
    if (missingMs <= 0) continue
    // The second of the very first reading had begun before it.
    let down = Math.max(0, Math.min(b, first) - (a + 1000))
    for (let n = 1; n < lives.length; n++) {
      const [from = 0, to = 0] = [lives[n - 1]?.end, lives[n]?.firstReading]
      down += Math.max(0, Math.min(b, to) - Math.max(a, from))
    }
    found.push({ after: a, missingMs, beyondMs: Math.max(0, missingMs - down) })
  }
  return found
}
