// Cards that no capture shows: each figure is that of its file, in the unit of all GPUs, and what a card does not tell is a gap with its reason, never a zero.
import { describe, expect, it, test } from 'vitest'
import { AMD_AT, mi250, mi300x, rx7900, strixHalo } from '../../fakes/cards/amd-hosts.ts'
import { arcI915, arcXe, dataCenterMax, INTEL_AT, meteorLake } from '../../fakes/cards/intel-hosts.ts'
import { ROOTS } from '../../fakes/cards/hosts.ts'
import { createPlayer, type MAKERS, type Played } from '../../fakes/cards/play.ts'
import { treeReader, type Tree } from '../../fakes/cards/tree.ts'

const GIB = 1024 ** 3

/** The second reading, which has what is counted between two. */
function second(vendor: keyof typeof MAKERS, first: Tree, next: Tree = first): readonly Played[] {
  let tree = first
  const player = createPlayer(
    vendor,
    ROOTS,
    treeReader(() => tree),
  )
  player.pass()
  tree = next
  return player.pass()
}
const reasons = (card: Played | undefined, ...metrics: readonly string[]): readonly (string | undefined)[] =>
  metrics.map((metric) => (card?.values.has(metric) === true ? `${metric} is told` : card?.gap(metric)?.reason))
const values = (card: Played | undefined): Record<string, number> => Object.fromEntries(card?.values ?? [])

describe('AMD', () => {
  it('MI300X in partitions: one card, memory and energy of all, its processes by KFD', () => {
    const cards = second('amd', mi300x)
    expect(cards).toHaveLength(1)
    expect(values(cards[0])).toMatchObject({
      memory_total_bytes: 192 * GIB,
      memory_used_bytes: 150 * GIB,
      utilization_ratio: 0.97,
      memory_utilization_ratio: 0.41,
      power_watts: 744,
      power_limit_watts: 750,
      energy_joules_total: 1_234_567,
      temperature_celsius: 63,
      memory_temperature_celsius: 51,
      'clock_hertz{graphics}': 2.094e9,
      'clock_hertz{memory}': 1.3e9,
      'clock_max_hertz{graphics}': 2.1e9,
      pcie_link_generation: 5,
      pcie_link_width: 16,
      pcie_replay_total: 9,
      'ecc_errors_total{corrected}{volatile}': 3,
      'retired_pages{uncorrected}': 0,
    })
    expect(cards[0]?.labels.get('partition_info')).toMatchObject({ compute: 'CPX', memory: 'NPS4', partitions: '8' })
    expect(cards[0]?.labels.get('info')).not.toHaveProperty('memory')
    expect(cards[0]?.processes).toEqual([{ pid: 4100, type: 'C', bytes: 140 * GIB }])
    expect(cards[0]?.gap('fan_speed_ratio')?.reason).toBe('not_supported')
  })

  it('MI250: the second die, which says 0 W, has no power, no limit and no energy', () => {
    const [first, other] = second('amd', mi250)
    expect(values(first)).toMatchObject({
      power_watts: 412,
      power_limit_watts: 560,
      energy_joules_total: 2_000,
      temperature_celsius: 61,
      memory_used_bytes: 60 * GIB,
    })
    expect(values(other)).toMatchObject({ utilization_ratio: 0.12, temperature_celsius: 61, memory_total_bytes: 64 * GIB, memory_used_bytes: GIB })
    const zeros = ['power_watts', 'power_limit_watts', 'power_limit_max_watts', 'energy_joules_total']
    expect(zeros.filter((metric) => other?.values.has(metric) === true || other?.gap(metric)?.detail?.includes('two dies') !== true)).toEqual([])
  })

  it('Radeon RX 7900 with fans at rest: their 0 turns and an idle GPU are figures', () => {
    expect(values(second('amd', rx7900)[0])).toMatchObject({
      utilization_ratio: 0,
      fan_speed_ratio: 0,
      'fan_revolutions_per_minute{1}': 0,
      memory_total_bytes: 25_753_026_560,
      memory_used_bytes: 27_000_832,
      power_watts: 17,
      'clock_hertz{graphics}': 2.8e7,
      temperature_celsius: 44,
      memory_temperature_celsius: 60,
    })
  })

  it('Strix Halo: what programs get is GTT and the part that the BIOS took, and free is what the host can give', () => {
    const [card] = second('amd', strixHalo)
    expect(values(card)).toMatchObject({
      memory_total_bytes: 120.5 * GIB,
      memory_used_bytes: 70.25 * GIB,
      memory_free_bytes: 50 * GIB + GIB / 4,
      gtt_used_bytes: 70 * GIB,
      utilization_ratio: 0.73,
      power_watts: 88.4,
      temperature_celsius: 61,
      'clock_hertz{graphics}': 2.68e9,
      'clock_hertz{memory}': 1e9,
    })
    expect(card?.labels.get('info')).toMatchObject({ memory: 'unified', uuid: 'pci-0000:c5:00.0' })
    expect(card?.processes).toEqual([{ pid: 77, type: 'C', bytes: 69 * GIB + 131_072 * 1024 }])
    expect(new Set(reasons(card, 'memory_temperature_celsius', 'power_limit_watts', 'fan_speed_ratio', 'pcie_link_width'))).toEqual(new Set(['not_supported']))
  })

  it('a fan without a highest speed has no share of it', () => {
    const files = { ...rx7900.files, [`${AMD_AT(0)}/hwmon/hwmon0/fan1_input`]: '1500', [`${AMD_AT(0)}/hwmon/hwmon0/fan1_max`]: '0' }
    delete files[`${AMD_AT(0)}/hwmon/hwmon0/pwm1`]
    const [card] = second('amd', { files })
    expect(values(card)).toMatchObject({ 'fan_revolutions_per_minute{1}': 1_500 })
    expect(card?.gap('fan_speed_ratio')?.detail).toContain('no highest speed')
  })
})

describe('Intel', () => {
  it('a GPU on the chip (i915): memory of its clients, load of the GT that computes and not of the one for media', () => {
    const [card] = second('intel', meteorLake(0, 0), meteorLake(0, 1e9))
    expect(values(card)).toMatchObject({
      memory_total_bytes: 32_000_000 * 1024,
      memory_free_bytes: 20_000_000 * 1024,
      memory_used_bytes: 3_835_792 * 1024 + 8 * 1024 ** 2,
      utilization_ratio: 0,
      'clock_hertz{graphics}': 1.45e9,
      'clock_hertz{video}': 7e8,
      'clock_max_hertz{graphics}': 2.35e9,
      'throttle_active{sw_power_cap}': 0,
    })
    expect(card?.processes).toEqual([{ pid: 61, type: 'G', bytes: 3_835_792 * 1024 + 8 * 1024 ** 2 }])
    expect(new Set(reasons(card, 'power_watts', 'temperature_celsius', 'fan_revolutions_per_minute'))).toEqual(new Set(['not_supported']))
  })

  it('Arc with i915: host memory of a client is none of the card’s, and the size of the memory is not known', () => {
    const [card] = second('intel', arcI915(1_000_000), arcI915(91_000_000))
    expect(values(card)).toMatchObject({ memory_used_bytes: 9 * GIB, energy_joules_total: 91, power_limit_watts: 190, 'throttle_active{sw_power_cap}': 1 })
    expect(values(card)['power_watts']).toBeGreaterThan(0)
    expect(new Set(reasons(card, 'memory_total_bytes', 'memory_free_bytes', 'memory_used_ratio', 'temperature_celsius'))).toEqual(new Set(['not_supported']))
  })

  it('Arc with xe of a kernel that shows the size by tile', () => {
    expect(values(second('intel', arcXe('active'))[0])).toMatchObject({
      memory_total_bytes: 12 * GIB,
      memory_used_bytes: 3 * GIB,
      memory_free_bytes: 9 * GIB,
      temperature_celsius: 39,
    })
  })

  it('Data Center GPU Max: both tiles compute, and the driver’s own sizes', () => {
    const [card] = second('intel', dataCenterMax([0, 0]), dataCenterMax([1e9, 0]))
    expect(values(card)).toMatchObject({ memory_total_bytes: 128 * GIB, memory_used_bytes: 32 * GIB, utilization_ratio: 1, power_limit_watts: 600 })
  })

  test('a sleeping xe card is not woken by the question what its clients hold', () => {
    const reads = new Map<string, number>()
    let status = 'active'
    const player = createPlayer(
      'intel',
      ROOTS,
      treeReader(() => arcXe(status), reads),
    )
    player.pass()
    status = 'suspended'
    const asleep = createPlayer(
      'intel',
      ROOTS,
      treeReader(() => arcXe(status), reads),
    )
    reads.clear()
    const [fresh] = asleep.pass()
    // Never seen awake: nobody knows what its clients hold.
    expect(fresh?.gap('memory_used_bytes')?.detail).toContain('asleep')
    expect(fresh?.values.has('memory_used_bytes')).toBe(false)
    expect(fresh?.values.get('utilization_ratio')).toBe(0)
    // Seen awake before: it holds the same, and nothing is asked.
    expect(player.pass()[0]?.values.get('memory_used_bytes')).toBe(3 * GIB)
    expect([...reads.keys()].filter((path) => path.includes('fdinfo') || path.startsWith(`${INTEL_AT(0)}/device/hwmon/hwmon5/temp`))).toEqual([])
  })
})
