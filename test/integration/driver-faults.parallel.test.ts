// The driver's faults, driven live through the fake NVML library: a lost GPU, a call that hangs, readings that stop, versions that differ. Each is told once,
// of the right GPU; it ends when it heals, and neither when data stops nor when the agent is started again.
// Long: about 145 s.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RATE_MS } from '../../agent/sampler/protocol.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, withGpu, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { ALL, allBut, powerOf } from '../setup/agent-scenes.ts'
import { shortly, watchIncidents, type WatchedIncident } from '../setup/incident-watch.ts'
import { poll } from '../setup/poll.ts'

const KINDS = new Set(['gpu_missing', 'driver_hung', 'telemetry_stale', 'nvml_driver_mismatch', 'container_lost_gpu'])
const { fast } = RATE_MS
/** Of telemetry-stale: intervals without a reading. */
const STALE_MS = 10 * fast
/** Longer than the detectors wait before they call a fault over that they have seen end. */
const QUIET_MS = 8_000

const well = eightH100()
const lost = withGpu(well, 2, { lost: 1 })
const failing = withGpu(well, 5, { 'ret.nvmlDeviceGetMemoryInfo_v2': 999, 'ret.nvmlDeviceGetMemoryInfo': 999 })
const hung = withGpu(well, 3, { 'delay.nvmlDeviceGetPowerUsage': 600_000 })
const refused: FakeScenario = { ...well, values: { ...well.values, init: 18 } }

describe.skipIf(compiler === undefined)('faults of the driver on the API (needs a C compiler)', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'warpwatch-driver-'))
  let agent: RunningAgent
  let incidents: ReturnType<typeof watchIncidents>
  const begin = async (scenario: FakeScenario): Promise<void> => {
    agent = await startAgent({ scenario, dataDir })
    incidents = watchIncidents(agent, KINDS)
  }
  const sampled = async (gpus: readonly number[]): Promise<void> =>
    void (await poll(
      async () => {
        const page = await agent.metrics()
        return gpus.every((gpu) => powerOf(page, gpu) !== undefined)
      },
      { what: `readings of GPUs ${gpus.join()}`, deadlineMs: 40_000 },
    ))
  const fires = (found: readonly WatchedIncident[], short: string): WatchedIncident | undefined =>
    found.find((reported) => reported.status === 'firing' && shortly(reported) === short)
  const reported = async (short: string): Promise<WatchedIncident | undefined> =>
    fires(await incidents.reached(short, (all) => fires(all, short) !== undefined), short)
  const over = async (short: string): Promise<void> =>
    void (await incidents.reached(`the end of ${short}`, (all) => all.some((one) => shortly(one) === short) && fires(all, short) === undefined))
  const lasts = async (ms: number): Promise<void> => {
    const from = Date.now()
    await poll(() => Date.now() - from >= ms, { what: 'the time to pass', deadlineMs: 2 * ms, everyMs: 250 })
  }
  beforeAll(async () => {
    await begin(well)
    await sampled(ALL)
    await poll(async () => (await agent.metrics()).value('warpwatch_gpus_present') === 8, { what: 'the cards to be counted', deadlineMs: 15_000 })
  })
  afterAll(async () => {
    await agent[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('a host that is well has none', async () => {
    expect(await incidents.all()).toEqual([])
  })

  test('a lost GPU, once; silence of the whole driver does not bring it back, the GPU does', async () => {
    agent.tell(lost)
    const found = await reported('gpu_missing GPU 2')
    expect(found).toMatchObject({ severity: 'critical', title: 'GPU 2 is missing', subject: { gpu: { uuid: fakeUuid(2), name: 'NVIDIA H100 80GB HBM3' } } })
    expect(found?.verdict).toContain('NVIDIA H100 80GB HBM3')
    await poll(async () => (await agent.metrics()).value('warpwatch_gpu_present', { uuid: fakeUuid(2) }) === 0, { what: 'the metric', deadlineMs: 25_000 })
    // Longer than silence takes to be told: it has one incident, not two.
    await lasts(STALE_MS)
    expect(await incidents.firing()).toEqual(['gpu_missing GPU 2'])
    agent.tell({ ...ALL.reduce((host, gpu) => withGpu(host, gpu, { 'ret.nvmlDeviceGetMemoryInfo_v2': 999, 'ret.nvmlDeviceGetMemoryInfo': 999 }), lost) })
    await lasts(QUIET_MS)
    expect(fires(await incidents.all(), 'gpu_missing GPU 2')?.id).toBe(found?.id)
    agent.tell(well)
    await over('gpu_missing GPU 2')
    await sampled(ALL)
    await incidents.reached('nothing else', (all) => all.every(({ status }) => status === 'resolved'))
  })

  test('readings that stop: a GPU that answers with errors', async () => {
    agent.tell(failing)
    const found = await reported('telemetry_stale GPU 5')
    expect(found).toMatchObject({ severity: 'warning', subject: { gpu: { uuid: fakeUuid(5) } }, facts: { gpu_index: 5, source: 'gpu' } })
    expect(await incidents.firing()).toEqual(['telemetry_stale GPU 5'])
    agent.tell(well)
    await over('telemetry_stale GPU 5')
  })

  test('a call that hangs: with the call; the others have none; over when it answers', async () => {
    agent.tell(hung)
    const found = await reported('driver_hung GPU 3')
    expect(found).toMatchObject({
      severity: 'critical',
      title: 'GPU 3: driver not responding',
      subject: { gpu: { uuid: fakeUuid(3) } },
      facts: { gpu_index: 3, function: 'nvmlDeviceGetPowerUsage' },
    })
    await lasts(STALE_MS + QUIET_MS)
    expect(await incidents.firing()).toEqual(['driver_hung GPU 3'])
    agent.tell(well)
    await over('driver_hung GPU 3')
    await sampled(ALL)
  })

  test('a GPU that is not there after a restart is missed from memory, over restarts of the agent, until it is back', async () => {
    const seven: FakeScenario = { ...well, gpus: well.gpus.slice(0, 7) }
    const missed = async (): Promise<readonly WatchedIncident[]> => (await incidents.all()).filter(({ kind }) => kind === 'gpu_missing')
    const before = (await missed()).length
    await agent.terminate()
    await begin(seven)
    await incidents.reached('GPU 7 to be missed', (all) => all.some(({ kind, status }) => kind === 'gpu_missing' && status === 'firing'))
    const found = await missed()
    expect(found).toHaveLength(before + 1)
    const one = found.find(({ status }) => status === 'firing')
    expect(one).toMatchObject({ kind: 'gpu_missing', facts: { gpu_index: 7, gpus_present: 7, gpus_expected: 8 } })
    await agent.terminate()
    await begin(seven)
    await sampled(allBut(7))
    await poll(async () => (await agent.metrics()).value('warpwatch_gpu_present', { uuid: fakeUuid(7) }) === 0, { what: 'it to be missed', deadlineMs: 25_000 })
    await lasts(2 * fast)
    expect((await missed()).filter(({ status }) => status === 'firing').map(({ id }) => id)).toEqual([one?.id])
    agent.tell(well)
    await agent.terminate()
    await begin(well)
    await incidents.reached('the GPU to be back', (all) => all.every(({ status }) => status === 'resolved'))
  })

  test('NVML of another version than the kernel module: one incident of the host, no second for the silence', async () => {
    await agent.terminate()
    await begin(refused)
    const [found] = (await incidents.reached('the mismatch', (all) => all.some(({ status }) => status === 'firing'))).filter(
      ({ status }) => status === 'firing',
    )
    expect(found).toMatchObject({ kind: 'nvml_driver_mismatch', severity: 'critical', subject: { host: { name: expect.any(String) } } })
    await lasts(STALE_MS + 5 * fast)
    expect(await incidents.firing()).toEqual(['nvml_driver_mismatch host'])
    agent.tell(well)
    await incidents.reached('its end', (all) => all.every(({ status }) => status === 'resolved'))
  })
})
