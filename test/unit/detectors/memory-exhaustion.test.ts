// The forecast: what grows without end is told in time and with the right interval; what ends, swings or only looks like growth is not told.
import { array, assert, double, option, property } from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { memoryExhaustion } from '../../../agent/diagnosis/detectors/memory-exhaustion/memory-exhaustion.ts'
import { createMemoryHistory, FINE_MS } from '../../../agent/diagnosis/detectors/parts/memory-history.ts'
import { foresee } from '../../../agent/diagnosis/detectors/memory-exhaustion/exhaustion.ts'
import { reading, scrape, T } from '../incidents/scene.ts'
import { firstFault, GIB, statesOf, watch, type Moment, type Probe, type Process } from './memory-scene.ts'

const HOUR = 3_600
/** Half a GiB of CUDA context beside the allocator. */
const CONTEXT = 0.5
const trainer = (probe: Probe, more: Partial<Process> = {}): Process => ({ pid: 4242, container: 'trainer', holds: probe.reserved + CONTEXT, probe, ...more })
const alone = (probe: Probe, more: Partial<Process> = {}): Moment => ({ processes: [trainer(probe, more)] })
/** A step of two seconds: floor, and at its end the peak. */
const step = (second: number, floor: number, peak: number): number => (second % 2 === 0 ? floor : peak)
/** From 0 to 1 and always the same, for noise without chance. */
const noise = (n: number): number =>
  (((Math.imul(n ^ 0x9e3779b9, 0x85ebca6b) >>> 0) % 1_000) / 1_000 + ((Math.imul(n + 77, 0xc2b2ae35) >>> 0) % 1_000) / 1_000) / 2

/** 16 MiB a second more from minute 10 on, peak at 40 GiB: the card of 80 GiB is full when 39.5 GiB are kept, 42 minutes later. */
const RATE = 1 / 64
const leaking = (second: number): number => Math.max(0, second - 600) * RATE
const leak = (second: number): Probe => ({ active: step(second, 20, 40) + leaking(second), reserved: 42 + leaking(second) })
const FULL_AT = 600 + (80 - CONTEXT - 40) / RATE

const seconds = (ms: number | undefined): number => ((ms ?? Number.NaN) - T) / 1_000

describe('what is told', () => {
  const turns = watch(memoryExhaustion, 2_700, (second) => alone(leak(second)))
  const fault = firstFault(turns)

  test('a leak, long before the card is full, with an interval that holds the time', () => {
    expect(fault.second).toBeGreaterThan(600)
    expect(fault.second).toBeLessThan(FULL_AT - 600)
    expect(seconds(fault.facts?.earliest_ms)).toBeLessThanOrEqual(FULL_AT)
    expect(seconds(fault.facts?.latest_ms)).toBeGreaterThanOrEqual(FULL_AT - 60)
    expect(seconds(fault.facts?.latest_ms)).toBeLessThan(FULL_AT + 1_200)
  })
  test('with its figures, in words that say what grows and what to do', () => {
    const slope = fault.facts?.slope_bytes_per_second ?? 0
    expect(slope / (RATE * GIB)).toBeGreaterThan(0.7)
    expect(slope / (RATE * GIB)).toBeLessThan(1.3)
    expect(fault.facts).toMatchObject({ grows: 'kept', total_bytes: 80 * GIB })
    expect(fault.facts?.headroom_bytes).toBeGreaterThan(0)
    expect(fault.verdict).toMatch(/Process python3 \(4242\) of container trainer on GPU 0 runs out of memory in \d+–\d+ min/)
    expect(fault.verdict).toContain('it has kept')
    expect(fault.remedies?.some(({ text }) => text.includes('.detach()'))).toBe(true)
  })
  test('as critical when little time is left, and as over when the process ends', () => {
    expect(statesOf(turns.slice(turns.indexOf(fault)))).toEqual(['faulty warning', 'faulty critical'])
    const ended = watch(memoryExhaustion, 2_400, (second) => (second < 2_000 ? alone(leak(second)) : { processes: [{ pid: 9, holds: 1 }] }))
    expect(ended.findLast(({ key }) => key.endsWith(' 4242'))).toMatchObject({ state: 'healthy', why: 'the process has ended' })
  })
  test('the same whenever the same events come', () => {
    const rows = (): readonly unknown[] =>
      watch(memoryExhaustion, 2_000, (second) => alone(leak(second))).map(({ second, state, verdict }) => [second, state, verdict])
    expect(rows()).toEqual(rows())
  })

  const reported: readonly { readonly name: string; readonly grows: string; readonly tell: (second: number) => Moment }[] = [
    {
      name: 'a neighbour that climbs, told of the process that will fail',
      grows: 'others',
      tell: (s) => ({ processes: [trainer({ active: step(s, 20, 40), reserved: 42 }), { pid: 7, container: 'notebook', holds: 1 + leaking(s) * 0.8 }] }),
    },
    { name: 'growth outside of PyTorch', grows: 'outside', tell: (s) => alone({ active: step(s, 20, 40), reserved: 42 }, { holds: 42.5 + leaking(s) * 0.8 }) },
    { name: 'inputs that get longer', grows: 'peaks', tell: (s) => alone({ active: step(s, 20, 40 + leaking(s)), reserved: 42 + leaking(s) }) },
    {
      name: 'within the limit of a memory fraction',
      grows: 'kept',
      tell: (s) => alone({ active: step(s, 10, 20) + leaking(s) / 2, reserved: 22 + leaking(s) / 2, limit: 40 }),
    },
    { name: 'expandable segments', grows: 'kept', tell: (s) => alone({ ...leak(s), expandable: true }) },
    {
      name: 'a leak at each evaluation only',
      grows: 'kept',
      tell: (s) => alone({ active: step(s, 20, 40) + leaking(Math.floor(s / 200) * 200), reserved: 42 + leaking(s) }),
    },
  ]
  test.each(reported)('$name', ({ tell, grows }) => {
    expect(firstFault(watch(memoryExhaustion, 2_700, tell)).facts?.grows).toBe(grows)
  })

  test('without a probe, of the process that grows, and only from when on', () => {
    const found = firstFault(
      watch(memoryExhaustion, 2_700, (s) => ({
        processes: [
          { pid: 5, holds: 42 + leaking(s) },
          { pid: 6, holds: 8 },
        ],
      })),
    )
    expect(found.key).toContain(' 5')
    expect(found.facts).toMatchObject({ grows: 'listed' })
    expect(found.facts?.latest_ms).toBeUndefined()
    expect(found.verdict).toMatch(/at the earliest|from now on/)
  })
  test('with a third of the samples missing', () => {
    expect(
      firstFault(watch(memoryExhaustion, 2_700, (s) => (noise(Math.floor(s / 20)) < 0.42 ? { ...alone(leak(s)), blind: true } : alone(leak(s))))).facts?.grows,
    ).toBe('kept')
  })
})

describe('what is not told', () => {
  const quiet: readonly { readonly name: string; readonly tell: (second: number) => Moment }[] = [
    { name: 'the same step again and again, with little room', tell: (s) => alone({ active: step(s, 30, 77), reserved: 78 }) },
    { name: 'lengths at random with little room', tell: (s) => alone({ active: 20 + 54 * noise(s) ** 2, reserved: 78 }) },
    { name: 'a cache that warms up', tell: (s) => alone({ active: step(s, 20, 40), reserved: Math.min(79, 42 + s / 60) }) },
    { name: 'a start that takes long', tell: (s) => alone({ active: Math.min(60, s / 5), reserved: 70 }) },
    { name: 'one step up', tell: (s) => alone({ active: step(s, 20, 40) + (s > HOUR / 2 ? 30 : 0), reserved: 75 }) },
    {
      name: 'shapes that come one after another and then end',
      tell: (s) => alone({ active: step(s, 20, 40 + 5 * Math.min(6, Math.floor(s / 400))), reserved: 75 }),
    },
    { name: 'evaluation each ten minutes', tell: (s) => alone({ active: step(s, 20, s % 600 < 30 ? 75 : 40), reserved: 78 }) },
    { name: 'memory that is given back', tell: (s) => alone({ active: step(s, 20, 60) - Math.min(15, s / 200), reserved: 70 }) },
    { name: 'all of the card at once (JAX, vLLM), flat since', tell: (s) => ({ processes: [{ pid: 5, name: 'python3', holds: s < 30 ? 1 : 74 }] }) },
    {
      name: 'models that are loaded and unloaded',
      tell: (s) => ({ processes: [{ pid: 5 + Math.floor(s / 700), name: 'ollama', holds: s % 700 < 20 ? 2 : 60 }] }),
    },
  ]
  test.each(quiet)('$name', ({ tell }) => {
    expect(statesOf(watch(memoryExhaustion, HOUR, tell)).filter((state) => state.startsWith('faulty'))).toEqual([])
  })
  test('growth that ended: silent within minutes', () => {
    const turns = watch(memoryExhaustion, HOUR, (s) => alone(leak(Math.min(s, 2_000))))
    const last = turns.findLast(({ state }) => state !== 'unknown')
    expect(firstFault(turns).second).toBeLessThan(2_000)
    expect(last).toMatchObject({ state: 'healthy' })
    expect(last?.second).toBeLessThan(2_000 + 1_200)
  })
  test('after a break it is neither there nor over until enough was seen again', () => {
    const blind = (s: number): boolean => s > 1_700 && s < 2_800
    const turns = watch(memoryExhaustion, 3_050, (s) => ({ ...alone(leak(s)), ...(blind(s) ? { blind: true } : {}) }))
    expect(firstFault(turns).second).toBeLessThan(1_700)
    expect(turns.at(-1)).toMatchObject({ state: 'unknown' })
    expect(turns.filter(({ second, state }) => second > 1_700 && state === 'healthy')).toEqual([])
  })
  test('nothing is known of a card that nobody reads', () => {
    expect(statesOf(watch(memoryExhaustion, HOUR, (s) => ({ ...alone(leak(s)), blind: true })))).toEqual([])
  })
})

describe('whatever the history is', () => {
  const CAPACITY = 80 * GIB
  /** Live bytes by second, in shares of the card; undefined is a second without readings. */
  const histories = array(option(double({ min: 0, max: 1.2, noNaN: true }), { nil: undefined, freq: 6 }), { minLength: 20, maxLength: 150 })
  const fed = (shares: readonly (number | undefined)[], slope = 0) => {
    const memory = createMemoryHistory()
    shares.forEach((share, i) => {
      for (const second of [0, 7, 14, 21, 28]) {
        const t = T + i * FINE_MS + second * 1_000
        if (share === undefined) continue
        const active = Math.round((share * (0.6 + 0.1 * (second % 2)) + slope * i) * CAPACITY)
        const reserved = Math.round(CAPACITY * 0.9)
        memory.onSample({ type: 'allocator', t: t - 100, pid: 1, uuid: 'GPU-1', stats: { active_bytes: active, reserved_bytes: reserved } })
        memory.onCard(t, reserved + GIB, CAPACITY - reserved - GIB, reserved + GIB / 2)
        memory.onSample({
          type: 'allocator',
          t: t + 100,
          pid: 1,
          uuid: 'GPU-1',
          stats: { active_bytes: active, reserved_bytes: reserved, inactive_split_bytes: 0 },
        })
      }
    })
    return memory
  }
  const look = (shares: readonly (number | undefined)[], slope = 0) => {
    const memory = fed(shares, slope)
    const view = { windows: memory.fine, windowMs: FINE_MS, spansMs: [60, 40, 27, 18, 12, 8].map((m) => m * 60_000), capacity: CAPACITY, ownOnly: false }
    return foresee(view, T + shares.length * FINE_MS)
  }
  test('bounds are finite and in order, or nothing is said', () => {
    assert(
      property(histories, double({ min: -0.01, max: 0.01, noNaN: true }), (shares, slope) => {
        const found = look(shares, slope)
        if (typeof found === 'string') return
        const { earliest, latest, slope: rise, room } = found
        expect([earliest, latest, rise, room].every(Number.isFinite)).toBe(true)
        expect(earliest).toBeGreaterThanOrEqual(0)
        expect(latest).toBeGreaterThanOrEqual(earliest)
        expect(rise).toBeGreaterThan(0)
      }),
    )
  })
  test('what falls all the time is never told', () => {
    assert(
      property(array(double({ min: 0, max: 0.003, noNaN: true }), { minLength: 20, maxLength: 120 }), (falls) => {
        let level = 0.9
        expect(typeof look(falls.map((fall) => (level -= fall)))).toBe('string')
      }),
    )
  })
  test('broken figures of a probe are not believed', () => {
    const memory = createMemoryHistory()
    for (const stats of [
      {},
      { active_bytes: Number.NaN, reserved_bytes: 5 },
      { active_bytes: -3, reserved_bytes: 5 },
      { active_bytes: 3, reserved_bytes: Number.NaN },
    ])
      memory.onSample({ type: 'allocator', t: T, pid: 1, uuid: 'GPU-1', stats })
    memory.onCard(T, Number.NaN, 5, 5)
    expect(memory.fine).toEqual([])
    expect(memory.capacity()).toBeUndefined()
  })
  test('a peak that the samples missed is known by the new record', () => {
    const memory = createMemoryHistory()
    const sample = (t: number, record: number) =>
      memory.onSample({
        type: 'allocator',
        t: T + t,
        pid: 1,
        uuid: 'GPU-1',
        stats: { active_bytes: 20, reserved_bytes: 60 },
        peaks: { allocated_bytes: record },
      })
    sample(0, 30)
    memory.onCard(T + 500, 70, 30, 65)
    sample(1_000, 30)
    sample(2_000, 55)
    sample(3_000, 10)
    expect(memory.fine.map(({ low, high }) => [low, high])).toEqual([[30, 65]])
  })
})

test('a growth over days is told by the hours', () => {
  const reported: (number | null)[] = []
  const place = { gpu: '0', uuid: 'GPU-1' }
  const detection = createDetection({ definitions: [memoryExhaustion], onForecast: ({ earliestMs }) => void reported.push(earliestMs) })
  const day = 86_400
  // One GiB an hour from 40 GiB of 80: full after 40 hours.
  for (let second = 0; second < day; second += 10) {
    const t = T + second * 1_000
    const holds = (40 + second / 3_600) * GIB
    const reserved = Math.round(holds - GIB / 2)
    const sample = (at: number) =>
      ({ type: 'allocator', t: at, pid: 1, uuid: 'GPU-1', stats: { active_bytes: Math.round(reserved * 0.98), reserved_bytes: reserved } }) as const
    detection.ingest(sample(t - 200))
    detection.ingest(
      scrape(t, 'gpu', [
        reading('process_gpu_memory_bytes', { ...place, pid: '1', process: 'python3' }, Math.round(holds)),
        reading('gpu_memory_used_bytes', place, Math.round(holds)),
        reading('gpu_memory_free_bytes', place, 80 * GIB - Math.round(holds)),
      ]),
    )
    detection.ingest(sample(t + 200))
    detection.judge(t)
  }
  const first = reported.find((earliest) => earliest !== null) ?? Number.NaN
  expect(seconds(first)).toBeGreaterThan(20 * HOUR)
  expect(seconds(first)).toBeLessThan(40 * HOUR)
})
