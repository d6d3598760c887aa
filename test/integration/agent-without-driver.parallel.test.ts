// The built agent where NVML cannot be used: it says why in words to act on, serves host and containers, and lets nvidia-smi are in.
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as schemas from '../../agent/http/api/schemas.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { exampleGpu, exampleHost } from '../fakes/nvidia-smi/host.ts'
import { printXml } from '../fakes/nvidia-smi/print-xml.ts'
import { eightH100, hostOf } from '../fakes/nvml/scenario.ts'
import { WITH_CONTAINERS, startAgent, type RunningAgent } from '../setup/agent.ts'
import { powerOf } from '../setup/agent-scenes.ts'
import { poll } from '../setup/poll.ts'

const ABSENT = { ...WITH_CONTAINERS, WARPWATCH_GPU__NVIDIA_SMI: '/nonexistent/nvidia-smi' }
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'warpwatch-smi-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}
const gpuGap = (agent: RunningAgent) =>
  poll(
    async () =>
      z
        .array(schemas.gap)
        .parse(await agent.json('/api/v1/gaps'))
        .find(({ source, metric }) => source === 'gpu' && metric === 'gpu'),
    {
      what: () => `a gap of all GPUs; the agent said: ${agent.stderr()}`,
      everyMs: 50,
    },
  )
/** The host goes on, the agent is ready, and no GPU is on the page. */
async function servesTheHost(agent: RunningAgent): Promise<void> {
  const page = await poll(
    async () => {
      const now = await agent.metrics()
      return now.value('warpwatch_host_memory_total_bytes') !== undefined && now.value('warpwatch_agent_source_up', { source: 'containers' }) !== undefined
        ? now
        : undefined
    },
    { what: 'readings of the host', everyMs: 50 },
  )
  expect(page.samples.filter(({ name }) => name.startsWith('warpwatch_gpu_'))).toEqual([])
  expect((await agent.get('/readyz')).status).toBe(200)
  expect(await agent.json('/api/v1/gpus')).toEqual([])
}

// Side by side: each waits five seconds for the next try of NVML.
describe.skipIf(compiler === undefined).concurrent('an NVML that does not start (needs a C compiler)', () => {
  test.each([
    [9, 'driver_error', 'nvmlInit_v2: DRIVER_NOT_LOADED', 'modprobe nvidia'],
    [18, 'driver_error', 'nvmlInit_v2: LIB_RM_VERSION_MISMATCH', 'reboot'],
    [4, 'no_permission', 'nvmlInit_v2: NO_PERMISSION', '/dev/nvidiactl'],
  ])('code %i is told with what to do, and it heals when the driver comes', async (init, reason, words, advice) => {
    await using agent = await startAgent({ scenario: eightH100(undefined, { init }), env: ABSENT })
    const gap = await gpuGap(agent)
    expect(gap).toMatchObject({ reason, code: init, labels: {} })
    expect(gap.detail).toContain(words)
    expect(gap.detail).toContain(advice)
    await poll(() => /^GPUs +none: .*/m.exec(agent.stderr())?.[0].includes(advice), { what: () => `the line at the start; it said: ${agent.stderr()}` })
    await servesTheHost(agent)
    agent.tell(eightH100())
    await poll(async () => powerOf(await agent.metrics(), 7) === 507, { what: 'readings', deadlineMs: 15_000, everyMs: 50 })
  })

  test('GPUs that are switched off are told as such, and not as a source that is down', async () => {
    await using agent = await startAgent({ scenario: hostOf(1), env: { ...ABSENT, WARPWATCH_GPU__SOURCE: 'off' } })
    expect(await gpuGap(agent)).toMatchObject({ reason: 'not_supported', labels: {}, detail: expect.stringContaining('gpu.source is off') })
    expect(await agent.json('/api/v1/sources')).toContainEqual(expect.objectContaining({ source: 'gpu', readings: 0, gaps: 1 }))
    await servesTheHost(agent)
    const page = await agent.metrics()
    expect(page.value('warpwatch_agent_gaps_total', { source: 'gpu', reason: 'not_supported' })).toBe(1)
    expect(page.value('warpwatch_agent_source_up', { source: 'gpu' })).toBeUndefined()
  })

  test('a driver that lists no GPU is told as such', async () => {
    await using agent = await startAgent({ scenario: hostOf(0), env: ABSENT })
    expect(await gpuGap(agent)).toMatchObject({ reason: 'not_supported', detail: expect.stringContaining('lists no GPU') })
    await servesTheHost(agent)
    agent.tell(hostOf(1))
    await poll(async () => powerOf(await agent.metrics(), 0) === 500, { what: 'the GPU that appeared', deadlineMs: 40_000, everyMs: 50 })
    expect(
      z
        .array(schemas.gap)
        .parse(await agent.json('/api/v1/gaps'))
        .filter(({ metric, labels }) => metric === 'gpu' && labels['gpu'] === undefined),
    ).toEqual([])
  })
})

test('a library that is none is told with its path, and nvidia-smi stands in', async () => {
  const home = folder()
  writeFileSync(join(home, 'libnvidia-ml.so.1'), 'no library')
  copyFileSync(join(import.meta.dirname, '../fakes/nvidia-smi/nvidia-smi'), join(home, 'nvidia-smi'))
  chmodSync(join(home, 'nvidia-smi'), 0o755)
  writeFileSync(join(home, 'q-x.xml'), printXml(exampleHost([{ ...exampleGpu, processes: [] }]), 'v13'))
  await using agent = await startAgent({
    env: { WARPWATCH_GPU__LIBRARY: join(home, 'libnvidia-ml.so.1'), WARPWATCH_GPU__NVIDIA_SMI: join(home, 'nvidia-smi') },
  })
  const page = await poll(
    async () => {
      const now = await agent.metrics()
      return now.value('warpwatch_gpu_sample_age_seconds', { uuid: exampleGpu.uuid }) !== undefined && powerOf(now, 0) !== undefined ? now : undefined
    },
    { what: () => `readings through nvidia-smi; the agent said: ${agent.stderr()}`, everyMs: 50 },
  )
  expect(powerOf(page, 0)).toBe(123.45)
  expect(page.value('warpwatch_gpu_memory_used_bytes', { gpu: '0' })).toBe(1_500 * 1024 ** 2)
  expect((await gpuGap(agent)).detail).toContain(join(home, 'libnvidia-ml.so.1'))
  expect(await poll(() => /^GPUs +(.*)$/m.exec(agent.stderr())?.[1], { what: 'the line at the start' })).toBe('1 × Example X100 40GB')
})

test('neither library nor nvidia-smi: one line each, and the host goes on', async () => {
  await using agent = await startAgent({ env: { WARPWATCH_GPU__LIBRARY: '/nonexistent/libnvidia-ml.so.1', ...ABSENT } })
  expect(await gpuGap(agent)).toMatchObject({ reason: 'not_supported', detail: expect.stringContaining('/nonexistent/libnvidia-ml.so.1') })
  await poll(() => agent.stderr().includes('/nonexistent/nvidia-smi is not installed'), { what: 'a word about nvidia-smi' })
  await servesTheHost(agent)
  expect(agent.stderr()).toMatch(/^GPUs +none: .*--simulate$/m)
})
