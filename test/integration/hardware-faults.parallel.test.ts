// Hardware faults, driven live through the fake NVML library: each is told in time on the API, with the right subject and severity; a GPU that falls silent
// heals nothing, a GPU that is well does.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { RATE_MS } from '../../agent/sampler/protocol.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, withGpu, type FakeScenario, type Values } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { ALL, powerOf } from '../setup/agent-scenes.ts'
import { poll } from '../setup/poll.ts'

/** Longer than the detectors wait before they call a fault over that they have seen end. */
const QUIET_MS = 35_000

/** A second is judged when the next one begins, and a busy machine may miss one. */
const SLACK_MS = RATE_MS.fast

type Told = z.infer<typeof incidentSummary>
type Fault = {
  readonly gpu: number
  readonly kind: string
  readonly severity: string
  /** How often the readings come that show it. */
  readonly everyMs: number
  readonly values: Values
  readonly facts: Readonly<Record<string, unknown>>
}
const { fast, slow } = RATE_MS
// Bits of nvmlClocksEventReason*: 0x4 power cap, 0x8 hardware slowdown, 0x40 thermal, 0x80 power brake.
const FAULTS: readonly Fault[] = [
  {
    gpu: 0,
    kind: 'throttling',
    severity: 'critical',
    everyMs: fast,
    values: { reasons: 0x48, clock_sm: 877, temp: 91 },
    facts: { active_reasons: ['hw_thermal_slowdown'], temperature_celsius: 91, temperature_limit_celsius: 89, sm_clock_max_hertz: 1_980e6 },
  },
  {
    gpu: 1,
    kind: 'power_brake',
    severity: 'critical',
    everyMs: fast,
    values: { reasons: 0x88, clock_sm: 600 },
    facts: { active_reasons: ['hw_power_brake_slowdown'] },
  },
  {
    gpu: 2,
    kind: 'ecc_uncorrected',
    severity: 'critical',
    everyMs: slow,
    values: { ecc_uncorrected_volatile: 3, ecc_uncorrected_aggregate: 12 },
    facts: { new_errors: 3, ecc_uncorrected_aggregate: 12 },
  },
  { gpu: 3, kind: 'row_remap_failure', severity: 'warning', everyMs: slow, values: { remap_pending: 1, remap_uncorrected: 1 }, facts: { remapped_rows: 1 } },
  {
    gpu: 4,
    kind: 'pcie_degraded',
    severity: 'warning',
    everyMs: slow,
    values: { pcie_width: 4 },
    facts: { pcie_width: 4, pcie_width_max: 16, bandwidth_loss_ratio: 0.75 },
  },
  { gpu: 5, kind: 'nvlink_errors', severity: 'critical', everyMs: slow, values: { nvlinks_down: 0b1001 }, facts: { links_down: ['0', '3'], links_total: 18 } },
  { gpu: 6, kind: 'row_remap_failure', severity: 'critical', everyMs: slow, values: { remap_failure: 1 }, facts: {} },
  {
    gpu: 7,
    kind: 'throttling',
    severity: 'warning',
    everyMs: fast,
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
  beforeAll(async () => {
    agent = await startAgent({ main: join(import.meta.dirname, '../../agent/main.ts'), scenario: well })
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

  const ours = async (): Promise<readonly Told[]> =>
    z
      .array(incidentSummary)
      .parse(await agent.json('/api/v1/incidents?limit=1000'))
      .filter(({ kind }) => KINDS.has(kind))
  const firing = async (): Promise<readonly Told[]> => (await ours()).filter(({ status }) => status === 'firing')
  const text = (incidents: readonly Told[]): string =>
    incidents.map(({ kind, status, subject, title }) => `${kind} ${status} GPU ${subject.gpu?.index}: ${title}`).join('; ')
  let last = ''
  const reached = async (what: string, deadlineMs: number, holds: (all: readonly Told[]) => boolean): Promise<void> =>
    void (await poll(
      async () => {
        const all = await ours()
        last = text(all)
        return holds(all)
      },
      { what: () => `${what}; there are: ${last}`, deadlineMs, everyMs: 100 },
    ))

  test('a host that is well has none', async () => {
    expect(await ours()).toEqual([])
  })

  test('each fault is told within three intervals of its readings, of the right GPU, with its severity and figures', async () => {
    const toldAt = Date.now()
    agent.tell(faulty)
    await reached('every fault', 40_000, (all) => all.length >= FAULTS.length)
    const found = await firing()
    expect(found).toHaveLength(FAULTS.length)
    for (const { gpu, kind, severity, everyMs, facts } of FAULTS) {
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
      expect((incident?.fired_at ?? Infinity) - toldAt, `${kind} of GPU ${gpu}: ms until it fired`).toBeLessThanOrEqual(3 * everyMs + SLACK_MS)
    }
  })

  test('an Xid, and what the driver then asks for, are one incident', async () => {
    const toldAt = Date.now()
    agent.tell(xid)
    await reached('the Xid with the recovery', 10_000, (all) => all.some(({ kind, consequences }) => kind === 'xid' && consequences.length > 0))
    const [found] = (await firing()).filter(({ kind }) => kind === 'xid')
    expect(found).toMatchObject({ severity: 'critical', count: 1, facts: { xid: 79 }, subject: { gpu: { uuid: fakeUuid(1) } } })
    expect(found?.consequences).toMatchObject([{ kind: 'xid', facts: { xid: 154, recovery_action: 'Node Reboot' } }])
    // The slow readings follow an Xid at once.
    expect((found?.last_seen_at ?? Infinity) - toldAt).toBeLessThan(RATE_MS.slow)
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
  }, 120_000)

  test('GPUs that answer again and are well end their incidents', async () => {
    agent.tell(well)
    await reached('all to be resolved', 80_000, (all) => all.every(({ status }) => status === 'resolved'))
    expect(await ours()).toHaveLength(FAULTS.length + 1)
  }, 90_000)
})
