// A job whose rhythm is not known: when it is looked at, and that only a standstill without any work is an alarm.
import { describe, expect, test } from 'vitest'
import { createQuietWatch, type FoundQuiet } from '../../../agent/hang/notice/quiet.ts'

const AFTER = 20_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const waits: FoundQuiet = {
  verdict: 'hang',
  confidence: 'computed',
  place: 'train.py load',
  doing: ['lock'],
  waited_for: true,
  complete: true,
  culprits: [1],
  work: { cpuSeconds: 4, bytes: 9_000_000 },
}

type Scene = {
  readonly ms: number
  readonly steps: readonly number[]
  readonly look: (t: number) => FoundQuiet
  /** It is known without a step. */ readonly starts?: boolean
}
/** A job second by second: at which of its times it makes a step, and what a look finds. */
function follow({ ms, steps, look, starts }: Scene): { readonly alarms: readonly number[]; readonly looks: readonly number[] } {
  const quiet = createQuietWatch(AFTER)
  const [alarms, looks]: [number[], number[]] = [[], []]
  let known = 0
  if (starts === true) quiet.active(0, 0)
  for (let t = 0; t <= ms; t += 1_000) {
    if (steps.includes(t)) quiet.active(t, ++known)
    if (quiet.due(t) === undefined) continue
    looks.push(t)
    if (quiet.looked(t, look(t))) alarms.push(t)
  }
  return { alarms, looks }
}
const first = (scene: Partial<Scene>): number | undefined => follow({ ms: HOUR, steps: [0], look: () => waits, ...scene }).alarms[0]

describe('a job whose rhythm is not known', () => {
  test('that hangs after its second step is an alarm within a minute', () => {
    expect(first({ steps: [0, 5_000] })).toBeLessThanOrEqual(5_000 + MINUTE)
  })
  test('that hangs after its first one is an alarm within a minute where all its ranks are seen, else after two', () => {
    expect(first({})).toBeLessThanOrEqual(MINUTE)
    const at = first({ look: () => ({ ...waits, complete: false }) })
    expect(at).toBeGreaterThanOrEqual(2 * MINUTE)
    expect(at).toBeLessThanOrEqual(2.5 * MINUTE)
  })
  test('that hangs before it is an alarm after two minutes', () => {
    const at = first({ steps: [], starts: true })
    expect(at).toBeGreaterThanOrEqual(2 * MINUTE)
    expect(at).toBeLessThanOrEqual(2.5 * MINUTE)
  })
  test.each<[string, Partial<FoundQuiet>]>([
    ['the network', { doing: ['network'] }],
    ['a program that it started', { doing: ['child'] }],
    ['each other, all of them', { culprits: [], doing: [], waited_for: false, place: '' }],
  ])('that waits for %s is one after five minutes', (_, part) => {
    const at = first({ steps: [0, 5_000], look: () => ({ ...waits, ...part }) })
    expect(at).toBeGreaterThanOrEqual(5 * MINUTE)
    expect(at).toBeLessThanOrEqual(6 * MINUTE)
  })
  test('of one process that waits for a lock is one where it has made steps', () => {
    const alone = (): FoundQuiet => ({ ...waits, waited_for: false })
    expect(first({ steps: [0, 5_000], look: alone })).toBeLessThanOrEqual(5_000 + MINUTE)
    expect(first({ look: alone })).toBeUndefined()
  })
  test('of one process with slow steps is one only after several of its pauses', () => {
    const alone = (): FoundQuiet => ({ ...waits, waited_for: false })
    const at = first({ steps: [0, 60_000], look: alone })
    expect(at).toBeGreaterThanOrEqual(60_000 + 4 * MINUTE)
    expect(at).toBeLessThanOrEqual(60_000 + 5 * MINUTE)
  })

  // Half of a core; a few kilobytes a second of a slow download; elsewhere each time.
  const working = (t: number, work: Partial<FoundQuiet['work']>): FoundQuiet => ({ ...waits, work: { ...waits.work, ...work }, place: `load ${t % 1}` })
  test.each<[string, (t: number) => FoundQuiet]>([
    ['a rank compiles for an hour', (t) => working(t, { cpuSeconds: t / 2_000 })],
    ['a rank downloads slowly', (t) => ({ ...working(t, { bytes: t * 20 }), doing: ['network'] })],
    ['a rank reads from slow storage', (t) => ({ ...working(t, { bytes: t * 1_000 }), doing: ['file'] })],
    ['a rank is at another place in each look', (t) => ({ ...waits, place: `data.py ${t}` })],
    ['another rank is missing in each look', (t) => ({ ...waits, culprits: [t % 7] })],
    ['its stack says that it saves', () => ({ ...waits, verdict: 'slow_phase', doing: ['save'] })],
    ['it serves, and no request comes', () => ({ ...waits, doing: ['requests'] })],
    ['it is a notebook in which nobody types', () => ({ ...waits, waited_for: false, doing: ['network'] })],
    ['it is a program that waits at its prompt', () => ({ ...waits, waited_for: false, doing: ['input'] })],
    ['its other host has not begun', () => ({ ...waits, culprits: [], doing: [], waited_for: false, complete: false, place: '' })],
  ])('is no alarm while %s', (_, look) => {
    expect(follow({ ms: 8 * HOUR, steps: [0], look }).alarms).toEqual([])
    expect(follow({ ms: 8 * HOUR, steps: [0, 5_000], look }).alarms).toEqual([])
  })

  test('is an alarm as soon where each look takes 12 s, as on a host with many times more programs than cores', () => {
    const quiet = createQuietWatch(AFTER)
    quiet.active(0, 2)
    let alarmAt: number | undefined
    for (let t = 0; t < HOUR && alarmAt === undefined; t += 2_000) {
      if (quiet.due(t) === undefined) continue
      const begun = t
      t += 12_000
      if (quiet.looked(t, waits, begun)) alarmAt = t
    }
    expect(alarmAt).toBeLessThanOrEqual(MINUTE)
  })
  test('costs few looks', () => {
    const idle = follow({ ms: 24 * HOUR, steps: [0], look: () => ({ ...waits, waited_for: false, doing: ['requests'] }) })
    expect(idle.looks.length).toBeLessThanOrEqual(40)
    expect(idle.looks.length).toBeGreaterThan(0)
  })
  test('that was quiet for three minutes and went on may be quiet for as long again', () => {
    // Nobody looks in the second pause, which is shorter.
    const { looks } = follow({ ms: 600_000, steps: [0, 180_000, 350_000], look: (t) => working(t, { cpuSeconds: t / 2_000 }) })
    expect(looks.filter((t) => t > 180_000 && t < 350_000)).toEqual([])
    expect(looks.some((t) => t >= 530_000)).toBe(true)
  })
  test('is over when it goes on, by a step or by a look that finds it elsewhere', () => {
    const quiet = createQuietWatch(AFTER)
    const hung = (): void => {
      for (let t = 0; t <= 3 * MINUTE; t += 1_000) if (quiet.due(t) !== undefined) quiet.looked(t, waits)
    }
    quiet.active(0, 1)
    hung()
    expect(quiet.hangs()).toBe(true)
    quiet.looked(4 * MINUTE, { ...waits, place: 'train.py step' })
    expect(quiet.hangs()).toBe(false)
    quiet.active(1, 2)
    hung()
    expect(quiet.hangs()).toBe(true)
    quiet.active(5 * MINUTE, 3)
    expect(quiet.hangs()).toBe(false)
  })
})
