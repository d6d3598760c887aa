// GPU seconds against a known truth: random holders, looks that come when they can, processes shorter than a second, an agent that starts again.
import { describe, expect, test } from 'vitest'
import { createLedgerBook } from '../../../agent/jobs/ledger/book.ts'
import { createCardMeter, type CardPart } from '../../../agent/jobs/ledger/card-meter.ts'
import type { CardHolder, UseCard } from '../../../agent/model/ledger.ts'
import { randomOf } from '../../setup/random.ts'

const T = 1_800_000_000_000
const CARD: UseCard = { uuid: 'GPU-0', gpu: '0' }
const holder = (run: string, ratio?: number): CardHolder => ({ run, card: CARD, mib: 1_000, ...(ratio === undefined ? {} : { ratio }) })
const sum = (parts: readonly CardPart[], of: (part: CardPart) => number): number => parts.reduce((all, part) => all + of(part), 0)
const unknown = (): undefined => undefined

type Life = { readonly run: string; readonly from: number; readonly to: number; readonly rate: number }
/** `lasts`: from and to how many milliseconds. */
function livesOf(random: () => number, count: number, spanMs: number, [low, high]: readonly [number, number]): readonly Life[] {
  return Array.from({ length: count }, (_, at) => {
    const ms = low * (high / low) ** random()
    const from = T + random() * (spanMs - ms)
    return { run: `run-${at}`, from, to: from + ms, rate: 0.01 + 0.03 * random() }
  })
}
type Sums = { held: number; active: number }
/** The whole span, looked at each 0.5 to 3 seconds; at each of `restarts` the agent starts again from where its counting stood. */
function count(random: () => number, lives: readonly Life[], spanMs: number, restarts: number): { found: Sums; truth: Sums; wrong: readonly string[] } {
  const found = { held: 0, active: 0 }
  const truth = { held: 0, active: 0 }
  const byStart = lives.toSorted((a, b) => a.from - b.from)
  /** What no look may say. */
  const wrong: string[] = []
  let [next, open, counter, at, restartsLeft] = [0, new Array<Life>(), 5e6, T, restarts]
  let meter = createCardMeter(CARD.uuid)
  meter.look({ t: T, ratio: 0, counter, holders: [] }, unknown)
  while (at < T + spanMs + 10_000) {
    const t = at + 500 + 2_500 * random()
    for (let life = byStart[next]; life !== undefined && life.from < t; life = byStart[++next]) open.push(life)
    const within = (life: Life): number => Math.max(0, Math.min(life.to, t) - Math.max(life.from, at))
    const active = open.reduce((all, life) => all + life.rate * within(life), 0)
    truth.held += open.reduce((all, life) => all + within(life), 0)
    truth.active += active
    const joules = (60 * (t - at) + 540 * active) / 1_000
    counter += joules
    const here = open.filter(({ from, to }) => from <= t && to > t)
    const parts = meter.look(
      { t, ratio: Math.min(1, active / (t - at)), counter, holders: here.map((life) => holder(life.run, (life.rate * within(life)) / (t - at))) },
      unknown,
    )
    const byRun = new Map<string, number>()
    for (const { holder: of, use } of parts) {
      const { heldMs, activeMs, idleMs, joules: own, mibSeconds } = use
      if (Math.min(heldMs, activeMs, idleMs, own, mibSeconds) < 0 || activeMs + idleMs > heldMs + 1e-6) wrong.push(`${t}: ${JSON.stringify(use)}`)
      if (of !== undefined) byRun.set(of.run, (byRun.get(of.run) ?? 0) + heldMs)
    }
    // Nobody holds a GPU longer than the time goes on, and together they use no more than the GPU has.
    if ([...byRun.values()].some((ms) => ms > t - at + 1e-6)) wrong.push(`${t}: held for longer than the time`)
    if (sum(parts, ({ use }) => use.activeMs + use.idleMs) > t - at + 1e-6) wrong.push(`${t}: more than the time of the GPU`)
    if (Math.abs(sum(parts, ({ use }) => use.joules) - joules) > 1e-6) wrong.push(`${t}: the parts of the energy are not the counter's`)
    found.held += sum(parts, ({ use }) => use.heldMs)
    found.active += sum(parts, ({ use }) => use.activeMs)
    open = open.filter(({ to }) => to > t)
    if (restartsLeft > 0 && random() < 0.02) {
      restartsLeft--
      meter = createCardMeter(CARD.uuid, meter.checkpoint())
    }
    at = t
  }
  return { found, truth, wrong }
}
const off = (value: number, truth: number): number => Math.abs(value - truth) / truth

describe('GPU seconds, however late each look is', () => {
  const SPAN_MS = 3_600_000
  const SEEDS = Array.from({ length: 10 }, (_, at) => at + 1)
  test.each([
    ['processes of a second to ten minutes', 300, [1_000, 600_000], 0],
    ['the agent started again and again', 300, [1_000, 600_000], 20],
    ['processes of a few seconds', 3_000, [1_000, 5_000], 0],
    ['processes of less than a second', 20_000, [300, 950], 5],
  ] as const)('%s: held within 1 %% of all', (_, number, lasts, restarts) => {
    let [held, truly] = [0, 0]
    for (const seed of SEEDS) {
      const random = randomOf(seed)
      const { found, truth, wrong } = count(random, livesOf(random, number, SPAN_MS, lasts), SPAN_MS, restarts)
      expect(wrong).toEqual([])
      held += found.held
      truly += truth.held
    }
    expect(off(held, truly), `${held} of ${truly} ms`).toBeLessThan(0.01)
  })

  test('active within 1 % of all where lives are longer than a few looks', () => {
    let [active, truly] = [0, 0]
    for (const seed of SEEDS) {
      const random = randomOf(seed)
      const { found, truth } = count(random, livesOf(random, 300, SPAN_MS, [10_000, 600_000]), SPAN_MS, 5)
      active += found.active
      truly += truth.active
    }
    expect(off(active, truly), `${active} of ${truly} ms`).toBeLessThan(0.01)
  })

  // As after a start of the machine or at the end of a batch: what is late then is late for all of them.
  test('many that come at once at a late look, and go at once at one in time', () => {
    const meter = createCardMeter(CARD.uuid)
    const all = Array.from({ length: 16 }, (_, at) => holder(`run-${at}`, 0.05))
    let [held, counter] = [0, 1_000]
    for (const [t, is] of [
      [0, false],
      [1_000, false],
      [3_000, true],
      [4_000, true],
      [20_000, true],
      [21_000, false],
    ] as const)
      held += sum(meter.look({ t: T + t, ratio: is ? 0.8 : 0, counter: (counter += 100), holders: is ? all : [] }, unknown), ({ use }) => use.heldMs)
    // From the middle of the late look to the middle of the last.
    expect(held).toBe(16 * 18_500)
  })
})

describe('who comes or goes between two looks', () => {
  const look = (t: number, holders: readonly CardHolder[], ratio = 0.5) => ({ t: T + t, ratio, counter: 1_000 + t / 10, holders })
  const heldOf = (parts: readonly CardPart[]): unknown => parts.flatMap(({ holder: of, use }) => (of === undefined ? [] : [[of.run, use.heldMs]]))
  test('is counted for half of that time, and the rest of the idle power is nobody’s', () => {
    const meter = createCardMeter(CARD.uuid)
    meter.look(look(0, [], 0), unknown)
    const came = meter.look(look(2_000, [holder('a')], 0), unknown)
    expect(heldOf(came)).toEqual([['a', 1_000]])
    expect(came.filter(({ isUnheld }) => isUnheld).map(({ use }) => use.joules)).toEqual([100])
    expect(heldOf(meter.look(look(3_000, [holder('a'), holder('b')]), unknown))).toEqual([
      ['a', 1_000],
      ['b', 500],
    ])
    expect(heldOf(meter.look(look(4_000, [holder('b')]), unknown))).toEqual([
      ['b', 1_000],
      ['a', 500],
    ])
    expect(heldOf(meter.look(look(5_000, [holder('b')]), unknown))).toEqual([['b', 1_000]])
  })

  test('counts for half of a time without looks, without a start or an end that is known', () => {
    const meter = createCardMeter(CARD.uuid)
    meter.look(look(0, [holder('a'), holder('b')]), unknown)
    // The GPU was lost, or the agent held up: 'b' ended at some time in it, and 'c' began.
    expect(heldOf(meter.look(look(120_000, [holder('a'), holder('c')]), unknown))).toEqual([
      ['a', 120_000],
      ['c', 60_000],
      ['b', 60_000],
    ])
    expect(heldOf(meter.look(look(121_000, [holder('a'), holder('c')]), unknown))).toEqual([
      ['a', 1_000],
      ['c', 1_000],
    ])
  })

  test('counts from its start or to its end after a long time without looks, where those are known', () => {
    const meter = createCardMeter(CARD.uuid)
    meter.look(look(0, [holder('a', 0.5), holder('d', 0.1)]), unknown)
    const since = (run: string, t: number): CardHolder => ({ ...holder(run, 0.25), since: T + t })
    const parts = meter.look(look(120_000, [holder('a', 0.5), since('b', 80_000), since('c', -5_000)]), (run) => (run === 'd' ? T + 20_000 : undefined))
    expect(parts.flatMap(({ holder: of, use }) => (of === undefined ? [] : [[of.run, Math.round(use.heldMs), Math.round(use.activeMs)]]))).toEqual([
      ['a', 120_000, 60_000],
      ['b', 40_000, 10_000],
      ['c', 60_000, 15_000],
      ['d', 20_000, 2_000],
    ])
  })

  test('is nobody’s after ten minutes', () => {
    const meter = createCardMeter(CARD.uuid)
    meter.look(look(0, [holder('a')]), unknown)
    const parts = meter.look(look(601_000, [holder('a')]), unknown)
    expect(parts.map(({ isUnheld, use }) => [isUnheld, use.heldMs, use.joules])).toEqual([[true, 0, 60_100]])
  })

  test('counts for half of a time as long as an agent takes to start again', () => {
    const meter = createCardMeter(CARD.uuid)
    meter.look(look(0, [holder('a'), holder('b')]), unknown)
    const parts = meter.look(look(9_000, [holder('a'), holder('c')]), unknown)
    expect(heldOf(parts)).toEqual([
      ['a', 9_000],
      ['c', 4_500],
      ['b', 4_500],
    ])
  })

  test('of one that has ended the last part is still its owner’s', () => {
    const book = createLedgerBook()
    const running = new Set(['a'])
    const ownerOf = (run: string) => (running.has(run) ? { user: run } : undefined)
    book.look(CARD.uuid, '0', look(0, [holder('a')]), ownerOf)
    book.look(CARD.uuid, '0', look(1_000, [holder('a')]), ownerOf)
    running.clear()
    book.look(CARD.uuid, '0', look(2_000, [], 0), ownerOf)
    const rows = book.take().rows.map(({ owner, use: { heldMs } }) => ({ owner, heldMs }))
    expect(rows).toEqual([
      { owner: { user: 'a' }, heldMs: 1_500 },
      { owner: { unheld: true }, heldMs: 0 },
    ])
  })
})

describe('a counter of energy that does not go on as before', () => {
  const joulesAt = (t: number, counter: number, watts?: number): number => {
    const meter = createCardMeter(CARD.uuid)
    meter.look({ t: T, ratio: 1, counter: 5_000_000, holders: [holder('a')] }, unknown)
    return sum(meter.look({ t: T + t, ratio: 1, counter, ...(watts === undefined ? {} : { watts }), holders: [holder('a')] }, unknown), ({ use }) => use.joules)
  }
  test('starts over with the driver: what it has counted since then', () => expect(joulesAt(2_000, 600, 300)).toBe(600))
  test('steps back by a little: the power, not all that it has ever counted', () => expect(joulesAt(1_000, 4_999_999, 300)).toBe(300))
  test('steps ahead by more than a GPU can use', () => expect(joulesAt(1_000, 9_000_000, 300)).toBe(300))
  test('without a power nothing is counted', () => expect(joulesAt(1_000, 9_000_000)).toBe(0))
  test('rises over looks that lack it, as the first ones of an agent do', () => {
    const meter = createCardMeter(CARD.uuid, { uuid: CARD.uuid, t: T, counter: 5_000_000, holders: [holder('a')] })
    const parts = Array.from({ length: 20 }, (_, s) =>
      meter.look({ t: T + 1_000 * (s + 1), ratio: 1, watts: 400, ...(s < 19 ? {} : { counter: 5_008_000 }), holders: [holder('a')] }, unknown),
    )
    expect(sum(parts.flat(), ({ use }) => use.joules)).toBeCloseTo(8_000)
  })
  test('rises over a time without looks', () => expect(joulesAt(300_000, 5_210_000)).toBeCloseTo(210_000))
})
