// PCIe and NVLink: links that are slower, fewer or worse than they could be, distinguished from those that rest.
import { describe, expect, test } from 'vitest'
import { nvlinkErrors } from '../../../agent/diagnosis/detectors/nvlink-errors/nvlink-errors.ts'
import { pcieDegraded } from '../../../agent/diagnosis/detectors/pcie-degraded.ts'
import { faults, IDLE, story, watch, type Second, type Values } from './hardware-scene.ts'

const during = (from: number, to: number, values: Values) => (second: number) => [second >= from && second < to ? values : {}]

describe('a PCIe link', () => {
  test.each<[name: string, values: Values, loss: number]>([
    ['x4 instead of x16', { gpu_pcie_link_width: 4 }, 0.75],
    ['generation 3 instead of 5', { gpu_pcie_link_generation: 3 }, 0.75],
    ['both', { gpu_pcie_link_generation: 4, gpu_pcie_link_width: 8 }, 0.75],
  ])('%s under load: told after twelve seconds, over when it is as it should', (_, values, loss) => {
    const turns = watch(pcieDegraded, 90, during(10, 60, values))
    expect(story(turns)).toEqual(['22 faulty warning', '65 healthy'])
    const [fault] = faults(turns)
    expect(fault?.facts).toMatchObject({ pcie_generation_max: 5, pcie_width_max: 16, affected: ['process python (4242) of container trainer'] })
    expect(fault?.facts?.bandwidth_loss_ratio).toBeCloseTo(loss, 1)
    expect(fault?.verdict).toContain(`PCIe ${fault?.facts?.pcie_generation}.0 x${fault?.facts?.pcie_width}`)
  })

  test.each<[name: string, tell: (second: number) => Second]>([
    ['an idle card at generation 1', () => [{ ...IDLE, gpu_pcie_link_generation: 1 }]],
    ['a desktop that plays a video in P8', () => [{ gpu_utilization_ratio: 0.3, gpu_performance_state: 8, gpu_pcie_link_generation: 1 }]],
    ['a x16 card in a x8 slot', () => [{ gpu_pcie_link_width: 8, gpu_pcie_link_width_max: 8 }]],
    [
      'a reading from just before the load',
      (second) => [second % 60 < 30 ? { ...IDLE, gpu_pcie_link_generation: 1 } : second % 60 < 40 ? { gpu_pcie_link_generation: 1 } : {}],
    ],
    ['a highest width that cannot be read', () => [{ gpu_pcie_link_width: 8, gpu_pcie_link_width_max: undefined }]],
    ['eight replays a minute', (second) => [{ gpu_pcie_replay_total: Math.floor(second / 7.5) }]],
    ['replays from before', () => [{ gpu_pcie_replay_total: 1e6 }]],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(pcieDegraded, 300, tell))).toEqual([])
  })

  test('neither silence nor rest heals it', () => {
    const values = { gpu_pcie_link_width: 4 }
    expect(story(watch(pcieDegraded, 300, (second) => [second < 30 ? values : 'gone']))).toEqual(['12 faulty warning'])
    expect(story(watch(pcieDegraded, 300, (second) => [second < 30 ? values : { ...IDLE, ...values, gpu_pcie_link_generation: 1 }]))).toEqual([
      '12 faulty warning',
    ])
  })

  test('replays: told with their number, over a minute after the last', () => {
    const turns = watch(pcieDegraded, 150, (second) => [{ gpu_pcie_replay_total: second < 10 ? 100 : 120 }])
    expect(story(turns)).toEqual(['10 faulty warning', '70 healthy'])
    expect(faults(turns)[0]).toMatchObject({ title: expect.stringContaining('again and again'), facts: { pcie_replays_per_minute: 20 } })
    expect(faults(turns)[0]?.facts).not.toHaveProperty('bandwidth_loss_ratio')
  })
})

describe('NVLinks', () => {
  const down = (...links: readonly number[]): Values => Object.fromEntries(links.map((link) => [`gpu_nvlink_active link=${link}`, 0]))
  const made = (type: string, count: number): Values => ({ [`gpu_nvlink_errors_total type=${type}`]: count })

  test('one that was up and is down', () => {
    const turns = watch(nvlinkErrors, 60, during(10, 30, down(2)))
    expect(story(turns)).toEqual(['10 faulty critical', '30 healthy'])
    expect(faults(turns)[0]).toMatchObject({ title: 'GPU 0: 1 of 3 NVLinks down', facts: { links_down: ['2'], links_total: 3 } })
  })

  test('one that was never up, though all three cards of its kind have it', () => {
    const turns = watch(nvlinkErrors, 10, () => [{}, down(1), {}, {}])
    expect(story(turns, 1)).toEqual(['0 faulty critical'])
    expect(faults(turns)[0]).toMatchObject({ gpu: 1, facts: { links_down: ['1'] } })
    expect(story(turns, 0)).toEqual([])
  })

  test.each([
    ['replay', 1, 'critical'],
    ['recovery', 1, 'critical'],
    ['crc_data', 50, 'warning'],
    ['crc_flit', 20_000, 'critical'],
  ])('%s errors, %i of them', (type, count, severity) => {
    const turns = watch(nvlinkErrors, 300, (second) => [made(type, second < 10 ? 7 : 7 + count)])
    expect(story(turns)).toEqual([`10 faulty ${severity}`, '130 healthy'])
    expect(faults(turns)[0]?.facts).toMatchObject({ error_types: [type], new_errors: count })
  })

  test('counters that were set back are a repair', () => {
    const turns = watch(nvlinkErrors, 60, (second) => [made('replay', second < 10 ? 0 : second < 20 ? 5 : 0)])
    expect(story(turns)).toEqual(['10 faulty critical', '20 healthy'])
  })

  test.each<[name: string, tell: (second: number) => Second]>([
    ['errors from before', () => [made('recovery', 12)]],
    ['a single CRC error now and then', (second) => [made('crc_flit', Math.floor(second / 30))]],
    ['cards without a bridge beside a pair with one', () => [{}, {}, down(0, 1, 2), down(0, 1, 2)]],
    ['a link fewer in one of two', () => [{}, down(1)]],
    ['two pairs wired in two ways', () => [{}, {}, down(2), down(2)]],
    ['links that rest while MIG is on', (second) => [second < 10 ? {} : { ...down(0, 1, 2), gpu_mig_enabled: 1 }]],
    ['no NVLink at all', () => [Object.fromEntries(['link=0', 'link=1', 'link=2'].map((link) => [`gpu_nvlink_active ${link}`, undefined]))]],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(nvlinkErrors, 300, tell))).toEqual([])
  })

  test('neither silence nor the loss of its counters heals it', () => {
    expect(story(watch(nvlinkErrors, 300, (second) => [second < 10 ? {} : second < 20 ? down(0) : 'gone']))).toEqual(['10 faulty critical'])
    const lost = { ...made('replay', 1), 'gpu_nvlink_errors_total type=replay': undefined }
    expect(story(watch(nvlinkErrors, 300, (second) => [second < 10 ? {} : second < 20 ? made('replay', 1) : lost]))).toEqual(['10 faulty critical'])
  })

  test('after a restart of the agent a link that is down is no health', () => {
    expect(watch(nvlinkErrors, 300, () => [down(2)])).toEqual([])
    expect(watch(nvlinkErrors, 300, () => [{}])).toEqual([{ second: 0, gpu: 0, state: 'healthy' }])
  })
})
