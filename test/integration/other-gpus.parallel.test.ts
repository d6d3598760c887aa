// The built agent on a host with cards of three makers: one NVIDIA GPU from the fake library, an AMD and an Intel card as trees of files.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { AMD, amdCard, xeCard } from '../fakes/cards/hosts.ts'
import { orinNano } from '../fakes/cards/jetson-hosts.ts'
import type { Tree } from '../fakes/cards/tree.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { mixedHost } from '../setup/agent-scenes.ts'
import { hasChromium, launchTestBrowser, openPage, STICKING_OUT } from '../setup/browser.ts'
import { poll } from '../setup/poll.ts'

const GIB = 1024 ** 3

/** `/t/sys/…` of the trees below a folder. */
function plant(...trees: readonly Tree[]): string {
  const root = mkdtempSync(join(tmpdir(), 'cards-'))
  const make = (path: string): string => {
    const full = join(root, path)
    mkdirSync(dirname(full), { recursive: true })
    return full
  }
  for (const { files, links = {} } of trees) {
    for (const [path, content] of Object.entries(files)) writeFileSync(make(path), content)
    for (const [path, target] of Object.entries(links)) symlinkSync(target, make(path))
  }
  return join(root, 't')
}
const childrenOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child.trim() !== '')

const promtool = ((): string | undefined => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return 'promtool'
  } catch {
    return undefined
  }
})()

const id = 'ab'.repeat(32)
async function startMixed(): Promise<{ readonly agent: RunningAgent; readonly root: string }> {
  const root = plant(amdCard, xeCard(), {
    files: {
      '/t/proc/900/cgroup': `0::/system.slice/docker-${id}.scope`,
      '/t/proc/900/comm': 'python3',
      '/t/proc/meminfo': 'MemTotal: 65000000 kB\nMemAvailable: 40000000 kB',
    },
  })
  const scene = mixedHost()
  const agent = await startAgent({
    scenario: { ...scene, gpus: scene.gpus.slice(0, 1) },
    env: { WARPWATCH_HOST__SYS_ROOT: join(root, 'sys'), WARPWATCH_HOST__PROC_ROOT: join(root, 'proc'), WARPWATCH_METRICS__DCGM: 'off' },
  })
  return { agent, root }
}

describe.skipIf(compiler === undefined)('a host with cards of three makers (needs a C compiler)', () => {
  test.skipIf(!hasChromium)(
    'the dashboard shows a card for each, with its own figures (needs Debian’s chromium)',
    async () => {
      await using agent = (await startMixed()).agent
      const browser = await launchTestBrowser()
      try {
        await using opened = await openPage(browser, `${agent.url}/#/`)
        const { page, complaints } = opened
        await page.locator('article.gpu').nth(2).waitFor()
        expect(await page.locator('article.gpu').count()).toBe(3)
        for (const [index, uuid, watts] of [
          [0, 'GPU-', undefined],
          [1, 'amd-', '203'],
          [2, 'pci-', undefined],
        ] as const) {
          const card = page.locator(`#gpu-${index}`)
          expect(await card.getAttribute('data-uuid')).toContain(uuid)
          expect(await card.getAttribute('data-trouble')).toBeNull()
          // What the maker's card does not tell is said to be missing, never a zero.
          if (watts !== undefined) await card.getByText(watts, { exact: false }).first().waitFor()
        }
        expect(await page.evaluate(STICKING_OUT)).toEqual([])
        expect(complaints).toEqual([])
      } finally {
        await browser.close()
      }
    },
    120_000,
  )

  test('one list, one page, and a container known by its process’s cgroup', async () => {
    const { agent: started, root } = await startMixed()
    await using agent = started
    const page = await poll(
      async () => {
        const now = await agent.metrics()
        const used = now.samples.filter(({ name, labels }) => name === 'warpwatch_gpu_memory_used_bytes' && labels['gi'] === undefined)
        const known = now.samples.filter(({ name }) => name === 'warpwatch_gpu_info')
        return used.length === 3 && known.length === 3 && now.value('warpwatch_container_gpu_memory_bytes', { gpu: '1' }) !== undefined ? now : undefined
      },
      { what: 'readings of three cards', everyMs: 100 },
    )
    const cards = page.samples.filter(({ name }) => name === 'warpwatch_gpu_info').map(({ labels }) => `${labels['gpu']} ${labels['vendor']}`)
    expect(new Set(cards)).toEqual(new Set(['0 nvidia', '1 amd', '2 intel']))
    expect(page.value('warpwatch_gpu_memory_used_bytes', { gpu: '1' })).toBe(11 * GIB)
    expect(page.value('warpwatch_gpu_memory_used_bytes', { gpu: '2' })).toBe(4 * GIB)
    expect(page.value('warpwatch_gpu_power_watts', { gpu: '1' })).toBe(203)
    expect(page.value('warpwatch_process_gpu_memory_bytes', { gpu: '1', pid: '900' })).toBe(9 * GIB)
    expect(page.value('warpwatch_container_gpu_memory_bytes', { gpu: '1', container_id: id.slice(0, 12) })).toBe(9 * GIB)
    const rows = z.array(z.looseObject({ index: z.number(), uuid: z.string() })).parse(await agent.json('/api/v1/gpus'))
    expect(rows.map(({ index, uuid }) => [index, uuid.slice(0, 4)])).toEqual([
      [0, 'GPU-'],
      [1, 'amd-'],
      [2, 'pci-'],
    ])
    const { text } = await agent.get('/metrics')
    expect(promtool === undefined ? '' : execFileSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('')

    // What the driver writes next is what the next second shows.
    writeFileSync(join(dirname(root), AMD, 'mem_info_vram_used'), String(12 * GIB))
    await poll(async () => ((await agent.metrics()).value('warpwatch_gpu_memory_used_bytes', { gpu: '1' }) === 12 * GIB ? true : undefined), {
      what: 'the new figure',
      everyMs: 100,
    })
  }, 60_000)

  test('a Jetson is watched by its files, without NVML, and its GPU has number 0', async () => {
    const tree = orinNano()
    const root = plant({ files: Object.fromEntries(Object.entries(tree.files).map(([path, text]) => [path, String(text)])) })
    await using agent = await startAgent({
      env: { WARPWATCH_HOST__SYS_ROOT: join(root, 'sys'), WARPWATCH_HOST__PROC_ROOT: join(root, 'proc'), WARPWATCH_METRICS__DCGM: 'off' },
    })
    const page = await poll(
      async () => {
        const now = await agent.metrics()
        return now.value('warpwatch_gpu_utilization_ratio', { gpu: '0' }) === 0.437 &&
          now.value('warpwatch_gpu_clock_hertz', { domain: 'graphics' }) !== undefined &&
          // Read at another rate.
          now.value('warpwatch_gpu_info') !== undefined
          ? now
          : undefined
      },
      { what: 'the load of the GPU', everyMs: 100 },
    )
    expect(page.value('warpwatch_gpu_temperature_celsius')).toBe(49.031)
    expect(page.value('warpwatch_gpu_memory_total_bytes')).toBe(7_802_736 * 1024)
    expect(page.samples.filter(({ name }) => name === 'warpwatch_gpu_info').map(({ labels }) => [labels['gpu'], labels['vendor'], labels['memory']])).toEqual([
      ['0', 'nvidia', 'unified'],
    ])
    // NVML was not looked for, so nobody is told that it is missing.
    expect(agent.stderr()).not.toContain('libnvidia-ml')
  }, 60_000)

  test('the GPU of a laptop is not opened while it sleeps, and read once a program opens it', async () => {
    const slot = '0000:01:00.0'
    const device = `/t/sys/bus/pci/devices/${slot}`
    const root = plant({
      files: {
        [`${device}/vendor`]: '0x10de',
        [`${device}/class`]: '0x030000',
        [`${device}/power/control`]: 'auto',
        [`${device}/power/runtime_status`]: 'suspended',
        [`/t/proc/driver/nvidia/gpus/${slot}/power`]: 'Runtime D3 status:          Enabled (fine-grained)',
        '/t/proc/900/comm': 'python3',
      },
    })
    const scene = mixedHost()
    await using agent = await startAgent({
      scenario: { ...scene, gpus: scene.gpus.slice(0, 1) },
      env: { WARPWATCH_HOST__SYS_ROOT: join(root, 'sys'), WARPWATCH_HOST__PROC_ROOT: join(root, 'proc'), WARPWATCH_METRICS__DCGM: 'off' },
    })
    const gaps = async (): Promise<string> => JSON.stringify(await agent.json('/api/v1/gaps'))
    await poll(async () => ((await gaps()).includes('is asleep') ? true : undefined), { what: 'the word that it sleeps', everyMs: 100 })
    expect((await agent.metrics()).samples.filter(({ name }) => name === 'warpwatch_gpu_info')).toEqual([])
    expect(childrenOf(agent.pid)).toEqual([])

    mkdirSync(join(root, 'proc/900/fd'))
    symlinkSync('/dev/nvidia0', join(root, 'proc/900/fd/5'))
    writeFileSync(join(root, `sys/bus/pci/devices/${slot}/power/runtime_status`), 'active')
    await poll(async () => (await agent.metrics()).value('warpwatch_gpu_power_watts', { gpu: '0' }), { what: 'a reading', everyMs: 100 })
    expect(childrenOf(agent.pid)).toHaveLength(1)
    expect(await agent.json('/api/v1/incidents')).toEqual([])
  }, 60_000)
})
