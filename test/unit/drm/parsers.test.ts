// The formats by themselves: fdinfo of all drivers and kernels, gpu_metrics of all revisions, KFD's topology, dmem, levels of clocks.
import { describe, expect, it } from 'vitest'
import { LAYOUTS } from '../../../agent/drm/amd/gpu-metrics-layouts.ts'
import { parseGpuMetrics } from '../../../agent/drm/amd/gpu-metrics.ts'
import { reasonOfBit } from '../../../agent/drm/amd/throttle.ts'
import { createClients } from '../../../agent/drm/clients/clients.ts'
import { dmemBytes } from '../../../agent/drm/clients/dmem.ts'
import { parseFdinfo } from '../../../agent/drm/clients/fdinfo.ts'
import { createKfd, targetName } from '../../../agent/drm/clients/kfd.ts'
import { createFiles } from '../../../agent/drm/files.ts'
import { generationOf } from '../../../agent/drm/parts/pci-link.ts'
import { ROOTS, metricsTable } from '../../fakes/cards/hosts.ts'
import { treeReader, type Tree } from '../../fakes/cards/tree.ts'

const lines = (...all: readonly string[]): string => ['pos:\t0', 'flags:\t02100002', ...all].join('\n')

describe('fdinfo', () => {
  it('of amdgpu before Linux 5.19', () => {
    const info = parseFdinfo(lines('pdev:\t0000:08:00.0', 'pasid:\t32770', 'vram mem:\t2048 kB', 'gtt mem:\t100 kB', 'cpu mem:\t0 kB', 'gfx0:\t12.50%'))
    expect(info).toMatchObject({ driver: 'amdgpu', slot: '0000:08:00.0', client: 'pasid-32770' })
    expect(info?.regions.get('vram')).toEqual({ memory: 2048 * 1024 })
  })
  it('of i915, with several engines of a kind', () => {
    const info = parseFdinfo(
      lines(
        'drm-driver:\ti915',
        'drm-client-id:\t12',
        'drm-pdev:\t0000:03:00.0',
        'drm-total-local0:\t3 GiB',
        'drm-resident-local0:\t2 GiB',
        'drm-resident-stolen-local0:\t0',
        'drm-engine-render:\t7500 ns',
        'drm-engine-video:\t100 ns',
        'drm-engine-capacity-video:\t2',
      ),
    )
    expect(info?.regions.get('local0')).toEqual({ total: 3 * 2 ** 30, resident: 2 * 2 ** 30 })
    expect(info?.engines.get('video')).toEqual({ ns: 100, capacity: 2 })
    expect(info?.engines.has('capacity-video')).toBe(false)
  })
  it('of xe, in cycles', () => {
    const info = parseFdinfo(
      lines(
        'drm-driver:\txe',
        'drm-client-id:\t1',
        'drm-pdev:\t0000:0B:00.0',
        'drm-cycles-ccs:\t50',
        'drm-total-cycles-ccs:\t1000',
        'drm-engine-capacity-ccs:\t4',
      ),
    )
    expect(info?.slot).toBe('0000:0b:00.0')
    expect(info?.engines.get('ccs')).toEqual({ cycles: 50, totalCycles: 1000, capacity: 4 })
  })
  it.each(['', 'pos:\t0', lines('drm-driver:\tpanfrost', 'drm-client-id:\t3'), '\u0000\u0001', lines('drm-total-vram:\t12 parsecs')])(
    'of something else is none: %j',
    (text) => {
      expect(parseFdinfo(text)).toBeUndefined()
    },
  )
})

describe('gpu_metrics', () => {
  it.each(Object.entries(LAYOUTS))('revision %s: each figure stands where its place says, and all bits set is none', (revision, { size, fields, fine }) => {
    const empty = parseGpuMetrics(metricsTable(revision, size, []))
    expect(empty).toMatchObject({ revision, figures: {}, throttle: undefined })
    const figures = Object.values(fields).map(([offset, width], at) => [offset, width, (at + 1) * 10] as const)
    const table = parseGpuMetrics(metricsTable(revision, size, figures))
    if (typeof table === 'string') throw new Error(table)
    const names = Object.keys(fields)
    expect(new Set(Object.values(fields).map(([offset]) => offset)).size).toBe(names.length)
    const scale: Readonly<Record<string, number>> = {
      ...(fine?.temperature === true ? { edge: 0.01 } : {}),
      ...(fine?.activity === true ? { gfx: 0.01, media: 0.01 } : {}),
      ...(fine?.power === true ? { power: 0.001 } : {}),
      linkSpeed: 0.1,
    }
    const wanted = names.map((name, at) => [name, Math.round((at + 1) * 10 * (scale[name] ?? 1) * 1e6) / 1e6] as const)
    const found = { ...table.figures, ...(table.throttle === undefined ? {} : { throttle: Number(table.throttle) }) }
    expect(found).toEqual(Object.fromEntries(wanted))
  })

  it('revision 1.9: attributes of any type and number, unknown ones stepped over', () => {
    const code = (type: number, id: number, count: number): Buffer => {
      const buffer = Buffer.alloc(8)
      buffer.writeBigUInt64LE(BigInt((type << 20) | (id << 10) | count))
      return buffer
    }
    const u16 = (value: number): Buffer => Buffer.from([value & 255, value >> 8])
    const u64 = (value: bigint): Buffer => {
      const buffer = Buffer.alloc(8)
      buffer.writeBigUInt64LE(value)
      return buffer
    }
    const parts = [
      code(2, 0, 1),
      u16(77),
      code(4, 999, 3),
      Buffer.alloc(12),
      code(2, 3, 1),
      u16(900),
      code(6, 7, 1),
      u64(131_072n),
      code(2, 33, 8),
      u16(2100),
      Buffer.alloc(14),
      code(4, 11, 1),
      Buffer.from([5, 0, 0, 0]),
    ]
    const header = Buffer.from([0, 0, 1, 9, 6, 0, 0, 0])
    expect(parseGpuMetrics(Buffer.concat([header, ...parts]))).toEqual({
      revision: '1.9',
      figures: { hotspot: 77, power: 900, energy: 131_072, gfxClock: 2100 },
      throttle: undefined,
      residencies: { ppt: 5 },
    })
    expect(parseGpuMetrics(Buffer.concat([header, ...parts.slice(0, 3)]))).toContain('expected 6 attributes')
  })

  it.each([Buffer.alloc(0), Buffer.alloc(4), metricsTable('1.3', 60, []), metricsTable('7.1', 300, []), Buffer.from([9, 0, 1, 9, 255, 255, 255, 127])])(
    'what is no table, cut off or of a new revision is a reason: %#',
    (table) => {
      expect(parseGpuMetrics(table)).toBeTypeOf('string')
    },
  )

  it('every bit of the limits has a class, or none beyond them', () => {
    expect([0, 7, 16, 23, 32, 35, 44, 47, 55, 56, 63].map(reasonOfBit)).toEqual([
      'sw_power_cap',
      'sw_power_cap',
      'current_limit',
      'current_limit',
      'sw_thermal_slowdown',
      'sw_thermal_slowdown',
      'hw_thermal_slowdown',
      'hw_thermal_slowdown',
      'sw_thermal_slowdown',
      undefined,
      undefined,
    ])
  })
})

describe('KFD', () => {
  const node = (text: string): string => `simd_count 304\n${text}`
  const tree: Tree = {
    files: {
      '/t/sys/class/kfd/kfd/topology/nodes/0/properties': 'cpu_cores_count 96\nsimd_count 0',
      '/t/sys/class/kfd/kfd/topology/nodes/1/properties': node('gfx_target_version 90402\nlocation_id 1280\ndomain 1\nunique_id 77'),
      '/t/sys/class/kfd/kfd/topology/nodes/1/gpu_id': '100',
      '/t/sys/class/kfd/kfd/topology/nodes/2/properties': node('gfx_target_version 90402\nlocation_id 1281\ndomain 1\nunique_id 77'),
      '/t/sys/class/kfd/kfd/topology/nodes/2/gpu_id': '101',
      '/t/sys/class/kfd/kfd/topology/nodes/10/properties': node('gfx_target_version 90402\nlocation_id 2304\ndomain 1\nunique_id 78'),
      '/t/sys/class/kfd/kfd/topology/nodes/10/gpu_id': '102',
      '/t/sys/class/kfd/kfd/proc/55/vram_100': '1000',
      '/t/sys/class/kfd/kfd/proc/55/vram_101': '24',
    },
  }
  it('partitions of a card are one card, whose processes are summed', () => {
    const kfd = createKfd(createFiles(treeReader(() => tree)), ROOTS.sys)
    expect(kfd.nodesAt('0001:05:00.0').map(({ gpuId }) => gpuId)).toEqual(['100', '101'])
    expect(kfd.nodesAt('0001:09:00.0')).toHaveLength(1)
    expect(kfd.bytes(55, '0001:05:00.0')).toBe(1024)
    expect(kfd.bytes(55, '0001:09:00.0')).toBeUndefined()
    expect([...kfd.pids()]).toEqual([55])
  })
  it('names a target as compilers do', () => {
    expect([90_402, 90_010, 110_500, 120_001, 90_008].map(targetName)).toEqual(['gfx942', 'gfx90a', 'gfx1150', 'gfx1201', 'gfx908'])
  })
})

describe('clients of a card', () => {
  const descriptor = (client: string, ns: number): string =>
    lines('drm-driver:\tamdgpu', `drm-client-id:\t${client}`, 'drm-pdev:\t0000:03:00.0', 'drm-resident-vram:\t1024 KiB', `drm-engine-compute:\t${ns} ns`)
  it('a descriptor that was handed on counts once, with the process that computes', () => {
    const tree: Tree = {
      files: {
        '/t/proc/10/fdinfo/3': descriptor('5', 0),
        '/t/proc/20/fdinfo/3': descriptor('5', 0),
        '/t/proc/30/fdinfo/4': descriptor('6', 0),
        '/t/sys/class/kfd/kfd/proc/10/pasid': '0',
      },
      links: {
        '/t/proc/10/fd/3': '/dev/dri/renderD128',
        '/t/proc/20/fd/3': '/dev/dri/renderD128 (deleted)',
        '/t/proc/30/fd/4': '/dev/dri/card1',
        '/t/proc/30/fd/9': 'socket:[1]',
      },
    }
    const { clients, hidden } = createClients(createFiles(treeReader(() => tree)), ROOTS).of('0000:03:00.0', 0)
    expect(clients.map(({ pid, client }) => [pid, client])).toEqual([
      [10, '5'],
      [30, '6'],
    ])
    expect(hidden).toBe(0)
  })
  it('loads are shares of the time between two readings', () => {
    let ns = 1_000_000
    const tree = (): Tree => ({ files: { '/t/proc/10/fdinfo/3': descriptor('5', ns) }, links: { '/t/proc/10/fd/3': '/dev/dri/renderD128' } })
    const clients = createClients(createFiles(treeReader(tree)), ROOTS)
    expect(clients.of('0000:03:00.0', 0).loads).toBeUndefined()
    ns += 1_500_000_000
    expect(clients.of('0000:03:00.0', 2_000).loads?.get('compute')).toBeCloseTo(0.75, 6)
    // A counter that falls back worked nothing, it did not work backwards.
    ns -= 500_000_000
    expect(clients.of('0000:03:00.0', 4_000).loads?.get('compute')).toBe(0)
  })
  it('a card that is opened later is found at the next look, under a number that was another file before a minute after the last change', () => {
    const links: Record<string, string> = { '/t/proc/10/fd/3': '/dev/dri/renderD128', '/t/proc/20/fd/5': '/dev/null' }
    const tree = (): Tree => ({
      files: { '/t/proc/10/fdinfo/3': descriptor('5', 0), '/t/proc/20/fdinfo/5': descriptor('6', 0), '/t/proc/20/fdinfo/6': descriptor('7', 0) },
      links,
    })
    const clients = createClients(createFiles(treeReader(tree)), ROOTS)
    const seen = (nowMs: number): readonly string[] => clients.of('0000:03:00.0', nowMs).clients.map(({ client }) => client)
    expect(seen(0)).toEqual(['5'])
    links['/t/proc/20/fd/6'] = '/dev/dri/renderD128'
    expect(seen(4_000)).toEqual(['5'])
    expect(seen(10_000)).toEqual(['5', '7'])
    links['/t/proc/20/fd/5'] = '/dev/dri/card1'
    expect(seen(20_000)).toEqual(['5', '7'])
    expect(seen(80_000)).toEqual(['5', '6', '7'])
    delete links['/t/proc/20/fd/6']
    expect(seen(90_000)).toEqual(['5', '6'])
  })
  it('processes whose files are hidden are counted', () => {
    const tree: Tree = { files: { '/t/proc/10/cmdline': 'python3', '/t/proc/11/cmdline': '' } }
    expect(createClients(createFiles(treeReader(() => tree)), ROOTS).of('0000:03:00.0', 0).hidden).toBe(1)
  })
})

it('dmem: the regions of one card, not its stolen host memory', () => {
  const text = 'drm/0000:0b:00.0/vram0 100\ndrm/0000:0b:00.0/vram1 20\ndrm/0000:0b:00.0/stolen 7\ndrm/0000:0c:00.0/vram 900'
  expect(dmemBytes(text, '0000:0b:00.0')).toBe(120)
  expect(dmemBytes(text, '0000:0c:00.0')).toBe(900)
  expect(dmemBytes(text, '0000:0d:00.0')).toBeUndefined()
})

it('a generation of PCIe by its speed', () => {
  expect([2.5, 5, 8, 16, 32, 64, 3].map(generationOf)).toEqual([1, 2, 3, 4, 5, 6, 0])
})
