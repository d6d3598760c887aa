// A training that waits for its input: the saw-tooth and the evidence, and why neither alone is enough.
import { describe, expect, test } from 'vitest'
import { inputBound } from '../../../agent/diagnosis/detectors/input-bound/input-bound.ts'
import { faults, firstFault, story, watch, type Card, type Moment } from './use-scene.ts'

const job = { pid: 11, gib: 50, container: 'train' }
/** Six seconds of work, four of waiting. */
const saw = (second: number): number => (second % 10 < 6 ? 0.96 : 0)
const card = (utilization: number | undefined, more: Partial<Card> = {}): Card => ({ jobs: [job], utilization, ...more })
const host = (utilization: number | undefined, more: Partial<Moment> = {}): Moment => ({ cards: [card(utilization)], cores: { train: 3.9 }, ...more })
const LIMIT = { limits: { train: 4 } }
/** It must have run for ten minutes, and both have held for two. */
const FROM = 720

describe('input bound', () => {
  test.each<[name: string, more: Partial<Moment>, says: RegExp]>([
    ['the CPU limit of its container', LIMIT, /CPU limit of the container \(3\.9 of 4 cores in use\)/],
    ['the CPUs of the host', { hostBusy: 0.97 }, /CPUs of the host \(97 % busy\)/],
    ['storage, by pressure', { pressure: { io: 0.6 } }, /storage \(tasks waited for it in 60 % of the time\)/],
    ['a disk that is always busy, with pressure', { pressure: { io: 0.2 }, disks: { sda: 0.99, nvme0n1: 0.2 } }, /disk sda \(busy in 99 % of the time\)/],
    ['memory of the host', { pressure: { memory: 0.5 } }, /host memory/],
  ])('%s', (_, more, says) => {
    const turns = watch(inputBound, 1_200, (second) => host(saw(second), more))
    expect(story(turns)).toEqual([`${FROM} faulty warning`])
    expect(firstFault(turns)).toMatchObject({
      about: { container: 'train', pid: 11 },
      facts: { low_ratio: 0.4, drops_per_minute: expect.closeTo(6, 0), gpus: ['0'] },
    })
    expect(firstFault(turns).facts?.utilization_ratio).toBeCloseTo(0.58, 1)
    expect(firstFault(turns).verdict).toMatch(says)
  })

  test('healed when the GPU works through, not when nothing is read, nor when only the evidence has gone', () => {
    const healed = watch(inputBound, 2_000, (second) => host(second < 1_000 ? saw(second) : 0.96, LIMIT))
    expect(story(healed)[0]).toBe(`${FROM} faulty warning`)
    expect(story(healed)[1]).toMatch(/^1[1-4]\d\d healthy$/)
    expect(story(watch(inputBound, 2_000, (second) => (second < 1_000 ? host(saw(second), LIMIT) : { cards: ['gone'] })))).toHaveLength(1)
    expect(story(watch(inputBound, 2_000, (second) => host(saw(second), second < 1_000 ? LIMIT : { cores: { train: 1 }, ...LIMIT })))).toHaveLength(1)
  })

  test('over when the process has ended', () => {
    const turns = watch(inputBound, 1_400, (second) => (second < 1_000 ? host(saw(second), LIMIT) : { ...host(0, LIMIT), cards: [{ utilization: 0 }] }))
    expect(turns.at(-1)).toMatchObject({ state: 'healthy', why: 'the process that waited has ended' })
  })

  test('a job over several GPUs is one finding that names those that wait; the others spin in NCCL', () => {
    const ranks = (second: number): readonly Card[] =>
      [0, 1, 2, 3].map((index) => card(index < 2 ? saw(second + index) : 1, { jobs: [{ ...job, pid: 20 + index }] }))
    const turns = watch(inputBound, 1_200, (second) => ({ cards: ranks(second), cores: { train: 15.8 }, limits: { train: 16 } }))
    expect(faults(turns)).toMatchObject([{ facts: { gpus: ['0', '1'] }, about: { container: 'train' } }])
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['a saw-tooth without any evidence: nobody can tell what it waits for', (second) => host(saw(second))],
    ['evidence without a saw-tooth: steady at 70 %', () => host(0.7, LIMIT)],
    ['a checkpoint of twelve seconds each four minutes', (second) => host(second % 240 < 228 ? 0.95 : 0.02, LIMIT)],
    ['a notebook: two bursts in five minutes', (second) => host(second % 150 < 24 ? 0.6 : 0, LIMIT)],
    ['short stalls that keep the mean above 80 %', (second) => host(second % 10 < 9 ? 0.97 : 0, LIMIT)],
    [
      'a card that several share',
      (second) => ({ ...host(saw(second), LIMIT), cards: [card(saw(second), { jobs: [job, { pid: 12, gib: 45, container: 'eval' }] })] }),
    ],
    [
      'a process that restarts each five minutes',
      (second) => ({ ...host(0, LIMIT), cards: [card(saw(second), { jobs: [{ ...job, pid: 11 + Math.floor(second / 300) }] })] }),
    ],
    ['a small one', (second) => ({ ...host(0, LIMIT), cards: [card(saw(second), { jobs: [{ ...job, gib: 1 }] })] })],
    ['the utilization cannot be read', () => host(undefined, LIMIT)],
    ['near the limit of its CPUs, and no nearer', (second) => host(saw(second), { cores: { train: 3.4 }, ...LIMIT })],
    ['a busy disk without pressure: it takes many requests at once', (second) => host(saw(second), { disks: { nvme0n1: 1 } })],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(inputBound, 1_500, tell))).toEqual([])
  })

  test('two samples of a hundred missing change nothing', () => {
    const turns = watch(inputBound, 1_200, (second) => (second % 50 === 3 ? { cards: ['gone'] } : host(saw(second), LIMIT)))
    expect(faults(turns)).toHaveLength(1)
  })
})
