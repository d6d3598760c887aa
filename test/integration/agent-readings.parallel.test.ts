// The built agent on a host of eight GPUs: every reading on /metrics and in the API is what the library told.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { fakeUuid, withGpu } from '../fakes/nvml/scenario.ts'
import { startAgent, type Page, type RunningAgent } from '../setup/agent.ts'
import { ALL, DCGM, NOT_IN_MIG, OF_INSTANCES, OWN, allBut, mixedHost, powerOf, valueOf } from '../setup/agent-scenes.ts'
import { poll } from '../setup/poll.ts'
import * as schemas from '../../agent/http/api/schemas.ts'

const GIB = 1024 ** 3
const rows = z.array(z.looseObject({ uuid: z.string() }))

describe.skipIf(compiler === undefined)('readings of the built agent (needs a C compiler)', () => {
  const scene = mixedHost()
  let agent: RunningAgent
  let page: Page
  beforeAll(async () => {
    agent = await startAgent({ scenario: scene, env: { WARPWATCH_HOST_NAME: 'gpu-07' } })
    // GPM needs a second sample, ten seconds after the first; the readings of this table come with the first ones.
    page = await poll(
      async () => {
        const now = await agent.metrics()
        const complete = ALL.every(
          (gpu) => powerOf(now, gpu) !== undefined && now.value('warpwatch_gpu_energy_joules_total', { gpu: String(gpu) }) !== undefined,
        )
        // Whose memory it is, is told behind the samples, GPU by GPU.
        const owners = now.samples.filter(({ name }) => name === 'warpwatch_process_gpu_memory_bytes').length
        const all = scene.gpus.reduce((sum, { processes = [] }) => sum + processes.length, 0)
        return complete && owners === all && now.value('warpwatch_agent_source_up', { source: 'host' }) === 1 ? now : undefined
      },
      { what: 'readings of all GPUs', everyMs: 50 },
    )
  })
  afterAll(async () => agent[Symbol.asyncDispose]())

  const rounded = (value: number | undefined): string | undefined => value?.toFixed(5)
  /** By GPU; the one in MIG mode tells no utilization. */
  const expected = (key: string, factor: number): readonly (string | undefined)[] =>
    ALL.map((gpu) => (gpu === 7 && NOT_IN_MIG.has(key) ? undefined : rounded(valueOf(scene.gpus[gpu], key) * factor)))

  test('warpwatch_build_info tells version, commit and Node', () => {
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')))
    const builds = page.samples.filter(({ name }) => name === 'warpwatch_build_info')
    expect(builds).toEqual([
      expect.objectContaining({ labels: { version, commit: expect.stringMatching(/^(?:unknown|[0-9a-f]{7,40})/), node: process.versions.node }, value: 1 }),
    ])
  })

  test.each(OWN)('%s %j is %s of each GPU', (metric, labels, key, factor) => {
    const found = ALL.map((gpu) => rounded(page.value(metric, { ...labels, gpu: String(gpu), uuid: fakeUuid(gpu), gi: '', ci: '' })))
    expect(found).toEqual(expected(key, factor))
  })

  test.each(DCGM)('%s %j is %s of each GPU, under the labels of dcgm-exporter', (metric, labels, key, factor) => {
    const whose = { ...labels, modelName: 'NVIDIA H100 80GB HBM3', Hostname: 'gpu-07', GPU_I_ID: '' }
    const found = allBut(7).map((gpu) => rounded(page.value(metric, { ...whose, gpu: String(gpu), UUID: fakeUuid(gpu), device: `nvidia${gpu}` })))
    expect(found).toEqual(expected(key, factor).slice(0, 7))
    // The card that is cut into MIG instances has no series of its own.
    const instances = page.samples.filter(({ name, labels: its }) => name === metric && its['gpu'] === '7')
    const ids = instances.map(({ labels: its }) => `${its['GPU_I_ID']} ${its['GPU_I_PROFILE']}`)
    expect(ids).toEqual(NOT_IN_MIG.has(key) ? [] : ['1 3g.40gb', '2 3g.40gb'])
    const ofCard = OF_INSTANCES.has(key) ? [] : instances.map(({ value }) => rounded(value))
    expect(new Set(ofCard)).toEqual(new Set(ofCard.map(() => expected(key, factor)[7])))
  })

  test('what dcgm-exporter computes: share of memory in use, free BAR1, number of GPUs, Xids of the last minutes', () => {
    const of = (name: string, gpu: number, instance = '') => page.value(name, { gpu: String(gpu), UUID: fakeUuid(gpu), GPU_I_ID: instance })
    for (const gpu of allBut(7)) {
      const [total, used, reserved] = ['mem_total', 'mem_used', 'mem_reserved'].map((key) => valueOf(scene.gpus[gpu], key))
      expect(of('DCGM_FI_DEV_FB_USED_PERCENT', gpu)).toBeCloseTo((used ?? 0) / ((total ?? 0) - (reserved ?? 0)), 6)
      expect(of('DCGM_FI_DEV_BAR1_FREE', gpu)).toBe((valueOf(scene.gpus[gpu], 'bar1_total') - valueOf(scene.gpus[gpu], 'bar1_used')) / 1024 ** 2)
      expect(of('DCGM_FI_DEV_COUNT', gpu)).toBe(8)
      expect(of('DCGM_EXP_XID_ERRORS_COUNT', gpu)).toBe(0)
    }
    // 10 of 40 GiB less 64 MiB; BAR1: three eighths of 128 GiB.
    expect(of('DCGM_FI_DEV_FB_USED_PERCENT', 7, '1')).toBeCloseTo(10_240 / (40_960 - 64), 6)
    expect(of('DCGM_FI_DEV_BAR1_TOTAL', 7, '2')).toBe(48 * 1024)
    expect(of('DCGM_FI_DEV_FB_USED_PERCENT', 7)).toBeUndefined()
  })

  test('every GPU says who it is', () => {
    for (const [gpu, { values }] of scene.gpus.entries()) {
      const [name, pci_bus_id, serial, vbios_version] = [values['name'], values['bus'], values['serial'], values['vbios']].map(String)
      const labels = { uuid: fakeUuid(gpu), name: name ?? '', pci_bus_id: pci_bus_id ?? '', serial: serial ?? '', vbios_version: vbios_version ?? '' }
      expect(page.value('warpwatch_gpu_info', { ...labels, gpu: String(gpu), driver_version: '590.48.01', cuda_version: '13.1', minor: String(gpu) })).toBe(1)
    }
    expect(agent.stderr()).toContain('8 GPUs')
  })

  test('the reason that slows a GPU is 1, the others are 0', () => {
    // 4 of the scenario is SW power cap.
    const reasons = page.samples.filter(({ name, labels }) => name === 'warpwatch_gpu_throttle_active' && labels['gpu'] === '2')
    expect(reasons.length).toBeGreaterThan(5)
    for (const { labels, value } of reasons) expect(value, `reason ${labels['reason']}`).toBe(labels['reason'] === 'sw_power_cap' ? 1 : 0)
  })

  test('every process holds what the driver says, and nobody holds the rest', async () => {
    for (const [gpu, { processes = [] }] of scene.gpus.entries()) {
      for (const { pid, bytes, gi, ci } of processes) {
        const labels = {
          gpu: String(gpu),
          uuid: fakeUuid(gpu),
          pid: String(pid),
          gi: gi === undefined ? '' : String(gi),
          ci: ci === undefined ? '' : String(ci),
        }
        expect(page.value('warpwatch_process_gpu_memory_bytes', labels), `pid ${pid}`).toBe(bytes)
      }
      const held = processes.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
      expect(page.value('warpwatch_gpu_memory_unattributed_bytes', { gpu: String(gpu) })).toBe(valueOf(scene.gpus[gpu], 'mem_used') - held)
    }
    const listed = z.array(schemas.process).parse(await agent.json('/api/v1/processes'))
    expect(listed.map(({ pid, gpu_memory_bytes }) => [pid, gpu_memory_bytes])).toEqual(
      scene.gpus.flatMap(({ processes = [] }) => processes.map(({ pid, bytes }) => [pid, bytes])),
    )
  })

  test('MIG instances: memory, who they are, and one row each in the API', async () => {
    for (const { gi, ci, uuid, total, used } of scene.gpus[7]?.mig ?? []) {
      const labels = { gpu: '7', uuid: fakeUuid(7), gi: String(gi), ci: String(ci) }
      expect(page.value('warpwatch_gpu_memory_used_bytes', labels)).toBe(used)
      expect(page.value('warpwatch_gpu_memory_total_bytes', labels)).toBe(total)
      expect(page.value('warpwatch_gpu_mig_info', { ...labels, mig_uuid: uuid })).toBe(1)
      expect(page.value('DCGM_FI_DEV_FB_USED', { gpu: '7', GPU_I_ID: String(gi), GPU_I_PROFILE: '3g.40gb' })).toBe(used / 1024 ** 2)
    }
    // The ratios of a whole GPU instance come ten seconds after the start, and must not look like further instances.
    const mig = await poll(
      async () => {
        const row = rows.parse(await agent.json('/api/v1/gpus'))[7]
        const found = z.array(z.looseObject({ gi: z.string(), ci: z.string() })).parse(row?.['mig'])
        return found.some((instance) => 'gpm_engine_active_ratio' in instance) ? found : undefined
      },
      { what: 'GPM readings of the instances', deadlineMs: 25_000, everyMs: 100 },
    )
    expect(mig.map(({ gi, ci }) => [gi, ci])).toEqual([
      ['1', '0'],
      ['2', '0'],
    ])
    expect(mig[0]).toMatchObject({ memory_used_bytes: 10 * GIB, gpm_engine_active_ratio: 0.7, mig_uuid: 'MIG-00000000-0000-4000-9000-000000000071' })
    expect(mig[1]).toMatchObject({ memory_used_bytes: 5 * GIB, gpm_engine_active_ratio: 0.1 })
  })

  test('the API tells the same as the page, in the form that it promises', async () => {
    const answer = await agent.json('/api/v1/gpus')
    const gpus = z.array(schemas.gpu).parse(answer)
    expect(gpus.map(({ uuid, index }) => [uuid, index])).toEqual(ALL.map((gpu) => [fakeUuid(gpu), gpu]))
    for (const [gpu, row] of gpus.entries()) {
      expect(row.power_watts).toBe(valueOf(scene.gpus[gpu], 'power') / 1000)
      expect(row.memory_used_bytes).toBe(valueOf(scene.gpus[gpu], 'mem_used'))
      expect(row.clock_hertz?.['sm']).toBe(1_755_000_000)
      expect(row.fan_speed_ratio, 'an H100 has no fan').toBeUndefined()
      expect(row.gaps).toContainEqual({ measure: 'fan_speed_ratio', reason: 'not_supported', code: 3, detail: expect.stringContaining('NOT_SUPPORTED') })
    }
    expect(schemas.host.parse(await agent.json('/api/v1/host')).hostname).toBe('gpu-07')
    expect((await agent.get('/readyz')).status).toBe(200)
    expect((await agent.get('/healthz')).status).toBe(200)
  })

  test('what changes in the library changes on the page with the next second, and what it no longer tells is gone', async () => {
    agent.tell(withGpu(scene, 4, { power: 321_000, temp: undefined }))
    const next = await poll(
      async () => {
        const now = await agent.metrics()
        return powerOf(now, 4) === 321 ? now : undefined
      },
      { what: 'the new power of GPU 4', deadlineMs: 5_000 },
    )
    expect(next.value('warpwatch_gpu_temperature_celsius', { gpu: '4' })).toBeUndefined()
    expect(next.value('DCGM_FI_DEV_GPU_TEMP', { gpu: '4' })).toBeUndefined()
    expect(next.value('warpwatch_gpu_temperature_celsius', { gpu: '5' })).toBe(55)
    // The API's rows are made once a second; the page has what came since.
    const row = await poll(
      async () => {
        const now = rows.parse(await agent.json('/api/v1/gpus'))[4]
        return now?.['power_watts'] === 321 ? now : undefined
      },
      { what: 'the new power of GPU 4 in the API', deadlineMs: 5_000 },
    )
    expect(row).not.toHaveProperty('temperature_celsius')
    expect(row['gaps']).toContainEqual(expect.objectContaining({ measure: 'temperature_celsius', reason: 'not_supported' }))
  })
})
