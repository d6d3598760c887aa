// From lines to events: context around what matters, bounds on how many, cursors only for what was reported; and a busy log leaves time for others.
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { LogLine } from '../../../agent/model/event.ts'
import { addLine, createBatch, type LineBatch } from '../../../agent/sources/logs/batch.ts'
import { createBudget } from '../../../agent/sources/logs/budget.ts'
import { createLogFlow } from '../../../agent/sources/logs/flow.ts'
import { createLogCounters } from '../../../agent/sources/logs/metrics.ts'
import { nextPause } from '../../../agent/sources/containers/engine-log.ts'
import { poll } from '../../setup/poll.ts'

const NEEDLE = Buffer.from('FAULT')
const interesting = (bytes: Uint8Array, start: number, end: number): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(NEEDLE)
const batchOf = (lines: readonly string[]): LineBatch => {
  const batch = createBatch()
  batch.bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  batch.to = batch.bytes.length
  let at = 0
  for (const line of lines) {
    const length = Buffer.byteLength(line)
    addLine(batch, at, at, at + length, 0)
    at += length + 1
  }
  return batch
}
function make() {
  const reported: LogLine[] = []
  const counters = createLogCounters('file')
  const flow = createLogFlow({ stream: 'file', origin: () => ({ path: '/x' }), interesting, emit: (line) => void reported.push(line), counters })
  return {
    reported,
    counters,
    flow,
    take: (lines: readonly string[]) => flow.take(batchOf(lines), { timeOf: () => 1 }),
    texts: () => reported.map(({ text }) => text),
  }
}
const numbered = (count: number, word = 'step'): readonly string[] => Array.from({ length: count }, (_, at) => `${word} ${at}`)

afterEach(() => vi.useRealTimers())

describe('flow', () => {
  test('nothing is told of lines that do not matter', () => {
    const { take, flow, reported, counters } = make()
    take(numbered(1_000))
    flow.end()
    expect(reported).toEqual([])
    expect(counters.lines()).toBe(1_000)
  })

  test('twenty lines before and ten after, across batches, each once', () => {
    const { take, flow, texts } = make()
    take(numbered(15, 'a'))
    take(numbered(8, 'b'))
    take(['FAULT-1', ...numbered(4, 'c'), 'FAULT-2'])
    take(numbered(30, 'd'))
    flow.end()
    expect(texts()).toEqual([...numbered(15, 'a').slice(-12), ...numbered(8, 'b'), 'FAULT-1', ...numbered(4, 'c'), 'FAULT-2', ...numbered(10, 'd')])
  })

  test('colours go, a progress bar becomes lines, bytes that are no text do no harm', () => {
    const { flow, texts, reported } = make()
    const batch = createBatch()
    batch.bytes = Buffer.concat([Buffer.from('\u001b[31m10%\r20%\rFAULT\u001b[0m '), Buffer.from([0xff, 0xfe, 0x00])])
    batch.to = batch.bytes.length
    addLine(batch, 0, 0, batch.to, 0)
    flow.take(batch, { timeOf: () => 1 })
    flow.end()
    expect(texts()[0]).toMatch(/^10%\n20%\nFAULT /)
    expect(reported).toHaveLength(1)
  })

  test('a log of nothing but faults is cut off and counted', () => {
    // All in one moment, however long it takes here.
    vi.useFakeTimers({ toFake: ['performance'] })
    const { take, flow, reported, counters } = make()
    for (let round = 0; round < 100; round++) take(numbered(1_000, 'FAULT'))
    flow.end()
    expect(reported.length).toBeLessThan(8_000)
    expect(reported.length).toBeGreaterThanOrEqual(4_000)
    expect(counters.skipped('rate_limited') + reported.length).toBe(100_000)
  })

  test('a cursor waits for what is still open, and no longer than that', async () => {
    const { take, flow, reported } = make()
    let committed = ''
    take(['ordinary'])
    flow.settle(() => (committed = 'first'))
    expect(committed).toBe('first')
    take(['FAULT: begins'])
    flow.settle(() => (committed = 'second'))
    expect([committed, reported.map(({ text }) => text)]).toEqual(['first', ['ordinary']])
    await poll(() => committed === 'second', { what: 'the end of the message' })
    expect(reported.map(({ text }) => text)).toEqual(['ordinary', 'FAULT: begins'])
  })
})

describe('budget', () => {
  test('endless work gives way after each slice, and leaves half of each window to others', async () => {
    const budget = createBudget({ sliceMs: 10, windowMs: 100, share: 0.5 })
    const began = performance.now()
    // Each piece takes a millisecond or more by the budget's own clock, so their number tells how much it granted, whatever else the machine does.
    let [pieces, longest, ticks] = [0, 0, 0]
    let stopped = false
    const work = (): void => {
      const before = pieces
      while (!budget.exhausted()) {
        budget.spend(() => {
          const until = performance.now() + 1
          while (performance.now() < until);
        })
        pieces++
      }
      longest = Math.max(longest, pieces - before)
      if (!stopped) budget.free(work)
    }
    const timer = setInterval(() => ticks++, 10)
    work()
    await poll(() => ticks >= 60, { what: '60 ticks of another timer', deadlineMs: 50_000 })
    stopped = true
    clearInterval(timer)
    budget.stop()
    const windows = Math.ceil((performance.now() - began) / 100) + 1
    expect(pieces).toBeGreaterThan(0)
    expect(longest, 'pieces of a slice').toBeLessThanOrEqual(10)
    expect(pieces, `pieces in ${windows} windows`).toBeLessThanOrEqual(50 * windows)
  })
})

describe('pauses between reads of a busy stream', () => {
  test('none for a quiet one; longer while reads bring little, shorter while they bring much, never beyond the bound', () => {
    expect(nextPause(0, 100, 500)).toBe(0)
    let pause = 0
    for (let at = 0; at < 10; at++) pause = nextPause(pause, 130, pause)
    expect(pause).toBe(40)
    for (let at = 0; at < 10; at++) pause = nextPause(pause, 65_536, pause)
    expect(pause).toBe(0)
  })
})

describe('marks of progress', () => {
  const saved = (bytes: Uint8Array, start: number, end: number): boolean | 'mark' =>
    interesting(bytes, start, end) || (Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes('Saved') ? 'mark' : false)
  const marking = () => {
    const reported: LogLine[] = []
    const flow = createLogFlow({
      stream: 'file',
      origin: () => ({ path: '/x' }),
      interesting: saved,
      emit: (line) => void reported.push(line),
      counters: createLogCounters('file'),
    })
    return { flow, take: (lines: readonly string[]) => flow.take(batchOf(lines), { timeOf: () => 1 }), texts: () => reported.map(({ text }) => text) }
  }

  test('are told alone, without the lines around them, and not each of a burst', () => {
    const { take, flow, texts } = marking()
    take([...numbered(5, 'a'), 'Saved 1', ...numbered(5, 'b'), 'Saved 2', 'Saved 3'])
    flow.end()
    expect(texts()).toEqual(['Saved 1'])
  })

  test('take nothing from the lines around a fault', () => {
    const { take, flow, texts } = marking()
    take([...numbered(3, 'a'), 'Saved 1', ...numbered(3, 'b'), 'FAULT', 'Saved 2', ...numbered(20, 'c')])
    flow.end()
    expect(texts()).toEqual(['Saved 1', ...numbered(3, 'a'), ...numbered(3, 'b'), 'FAULT', 'Saved 2', ...numbered(9, 'c')])
  })
})

describe('lines that are shown', () => {
  const showing = () => {
    const shown: string[] = []
    const flow = createLogFlow({
      stream: 'container',
      origin: () => ({ container_id: 'aaaaaaaaaaaa' }),
      interesting,
      emit: () => {},
      counters: createLogCounters('container'),
      show: (t, text) => void shown.push(`${t} ${text}`),
    })
    return { shown, take: (lines: readonly string[]) => flow.take(batchOf(lines), { timeOf: () => 7 }) }
  }
  test('are all of them, whether they matter or not, without colours', () => {
    const { shown, take } = showing()
    take(['epoch 1', '\u001b[31mloss 0.5\u001b[0m', 'FAULT'])
    take(['epoch 2'])
    expect(shown).toEqual(['7 epoch 1', '7 loss 0.5', '7 FAULT', '7 epoch 2'])
  })
  test('of a flood are the ends of what is read', () => {
    const { shown, take } = showing()
    for (let i = 0; i < 20; i++) take(numbered(2_000, `batch ${i} line`))
    expect(shown.length).toBeLessThanOrEqual(20 * 20)
    expect(shown.at(-1)).toBe('7 batch 19 line 1999')
  })
})
