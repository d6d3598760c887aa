// History against a plain list of samples: whatever was fed, in whatever order it was restarted or killed, the answers are those of the list.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import type { History } from '../../agent/store/history.ts'
import type { HistorySeries } from '../../agent/store/history-view.ts'
import { quantize } from '../../agent/store/history/quantize.ts'
import { START, gpu, open, power, scrape, snapshotFiles, temporaryDirectory } from '../unit/store/history-harness.ts'

const SERIES = [0, 1, 2].map(gpu)
type Stretch = {
  /** Seconds after the stretch before; negative: the clock was set back. */
  readonly gap: number
  readonly seconds: number
  readonly values: readonly number[]
  /** Series that are read, and every how many seconds. */
  readonly every: readonly number[]
  readonly ending: 'go on' | 'restart' | 'kill'
}
const value = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.nat(700_000).map((n) => n / 1000),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
)
const stretch = (gap: fc.Arbitrary<number>): fc.Arbitrary<Stretch> =>
  fc.record({
    gap,
    seconds: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 500 })),
    values: fc.array(value, { minLength: 1, maxLength: 30 }),
    every: fc.tuple(...SERIES.map(() => fc.constantFrom(0, 1, 1, 1, 2, 10, 60))),
    ending: fc.constantFrom('go on', 'go on', 'restart', 'kill'),
  })

/** Feeds the stretches; returns the history as it is at the end, and what it took in by series and second. */
function play(stretches: readonly Stretch[]): { readonly history: History; readonly samples: readonly Map<number, number[]>[]; readonly end: number } {
  let directory = temporaryDirectory()
  let history = open(directory)
  const samples = SERIES.map(() => new Map<number, number[]>())
  let second = 100_000
  let end = 0
  for (const { gap, seconds, values, every, ending } of stretches) {
    second = Math.max(0, second + gap)
    for (let i = 0; i < seconds; i++, second++) {
      const readings = SERIES.flatMap((series, n) => {
        const period = every[n] ?? 0
        if (period === 0 || second % period !== 0) return []
        const kept = values[(i * (n + 1)) % values.length] ?? 0
        samples[n]?.set(second, [...(samples[n]?.get(second) ?? []), quantize(kept)])
        return [[series, kept] as const]
      })
      history.ingest(scrape(START + second * 1000, readings))
      history.maintain(START + second * 1000)
    }
    end = Math.max(end, second)
    if (ending === 'kill') directory = snapshotFiles(directory)
    if (ending !== 'go on') {
      history.close()
      history = open(directory)
    }
  }
  return { history, samples, end }
}

const numbered = (series: HistorySeries): number => Number(series.labels['gpu'])

test('in order: least, mean and greatest of every step are those of the samples', () => {
  const question = fc.record({ from: fc.nat(4000), points: fc.integer({ min: 1, max: 2000 }) })
  fc.assert(
    fc.property(
      fc.array(stretch(fc.oneof(fc.constant(0), fc.nat(5), fc.nat(900))), { minLength: 1, maxLength: 5 }),
      fc.array(question, { minLength: 1, maxLength: 5 }),
      (stretches, questions) => {
        const { history, samples, end } = play(stretches)
        for (const { from, points } of questions) {
          // Whole hours: a minute on disk that began before `from` is answered whole, the same in memory is not.
          const start = points < 120 ? 97_200 + Math.floor(from / 3600) * 3600 : 100_000 + from
          const found = new Map(
            history
              .query({ metric: power.name, labels: {}, from: START + start * 1000, to: START + Math.max(start, end) * 1000, points })
              .map((series) => [numbered(series), series]),
          )
          samples.forEach((taken, n) => {
            const wanted = new Map<number, number[]>()
            const series = found.get(n)
            const step = (series?.step_ms ?? 1000) / 1000
            if (step >= 60 && start % 3600 !== 0) return
            const origin = START / 1000
            for (const [second, values] of taken) {
              if (second < start) continue
              const at = Math.floor((origin + second) / step) * step * 1000
              wanted.set(at, [...(wanted.get(at) ?? []), ...values.slice(-1)])
            }
            const answered = new Map<number, number>()
            series?.t.forEach((t, i) => {
              const nulls = [series.min[i], series.mean[i], series.max[i]].filter((one) => one === null).length
              expect([0, 3]).toContain(nulls)
              if (nulls === 0) answered.set(t, i)
            })
            expect([...answered.keys()]).toEqual([...wanted.keys()].sort((a, b) => a - b))
            for (const [t, values] of wanted) {
              const i = answered.get(t) ?? -1
              const [min, max] = [Math.min(...values), Math.max(...values)]
              const mean = values.reduce((sum, one) => sum + one / values.length, 0)
              expect([series?.min[i], series?.max[i]]).toEqual([min, max])
              expect(Math.abs((series?.mean[i] ?? Number.NaN) - mean)).toBeLessThanOrEqual(
                (max - min) / 5_000 + Math.max(Math.abs(min), Math.abs(max)) * 1e-9 + 1e-300,
              )
            }
            expect(series?.t.length ?? 0).toBeLessThanOrEqual(points)
          })
        }
        history.close()
      },
    ),
    { numRuns: 20 },
  )
})

test('times in any order: nothing is answered that was not read at that second, and no row is invalid', () => {
  fc.assert(
    fc.property(
      fc.array(stretch(fc.oneof(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: -100, max: 100 }))), { minLength: 1, maxLength: 5 }),
      (stretches) => {
        const { history, samples, end } = play(stretches)
        let answered = 0
        for (let from = 80_000; from <= end; from += 1000) {
          for (const series of history.query({ metric: power.name, labels: {}, from: START + from * 1000, to: START + (from + 999) * 1000, points: 1000 })) {
            const steps = series.t.length
            expect([series.min.length, series.mean.length, series.max.length]).toEqual([steps, steps, steps])
            series.t.forEach((t, i) => {
              const [min, mean, max] = [series.min[i] ?? null, series.mean[i] ?? null, series.max[i] ?? null]
              const nulls = [min, mean, max].filter((one) => one === null).length
              expect([0, 3]).toContain(nulls)
              if (min === null || mean === null || max === null) return
              const second = (t - START) / 1000
              const read = Array.from({ length: series.step_ms / 1000 }, (_, s) => samples[numbered(series)]?.get(second + s) ?? []).flat()
              expect(read).toContain(min)
              expect(read).toContain(max)
              expect(mean).toBeGreaterThanOrEqual(min)
              expect(mean).toBeLessThanOrEqual(max)
              answered++
            })
          }
        }
        // What came late, by up to a minute, may be dropped, the rest not.
        const complete = stretches.every(({ gap, every }) => (gap >= 0 || gap < -4000) && every.every((period) => period <= 1))
        const taken = samples.reduce((sum, map) => sum + map.size, 0)
        expect(answered).toBeGreaterThanOrEqual(complete ? taken : 0)
        history.close()
      },
    ),
    { numRuns: 20 },
  )
})
