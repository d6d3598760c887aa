// The built agent while the driver misbehaves: hangs, crashes, lost GPUs. What works stays fresh, what does not is reported, and it heals.
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, withGpu, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { readPage, startAgent, type Page, type RunningAgent } from '../setup/agent.ts'
import { ageOf, ALL, allBut, powerOf } from '../setup/agent-scenes.ts'
import { poll } from '../setup/poll.ts'

const HANG_MS = 600_000
const gpuRows = z.array(
  z.looseObject({ uuid: z.string(), gaps: z.array(z.object({ measure: z.string(), reason: z.string(), detail: z.string().optional() })).optional() }),
)

const wholeGap = async (agent: RunningAgent, gpu: number) =>
  gpuRows
    .parse(await agent.json('/api/v1/gpus'))
    .find(({ uuid }) => uuid === fakeUuid(gpu))
    ?.gaps?.find(({ measure }) => measure === 'gpu')

const sampled = async (agent: RunningAgent, gpus: readonly number[] = ALL): Promise<Page> =>
  poll(
    async () => {
      const page = await agent.metrics()
      return gpus.every((gpu) => powerOf(page, gpu) !== undefined) ? page : undefined
    },
    { what: () => `readings of GPUs ${gpus.join()}; the agent said: ${agent.stderr()}`, deadlineMs: 30_000, everyMs: 50 },
  )

/** The power that the scene of step `n` gives, so that a stale page is seen as such. */
const stepped = (scene: FakeScenario, n: number): FakeScenario => ALL.reduce((next, gpu) => withGpu(next, gpu, { power: (300 + 10 * gpu + n) * 1000 }), scene)

/** What says that a GPU is gone is no reading of it. */
const SAYS_GONE: ReadonlySet<string> = new Set(['warpwatch_gpu_present', 'warpwatch_incident_active'])

describe.skipIf(compiler === undefined)('the built agent and a driver that misbehaves (needs a C compiler)', () => {
  test('a function that hangs on GPU 3: the others stay fresh, GPU 3 is marked, every page answers at once, and it heals', async () => {
    const healthy = eightH100()
    const hung = withGpu(healthy, 3, { 'delay.nvmlDeviceGetPowerUsage': HANG_MS })
    await using agent = await startAgent({ scenario: healthy })
    await sampled(agent)
    let page = await agent.metrics()
    /** All three pages once; every GPU but 3 must be on the page. How soon they answer meanwhile is measured in bench/faults.ts. */
    const look = async (): Promise<Page> => {
      for (const path of ['/readyz', '/api/v1/gpus', '/metrics']) {
        const answer = await agent.get(path)
        if (answer.status !== 200) throw new Error(`${path}: expected 200, came ${answer.status} ${answer.text}`)
        if (path === '/metrics') page = readPage(answer.text)
      }
      for (const gpu of allBut(3)) expect(powerOf(page, gpu), `GPU ${gpu} must not go while GPU 3 hangs`).toBeDefined()
      return page
    }
    const until = async (what: string, holds: () => boolean | Promise<boolean>, deadlineMs = 20_000): Promise<void> => {
      await poll(async () => (await look(), await holds()), { what: () => `${what}; the agent said: ${agent.stderr()}`, deadlineMs, everyMs: 25 })
    }

    agent.tell(hung)
    await until('GPU 3 to be left out', async () => (await wholeGap(agent, 3))?.detail?.includes('left out') === true)
    expect(await wholeGap(agent, 3)).toMatchObject({
      reason: 'timeout',
      detail: expect.stringContaining('nvmlDeviceGetPowerUsage on GPU 3 did not return within 2 s'),
    })
    // What the others show follows the library again, each second.
    for (let n = 1; n <= 3; n++) {
      agent.tell(stepped(hung, n))
      await until(`step ${n} on the page`, () => allBut(3).every((gpu) => powerOf(page, gpu) === 300 + 10 * gpu + n), 10_000)
    }
    await until('small ages of the others', () => allBut(3).every((gpu) => (ageOf(page, gpu) ?? 99) < 1))
    const ofGpu3 = page.samples.filter(({ labels }) => (labels['uuid'] ?? labels['UUID']) === fakeUuid(3)).map(({ name }) => name)
    // What is reported of a GPU that cannot be read: that it hangs and since when, that the host has it, and what happened to it.
    const reported = ['sampler_hangs', 'sample_age', 'XID_ERRORS', 'xid', 'gpu_present', 'incident_active']
    expect(ofGpu3.filter((name) => !reported.some((part) => name.includes(part)))).toEqual([])
    await until('its age to rise', () => (ageOf(page, 3) ?? 0) > 5)
    await until('a second hang', () => (page.value('warpwatch_agent_sampler_hangs_total', { gpu: '3', function: 'nvmlDeviceGetPowerUsage' }) ?? 0) >= 2)

    agent.tell(healthy)
    await until('GPU 3 to be sampled again', async () => powerOf(page, 3) === 503 && (await wholeGap(agent, 3)) === undefined, 30_000)
    await until('a small age of GPU 3', () => (ageOf(page, 3) ?? 99) < 1.5, 10_000)
  })

  test('SIGSEGV in the library is survived, and its GPU and function are named', async () => {
    const scene = eightH100()
    await using agent = await startAgent({ scenario: scene })
    await sampled(agent)
    agent.tell(withGpu(scene, 5, { 'crash.nvmlDeviceGetTemperatureV': 1 }))
    const gap = await poll(
      async () => {
        const found = await wholeGap(agent, 5)
        return found?.detail?.includes('left out') === true ? found : undefined
      },
      { what: () => `GPU 5 to be left out; the agent said: ${agent.stderr()}`, deadlineMs: 30_000, everyMs: 50 },
    )
    expect(gap).toMatchObject({ reason: 'driver_error', detail: expect.stringMatching(/SIGSEGV.*nvmlDeviceGetTemperatureV on GPU 5/) })
    const page = await sampled(agent, allBut(5))
    expect(powerOf(page, 5)).toBeUndefined()
    agent.tell(scene)
    await sampled(agent)
  })

  test('a GPU that falls off the bus leaves the page with all its series; the API says why; it comes back', async () => {
    const scene = eightH100()
    await using agent = await startAgent({ scenario: scene })
    await sampled(agent)
    agent.tell(withGpu(scene, 2, { lost: 1 }))
    await poll(async () => (await wholeGap(agent, 2))?.reason === 'gpu_lost', { what: 'the reason in the API', deadlineMs: 15_000, everyMs: 50 })
    const page = await poll(
      async () => {
        const now = await agent.metrics()
        const readings = now.samples.filter(({ name }) => !SAYS_GONE.has(name))
        return readings.some(({ labels }) => (labels['uuid'] ?? labels['UUID']) === fakeUuid(2)) ? undefined : now
      },
      { what: 'no reading of GPU 2', deadlineMs: 15_000, everyMs: 50 },
    )
    expect(allBut(2).every((gpu) => powerOf(page, gpu) !== undefined)).toBe(true)
    // Which cards are listed is looked at each five seconds: one that was seen then is told as not present, with the next look.
    let row: Readonly<Record<string, unknown>> = {}
    await poll(
      async () => {
        row = gpuRows.parse(await agent.json('/api/v1/gpus')).find(({ uuid }) => uuid === fakeUuid(2)) ?? {}
        const { present = 0, ...others } = row
        return present === 0 && Object.keys(others).sort().join() === 'gaps,index,name,pci_bus_id,serial,uuid'
      },
      { what: () => `a row without figures; it is ${JSON.stringify(row)}`, deadlineMs: 20_000, everyMs: 50 },
    )
    expect(agent.stderr()).toMatch(new RegExp(`error gpu: GPU 2 \\(${fakeUuid(2)}\\) is gone: .*GPU_IS_LOST`))
    agent.tell(scene)
    await sampled(agent)
    await poll(async () => (await wholeGap(agent, 2)) === undefined, { what: 'its gap to go', deadlineMs: 10_000 })
  })
})
