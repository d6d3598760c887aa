// GPUs that are held and do nothing, and containers that were given one and use none.
import { describe, expect, test } from 'vitest'
import { idleGpuHeld } from '../../../agent/diagnosis/detectors/idle-gpu-held.ts'
import { unusedGpu } from '../../../agent/diagnosis/detectors/unused-gpu.ts'
import { faults, firstFault, story, watch, type Card, type Moment } from './use-scene.ts'

const MINUTE = 60
const notebook = { pid: 7, gib: 18, container: 'notebook' }
const idle: Card = { jobs: [notebook], utilization: 0 }
const only = (card: Card | 'gone'): Moment => ({ cards: [card] })

describe('a GPU that is held and idle', () => {
  test('told after half an hour without work, with who holds it and since when; over with the first work', () => {
    const turns = watch(idleGpuHeld, 45 * MINUTE, (second) => only(second < 100 || second > 2_400 ? { ...idle, utilization: 0.4 } : idle))
    expect(story(turns)).toEqual(['1900 faulty info', '2401 healthy'])
    expect(firstFault(turns)).toMatchObject({
      about: { pid: 7, container: 'notebook', uuid: expect.any(String) },
      facts: { pattern: 'held_without_work', idle_seconds: 1_801, process_bytes: 18 * 2 ** 30, jobs: ['container notebook'] },
      title: 'GPU 0: 18 GiB are held, and nothing has run for 30 min',
    })
    expect(firstFault(turns).verdict).toContain('while process python (7) of container notebook (18 GiB) holds its memory')
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['one percent for one second in twenty minutes', (second) => only({ ...idle, utilization: second % 1_200 === 7 ? 0.01 : 0 })],
    ['a context without memory', () => only({ jobs: [{ ...notebook, gib: 0.45 }], utilization: 0 })],
    ['a desktop', () => only({ jobs: [{ pid: 3, gib: 2, name: 'Xorg', type: 'G' }], utilization: 0 })],
    ['an empty card', () => only({ jobs: [], utilization: 0 })],
    ['MIG, where nobody tells how busy it is', () => only({ ...idle, utilization: undefined })],
    ['a driver under WSL2 that always says 0', () => ({ ...only(idle), wsl: true })],
    ['each holder stays twenty minutes', (second) => only({ jobs: [{ ...notebook, pid: 7 + Math.floor(second / 1_200) }], utilization: 0 })],
    ['memory that nobody on the list holds', () => only({ jobs: [], lost: 30, utilization: 0 })],
    ['the list cannot be read', () => only({ ...idle, unlisted: true })],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(idleGpuHeld, 90 * MINUTE, tell))).toEqual([])
  })

  test('silence does not heal it, the end of its holder does', () => {
    const silent = watch(idleGpuHeld, 90 * MINUTE, (second) => only(second < 2_000 ? idle : 'gone'))
    expect(story(silent)).toEqual(['1800 faulty info'])
    const ended = watch(idleGpuHeld, 45 * MINUTE, (second) => only(second < 2_000 ? idle : { jobs: [], utilization: 0 }))
    expect(story(ended)).toEqual(['1800 faulty info', '2010 healthy'])
    expect(ended.at(-1)?.why).toMatch(/has ended/)
  })

  test('two samples of a hundred missing change nothing', () => {
    const turns = watch(idleGpuHeld, 40 * MINUTE, (second) => only(second % 50 === 3 ? 'gone' : idle))
    expect(faults(turns)).toHaveLength(1)
  })

  test('with MIG by instance, where the engines tell', () => {
    const jobs = [
      { ...notebook, gi: '1' },
      { pid: 8, gib: 9, container: 'server', gi: '2' },
    ]
    const instances = [
      { gi: '1', totalGib: 40, usedGib: 18, engine: 0 },
      { gi: '2', totalGib: 40, usedGib: 9, engine: 0.3 },
    ]
    const turns = watch(idleGpuHeld, 40 * MINUTE, () => only({ jobs, instances, utilization: undefined }))
    expect(faults(turns)).toMatchObject([{ facts: { mig_instance: '1', jobs: ['container notebook'] }, title: expect.stringContaining('MIG instance 1') }])
  })

  test('minutes are an option', () => {
    expect(story(watch(idleGpuHeld, 200, () => only(idle), { for_minutes: 1 }))).toEqual(['60 faulty info'])
  })
})

describe('a container that was given a GPU and uses none', () => {
  const busy: Card = { jobs: [{ pid: 1, gib: 30, container: 'other' }] }
  const host = (more: Partial<Moment>): Moment => ({ cards: [busy, { jobs: [], utilization: 0 }], ...more })

  test('it works on the CPU: told half an hour after five minutes of its CPU are known, over when it uses the GPU', () => {
    const turns = watch(unusedGpu, 3_000, (second) =>
      second < 2_400
        ? host({ grants: { train: [0, 1] }, cores: { train: 6 } })
        : { ...host({ grants: { train: [0, 1] }, cores: { train: 6 } }), cards: [busy, { jobs: [{ pid: 9, gib: 4, container: 'train' }] }] },
    )
    expect(story(turns)).toEqual(['2100 faulty info', '2400 healthy'])
    expect(firstFault(turns)).toMatchObject({
      about: { container: 'train' },
      kind: 'unused_gpu',
      facts: { gpus: ['0', '1'], cpu_cores: 6 },
      title: 'Container train was given GPUs 0, 1 and uses none',
    })
    expect(firstFault(turns).verdict).toContain('works on the CPU meanwhile (6 cores)')
  })

  test('it keeps a GPU that stands empty', () => {
    const turns = watch(unusedGpu, 2_400, () => host({ grants: { dev: [1] }, cores: { dev: 0.01 } }))
    expect(story(turns)).toEqual(['1800 faulty info'])
    expect(firstFault(turns)).toMatchObject({ about: { container: 'dev', uuid: expect.stringMatching(/^GPU-00000001/) } })
    expect(firstFault(turns).verdict).toContain('No other process uses it either')
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['an exporter that was given all and rests', () => host({ grants: { exporter: [0, 1] }, cores: { exporter: 0.05 } })],
    ['a server that rests on a card of others', () => host({ grants: { server: [0] }, cores: { server: 0.1 } })],
    ['a privileged container that works', () => host({ grants: { builder: [0, 1] }, by: 'privileged', cores: { builder: 8 } })],
    [
      'a job that uses it now and then',
      (second) => ({
        ...host({ grants: { train: [1] }, cores: { train: 4 } }),
        cards: [busy, { jobs: second % 1_500 < 60 ? [{ pid: 9, gib: 4, container: 'train' }] : [] }],
      }),
    ],
    ['the list of its card cannot be read', () => ({ ...host({ grants: { train: [1] }, cores: { train: 4 } }), cards: [busy, { unlisted: true }] })],
    [
      'somebody on its card has no name',
      () => ({
        ...host({ grants: { train: [1] }, cores: { train: 4 } }),
        cards: [busy, { jobs: [{ pid: 5, gib: 4, name: null }] }],
      }),
    ],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(unusedGpu, 4_000, tell))).toEqual([])
  })

  test('over when the container has ended, not when nothing is read', () => {
    const given = host({ grants: { dev: [1] }, cores: { dev: 0.01, other: 1 } })
    const ended = watch(unusedGpu, 2_400, (second) => (second < 2_000 ? given : host({ cores: { other: 1 } })))
    expect(ended.at(-1)).toMatchObject({ state: 'healthy', why: 'the container has ended' })
    expect(story(watch(unusedGpu, 2_400, (second) => (second < 2_000 ? given : { cards: [] })))).toEqual(['1800 faulty info'])
  })
})
