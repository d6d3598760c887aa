// What the detectors of memory and use share: rates of counters, the run of the utilization, who holds what, how far one lies from its peers.
import { describe, expect, test } from 'vitest'
import { createHolders } from '../../../agent/diagnosis/detectors/parts/holders.ts'
import { below, jobsOf, median } from '../../../agent/diagnosis/detectors/straggler-gpu/peers.ts'
import { createPresent } from '../../../agent/diagnosis/detectors/parts/present.ts'
import { createRates } from '../../../agent/diagnosis/detectors/parts/rates.ts'
import { createSawTooth } from '../../../agent/diagnosis/detectors/input-bound/saw-tooth.ts'
import { reading, scrape, T, uuid } from '../incidents/scene.ts'

describe('rates', () => {
  const reported = (values: readonly (readonly [second: number, value: number])[], at: number): number | undefined => {
    const rates = createRates(300_000)
    for (const [second, value] of values) rates.note(T + second * 1_000, 'a', value)
    return rates.of(T + at * 1_000, 'a')
  }
  const steady = (from: number, to: number, rate: number, start = 0) =>
    Array.from({ length: (to - from) / 10 + 1 }, (_, index) => [from + index * 10, start + index * 10 * rate] as const)

  test('of the last five minutes, not of all times', () => {
    expect(reported([...steady(0, 600, 1), ...steady(610, 1_200, 3, 630)], 1_200)).toBeCloseTo(3, 1)
  })
  test('a counter that starts over goes on from there', () => {
    expect(reported([...steady(0, 200, 2, 5_000), ...steady(210, 400, 2, 20)], 400)).toBeCloseTo(2, 1)
  })
  test('unknown before half of the time is known, after a pause, and when nothing new comes', () => {
    expect(reported(steady(0, 100, 2), 100)).toBeUndefined()
    expect(reported(steady(0, 400, 2), 460)).toBeUndefined()
    expect(reported([...steady(0, 300, 2), ...steady(900, 960, 2, 1_800)], 960)).toBeUndefined()
    expect(createRates(300_000).of(T, 'never')).toBeUndefined()
  })
})

describe('the run of the utilization', () => {
  const runOf = (seconds: number, ratio: (second: number) => number | undefined, from = 0) => {
    const saw = createSawTooth(300)
    for (let second = 0; second < seconds; second++) saw.note(T + (from + second) * 1_000, ratio(second))
    return saw.run(T + (from + seconds - 1) * 1_000)
  }
  test('falls count from work to nothing, not from half to nothing', () => {
    expect(runOf(300, (second) => (second % 20 < 10 ? 1 : 0))).toMatchObject({ mean: 0.5, low: 0.5, high: 0.5, fallsPerMinute: 3 })
    expect(runOf(300, (second) => (second % 20 < 10 ? 0.3 : 0))).toMatchObject({ high: 0, fallsPerMinute: 0 })
  })
  test('nothing is said of what is not known', () => {
    expect(runOf(200, () => 1)).toBeUndefined()
    expect(runOf(300, (second) => (second % 3 === 0 ? undefined : 1))).toBeUndefined()
    expect(runOf(300, (second) => (second % 10 === 0 ? undefined : 1))).toMatchObject({ mean: 1 })
  })
  test('a clock that is set back starts over', () => {
    const saw = createSawTooth(300)
    for (let second = 0; second < 300; second++) saw.note(T + second * 1_000, 1)
    saw.note(T - 5_000_000, 1)
    expect(saw.run(T - 5_000_000)).toBeUndefined()
  })
})

describe('who holds what', () => {
  const place = { gpu: '0', uuid: uuid(0) }
  const held = (pid: number, labels: Readonly<Record<string, string>>, gib: number) =>
    reading('process_gpu_memory_bytes', { ...place, pid: String(pid), process: 'python', ...labels }, gib * 2 ** 30)
  const rest = reading('gpu_memory_unattributed_bytes', place, 0)
  const watched = new Set(['warpwatch_process_gpu_memory_bytes', 'warpwatch_gpu_memory_unattributed_bytes'])

  test('by container, Slurm job, unit or for itself; largest first', () => {
    const present = createPresent(watched)
    present.ingest(
      scrape(T, 'gpu', [
        rest,
        held(1, {}, 1),
        held(2, { unit: 'ollama.service' }, 2),
        held(3, { slurm_job: '17' }, 3),
        held(4, { container: 'web', container_id: '0123456789ab', type: 'G' }, 4),
      ]),
    )
    present.moveTo(T)
    const gpu = createHolders(present).read(T).get(uuid(0))
    expect(gpu?.holders.map(({ ownerText, computes }) => `${ownerText} ${computes}`)).toEqual([
      'container web false',
      'Slurm job 17 true',
      'ollama.service true',
      'process python (1) true',
    ])
  })

  test('one that a list leaves out is there for some seconds more, unless no list can be read', () => {
    const present = createPresent(watched)
    const holders = createHolders(present)
    const look = (second: number, readings: Parameters<typeof scrape>[2]) => {
      present.ingest(scrape(T + second * 1_000, 'gpu', readings))
      present.moveTo(T + second * 1_000)
      const gpu = holders.read(T + second * 1_000).get(uuid(0))
      return [gpu?.listed, gpu?.holders.map(({ pid }) => pid)]
    }
    expect(look(0, [rest, held(1, {}, 1), held(2, {}, 2)])).toEqual([true, [2, 1]])
    expect(look(10, [rest, held(1, {}, 1)])).toEqual([true, [2, 1]])
    expect(look(12, [])).toEqual([false, []])
    expect(look(20, [rest])).toEqual([true, [1]])
    expect(look(30, [rest])).toEqual([true, []])
  })
})

describe('peers', () => {
  test('the median, and how far is far', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, 0])
    expect(below(0.6, [0.88, 0.89, 0.87, 0.88], 0.008)).toEqual({ middle: 0.88, far: true })
    expect(below(0.6, [0.9, 0.7, 0.55, 0.85], 0.008).far).toBe(false)
  })

  test('a job is what has three cards of similar memory mostly for itself', () => {
    const holder = (index: number, gib: number, owner = 'container a', gi?: string) => ({
      uuid: uuid(index),
      pid: index,
      gi,
      process: 'python',
      container: 'a',
      containerId: 'a',
      owner,
      ownerText: owner,
      computes: true,
      bytes: gib * 2 ** 30,
      seenT: T,
    })
    const card = (index: number, ...holders: readonly ReturnType<typeof holder>[]) => ({ uuid: uuid(index), index, listed: true, holders })
    const alike = [card(0, holder(0, 60)), card(1, holder(1, 62)), card(2, holder(2, 58))]
    expect(jobsOf(alike, 3).map(({ owner, gpus }) => `${owner} ${gpus.map(({ index }) => index).join('')}`)).toEqual(['container a 012'])
    expect(jobsOf(alike.slice(0, 2), 3)).toEqual([])
    expect(jobsOf([...alike.slice(0, 2), card(2, holder(2, 20))], 3)).toEqual([])
    expect(jobsOf([...alike.slice(0, 2), card(2, holder(2, 58), holder(3, 30, 'container b'))], 3)).toEqual([])
    expect(jobsOf([...alike.slice(0, 2), card(2, holder(2, 58, 'container a', '1'))], 3)).toEqual([])
    expect(
      jobsOf(
        alike.map(({ holders, ...rest }) => ({ ...rest, holders: holders.map((each) => ({ ...each, owner: 'unit x' })) })),
        3,
      ),
    ).toEqual([])
  })
})
