// A neighbour that takes what a process needs again is named; one that grows beside a process that needs nothing, or leaves room, is not.
import { describe, expect, test } from 'vitest'
import { neighbourPressure } from '../../../agent/diagnosis/detectors/neighbour-pressure/neighbour-pressure.ts'
import { firstFault, GIB, statesOf, watch, type Moment, type Process } from './memory-scene.ts'

const MINUTES = 60
const HOUR = 60 * MINUTES

/** Takes up to `top` GiB for four minutes of five, gives back down to `low`. */
const swing = (second: number, low = 20, top = 40): number => (second % 300 < 60 ? low : top)
const trainer = (holds: number, more: Partial<Process> = {}): Process => ({ pid: 4242, container: 'trainer', holds, ...more })
const notebook = (holds: number, more: Partial<Process> = {}): Process => ({ pid: 7, name: 'python', container: 'notebook', holds, ...more })
/** From `from` on by a rate per minute, up to `to`. */
const climb = (second: number, from: number, perMinute: number, to: number): number => Math.min(to, 5 + (Math.max(0, second - from) / 60) * perMinute)

type Case = { readonly name: string; readonly tell: (second: number) => readonly Process[] }
const quiet: readonly Case[] = [
  { name: 'a neighbour that does not change', tell: (s) => [trainer(swing(s)), notebook(38)] },
  { name: 'nearly: a neighbour that grows and leaves a quarter of the card', tell: (s) => [trainer(swing(s)), notebook(climb(s, 1_200, 2, 20))] },
  { name: 'a neighbour that grows beside a process that keeps what it has', tell: (s) => [trainer(40), notebook(climb(s, 1_200, 1, 39))] },
  { name: 'a process that itself grows beside a quiet one', tell: (s) => [trainer(20 + Math.min(54, s / 60)), notebook(5)] },
  { name: 'both growing alike', tell: (s) => [trainer(swing(s, 10 + s / 200, 20 + s / 200)), notebook(climb(s, 600, 0.3, 39))] },
  {
    name: 'models that are loaded and unloaded beside a quiet process',
    tell: (s) => [notebook(20), ...(s % 1_200 < 600 ? [trainer(55, { pid: 100 + Math.floor(s / 1_200) })] : [])],
  },
  { name: 'two that start together', tell: (s) => [trainer(Math.min(40, s / 2)), notebook(Math.min(38, s / 3))] },
]
const firing: readonly Case[] = [
  { name: 'steady growth, before the room is gone', tell: (s) => [trainer(swing(s)), notebook(climb(s, 1_200, 0.6, 39))] },
  { name: 'a jump that takes what the process needs again', tell: (s) => [trainer(swing(s)), notebook(s < 1_800 ? 5 : 38)] },
  { name: 'growth in stairs', tell: (s) => [trainer(swing(s)), notebook(5 + 4 * Math.floor(Math.max(0, s - 1_200) / 300))] },
  {
    name: 'the same with a probe: what it could give back is no need',
    tell: (s) => [trainer(swing(s), { probe: { active: s % 20 < 10 ? 12 : 30, reserved: swing(s) - 0.5, split: 1 } }), notebook(climb(s, 1_200, 0.6, 45))],
  },
]

describe('neighbour pressure', () => {
  const moment =
    (tell: Case['tell']) =>
    (second: number): Moment => ({ processes: tell(second) })

  test.each(quiet)('says nothing of $name', ({ tell }) => {
    expect(statesOf(watch(neighbourPressure, 1.5 * HOUR, moment(tell))).filter((said) => said.startsWith('faulty'))).toEqual([])
  })

  test.each(firing)('tells of $name', ({ tell }) => {
    const turns = watch(neighbourPressure, 1.5 * HOUR, moment(tell))
    const fault = firstFault(turns)
    expect(fault.key).toContain(' 4242')
    expect(fault.facts?.other_processes?.[0]?.pid).toBe(7)
    expect(fault.verdict).toContain('process python (7) of container notebook')
    expect(turns.some(({ state, key }) => state === 'faulty' && key.endsWith(' 7'))).toBe(false)
  })

  test('says how much, since when, what is left and for how long, and whom to move', () => {
    const turns = watch(neighbourPressure, 1.5 * HOUR, moment(firing[0]?.tell ?? (() => [])))
    const { verdict, facts, remedies, second } = firstFault(turns)
    // 40 of 80 GiB are needed again, the neighbour has 5 and takes 0.6 a minute: room for an hour, told half an hour before.
    expect(second).toBeGreaterThan(1_200 + 20 * MINUTES)
    expect(second).toBeLessThan(1_200 + 35 * MINUTES)
    expect(verdict).toMatch(/hold \d+(?:\.\d{1,2})? GiB more than \d+ min ago/)
    expect(verdict).toMatch(/at this pace nothing in about (2\d|30) min\b/)
    expect(facts?.peak_bytes).toBe(40 * GIB)
    expect(remedies?.[0]).toMatchObject({ command: 'docker top notebook' })
  })

  test('says so where the driver lists nobody who grew', () => {
    const hidden = (s: number): readonly Process[] => [trainer(swing(s)), notebook(5), { pid: 1, holds: 0 }]
    const turns = watch(neighbourPressure, 1.5 * HOUR, (s) => ({ processes: hidden(s), unlisted: climb(s, 1_200, 0.6, 39) - 5 }))
    const { verdict, facts, remedies } = firstFault(turns)
    expect(verdict).toContain('belong to no process that the driver lists')
    expect(facts?.other_processes).toEqual([])
    expect(remedies?.[0]?.text).toContain('no process in the driver’s list')
  })

  test('is over when the neighbour gives back, and when the process ends; not while the card is not read', () => {
    const grown = (s: number): number => climb(s, 1_200, 1, 38)
    const back = watch(
      neighbourPressure,
      2 * HOUR,
      moment((s) => [trainer(swing(s)), notebook(s < HOUR ? grown(s) : 5)]),
    )
    expect(statesOf(back.filter(({ key }) => key.endsWith(' 4242')))).toEqual(['healthy', 'faulty warning', 'healthy'])
    const ended = watch(
      neighbourPressure,
      1.2 * HOUR,
      moment((s) => [notebook(grown(s)), ...(s < HOUR ? [trainer(swing(s))] : [])]),
    )
    expect(ended.findLast(({ key }) => key.endsWith(' 4242'))).toMatchObject({ state: 'healthy', why: 'the process has ended' })
    const blind = watch(neighbourPressure, 3 * HOUR, (s) => ({ processes: [trainer(swing(s)), notebook(grown(s))], ...(s > HOUR ? { blind: true } : {}) }))
    expect(blind.findLast(({ key, state }) => key.endsWith(' 4242') && state !== 'unknown')?.state).toBe('faulty')
  })
})
