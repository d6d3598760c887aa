// The pure parts of the supervisor: who is left out and when it is tried again, waits, the series table, the words for a person.
import { describe, expect, test } from 'vitest'
import { createBackoff, doubling } from '../../../agent/sampler/backoff.ts'
import { createHangPolicy } from '../../../agent/sampler/hang-policy.ts'
import { isStopped, readComm, readInFlightCall } from '../../../agent/sampler/in-flight-call.ts'
import { createSeriesInterner, createSeriesTable } from '../../../agent/sampler/series-table.ts'
import { checkMessage } from '../../../agent/sampler/validate.ts'
import { childEndText } from '../../../agent/sampler/end-text.ts'
import { power } from './harness.ts'

describe('hang policy', () => {
  const create = () => createHangPolicy({ windowMs: 600_000, probeDelaysMs: doubling(5_000, 60_000) })

  test('a hang leaves a GPU out, to be tried at once', () => {
    const policy = create()
    expect(policy.hang(3, 10_000)).toBe(0)
    expect(policy.leftOut()).toEqual([3])
    expect(policy.nextProbe()).toEqual({ gpu: 3, at: 10_000 })
  })
  test('tries that fail are followed by others after 5, 10, 20, 40, 60, 60 s', () => {
    const policy = create()
    policy.hang(0, 0)
    expect([1, 2, 3, 4, 5, 6].map(() => policy.probeFailed(0, 0))).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })
  test('one that returns and hangs again waits longer each time', () => {
    const policy = create()
    const waits = [0, 1_000, 2_000].map((at) => {
      const wait = policy.hang(0, at)
      expect(policy.leftOut()).toEqual([0])
      expect(policy.nextProbe()).toEqual({ gpu: 0, at: at + wait })
      policy.recovered(0)
      expect(policy.leftOut()).toEqual([])
      return wait
    })
    expect(waits).toEqual([0, 5_000, 10_000])
  })
  test('hangs further apart than the window are each the first', () => {
    const policy = create()
    policy.hang(3, 0)
    policy.recovered(3)
    expect(policy.hang(3, 600_001)).toBe(0)
  })
  test('the earliest of several is tried first; good news tries all now', () => {
    const policy = create()
    for (const [gpu, at] of [
      [1, 0],
      [2, 100],
    ] as const)
      policy.hang(gpu, at)
    expect(policy.nextProbe()?.gpu).toBe(1)
    policy.probeFailed(1, 5_000)
    expect(policy.nextProbe()?.gpu).toBe(2)
    policy.probeSoon(6_000)
    expect(policy.nextProbe()?.at).toBeLessThanOrEqual(6_000)
    policy.forget(1)
    expect(policy.leftOut()).toEqual([2])
  })
})

test('back-off: at once, then doubling to the most, over again after health', () => {
  const backoff = createBackoff({ delaysMs: [0, ...doubling(1_000, 60_000)], healthyMs: 60_000 })
  expect([...Array(9)].map(() => backoff.fail(0))).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  expect(backoff.fail(59_999)).toBe(60_000)
  expect(backoff.fail(60_000)).toBe(0)
})

describe('series table', () => {
  test('gives the same object over the lives of children, and drops what is unknown or not finite', () => {
    const interner = createSeriesInterner([power])
    const problems: string[] = []
    const tables = [0, 1].map(() => createSeriesTable(interner, (problem) => problems.push(problem)))
    const [one, two] = tables.map((table, i) => {
      table.announce([[i, power.name, { gpu: '0', uuid: 'GPU-0' }]])
      return table.resolve([i, 77, i], [5, 5, null])
    })
    expect(one).toEqual([{ series: expect.objectContaining({ key: `${power.name}{gpu="0",uuid="GPU-0"}` }), value: 5 }])
    expect(one?.[0]?.series).toBe(two?.[0]?.series)
    expect(problems).toHaveLength(4)
    expect(problems[0]).toContain('series 77')
    expect(problems[1]).toContain('but null')
  })
})

describe('messages from the child', () => {
  const sample = { type: 'gpu', id: 1, index: 0, uuid: 'GPU-0', rate: 'fast', durationMs: 1.5, series: [1, 2], values: [1, null] }
  const gap = { metric: 'm', labels: {}, reason: 'timeout' }
  test.each([
    [sample],
    [{ ...sample, gaps: [gap], xids: [{ xid: 79 }], processes: [{ pid: 1, type: 'C', bytes: null, gi: 1, ci: 0 }] }],
    [{ type: 'done', id: 4 }],
    [{ type: 'failed', reason: 'driver_error', code: 9, detail: 'x' }],
    [{ type: 'hello', driverVersion: '1', library: 'l', gpus: [{ index: 0, uuid: 'u', name: 'n', pciBusId: 'p' }], lost: [] }],
    [{ type: 'series', series: [[0, 'm', { a: 'b' }]] }],
  ])('taken: %j', (message) => expect(checkMessage(message)).toBe(message))
  test.each([
    [null],
    ['text'],
    [[]],
    [{}],
    [{ ...sample, index: -1 }],
    [{ ...sample, index: 1e9 }],
    [{ ...sample, uuid: '' }],
    [{ ...sample, rate: 'constructor' }],
    [{ ...sample, values: [1] }],
    [{ ...sample, series: [1, 1.5] }],
    [{ ...sample, gaps: [{ ...gap, reason: 'mood' }] }],
    [{ ...sample, gaps: [{ ...gap, labels: { a: 1 } }] }],
    [{ ...sample, xids: [{ xid: 'NaN' }] }],
    [{ ...sample, processes: [{ pid: 1.5, type: 'C', bytes: 1 }] }],
    [{ ...sample, processes: [{ pid: 1, type: 'C', bytes: -1 }] }],
    [{ ...sample, durationMs: null }],
    [{ type: 'done' }],
    [{ type: 'failed', reason: 'driver_error' }],
    [{ type: 'hello', driverVersion: '1', library: 'l', gpus: [{ index: 0, uuid: '', name: 'n', pciBusId: 'p' }], lost: [] }],
    [{ type: 'hello', driverVersion: '1', library: 'l', gpus: [], lost: [{ index: 0 }] }],
    [{ type: 'series', series: [[0, 'm']] }],
    [{ type: 'series', series: [[1e7, 'm', {}]] }],
  ])('refused with what is wrong: %j', (message) => expect(checkMessage(message)).toMatch(/^a message (?:is no object but|needs) /))
})

describe('the call in flight', () => {
  test('is read from /proc, and is nothing for a process that is gone or says nothing of NVML', () => {
    const title = process.title
    process.title = 'nvml:5:0'
    const call = readInFlightCall(process.pid)
    process.title = title
    expect(call).toEqual({ gpu: 5, functionOrdinal: 0 })
    expect(readInFlightCall(1)).toBeUndefined()
    expect(readComm(2 ** 22 + 1)).toBe('')
    expect(isStopped(process.pid)).toBe(false)
  })
  test('in words for a person', () => {
    expect(childEndText({ kind: 'hang', phase: 'scrape', call: { gpu: 3, functionOrdinal: 0 }, waitedMs: 2_000 })).toMatchObject({
      gpu: 3,
      function: 'nvmlInit_v2',
      detail: 'nvmlInit_v2 on GPU 3 did not return within 2 s',
    })
    expect(childEndText({ kind: 'hang', phase: 'start', call: undefined, waitedMs: 30_000 }).detail).toBe('the sampler process did not return within 30 s')
    expect(childEndText({ kind: 'crash', call: { gpu: 1, functionOrdinal: 9_999 }, detail: 'died of SIGSEGV' }).detail).toBe(
      'the sampler process died of SIGSEGV, in NVML function 9999 on GPU 1',
    )
  })
})
