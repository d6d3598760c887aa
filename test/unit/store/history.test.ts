// History in and out: what was ingested is answered, from memory and from disk, after a restart and after a crash.
import { describe, expect, test } from 'vitest'
import { makeSeries } from '../../../agent/model/series.ts'
import { AnswerTooLargeError, MAX_ANSWER_STEPS } from '../../../agent/store/history-view.ts'
import { START, feed, forgotten, gpu, open, points, power, scrape, snapshotFiles, temporaryDirectory } from './history-harness.ts'

const range = (from: number, until: number): number[] => Array.from({ length: until - from }, (_, i) => from + i)

describe('history', () => {
  test('answers each second, whether in memory, written or replayed', () => {
    const directory = temporaryDirectory()
    const history = open(directory)
    const series = gpu(0)
    const wave = (second: number): number => Number((300 + Math.sin(second / 7) * 100).toFixed(3))
    feed(history, 0, 1000, (second) => [[series, wave(second)]])
    const expected = new Map(range(0, 1000).map((second) => [second, wave(second)]))
    expect(points(history, 0, 1000)).toEqual(expected)
    expect(points(open(snapshotFiles(directory)), 0, 1000), 'after a kill').toEqual(expected)
    history.close()
    expect(points(open(directory), 0, 1000), 'after a restart').toEqual(expected)
  })

  test('what the tick has not come to is safe once the next second begins', () => {
    const directory = temporaryDirectory()
    const history = open(directory)
    history.ingest(scrape(START, [[gpu(0), 1]]))
    history.ingest(scrape(START + 1000, [[gpu(0), 2]]))
    expect(points(open(snapshotFiles(directory)), 0, 10)).toEqual(new Map([[0, 1]]))
  })

  test('the first second of a life is safe at once: crashes in quick succession leave no hole of two seconds', () => {
    const directory = temporaryDirectory()
    open(directory).ingest(scrape(START, [[gpu(0), 1]]))
    const second = snapshotFiles(directory)
    open(second).ingest(scrape(START + 1000, [[gpu(0), 2]]))
    expect(points(open(snapshotFiles(second)), 0, 10)).toEqual(
      new Map([
        [0, 1],
        [1, 2],
      ]),
    )
  })

  test('keeps spikes, the mean, and gaps in minutes and hours', () => {
    const history = open(temporaryDirectory())
    const series = gpu(0)
    // An hour of 100 with one spike, half an hour of nothing, an hour of 200.
    feed(history, 0, 3600, (second) => [[series, second === 1234 ? 999 : 100]])
    feed(history, 3600, 5400, () => [])
    feed(history, 5400, 9000, () => [[series, 200]])
    const [minutes] = history.query({ metric: power.name, labels: {}, from: START, to: START + 8_999_000, points: 150 })
    expect(minutes?.step_ms).toBe(60_000)
    expect(minutes?.t).toEqual(range(0, 150).map((minute) => START + minute * 60_000))
    expect(minutes?.max[20]).toBe(999)
    expect(minutes?.min[20]).toBe(100)
    expect(minutes?.mean[20]).toBeCloseTo((59 * 100 + 999) / 60, 1)
    expect(minutes?.max.map((value, minute) => (value === null ? minute : -1)).filter((minute) => minute >= 0)).toEqual(range(60, 90))
    const [hours] = history.query({ metric: power.name, labels: {}, from: START, to: START + 8_999_000, points: 3 })
    expect(hours?.step_ms).toBe(3_600_000)
    expect(hours?.max).toEqual([999, 200, 200])
    expect(hours?.min).toEqual([100, 200, 200])
    expect(hours?.mean[0]).toBeCloseTo((3599 * 100 + 999) / 3600, 1)
  })

  test('gives a series that is read every ten seconds steps of ten seconds', () => {
    const history = open(temporaryDirectory())
    feed(history, 0, 700, (second) =>
      second % 10 === 3
        ? [
            [gpu(0), second],
            [gpu(1), 1],
          ]
        : [[gpu(1), 1]],
    )
    const query = (index: string) => history.query({ metric: power.name, labels: { gpu: index }, from: START, to: START + 699_000, points: 700 })[0]
    const [slow, fast] = [query('0'), query('1')]
    expect([slow?.step_ms, fast?.step_ms]).toEqual([10_000, 1_000])
    expect(slow?.max).toEqual(range(0, 70).map((i) => i * 10 + 3))
  })

  test('finds series by labels, leaves out metrics without history and what was no number', () => {
    const history = open(temporaryDirectory())
    history.ingest(
      scrape(START, [
        [gpu(0), 1],
        [gpu(1), 2],
        [makeSeries(forgotten, { gpu: '0' }), 1],
        [gpu(2), Number.NaN],
        [gpu(3), Infinity],
      ]),
    )
    const query = (metric: string, labels: Record<string, string>) => history.query({ metric, labels, from: START, to: START, points: 10 })
    expect(query(power.name, {}).map((series) => series.labels['uuid'])).toEqual(['GPU-0', 'GPU-1'])
    expect(query(power.name, { uuid: 'GPU-1' })).toEqual([
      { metric: power.name, labels: { gpu: '1', uuid: 'GPU-1' }, step_ms: 1000, t: [START], min: [2], mean: [2], max: [2] },
    ])
    expect(query(power.name, { uuid: 'GPU-9' })).toEqual([])
    expect(query(forgotten.name, {})).toEqual([])
    expect(query('warpwatch_no_such', {})).toEqual([])
    expect(history.stats()).toMatchObject({ series: 2, samples: 2, droppedReadings: 2 })
  })

  test('never gives more points than asked for', () => {
    const history = open(temporaryDirectory())
    feed(history, 0, 400, () => [[gpu(0), 1]])
    for (const wanted of [1, 2, 3, 7, 100, 399, 400, 1000]) {
      for (const from of [0, 1, 17, 59, 60, 61]) {
        const [series] = history.query({ metric: power.name, labels: {}, from: START + from * 1000, to: START + 399_000, points: wanted })
        expect(series?.t.length).toBeLessThanOrEqual(wanted)
      }
    }
  })

  test('forgets a series that ended, finds it again under the same row when it comes back', () => {
    const directory = temporaryDirectory()
    const history = open(directory)
    feed(history, 0, 30, () => [
      [gpu(0), 1],
      [gpu(1), 1],
    ])
    feed(history, 30, 1500, () => [[gpu(1), 1]])
    expect(history.stats().series).toBe(1)
    feed(history, 1500, 1510, () => [
      [gpu(0), 2],
      [gpu(1), 1],
    ])
    const found = points(history, 0, 1510, { uuid: 'GPU-0' })
    expect([...found.keys()]).toEqual([...range(0, 30), ...range(1500, 1510)])
    feed(history, 1510, 4000, () => [])
    expect(history.stats().series, 'all silent').toBe(0)
  })

  test('a series that comes back in the very scrape in which it would have been forgotten lives on', () => {
    const history = open(temporaryDirectory())
    feed(history, 705, 718, () => [[gpu(1), 1]])
    feed(history, 718, 931, () => [[gpu(2), 1]])
    feed(history, 1174, 1355, () => [
      [gpu(0), 2],
      [gpu(1), 2],
    ])
    feed(history, 1355, 1500, () => [])
    expect(points(history, 1100, 1500, { gpu: '1' }).size).toBe(181)
  })

  test('many series of one metric in several blocks are all there', () => {
    const history = open(temporaryDirectory())
    const many = range(0, 100).map(gpu)
    feed(history, 0, 700, (second) => many.map((series, i) => [series, i + (second % 5)]))
    const found = history.query({ metric: power.name, labels: {}, from: START, to: START + 699_000, points: 1 })
    expect(found.map((series) => [series.min[0], series.max[0]])).toEqual(many.map((_, i) => [i, i + 4]))
  })

  test('an answer of too many points of all series together is refused before it is made, and a narrower one is given', () => {
    const history = open(temporaryDirectory())
    const many = range(0, MAX_ANSWER_STEPS / 5_000 + 1).map(gpu)
    feed(history, 0, 2, () => many.map((series) => [series, 1]))
    const ask = (points: number, labels = {}) => history.query({ metric: power.name, labels, from: START - 4_998_000, to: START + 1_000, points })
    expect(() => ask(5_000)).toThrow(AnswerTooLargeError)
    expect(ask(2_500).length).toBe(many.length)
    expect(ask(5_000, { gpu: '7' }).length).toBe(1)
  })
})

describe('times that are not in order', () => {
  test('the last of two readings in one second stays, a late one finds its place, one that is too late is dropped', () => {
    const history = open(temporaryDirectory())
    feed(history, 0, 700, (second) => (second === 690 ? [] : [[gpu(0), second]]))
    history.ingest(scrape(START + 690_000, [[gpu(0), -1]]))
    history.ingest(scrape(START + 699_500, [[gpu(0), -2]]))
    const found = points(history, 0, 700)
    expect(found.get(690)).toBe(-1)
    expect(found.get(699)).toBe(-2)
    expect(found.size).toBe(700)
  })

  test('a clock set back begins a new block, nothing is lost and both hours are answered', () => {
    const directory = temporaryDirectory()
    const history = open(directory)
    feed(history, 10_000, 10_100, () => [
      [gpu(0), 1],
      [gpu(1), 1],
    ])
    feed(history, 5000, 5100, () => [
      [gpu(0), 2],
      [gpu(1), 2],
    ])
    feed(history, 11_000, 11_010, () => [[gpu(0), 3]])
    const expected = new Map([
      ...range(5000, 5100).map((s) => [s, 2] as const),
      ...range(10_000, 10_100).map((s) => [s, 1] as const),
      ...range(11_000, 11_010).map((s) => [s, 3] as const),
    ])
    expect(points(history, 4000, 12_000, { gpu: '0' })).toEqual(expected)
    expect(points(open(snapshotFiles(directory)), 4000, 12_000, { gpu: '0' }), 'after a kill').toEqual(expected)
  })

  test('a time that cannot be is dropped and counted', () => {
    const history = open(temporaryDirectory())
    for (const t of [Number.NaN, -1, 0, 1e15, Infinity]) history.ingest(scrape(t, [[gpu(0), 1]]))
    expect(history.stats()).toMatchObject({ series: 0, droppedReadings: 5 })
  })
})
