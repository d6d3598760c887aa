// Hardware faults, driven live through the fake NVML library: each is reported on the API, with the right subject and severity; a GPU that falls silent
// heals nothing, a GPU that is well does.
// Long: about 50 s.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RATE_MS } from '../../agent/sampler/protocol.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, withGpu, type FakeScenario, type Values } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { ALL, powerOf } from '../setup/agent-scenes.ts'
import { watchIncidents, type WatchedIncident } from '../setup/incident-watch.ts'
import { poll } from '../setup/poll.ts'

/** What is held for half a minute by default is held for two seconds here. */
const CONFIG = `detectors:
  throttling: { clear_seconds: 2 }
  power-brake: { clear_seconds: 2 }
  pcie-degraded: { clear_seconds: 2 }
`
/** Longer than the detectors wait before they call a fault over that they have seen end: the slow readings, and two seconds. */
const QUIET_MS = RATE_MS.slow + 3_000

type Fault = {
  readonly gpu: number
  readonly kind: string
  readonly severity: string
  readonly values: Values
  readonly facts: Readonly<Record<string, unknown>>
}
// Bits of nvmlClocksEventReason*: 0x4 power cap, 0x8 hardware slowdown, 0x40 thermal, 0x80 power brake.
const FAULTS: readonly Fault[] = [
  {
    gpu: 0,
    kind: 'throttling',
    severity: 'critical',
    values: { reasons: 0x48, clock_sm: 877, temp: 91 },
    facts: { active_reasons: ['hw_thermal_slowdown'], temperature_celsius: 91, temperature_limit_celsius: 89, sm_clock_max_hertz: 1_980e6 },
  },
  {
    gpu: 1,
    kind: 'power_brake',
    severity: 'critical',
    values: { reasons: 0x88, clock_sm: 600 },
    facts: { active_reasons: ['hw_power_brake_slowdown'] },
  },
  {
    gpu: 2,
    kind: 'ecc_uncorrected',
    severity: 'critical',
    values: { ecc_uncorrected_volatile: 3, ecc_uncorrected_aggregate: 12 },
    facts: { new_errors: 3, ecc_uncorrected_aggregate: 12 },
  },
  { gpu: 3, kind: 'row_remap_failure', severity: 'warning', values: { remap_pending: 1, remap_uncorrected: 1 }, facts: { remapped_rows: 1 } },
  {
    gpu: 4,
    kind: 'pcie_degraded',
    severity: 'warning',
    values: { pcie_width: 4 },
    facts: { pcie_width: 4, pcie_width_max: 16, bandwidth_loss_ratio: 0.75 },
  },
  { gpu: 5, kind: 'nvlink_errors', severity: 'critical', values: { nvlinks_down: 0b1001 }, facts: { links_down: ['0', '3'], links_total: 18 } },
  { gpu: 6, kind: 'row_remap_failure', severity: 'critical', values: { remap_failure: 1 }, facts: {} },
  {
    gpu: 7,
    kind: 'throttling',
    severity: 'warning',
    values: { 'field.82': 'u:97' },
    facts: { active_reasons: ['memory_temperature'], memory_temperature_celsius: 97 },
  },
]
const KINDS = new Set([...FAULTS.map(({ kind }) => kind), 'xid'])
const well = eightH100()
const faulty = FAULTS.reduce((host, { gpu, values }) => withGpu(host, gpu, values), well)
/** A GPU falls off the bus, and the driver asks for a reboot. */
const xid = withGpu(faulty, 1, { 'field.230': 'u:2' }, { xids: [{ sequence: 1, xid: 79 }] })
/** Well under the silence: what the GPU would say if it answered. */
const silent: FakeScenario = ALL.reduce((host, gpu) => withGpu(host, gpu, { lost: 1 }), well)

describe.skipIf(compiler === undefined)('hardware faults on the API (needs a C compiler)', () => {
  let agent: RunningAgent
  let incidents: ReturnType<typeof watchIncidents>
  beforeAll(async () => {
    agent = await startAgent({ scenario: well, config: CONFIG })
    incidents = watchIncidents(agent, KINDS)
    await poll(
      async () => {
        const page = await agent.metrics()
        return ALL.every(
          (gpu) =>
            page.value('warpwatch_gpu_recovery_action', { gpu: String(gpu) }) !== undefined &&
            page.value('warpwatch_gpu_power_watts', { gpu: String(gpu) }) !== undefined,
        )
      },
      { what: 'the slow and the fast readings of all GPUs', deadlineMs: 20_000 },
    )
  })
  afterAll(async () => agent[Symbol.asyncDispose]())

  const firing = async (): Promise<readonly WatchedIncident[]> => (await incidents.all()).filter(({ status }) => status === 'firing')

  test('a host that is well has none', async () => {
    expect(await incidents.all()).toEqual([])
  })

  test('each fault is told of the right GPU, with its severity and figures', async () => {
    agent.tell(faulty)
    await incidents.reached('every fault', (all) => all.length >= FAULTS.length)
    const found = await firing()
    expect(found).toHaveLength(FAULTS.length)
    for (const { gpu, kind, severity, facts } of FAULTS) {
      const incident = found.find((candidate) => candidate.kind === kind && candidate.subject.gpu?.index === gpu)
      expect(incident, `${kind} of GPU ${gpu}`).toMatchObject({
        severity,
        status: 'firing',
        count: 1,
        facts,
        subject: { gpu: { index: gpu, uuid: fakeUuid(gpu), name: 'NVIDIA H100 80GB HBM3' } },
      })
      expect(incident?.title).toContain(`GPU ${gpu}`)
      expect(incident?.verdict).toContain('NVIDIA H100 80GB HBM3')
      expect(incident?.remedies.some(({ command }) => command !== undefined)).toBe(true)
    }
  })

  test('an Xid, and what the driver then asks for, are one incident', async () => {
    agent.tell(xid)
    await incidents.reached('the Xid with the recovery', (all) => all.some(({ kind, consequences }) => kind === 'xid' && consequences.length > 0))
    const [found] = (await firing()).filter(({ kind }) => kind === 'xid')
    expect(found).toMatchObject({ severity: 'critical', count: 1, facts: { xid: 79 }, subject: { gpu: { uuid: fakeUuid(1) } } })
    expect(found?.consequences).toMatchObject([{ kind: 'xid', facts: { xid: 154, recovery_action: 'Node Reboot' } }])
  })

  test('GPUs that no longer answer have not become well', async () => {
    const before = (await firing()).map(({ id }) => id).sort()
    agent.tell(silent)
    await poll(
      async () => {
        const page = await agent.metrics()
        return ALL.every((gpu) => powerOf(page, gpu) === undefined)
      },
      { what: 'the readings of all GPUs to be gone', everyMs: 100 },
    )
    const silentFrom = Date.now()
    await poll(async () => Date.now() - silentFrom >= QUIET_MS && (await agent.get('/healthz')).status === 200, {
      what: 'a silence longer than the detectors wait',
      deadlineMs: 2 * QUIET_MS,
      everyMs: 250,
    })
    expect((await firing()).map(({ id }) => id).sort()).toEqual(before)
  })

  test('GPUs that answer again and are well end their incidents', async () => {
    agent.tell(well)
    await incidents.reached('all to be resolved', (all) => all.every(({ status }) => status === 'resolved'))
    expect(await incidents.all()).toHaveLength(FAULTS.length + 1)
  })
})
