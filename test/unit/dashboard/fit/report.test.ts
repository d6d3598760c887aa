// An answer of the fit as its page draws it: stretches of a card's bar, scales, what is left, the answer in one line.
import { describe, expect, test } from 'vitest'
import { modelOfSize } from '../../../../agent/fit/model.ts'
import { fitReport } from '../../../../agent/fit/report.ts'
import { parseSettings } from '../../../../agent/fit/settings.ts'
import type { FitReport, GpuAnswer, GpuRoom } from '../../../../agent/model/fit.ts'
import { leftOf, parseFit, parseRooms, scaleOf, stretchesOf, suggestionGroups, ticksOf } from '../../../../dashboard/src/features/fit/report.ts'
import { answerText, gpuName, PARTS, peakText, VERDICTS, workText } from '../../../../dashboard/src/text/fit.ts'
import { GIB } from '../helpers.ts'

const room = (free: number, more: Partial<GpuRoom> = {}): GpuRoom => ({
  name: 'NVIDIA H100',
  index: 0,
  uuid: 'GPU-0',
  capacity_bytes: 80 * GIB,
  free_bytes: free * GIB,
  ...more,
})
const total = (low: number, likely: number, high: number) => ({ low_bytes: low * GIB, likely_bytes: likely * GIB, high_bytes: high * GIB })
const drawn = (...args: Parameters<typeof stretchesOf>) =>
  stretchesOf(...args).map(({ kind, from, to, over }) => `${kind}${over === true ? '!' : ''} ${from / GIB}-${to / GIB}`)

function report(words: Readonly<Record<string, string>>, rooms: readonly GpuRoom[], parameters = 8e9): FitReport {
  const parsed = parseSettings(words)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return fitReport(modelOfSize(parameters, '8b'), parsed.settings, rooms)
}

test('answers are looked at before they are believed', () => {
  const answer = report({}, [room(40)])
  expect(parseFit(structuredClone(answer))).toEqual(answer)
  for (const wrong of [undefined, {}, { ...answer, version: 2 }, { ...answer, gpus: [{}] }, { ...answer, estimate: { ...answer.estimate, parts: [{}] } }])
    expect(() => parseFit(wrong)).toThrow(/must be an answer, not/)
  expect(parseRooms([room(1)])).toHaveLength(1)
  expect(() => parseRooms([{ name: 'x' }])).toThrow(/must be a list of GPUs, not/)
})

describe('the bar of a card', () => {
  test('shows who is on it, the idle apart, and what the model would take behind them', () => {
    const idle = { idle_holders: [{ pid: 1, process: 'p', bytes: 10 * GIB }] }
    expect(drawn(room(30, idle))).toEqual(['held 0-40', 'idle 40-50'])
    expect(drawn(room(30), total(10, 12, 20))).toEqual(['held 0-50', 'need 50-62', 'perhaps 62-70'])
  })
  test('parts what lies beyond the card’s end', () => {
    expect(drawn(room(30), total(20, 35, 60))).toEqual(['held 0-50', 'need 50-80', 'need! 80-85', 'perhaps! 85-110'])
    expect(drawn(room(80), total(5, 10, 10), 72 * GIB)).toEqual(['claim 0-72', 'need 0-10'])
  })
  test('is empty where nobody knows what is free, and never shows more idle than is used', () => {
    const { free_bytes: _unknown, ...bare } = room(0)
    expect(drawn(bare, total(1, 2, 2))).toEqual(['need 0-2'])
    expect(drawn(room(75, { idle_holders: [{ pid: 1, process: 'p', bytes: 9 * GIB }] }))).toEqual(['idle 0-5'])
  })
})

test('all bars share a scale: to the largest card, on to what does not fit, and no further than the cards can be seen', () => {
  expect(scaleOf([room(1), room(1, { capacity_bytes: 24 * GIB })])).toBe(80 * GIB)
  expect(scaleOf([room(80)], total(1, 2, 3))).toBe(84 * GIB)
  expect(scaleOf([room(40)], total(1, 60, 300))).toBe(105 * GIB)
  expect(scaleOf([room(40)], total(1, 600, 900))).toBe(144 * GIB)
  expect(scaleOf([])).toBeGreaterThan(0)
})

test.each([
  [120, [0, 20, 40, 60, 80, 100]],
  [20, [0, 4, 8, 12, 16]],
  [0.9, [0, 0.2, 0.4, 0.6, 0.8]],
])('the axis of %d GiB has round places', (most, places) => {
  const ticks = ticksOf(most * GIB, 6).map((tick) => Math.round((tick / GIB) * 1000) / 1000)
  expect(ticks).toEqual(places)
})

test('what is left counts the share that vLLM takes, but never less than the model needs', () => {
  const [own] = report({ engine: 'vllm', utilization: '0.5' }, [room(70)]).gpus
  const bare = report({}, [room(70)]).gpus[0]
  if (own === undefined || bare === undefined) throw new Error('expected answers')
  expect(leftOf(own, own.headroom.now_bytes)).toBe(30 * GIB)
  expect(leftOf(bare, bare.headroom.now_bytes)).toBe(bare.headroom.now_bytes)
  const small: GpuAnswer = { ...own, claim_bytes: GIB }
  expect(leftOf(small, own.headroom.now_bytes)).toBe(own.headroom.now_bytes)
  expect(leftOf(own, undefined)).toBeUndefined()
})

test('GPUs that are told the same are told it once', () => {
  const { gpus } = report({ train: 'full' }, [room(20), room(20, { index: 1, uuid: 'GPU-1' }), room(40, { index: 2, uuid: 'GPU-2' }), room(1, { index: 3 })])
  const groups = suggestionGroups(gpus)
  expect(groups.map(({ gpus: same }) => same.map(({ gpu }) => gpu.index))).toEqual([[0, 1], [2], ...(gpus[3]?.suggestions.length === 0 ? [] : [[3]])])
  expect(groups[0]?.suggestions).toBe(gpus[0]?.suggestions)
})

describe('in words', () => {
  const many = (...free: readonly number[]) => free.map((one, index) => room(one, { index, uuid: `GPU-${index}` }))
  const card = { name: 'T4', capacity_bytes: 14 * GIB }
  test.each([
    ['Fits on 1 of 2 GPUs', report({}, many(2, 60))],
    ['Fits', report({}, many(60))],
    ['Fits now on none of 2 GPUs, on 2 when others leave', report({}, many(2, 3))],
    ['Fits when others leave', report({}, many(2))],
    ['Fits when the idle leave', report({}, [room(2, { idle_holders: [{ pid: 1, process: 'p', bytes: 60 * GIB }] })])],
    ['Fits on none of 2 GPUs', report({}, many(2, 3), 100e9)],
    ['Fits on no GPU', report({}, many(80), 100e9)],
    ['Fits on no card', report({}, [card])],
    ['Fits on 1 of the 2 GPUs that it needs', report({ gpus: '2' }, many(2, 60))],
    ['Fits on the 2 GPUs that it needs', report({ gpus: '2' }, many(60, 60, 2))],
    ['No GPU is known on this host', report({}, [])],
  ])('%s', (text, answer) => expect(answerText(answer)).toBe(text))

  test('a lower bound is no promise', () => {
    const answer = report({}, many(60))
    expect(answerText({ ...answer, estimate: { ...answer.estimate, unknown: ['KV cache'] } })).toBe('Not all of it is known')
  })

  test('what is done, and what things are called', () => {
    expect(workText(report({ train: 'lora', gpus: '2' }, []).estimate)).toMatch(
      /^8\.00 billion parameters, [\d.]+ million of them trained; LoRA of rank 16 .* GPUs$/,
    )
    expect(gpuName(room(1, { gi: '3' }))).toBe('GPU 0, MIG instance 3')
    for (const words of [...Object.values(PARTS), ...Object.values(VERDICTS).map(({ text }) => text)]) expect(words).not.toMatch(/_|undefined/)
  })
})

test.each([
  [undefined, 'highest recorded use'],
  [0.04, 'highest recorded use'],
  [1.5, 'highest use of the last day'],
  [6.96, 'highest use of the last 7 days'],
])('a peak that is known for %s days reads %s: no longer than it was watched', (days, text) => {
  const now = 1_795_000_000_000
  expect(peakText(days === undefined ? undefined : now - days * 86_400_000, now)).toBe(text)
})
