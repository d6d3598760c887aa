// The ledger of use end to end: the built agent on a fake NVML whose truth is known. 16 processes that come, go and come again, some for less than a second,
// MIG instances, a card that is lost and comes back, and a kill -9 of the agent: shares, GPU seconds, active time and energy. bench/usage-ledger.ts does a month of it without an agent.
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { compiler } from '../fakes/nvml/build.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { createUseScene, isOnInstance } from '../setup/use-scene.ts'
import { createShareCheck } from '../setup/use-shares.ts'

const SECONDS = 24
/** Nothing comes or goes then: test/integration/use-ledger-kills.parallel.test.ts kills at any moment. */
const KILLED_AT = 14
/** Within 1 % where looks are on time; on a machine that is busy with other things some are late. */
const BUSY_MACHINE = 0.03
const sum = z.looseObject({
  key: z.string().optional(),
  running: z.number(),
  held_seconds: z.number().optional(),
  gpu_seconds: z.object({ active: z.number(), idle: z.number(), lost: z.number() }),
  energy_joules: z.number().optional(),
})
const off = (found: number, truth: number): number => Math.abs(found - truth) / truth

describe.skipIf(compiler === undefined)(`who used what${compiler === undefined ? ' (needs a C compiler)' : ''}`, () => {
  let agent: RunningAgent | undefined
  const scene = createUseScene((scenario) => agent?.tell(scenario))
  afterAll(async () => {
    scene.end()
    await agent?.stop()
  })
  const byJob = async () => z.array(sum).parse(await agent?.json('/api/v1/jobs?by=job'))
  const shares = createShareCheck(scene)

  test('agrees with the truth of the host, over restarts, processes of less than a second, a lost card and a killed agent', async () => {
    agent = await startAgent({ scenario: scene.scenario(), ready: true })
    const { dataDir } = agent
    await poll(async () => (await agent?.metrics())?.value('warpwatch_gpu_energy_joules_total', { gpu: '1' }), { what: 'the counters of energy' })
    // By then the looks are on whole seconds: what begins and ends between two of them is counted in full on average.
    for (const _ of [1, 2]) await scene.step()
    await scene.spread(scene.enter)
    for (let second = 1; second <= SECONDS; second++) {
      await scene.step(() => {
        // One after the other ends, and begins again three seconds later.
        if (second % 3 === 0) scene.leave(second / 3)
        if (second % 3 === 0 && second > 3) scene.enter(second / 3 - 1)
        if (second % 4 === 1) scene.brief()
        if (second === 8 || second === 12) scene.lost(second === 8)
      })
      if (second % 3 === 2) await shares.look(agent.json)
      if (second !== KILLED_AT) continue
      await byJob() // what was counted is on disk
      await agent.kill()
      agent = await startAgent({ scenario: scene.scenario(), dataDir })
    }
    await scene.spread(scene.leave)
    const truth = [...scene.truth]
    const total = truth.reduce((all, [, { heldMs }]) => all + heldMs, 0) / 1_000
    // The last look with a holder may still be on its way.
    const activeTotal = truth.reduce((all, [job, { activeMs }]) => all + (isOnInstance(job) ? 0 : activeMs), 0) / 1_000
    let joules = 0
    // All runs are over, and the parts of the energy are the counters within 1 %.
    const rows = await poll(
      async () => {
        const all = await byJob()
        joules = all.reduce((sums, row) => sums + (row.energy_joules ?? 0), 0)
        const running = all.reduce((count, row) => count + (row.key !== undefined && scene.truth.has(row.key) ? row.running : 0), 0)
        return running === 0 && off(joules, scene.joules()) < 0.01 ? all : undefined
      },
      { what: () => `${scene.joules()} J of the counters, ${joules} came`, everyMs: 200 },
    )
    const own = rows.filter(({ key }) => key !== undefined && scene.truth.has(key))
    expect(own).toHaveLength(truth.length)
    const held = own.reduce((all, row) => all + (row.held_seconds ?? 0), 0)
    const active = own.reduce((all, { key = '', gpu_seconds: seconds }) => all + (isOnInstance(key) ? 0 : seconds.active), 0)
    expect(off(held, total), `${held} s held of ${total}`).toBeLessThan(BUSY_MACHINE)
    expect(off(active, activeTotal), `${active} s active of ${activeTotal}`).toBeLessThan(BUSY_MACHINE)
    expect(shares.worst.looks).toBeGreaterThan(3)
    expect(shares.worst.own).toBeLessThan(0.05)
    expect(shares.worst.sum).toBeLessThan(0.05)
  })
})
