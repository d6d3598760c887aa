// Missing GPUs, a driver that hangs, readings that stop, versions that differ: each cause is one incident, silence heals nothing.
import { describe, expect, test } from 'vitest'
import { nvmlDriverMismatch } from '../../../agent/diagnosis/detectors/index.ts'
import { cards, group, story, watch, type Second } from './driver-scene.ts'
import { reading, T, uuid } from '../incidents/scene.ts'

const within = (second: number, from: number, to: number): boolean => second >= from && second < to
const WELL: Second = { cards: cards(4), listed: [1, 1, 1, 1], present: 4, expected: 4, versions: ['550.90.07', '550.90.07'] }

describe('gpu_missing', () => {
  test('a card that falls off the bus: told within three intervals, of that card alone, over when it is back', () => {
    const turns = watch(80, (second) =>
      within(second, 10, 50) ? { ...WELL, cards: cards(4, { 2: 'gpu_lost' }), listed: second < 20 ? [1, 1, 1, 1] : [1, 1, 0, 1] } : WELL,
    )
    expect(story(turns)).toEqual(['11 gpu_missing GPU 2 critical', '53 gpu_missing GPU 2 healthy'])
    expect(turns[0]?.fault).toMatchObject({
      title: 'GPU 2 is missing',
      facts: { gpu_index: 2, gpus_present: 4, gpus_expected: 4, affected: ['process python (4002) of container trainer'] },
    })
    expect(turns[0]?.fault?.verdict).toContain('gpu_lost of the test')
  })

  test('one that wants a reset says so', () => {
    const [turn] = watch(20, (second) => (second < 5 ? WELL : { ...WELL, cards: cards(4, { 1: 'reset_required' }) }))
    expect(turn?.fault?.title).toBe('GPU 1 cannot be used until it is reset')
    expect(turn?.fault?.remedies[0]?.command).toBe('sudo nvidia-smi --gpu-reset -i 1')
  })

  test('one that did not come up after a reboot is missed from memory', () => {
    const turns = watch(40, (second) => ({ ...WELL, cards: cards(3), ...(second < 10 ? { listed: [], expected: 4 } : { listed: [1, 1, 1, 0], present: 3 }) }))
    expect(story(turns)).toEqual(['11 gpu_missing GPU 3 critical'])
  })

  test('fewer than configured, and none of them known', () => {
    const turns = watch(60, (second) => ({ ...WELL, cards: cards(3), listed: [1, 1, 1], present: 3, expected: second < 40 ? 8 : 3 }))
    expect(story(turns)).toEqual(['10 gpu_missing host critical', '43 gpu_missing host healthy'])
    expect(turns[0]?.fault).toMatchObject({ title: '5 of 8 GPUs are missing', facts: { gpus_present: 3, gpus_expected: 8 } })
  })

  test('what is missing by name is not counted a second time', () => {
    const turns = watch(40, (second) => (second < 5 ? WELL : { ...WELL, cards: cards(4, { 3: 'silent' }), listed: [1, 1, 1, 0], present: 3 }))
    expect(story(turns)).toEqual(['11 gpu_missing GPU 3 critical'])
  })

  test('one that was lost before it told its UUID: by its UUID when it is known from before, else by its number', () => {
    const lost = (t: number) => group(t, 'gpu-3/fast', [], [{ metric: 'gpu', labels: { gpu: '3' }, reason: 'gpu_lost', detail: 'lost' }])
    const known = watch(60, (second) => ({ ...WELL, cards: cards(3), listed: second < 5 ? [] : [1, 1, 1, 0], present: 3, more: [lost(T + second * 1_000)] }))
    expect(story(known)).toEqual(['6 gpu_missing GPU 3 critical'])
    const unknown = watch(80, (second) => (second < 40 ? { cards: cards(3), more: [lost(T + second * 1_000)] } : { cards: cards(4) }))
    expect(story(unknown)).toEqual(['10 gpu_missing host critical', '43 gpu_missing host healthy'])
    expect(unknown[0]?.fault).toMatchObject({ title: 'GPU 3 is missing', facts: { gpu_index: 3 } })
  })

  test('silence does not bring it back', () => {
    const turns = watch(1_000, (second) => (second < 5 ? WELL : second < 20 ? { ...WELL, cards: cards(4, { 2: 'gpu_lost' }) } : { nothing: true }))
    expect(story(turns)).toEqual(['6 gpu_missing GPU 2 critical', '35 telemetry_stale host critical'])
  })

  test.each<[name: string, tell: (second: number) => Second]>([
    ['all well', () => WELL],
    ['a gap of one second', (second) => (second === 20 ? { ...WELL, cards: cards(4, { 0: 'gpu_lost' }) } : WELL)],
    ['as many as expected, of more that were here once', () => ({ ...WELL, expected: 4, present: 4 })],
    ['more than expected', () => ({ ...WELL, expected: 2 })],
    ['an agent that is starting: what is expected, and nothing read', () => ({ expected: 4 })],
    ['a scrape in which the list is short for nine seconds', (second) => ({ ...WELL, present: within(second, 20, 29) ? 3 : 4 })],
  ])('quiet: %s', (_, tell) => {
    expect(story(watch(120, tell))).toEqual([])
  })
})

describe('driver_hung', () => {
  test('a GPU whose call does not return: told at the second look, with its age and its call; no other incident; over when it answers', () => {
    const hangs = (second: number) => [group(T + second * 1_000, 'self', [reading4(2)], [])]
    const turns = watch(90, (second) => (within(second, 10, 60) ? { ...WELL, cards: cards(4, { 1: 'timeout' }), more: hangs(second) } : WELL))
    expect(story(turns)).toEqual(['11 driver_hung GPU 1 critical', '63 driver_hung GPU 1 healthy'])
    expect(turns[0]?.fault).toMatchObject({
      title: 'GPU 1: driver not responding',
      facts: { gpu_index: 1, function: 'nvmlDeviceGetPowerUsage', hangs: 2, sample_age_seconds: 2, affected: ['process python (4001) of container trainer'] },
    })
    expect(turns[0]?.fault?.verdict).toContain('nvmlDeviceGetPowerUsage')
  })

  test('the whole driver: one incident of the host', () => {
    const turns = watch(80, (second) =>
      within(second, 10, 60)
        ? {
            cards: cards(4, { 0: 'silent', 1: 'silent', 2: 'silent', 3: 'silent' }),
            wide: { reason: 'timeout', detail: 'nvmlInit_v2 did not return within 30 s' },
          }
        : WELL,
    )
    expect(story(turns)).toEqual(['11 driver_hung host critical', '63 driver_hung host healthy'])
  })

  test('the others of a GPU that hangs may wait for the reader: nothing is said of them', () => {
    const turns = watch(60, (second) => (second < 10 ? WELL : { cards: cards(4, { 0: 'silent', 1: 'timeout', 2: 'silent', 3: 'silent' }) }))
    expect(story(turns)).toEqual(['11 driver_hung GPU 1 critical'])
  })

  test('silence heals nothing; one that hung before it told its UUID is known by its number', () => {
    const nameless = { ...group(T, 'gpu-3/fast', [], [{ metric: 'gpu', labels: { gpu: '3' }, reason: 'timeout', detail: 'hangs' }]), ttlMs: 1e9 }
    const turns = watch(200, (second) => (second < 20 ? { cards: cards(3), more: second === 5 ? [{ ...nameless, t: T + 5_000 }] : [] } : { nothing: true }))
    expect(story(turns)).toEqual(['15 driver_hung host critical'])
    expect(turns[0]?.fault).toMatchObject({ key: 'gpu 3', facts: { gpu_index: 3 } })
  })

  test('one that hung before it told its UUID, and is known from before, is told by it', () => {
    const nameless = (t: number) => group(t, 'gpu-3/fast', [], [{ metric: 'gpu', labels: { gpu: '3' }, reason: 'timeout', detail: 'hangs' }])
    const turns = watch(60, (second) => ({ cards: cards(3), listed: second < 5 ? [] : [1, 1, 1, 1], more: [nameless(T + second * 1_000)] }))
    expect(story(turns)).toEqual(['6 driver_hung GPU 3 critical'])
  })

  test.each<[name: string, tell: (second: number) => Second]>([
    ['one call that was late and answered at the next try', (second) => (second === 20 ? { ...WELL, cards: cards(4, { 1: 'timeout' }) } : WELL)],
    ['silence for three seconds', (second) => (within(second, 20, 23) ? { nothing: true } : WELL)],
  ])('quiet: %s', (_, tell) => {
    expect(story(watch(100, tell))).toEqual([])
  })
})

describe('telemetry_stale', () => {
  test('a GPU that gives errors, or nothing: told after ten intervals, over when it tells', () => {
    for (const card of ['driver_error', 'silent'] as const) {
      const turns = watch(80, (second) => (within(second, 10, 50) ? { ...WELL, cards: cards(4, { 1: card }) } : WELL))
      expect(story(turns)).toEqual([
        card === 'silent' ? '25 telemetry_stale GPU 1 warning' : '20 telemetry_stale GPU 1 warning',
        '53 telemetry_stale GPU 1 healthy',
      ])
      expect(turns[0]?.fault?.facts).toMatchObject({ gpu_index: 1, source: 'gpu', affected: ['process python (4001) of container trainer'] })
    }
  })

  test('all of them: one incident, with the reason of the driver', () => {
    const none = cards(4, { 0: 'silent', 1: 'silent', 2: 'silent', 3: 'silent' })
    const turns = watch(80, (second) =>
      within(second, 10, 60) ? { cards: none, wide: { reason: 'driver_error', code: 9, detail: 'driver not loaded' }, expected: 4 } : WELL,
    )
    expect(story(turns)).toEqual(['25 telemetry_stale host critical', '63 telemetry_stale host healthy'])
    expect(turns[0]?.fault?.verdict).toContain('this host. Driver not loaded.')
  })

  test('a host that had GPUs, and whose driver is not loaded after a reboot', () => {
    const turns = watch(40, () => ({ wide: { reason: 'driver_error', code: 9, detail: 'driver not loaded' }, expected: 4 }))
    expect(story(turns)).toEqual(['10 telemetry_stale host critical'])
  })

  test('a hang or a loss that is found later takes it over', () => {
    const turns = watch(80, (second) => (second < 10 ? WELL : { ...WELL, cards: cards(4, { 1: second < 40 ? 'silent' : 'gpu_lost' }) }))
    expect(story(turns)).toEqual(['25 telemetry_stale GPU 1 warning', '40 telemetry_stale GPU 1 healthy', '41 gpu_missing GPU 1 critical'])
    expect(turns[1]?.why).toBe('another incident gives its cause')
  })

  test('the source of containers that fails, and that of the host that stands still', () => {
    const heard = (second: number) => {
      const t = T + second * 1_000
      const broken = within(second, 20, 150)
      return [
        ...(within(second, 20, 150) ? [] : [group(t, 'fast', [], [], 'host')]),
        group(
          t,
          'identity',
          [],
          broken ? [{ metric: 'containers', labels: { engine: '/run/docker.sock' }, reason: 'timeout', detail: 'no answer' }] : [],
          'containers',
        ),
      ]
    }
    const turns = watch(200, (second) => ({ ...WELL, more: heard(second) }))
    expect(story(turns)).toEqual([
      '50 telemetry_stale host warning',
      '55 telemetry_stale host warning',
      '153 telemetry_stale host healthy',
      '153 telemetry_stale host healthy',
    ])
    expect(turns.slice(0, 2).map(({ fault }) => fault?.title)).toEqual(['Readings of containers are incomplete', 'No readings of the host any more'])
  })

  test('nothing heard at all heals nothing', () => {
    const turns = watch(500, (second) => (second < 10 ? WELL : second < 40 ? { ...WELL, cards: cards(4, { 1: 'driver_error' }) } : { nothing: true }))
    expect(story(turns)[0]).toBe('20 telemetry_stale GPU 1 warning')
    expect(story(turns).filter((text) => text.includes('healthy'))).toEqual([])
  })

  test.each<[name: string, tell: (second: number) => Second]>([
    ['silence of nine seconds', (second) => (within(second, 20, 29) ? { ...WELL, cards: cards(4, { 1: 'driver_error' }) } : WELL)],
    ['every tenth scrape of a GPU missing', (second) => ({ ...WELL, cards: cards(4, second % 10 === 0 ? { 2: 'silent' } : {}) })],
    ['a host without GPUs', () => ({ wide: { reason: 'not_supported', detail: 'no library' } })],
    ['a card that never told its memory', () => ({ ...WELL, cards: cards(4, { 3: 'not_supported' }) })],
    [
      'containers without an engine',
      (second) => ({
        ...WELL,
        more: [group(T + second * 1_000, 'identity', [], second < 5 ? [] : [{ metric: 'containers', labels: {}, reason: 'not_supported' }], 'containers')],
      }),
    ],
  ])('quiet: %s', (_, tell) => {
    expect(story(watch(200, tell))).toEqual([])
  })
})

describe('nvml_driver_mismatch', () => {
  const updated: Second = { ...WELL, versions: ['550.90.07', '560.35.03'] }
  test('an update is told before anything fails, and critical once NVML refuses; over after the reboot', () => {
    const refused: Second = {
      cards: cards(4, { 0: 'silent', 1: 'silent', 2: 'silent', 3: 'silent' }),
      wide: { reason: 'driver_error', code: 18, detail: 'mismatch' },
      versions: ['550.90.07', '560.35.03'],
    }
    const turns = watch(120, (second) =>
      second < 10 ? WELL : second < 40 ? updated : second < 80 ? refused : { ...WELL, versions: ['560.35.03', '560.35.03'] },
    )
    expect(story(turns)).toEqual(['20 nvml_driver_mismatch host warning', '40 nvml_driver_mismatch host critical', '80 nvml_driver_mismatch host healthy'])
    expect(turns[0]?.fault).toMatchObject({ facts: { kernel_version: '550.90.07', library_version: '560.35.03' }, key: 'nvml_driver_mismatch @ host' })
  })

  test('NVML alone, where the versions cannot be read', () => {
    const turns = watch(60, (second) =>
      second < 10 ? { cards: cards(2) } : second < 30 ? { wide: { reason: 'driver_error', code: 18 } } : second < 40 ? {} : { cards: cards(2) },
    )
    expect(story(turns)).toEqual(['10 nvml_driver_mismatch host critical', '40 nvml_driver_mismatch host healthy'])
  })

  test('quiet: an update that takes nine seconds; silence afterwards', () => {
    const definitions = [nvmlDriverMismatch]
    expect(story(watch(100, (second) => (within(second, 20, 29) ? updated : second > 50 ? { nothing: true } : WELL), { definitions }))).toEqual([])
  })
})

/** The counter of hangs of GPU 1. */
function reading4(value: number) {
  return reading('agent_sampler_hangs_total', { gpu: '1', uuid: uuid(1), function: 'nvmlDeviceGetPowerUsage' }, value)
}
