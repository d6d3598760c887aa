// The GPU of a Jetson, whose NVML is a stub: each figure is that of the kernel's file, the rest gaps.
import { describe, expect, it } from 'vitest'
import { createFiles } from '../../../agent/drm/files.ts'
import { nvmapClients } from '../../../agent/drm/jetson/memory.ts'
import { chooseCards, onlyOtherMakers } from '../../../agent/sources/cards/choose.ts'
import { ROOTS } from '../../fakes/cards/hosts.ts'
import { agxOrin, DEVFREQ, GPU, orinNano, tx2 } from '../../fakes/cards/jetson-hosts.ts'
import { createPlayer, type Played } from '../../fakes/cards/play.ts'
import { treeReader, type Tree } from '../../fakes/cards/tree.ts'

function play(tree: Tree, reads?: Map<string, number>): Played {
  const player = createPlayer(
    'jetson',
    ROOTS,
    treeReader(() => tree, reads),
  )
  reads?.clear()
  const [card] = player.pass()
  if (card === undefined) throw new Error('no GPU was found')
  return card
}
const reasons = (card: Played, ...metrics: readonly string[]): readonly (string | undefined)[] =>
  metrics.map((metric) => (card.values.has(metric) ? 'told' : card.gap(metric)?.reason))

describe('a Jetson', () => {
  it('Orin Nano as a user: load in thousandths, clocks in hertz, the rail shared with the CPU, host memory', () => {
    const card = play(orinNano())
    expect(Object.fromEntries(card.values)).toMatchObject({
      utilization_ratio: 0.437,
      'clock_hertz{graphics}': 306e6,
      'clock_max_hertz{graphics}': 1.02e9,
      power_watts: (4_984 * 104) / 1e6,
      temperature_celsius: 49.031,
      'temperature_threshold_celsius{slowdown}': 99,
      'temperature_threshold_celsius{shutdown}': 104.5,
      fan_speed_ratio: 0.2,
      'throttle_active{current_limit}': 0,
      memory_total_bytes: 7_802_736 * 1024,
      memory_free_bytes: 3_100_000 * 1024,
      asleep: 0,
    })
    expect(card.labels.get('info')).toMatchObject({
      uuid: 'jetson-1424223001234',
      vendor: 'nvidia',
      memory: 'unified',
      driver_version: 'nvgpu (Linux 5.15.148-tegra)',
    })
    expect(card.hello.gpus[0]?.name).toBe('NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super')
    // What root alone may read, and what no Jetson tells.
    expect(reasons(card, 'memory_used_bytes', 'process_gpu_memory_bytes', 'clock_hertz')).toEqual(['no_permission', 'no_permission', 'no_permission'])
    expect(new Set(reasons(card, 'energy_joules_total', 'power_limit_watts', 'ecc_errors_total', 'pcie_link_width', 'memory_temperature_celsius'))).toEqual(
      new Set(['not_supported']),
    )
  })

  it('AGX Orin as root: memory by process, the alarm of the rail', () => {
    const card = play(agxOrin)
    expect(Object.fromEntries(card.values)).toMatchObject({
      utilization_ratio: 1,
      memory_used_bytes: 1_866_048 * 1024,
      power_watts: (11_856 * 1_520) / 1e6,
      'clock_hertz{memory}': 3.199e9,
      'throttle_active{current_limit}': 1,
    })
    expect(card.processes).toEqual([
      { pid: 4242, type: 'C', bytes: 1_832_960 * 1024 },
      { pid: 1700, type: 'C', bytes: 33_088 * 1024 },
    ])
    expect(reasons(card, 'fan_speed_ratio')).toEqual(['not_supported'])
  })

  it('TX2 with JetPack 4: the older names', () => {
    const card = play(tx2)
    expect(Object.fromEntries(card.values)).toMatchObject({
      utilization_ratio: 0,
      power_watts: 0.152,
      temperature_celsius: 36.5,
      memory_used_bytes: 812_032 * 1024,
      'clock_max_hertz{graphics}': 1_300_500_000,
    })
    expect(card.labels.get('info')).toMatchObject({ uuid: 'jetson-17000000.gp10b', name: 'quill' })
  })

  it('whose GPU has no power: idle by proof, no -256 °C, and nothing asked of it', () => {
    const reads = new Map<string, number>()
    const card = play(orinNano({ status: 'suspended', gpuTemp: '-256000' }), reads)
    expect(card.values.get('asleep')).toBe(1)
    expect(card.values.get('utilization_ratio')).toBe(0)
    expect(card.gap('temperature_celsius')?.detail).toContain('rail gated')
    expect([...reads.keys()].filter((path) => path === `${DEVFREQ}/cur_freq` || path.endsWith('/load'))).toEqual([])
    const again = play({ ...orinNano(), errors: { '/t/sys/class/thermal/thermal_zone1/temp': 'EAGAIN' } })
    expect(again.gap('temperature_celsius')?.detail).toContain('rail gated')
  })

  it('is watched in the place of NVML’s stub', () => {
    const files = createFiles(treeReader(() => orinNano()))
    expect(onlyOtherMakers(files, ROOTS)).toBe(true)
    expect(chooseCards(files, ROOTS, 'auto', 0).map(({ vendor, slots }) => [vendor.id, slots])).toEqual([['jetson', [GPU]]])
  })

  it('is not what another maker’s chip calls gpu, nor Thor, which has NVML', () => {
    const other: Tree = {
      files: {
        '/t/sys/class/devfreq/fb000000.gpu/cur_freq': '1',
        '/t/sys/class/devfreq/fb000000.gpu/device/of_node/name': 'gpu\0',
        '/t/proc/device-tree/compatible': 'rockchip,rk3588\0',
      },
    }
    const thor: Tree = { files: { '/t/sys/class/devfreq/gpu-gpc-0/cur_freq': '1', '/t/proc/device-tree/compatible': 'nvidia,tegra264\0' } }
    for (const tree of [other, thor]) expect(chooseCards(createFiles(treeReader(() => tree)), ROOTS, 'auto', 0)).toEqual([])
  })
})

it('nvmap’s list: a line without a size, or of the kernel, is no process', () => {
  expect(nvmapClients('user python3 12\nkernel nvhost 0 4K\nuser a b 7 4K')).toEqual({ rows: [{ pid: 7, type: 'C', bytes: 4096 }], totalBytes: undefined })
})
