// Plays captures of real cards through the readers, where they are beside the repository; nothing of them is in the repository.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseFdinfo } from '../../../agent/drm/clients/fdinfo.ts'
import { createKfd } from '../../../agent/drm/clients/kfd.ts'
import { createFiles } from '../../../agent/drm/files.ts'
import { createPlayer, MAKERS, type Played } from '../../fakes/cards/play.ts'

const fixtures = join(import.meta.dirname, '../../../../shared/fixtures/other-gpus')
const MISSING = existsSync(fixtures) ? undefined : 'no captures of other GPUs beside the repository'
const names = MISSING === undefined ? readdirSync(fixtures) : []

/** The figures of files that stand for one value each, as the capture itself has them. */
const SAME: readonly (readonly [file: RegExp, metric: string, scale: number])[] = [
  [/^device\/mem_info_gtt_total$/, 'gtt_total_bytes', 1],
  [/^device\/mem_info_gtt_used$/, 'gtt_used_bytes', 1],
  [/^device\/mem_info_vis_vram_total$/, 'bar1_total_bytes', 1],
  [/^device\/gpu_busy_percent$/, 'utilization_ratio', 0.01],
  [/^device\/mem_busy_percent$/, 'memory_utilization_ratio', 0.01],
  [/^device\/pcie_replay_count$/, 'pcie_replay_total', 1],
  [/\/power1_average$/, 'power_watts', 1e-6],
  [/\/power1_cap$/, 'power_limit_watts', 1e-6],
  [/\/freq1_input$/, 'clock_hertz{graphics}', 1],
  [/\/freq2_input$/, 'clock_hertz{memory}', 1],
  [/\/fan1_input$/, 'fan_revolutions_per_minute{1}', 1],
  [/tile0\/gt0\/freq0\/act_freq$/, 'clock_hertz{graphics}', 1e6],
  [/^gt\/gt0\/rps_act_freq_mhz$/, 'clock_hertz{graphics}', 1e6],
  [/^gt\/gt0\/rps_RP0_freq_mhz$/, 'clock_max_hertz{graphics}', 1e6],
]
const short = (metric: string): string => metric.replace(/^warpwatch_(gpu_)?/, '')

/** All files of a folder with their texts, by path. */
function texts(folder: string, at = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
    const path = at === '' ? entry.name : `${at}/${entry.name}`
    if (entry.isDirectory()) for (const [name, text] of texts(folder, path)) found.set(name, text)
    else found.set(path, readFileSync(join(folder, path), 'latin1').trim())
  }
  return found
}

/** Files of the text archive that prometheus/procfs keeps its trees in. */
function unpackTtar(text: string, folder: string): void {
  for (const match of text.matchAll(/^Path: (.+)\nLines: (\d+)\n/gm)) {
    const from = match.index + match[0].length
    const lines = text.slice(from).split('\n', Number(match[2]))
    const path = join(folder, match[1] ?? '')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${lines.join('\n').replaceAll('EOF', '')}\n`)
  }
}

describe.skipIf(MISSING !== undefined)(`captured cards${MISSING === undefined ? '' : ` (${MISSING})`}`, () => {
  const root = mkdtempSync(join(tmpdir(), 'cards-'))
  const made = new Map<string, { readonly vendor: keyof typeof MAKERS; readonly sys: string }>()
  const packed = names.filter((name) => name.endsWith('-sysfs.tar.gz'))

  beforeAll(() => {
    for (const name of packed) {
      const sys = join(root, name, 'sys')
      mkdirSync(join(sys, 'class/drm'), { recursive: true })
      execFileSync('tar', ['xzf', join(fixtures, name), '-C', join(sys, 'class/drm'), '--exclude=*engines*', '--exclude=*.mei*', '--exclude=*vsec*'])
      made.set(name, { vendor: name.startsWith('amd') ? 'amd' : 'intel', sys })
    }
  })

  it.each(packed)('%s: the capture’s own figures, and a reason for every other metric', (name) => {
    const tree = made.get(name)
    if (tree === undefined) throw new Error(`${name} was not unpacked`)
    const player = createPlayer(tree.vendor, { sys: tree.sys, proc: join(root, 'none') })
    player.pass()
    const [card] = player.pass()
    expect(card, 'one card').toBeDefined()
    if (card === undefined) return
    const [folder = ''] = readdirSync(join(tree.sys, 'class/drm')).filter((entry) => /^card\d+$/.test(entry))
    const captured = texts(join(tree.sys, 'class/drm', folder))
    let compared = 0
    for (const [path, text] of captured) {
      const same = SAME.find(([file]) => file.test(path))
      if (same === undefined || !/^-?\d+$/.test(text)) continue
      compared++
      expect(card.values.get(same[1]), `${path} as ${same[1]}`).toBeCloseTo(Number(text) * same[2], 6)
    }
    // A card of the old radeon driver has a clock and a fan.
    expect(compared).toBeGreaterThan(0)
    expectAllAnswered(tree.vendor, card)
  })

  function expectAllAnswered(vendor: keyof typeof MAKERS, card: Played): void {
    const said = new Set([...[...card.values.keys()].map((key) => key.replace(/\{.*/, '')), ...card.gaps.map(({ metric }) => short(metric))])
    // What a card can have nothing of is silent by design; what needs the right to see processes has its own gap.
    const optional = /^(?:temperature_threshold_celsius|partition_info|utilization_method_info|memory_evicted_bytes|decoder_utilization_ratio)$/
    const silent = MAKERS[vendor].collectors
      .flatMap(({ metrics }) => metrics.map((metric) => short(metric.name)))
      .filter((metric) => !said.has(metric) && !optional.test(metric))
    expect(silent).toEqual([])
  }

  it('amd__procfs-drm-card0.ttar: another maker of trees', () => {
    const folder = join(root, 'ttar')
    unpackTtar(readFileSync(join(fixtures, 'amd__procfs-drm-card0.ttar'), 'utf8'), folder)
    const [card] = createPlayer('amd', { sys: join(folder, 'fixtures/sys'), proc: join(root, 'none') }).pass()
    const text = (file: string): string => readFileSync(join(folder, 'fixtures/sys/class/drm/card0/device', file), 'utf8').trim()
    expect(card?.values.get('memory_total_bytes')).toBe(Number(text('mem_info_vram_total')))
    expect(card?.values.get('memory_used_bytes')).toBe(Number(text('mem_info_vram_used')))
    expect(card?.hello.gpus[0]?.uuid).toBe(`amd-${text('unique_id')}`)
  })

  it.each(names.filter((name) => /^amd__kfd-.*\.tar\.gz$/.test(name)))('%s: every GPU node has the address of a card', (name) => {
    const sys = join(root, name)
    const folder = join(sys, 'class/kfd/kfd')
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['xzf', join(fixtures, name), '-C', folder, '--exclude=*caches*', '--exclude=*links*', '--exclude=*mem_banks*'])
    // One capture begins a folder deeper.
    if (!existsSync(join(folder, 'topology'))) {
      mkdirSync(join(folder, 'topology'))
      renameSync(join(folder, 'nodes'), join(folder, 'topology/nodes'))
    }
    const nodes = createKfd(createFiles(), sys).nodes()
    const gpus = readdirSync(join(folder, 'topology/nodes')).filter((node) =>
      /^simd_count [1-9]/m.test(readFileSync(join(folder, 'topology/nodes', node, 'properties'), 'utf8')),
    )
    expect(nodes).toHaveLength(gpus.length)
    expect(nodes.every(({ slot }) => /^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/.test(slot))).toBe(true)
    // Partitions of one card have one address.
    expect(new Set(nodes.map(({ slot }) => slot)).size).toBeLessThanOrEqual(
      new Set(nodes.map(({ uniqueId, slot }) => (uniqueId === '0' ? slot : uniqueId))).size,
    )
  })

  it('amd__gfx9-fdinfo-6.x.txt: the keys before the standard ones', () => {
    const info = parseFdinfo(readFileSync(join(fixtures, 'amd__gfx9-fdinfo-6.x.txt'), 'utf8'))
    expect(info).toMatchObject({ driver: 'amdgpu', slot: '0000:08:00.0', client: '217' })
    expect(info?.regions.get('vram')).toEqual({ memory: 2068 * 1024 })
    expect(info?.engines.get('gfx')).toEqual({ ns: 107_322_799 })
  })

  it.each([
    [
      'amd-dgpu-rx9070',
      'amd',
      { memory_total_bytes: 17_095_983_104, memory_used_bytes: 9_663_676_416, power_watts: 49, temperature_celsius: 52, pcie_link_generation: 4 },
      [4242, 9_216_000_000],
    ],
    [
      'amd-apu-strixpoint',
      'amd',
      { memory_total_bytes: 16_977_874_944, memory_used_bytes: 4_461_391_872, power_watts: 9.087, temperature_celsius: 38 },
      [5151, 3_565_158_400],
    ],
    ['intel-xe-b580', 'intel', { memory_total_bytes: 12_684_623_872, memory_used_bytes: 8_589_934_592, temperature_celsius: 46 }, [6161, 8_589_934_592]],
  ] as const)('the tree %s', (name, vendor, figures, [pid, bytes]) => {
    const tree = join(fixtures, 'trees', name)
    const [card] = createPlayer(vendor, { sys: join(tree, 'sys'), proc: join(tree, 'proc') }).pass()
    expect(Object.fromEntries(card?.values ?? [])).toMatchObject(figures)
    expect(card?.processes).toEqual([expect.objectContaining({ pid, bytes })])
  })
})
