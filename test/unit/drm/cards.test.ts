// Readings of AMD and Intel cards from files: what each figure is, what becomes a gap, and what is not asked.
import { describe, expect, it } from 'vitest'
import { AMD, ROOTS, amdCard, metricsTable, xeCard } from '../../fakes/cards/hosts.ts'
import { createPlayer } from '../../fakes/cards/play.ts'
import { treeReader, type Tree } from '../../fakes/cards/tree.ts'

const GIB = 1024 ** 3
const withFiles = (tree: Tree, files: Readonly<Record<string, string | Buffer>>): Tree => ({ ...tree, files: { ...tree.files, ...files } })
const without = (tree: Tree, pattern: RegExp): Tree => ({
  ...tree,
  files: Object.fromEntries(Object.entries(tree.files).filter(([path]) => !pattern.test(path))),
})

describe('an AMD card', () => {
  it('gives its figures in the units of all GPUs', () => {
    const [card] = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => amdCard),
    ).pass()
    expect(Object.fromEntries(card?.values ?? [])).toMatchObject({
      memory_total_bytes: 16 * GIB,
      memory_used_bytes: 11 * GIB,
      memory_free_bytes: 5 * GIB,
      memory_used_peak_bytes: 11 * GIB,
      bar1_total_bytes: GIB / 4,
      gtt_used_bytes: GIB / 2,
      memory_evicted_bytes: GIB / 2,
      utilization_ratio: 0.64,
      memory_utilization_ratio: 0.31,
      encoder_utilization_ratio: 0.07,
      power_watts: 203,
      power_limit_watts: 255,
      temperature_celsius: 74,
      memory_temperature_celsius: 80,
      'temperature_threshold_celsius{slowdown}': 110,
      'temperature_threshold_celsius{shutdown}': 115,
      fan_speed_ratio: 0.2,
      'fan_revolutions_per_minute{1}': 1200,
      'clock_hertz{graphics}': 2.1e9,
      'clock_max_hertz{graphics}': 2.575e9,
      'clock_max_hertz{memory}': 1e9,
      'throttle_active{sw_power_cap}': 1,
      'throttle_active{sw_thermal_slowdown}': 1,
      'throttle_active{hw_thermal_slowdown}': 0,
      pcie_link_generation: 4,
      pcie_link_width: 16,
      pcie_replay_total: 3,
      'ecc_errors_total{uncorrected}{volatile}': 1,
      'ecc_errors_total{corrected}{volatile}': 16,
      'ecc_errors_total{deferred}{volatile}': 2,
      'retired_pages{uncorrected}': 2,
      retired_pages_pending: 1,
      asleep: 0,
    })
    expect(card?.labels.get('info')).toMatchObject({ uuid: 'amd-00a1b2c3d4e5f607', vendor: 'amd', name: 'Radeon of the test', pci_bus_id: '0000:2d:00.0' })
    expect(card?.processes).toEqual([{ pid: 900, type: 'C', bytes: 9 * GIB }])
    // A limit of -273 °C is none, and no gap either.
    expect(card?.values.has('temperature_threshold_celsius{memory_max}')).toBe(false)
    expect(card?.gap('energy_joules_total')).toMatchObject({ reason: 'not_supported' })
  })

  it('is not woken while it is asleep: idle by proof, memory from the driver, the rest gaps', () => {
    const reads = new Map<string, number>()
    const tree = withFiles(amdCard, { [`${AMD}/power/runtime_status`]: 'suspended' })
    const player = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => tree, reads),
    )
    reads.clear()
    const [card] = player.pass()
    expect(card?.values.get('asleep')).toBe(1)
    expect(card?.values.get('utilization_ratio')).toBe(0)
    expect(card?.values.get('memory_used_bytes')).toBe(11 * GIB)
    expect(card?.gap('power_watts')?.detail).toContain('asleep')
    expect([...reads.keys()].filter((path) => /hwmon\/.*_(?:input|average)|busy|gpu_metrics|\/ras\//.test(path))).toEqual([])
  })

  it('whose firmware hangs is left alone after the first error', () => {
    const reads = new Map<string, number>()
    const power = `${AMD}/hwmon/hwmon3/power1_average`
    let tree = amdCard
    const player = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => tree, reads),
    )
    player.pass()
    tree = { ...amdCard, errors: { [power]: 'EOPNOTSUPP', [`${AMD}/gpu_busy_percent`]: 'ETIME' } }
    reads.clear()
    const [card] = player.pass()
    expect(card?.gap('utilization_ratio')).toMatchObject({ reason: 'timeout' })
    expect(card?.gap('power_watts')).toMatchObject({ reason: 'timeout' })
    expect(reads.get(power)).toBeUndefined()
    expect(card?.values.get('memory_used_bytes')).toBe(11 * GIB)
  })

  it.each(['EBUSY', 'EPERM'])('whose sensors say %s is in a reset: no figure of another sensor, and no talk of our rights', (error) => {
    const tree = { ...amdCard, errors: { [`${AMD}/hwmon/hwmon3/temp2_input`]: error } }
    const [card] = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => tree),
    ).pass()
    expect(card?.values.has('temperature_celsius')).toBe(false)
    expect(card?.gap('temperature_celsius')).toMatchObject({ reason: 'driver_error' })
  })

  it('that is unbound says so once and comes back', () => {
    let tree: Tree = amdCard
    const player = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => tree),
    )
    player.pass()
    tree = without(amdCard, /card1\/device\/uevent$/)
    expect(player.pass(['fast'])[0]?.gaps).toContainEqual(expect.objectContaining({ metric: 'gpu', reason: 'gpu_lost' }))
    expect(player.pass(['fast', 'slow'])).toHaveLength(1)
    tree = amdCard
    const [card] = player.pass(['fast', 'slow'])
    expect(card?.hello.gpus).toHaveLength(1)
    expect(card?.values.get('memory_used_bytes')).toBe(11 * GIB)
  })

  it('tells power and temperature from gpu_metrics where hwmon has none, and throttling from counters that rise', () => {
    const bare = without(amdCard, /hwmon|busy_percent|pp_dpm/)
    const table = (ppt: number): Buffer =>
      metricsTable('1.6', 1664, [
        [4, 2, 71],
        [6, 2, 55],
        [10, 2, 640],
        [12, 2, 98],
        [16, 8, 65_536n * 5_000n],
        [36, 4, 10],
        [40, 4, ppt],
        [44, 4, 3],
        [60, 2, 16],
        [62, 2, 320],
        [104, 8, 2n],
        [264, 2, 1_950],
        [304, 2, 1_300],
      ])
    let tree = withFiles(bare, { [`${AMD}/gpu_metrics`]: table(100) })
    const player = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => tree),
    )
    player.pass()
    tree = withFiles(bare, { [`${AMD}/gpu_metrics`]: table(160) })
    // The table is read once a pass: a pass of the next second reads the new one.
    const later = createPlayer(
      'amd',
      ROOTS,
      treeReader(() => tree),
    ).pass()[0]
    expect(Object.fromEntries(later?.values ?? [])).toMatchObject({
      power_watts: 640,
      temperature_celsius: 71,
      memory_temperature_celsius: 55,
      utilization_ratio: 0.98,
      energy_joules_total: 5_000,
      pcie_link_generation: 5,
      'clock_hertz{graphics}': 1.95e9,
    })
  })
})

describe('an Intel card', () => {
  it('gives what its drivers have, and reasons for the rest', () => {
    const [card] = createPlayer(
      'intel',
      ROOTS,
      treeReader(() => xeCard()),
    ).pass()
    expect(Object.fromEntries(card?.values ?? [])).toMatchObject({
      memory_total_bytes: 12 * GIB,
      // 3 GiB in one cgroup, 1 GiB in one two levels down; the clients that can be seen hold less.
      memory_used_bytes: 4 * GIB,
      temperature_celsius: 58,
      memory_temperature_celsius: 66,
      energy_joules_total: 5,
      power_limit_watts: 190,
      'clock_hertz{graphics}': 2.4e9,
      'clock_max_hertz{graphics}': 2.85e9,
      'throttle_active{sw_power_cap}': 1,
      'throttle_active{sw_thermal_slowdown}': 0,
      'fan_revolutions_per_minute{2}': 0,
    })
    expect(card?.labels.get('info')).toMatchObject({ uuid: 'pci-0000:03:00.0', vendor: 'intel' })
    expect(card?.processes).toEqual([{ pid: 77, type: 'G', bytes: 2 * GIB }])
    expect(card?.gap('pcie_link_generation')).toMatchObject({ reason: 'not_supported' })
    // Nothing to compare with yet is no figure.
    expect(card?.values.has('utilization_ratio')).toBe(false)
    expect(card?.values.has('power_watts')).toBe(false)
  })
})
