// A loop without end before the first step: an incident after minutes of looks that agree; long work of all kinds is none.
import { describe, expect, test } from 'vitest'
import type { LoopLook } from '../../../agent/hang/live/request.ts'
import { createQuietWatch, type FoundQuiet } from '../../../agent/hang/notice/quiet.ts'

const AFTER = 20_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const frame = (file: string, line: number, called: string) => ({ file, line, function: called })
const MAIN = frame('/job/train.py', 40, '<module>')
/** A core is busy; nothing else changes. The loop has three lines. */
const loops = (t: number): LoopLook => ({
  pid: 71,
  rank: 0,
  stacks: [12, 11].map((line, i) => [MAIN, frame('/job/sample.py', line - (Math.round(t / 1_000 + i) % 2), 'draw')]),
  moves: true,
  wanted: t / 1_000,
  work: { cpuSeconds: t / 1_000, bytes: 9_000, faults: 30_000, memory: 5e8 },
})
const unknown: FoundQuiet = {
  verdict: 'unknown',
  confidence: 'read',
  place: '/job/sample.py draw',
  doing: ['loop'],
  waited_for: false,
  complete: true,
  culprits: [],
  work: { cpuSeconds: 0, bytes: 0 },
}

function follow(ms: number, loop: (t: number) => LoopLook | undefined, steps: readonly number[] = [0]) {
  const quiet = createQuietWatch(AFTER)
  const [alarms, looks]: [number[], number[]] = [[], []]
  let known = 0
  for (let t = 0; t <= ms; t += 1_000) {
    if (steps.includes(t)) quiet.active(t, known++)
    if (quiet.due(t) === undefined) continue
    looks.push(t)
    const look = loop(t)
    expect(quiet.looked(t, { ...unknown, ...(look === undefined ? {} : { loop: look }) }), 'no hang with a culprit').toBe(false)
    if (quiet.loops() !== undefined) alarms.push(t)
  }
  return { alarms, looks, quiet }
}

describe('a loop before the first step', () => {
  test('is found after eight minutes, with its line', () => {
    const { alarms, quiet } = follow(HOUR, loops)
    expect(alarms[0]).toBeGreaterThanOrEqual(8 * MINUTE)
    expect(alarms[0]).toBeLessThanOrEqual(11 * MINUTE)
    expect(quiet.loops()).toMatchObject({ pid: 71, at: { file: '/job/sample.py', function: 'draw' } })
  })
  test('of one line is one, too, and one that calls a function of its own', () => {
    const oneLine = (t: number): LoopLook => ({ ...loops(t), stacks: [[MAIN, frame('/job/sample.py', 9, 'draw')]] })
    const calls = (t: number): LoopLook => {
      const draw = [MAIN, frame('/job/sample.py', 9 + (Math.round(t / 1_000) % 3), 'draw')]
      return { ...loops(t), stacks: [draw, [...draw, frame('/job/sample.py', 30, 'one')], [MAIN, frame('/job/sample.py', 9, 'draw')]] }
    }
    expect(follow(HOUR, oneLine).alarms[0]).toBeLessThanOrEqual(11 * MINUTE)
    expect(follow(HOUR, calls).alarms[0]).toBeLessThanOrEqual(11 * MINUTE)
  })
  test('is found although the first look came just before it', () => {
    const [first = 0] = follow(HOUR, loops).looks
    const before = (t: number): LoopLook => (t > first ? loops(t) : { ...loops(t), stacks: [[frame('/job/train.py', 38, '<module>')]] })
    expect(follow(HOUR, before).alarms[0]).toBeLessThanOrEqual(20 * MINUTE)
  })
  test('is found on a host that leaves it little of a core, since it waits for more', () => {
    const starved = (t: number): LoopLook => ({ ...loops(t), work: { ...loops(t).work, cpuSeconds: t / 40_000 } })
    expect(follow(HOUR, starved).alarms[0]).toBeLessThanOrEqual(11 * MINUTE)
  })
  test('is over with the next step', () => {
    const { quiet } = follow(HOUR, loops)
    quiet.active(HOUR + 1, 1)
    expect(quiet.loops()).toBeUndefined()
  })
  test('is over when a look finds the process doing something else', () => {
    const { alarms } = follow(HOUR, (t) => (t > 20 * MINUTE ? undefined : loops(t)))
    expect(alarms.length).toBeGreaterThan(0)
    expect(alarms.filter((t) => t > 20 * MINUTE)).toEqual([])
  })

  const work = (t: number, part: Partial<LoopLook['work']>): LoopLook => ({ ...loops(t), work: { ...loops(t).work, ...part } })
  const everyOther = (look: (t: number) => LoopLook): ((t: number) => LoopLook | undefined) => {
    let count = 0
    return (t) => ((count += 1) % 2 === 0 ? look(t) : undefined)
  }
  test.each<[string, (t: number) => LoopLook | undefined]>([
    ['it tokenises: it writes what comes of it', (t) => work(t, { bytes: t * 50 })],
    ['it reads a data set', (t) => work(t, { bytes: t * 2_000 })],
    ['it shows a bar of progress', (t) => work(t, { bytes: t * 0.8 })],
    ['it fills a list in memory', (t) => work(t, { memory: 5e8 + t * 10 })],
    ['it takes and gives back memory', (t) => work(t, { faults: t * 0.05 })],
    ['a library computes on several cores', (t) => work(t, { cpuSeconds: t / 300 })],
    ['it waits and computes now and then', (t) => ({ ...work(t, { cpuSeconds: t / 20_000 }), wanted: t / 20_000 })],
    ['it stands in one call into C', (t) => ({ ...loops(t), stacks: [[MAIN, frame('/job/sample.py', 9, 'draw')]], moves: false })],
    [
      'it does one thing after the other',
      (t) => ({ ...loops(t), stacks: [[frame('/job/train.py', 40 + Math.round(t / 60_000), '<module>'), frame('/job/a.py', 3, 'part')]] }),
    ],
    ['it is in another function in each look', (t) => ({ ...loops(t), stacks: [[frame('/job/train.py', 40, `part${Math.round(t / 60_000)}`)]] })],
    [
      'it is far below the function that all looks share',
      (t) => ({ ...loops(t), stacks: [[MAIN, ...['a', 'b', 'c', 'd'].map((name) => frame('/job/deep.py', Math.round(t / 7_000), name + String(t)))]] }),
    ],
    ['its process is another one each time', (t) => ({ ...loops(t), pid: Math.round(t / 1_000) + 1 })],
    ['each other look finds it elsewhere', everyOther(loops)],
  ])('is none in eight hours while %s', (_, loop) => {
    expect(follow(8 * HOUR, loop).alarms).toEqual([])
  })
  test('and none within the eight minutes', () => {
    expect(follow(7.9 * MINUTE, loops).alarms).toEqual([])
  })
})
