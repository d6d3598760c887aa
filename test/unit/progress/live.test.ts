// What the agent knows of a job whose log it follows: when lines come tells how long steps take where the text does not.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { replayLog, type Chunk } from '../../setup/replay-log.ts'

/** A loop that prints neither a time nor a rate: a line each so many steps, each step as long. */
const loop = (steps: number, each: number, secondsEach: number, total = 1_000): readonly Chunk[] =>
  Array.from({ length: steps / each }, (_, line) => {
    const step = (line + 1) * each
    return [step * secondsEach, Buffer.from(`step ${step}/${total} loss ${(3 - step / total).toFixed(4)}\n`)]
  })

describe('a log as it is written', () => {
  test('rate and time left from the times at which lines come', () => {
    const found = replayLog(loop(200, 10, 0.13)).at(200 * 0.13)
    expect(found['step_rate']).toBeCloseTo(1 / 0.13, 0)
    expect(found['eta_seconds']).toBeGreaterThan(0.9 * 800 * 0.13)
    expect(found['eta_seconds']).toBeLessThan(1.1 * 800 * 0.13)
  })
  test('between two lines the time left goes on falling', () => {
    const replay = replayLog(loop(200, 100, 1))
    const [then, later] = [replay.at(201)['eta_seconds'] ?? 0, replay.at(241)['eta_seconds'] ?? 0]
    expect(then - later).toBeCloseTo(40, 0)
  })
  test('a bar that never ends its line', () => {
    const chunks = Array.from({ length: 60 }, (_, at): Chunk => [at, Buffer.from(`\rfit ${at + 1}/100 loss ${(2 - at / 100).toFixed(3)}`)])
    expect(replayLog(chunks).at(60)).toMatchObject({ step: 60, steps: 100 })
    expect(replayLog(chunks).at(60)['step_rate']).toBeCloseTo(1, 1)
  })
  test('what was buffered and comes at once says nothing of the rate', () => {
    const text = Buffer.concat(loop(200, 10, 0.1).map(([, bytes]) => bytes))
    expect(replayLog([[30, text]]).at(31)).not.toHaveProperty('step_rate')
  })
})

const RUNS = join(import.meta.dirname, '../../../../shared/real-jobs/dev/progress.jsonl')
const run = z.object({
  id: z.string(),
  text: z.string(),
  chunks: z.array(z.tuple([z.number(), z.number()])).optional(),
  truth: z.object({ per_epoch: z.number().nullable(), per_step: z.number() }).nullable(),
  cuts: z.array(
    z.object({
      t: z.number(),
      true_step: z.number().nullable(),
      true_rate: z.number().nullable(),
      true_eta_seconds: z.number().nullable(),
      true_epoch_eta_seconds: z.number().nullable().optional(),
      eta_predictable: z.boolean(),
    }),
  ),
})
type Run = z.infer<typeof run>
type Reported = { readonly what: 'step' | 'rate' | 'left'; readonly right: boolean; readonly text: string }

const near = (found: number | undefined, wanted: readonly number[], relative: number, absolute: number): boolean =>
  found !== undefined && wanted.some((each) => Math.abs(found - each) <= Math.max(absolute, relative * each))

/** Judged as score-truth.py does: step within 12 or 8 %, rate within 15 %, time left within 20 % or 2 s. */
function judged({ id, text, chunks = [], truth, cuts }: Run): readonly Reported[] {
  if (truth === null || chunks.length === 0) return []
  const bytes = Buffer.from(text)
  const replay = replayLog(chunks.map(([seconds, end], at): Chunk => [seconds, bytes.subarray(chunks[at - 1]?.[1] ?? 0, end)]))
  return cuts.flatMap((cut): readonly Reported[] => {
    const found = replay.at(cut.t)
    const { step, step_rate: rate, eta_seconds: left } = found
    // Nothing was written yet.
    if (step === undefined && rate === undefined && found['loss'] === undefined) return []
    const out: Reported[] = []
    const say = (what: Reported['what'], is: number | undefined, wanted: readonly number[], right: boolean): void =>
      void out.push({ what, right, text: `${id} ${cut.t} ${what} ${is} ${wanted.join(' ')}` })
    const { true_step: steps, true_rate: pace, true_eta_seconds: eta, true_epoch_eta_seconds: ofEpoch } = cut
    if (steps !== null && steps > 0) {
      const wanted = truth.per_epoch === null ? [steps] : [steps, ((steps - 1) % truth.per_epoch) + 1]
      say('step', step, wanted, near(step, wanted, 0.08, 12 * truth.per_step))
    }
    if (pace !== null) say('rate', rate, [pace], near(rate, [pace], 0.15, 0))
    const ends = [eta, ofEpoch ?? null].filter((each) => each !== null)
    if (cut.eta_predictable && (eta ?? 0) >= 3) say('left', left, ends, near(left, ends, 0.2, 2))
    return out
  })
}

describe.skipIf(!existsSync(RUNS))('real runs replayed with the times at which their lines came (need ../shared)', () => {
  test.each([
    // As last printed: loops that print each 20 or 25 steps are behind, and four runs say no step or the same of each epoch.
    ['step', 0.75],
    ['rate', 0.9],
    ['left', 0.85],
  ] as const)('%s is right in a share of %d of the cuts', (what, share) => {
    const runs = readFileSync(RUNS, 'utf8')
      .trim()
      .split('\n')
      .map((line) => run.parse(JSON.parse(line)))
    const reported = runs.flatMap(judged).filter((each) => each.what === what)
    const wrong = reported.filter(({ right }) => !right).map(({ text }) => text)
    expect(reported.length).toBeGreaterThan(30)
    expect(wrong.length / reported.length <= 1 - share ? [] : wrong).toEqual([])
  })
})
