// The ledger of use with an agent that is killed again and again at any moment (kill -9), while processes come and go on a fake NVML, also while no agent runs:
// GPU seconds, active time and energy against the truth. Who comes or goes while no agent runs is a guess, right on average: that takes the many kills of `npm run test:long`.
// For those who stay few kills say as much.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { compiler, fakeLibrary } from '../fakes/nvml/build.ts'
import { scenarioFile } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { randomOf } from '../setup/random.ts'
import { rounds } from '../setup/rounds.ts'
import { createUseScene, PERCENT, SLOTS } from '../setup/use-scene.ts'

const KILLS = rounds({ full: 50, quick: 3 })
const WHY = compiler === undefined ? ' (needs a C compiler)' : ''
const LIMIT = 0.01
const row = z.looseObject({
  key: z.string().optional(),
  running: z.number(),
  held_seconds: z.number().optional(),
  gpu_seconds: z.object({ active: z.number() }),
  energy_joules: z.number().optional(),
})
const listed = z.array(
  z.object({
    job: z.string(),
    last: z.looseObject({ seen_at: z.number(), gpu_seconds: z.object({ active: z.number() }), gpus: z.array(z.looseObject({ held_seconds: z.number() })) }),
  }),
)
const off = (found: number, truth: number): number => Math.abs(found - truth) / truth

describe.skipIf(WHY !== '')(`the ledger of a killed agent${WHY}`, () => {
  let agent: RunningAgent | undefined
  const scenario = scenarioFile({ values: {}, gpus: [] })
  let scene = createUseScene(scenario.write)
  afterEach(async () => {
    scene.end()
    await agent?.stop()
    agent = undefined
  })
  afterAll(scenario.remove)
  const start = async (dataDir?: string): Promise<RunningAgent> =>
    startAgent({
      env: { FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '' },
      ...(dataDir === undefined ? {} : { dataDir }),
    })
  const begin = async (): Promise<RunningAgent> => {
    scene = createUseScene(scenario.write)
    scenario.write(scene.scenario())
    const first = (agent = await start())
    await poll(async () => (await first.metrics()).value('warpwatch_gpu_energy_joules_total', { gpu: '1' }), { what: 'the counters of energy' })
    return first
  }
  /** Kills it, and starts it with its files, again and again; `between` are seconds, at least and at most. */
  const killed = async (first: RunningAgent, random: () => number, [least, most]: readonly [number, number]): Promise<RunningAgent> => {
    let running = first
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(1_000 * (least + (most - least) * random()))
      await running.kill()
      running = agent = await start(first.dataDir)
    }
    return running
  }
  const rowsOf = async (of: RunningAgent) => z.array(row).parse(await of.json('/api/v1/jobs?by=job'))

  test(`counts the time without an agent for those who stay: ${KILLS} kills`, async () => {
    const first = await begin()
    await scene.step(() => Array.from({ length: SLOTS }, (_, slot) => slot).forEach(scene.enter))
    /** Of all runs in one answer, so that the figures are those of the look at which they were last seen. */
    const seen = async (of: RunningAgent) => {
      const all = listed.parse(await of.json('/api/v1/jobs')).map(({ last }) => last)
      const heldOf = ({ gpus }: (typeof all)[number]): number => gpus.reduce((sum, { held_seconds: seconds }) => sum + seconds, 0)
      // The containers of tests beside this one hold no GPU.
      const runs = all.filter((run) => heldOf(run) > 0)
      return {
        count: runs.length,
        seconds: runs.reduce((sum, { seen_at: t }) => sum + t / 1_000, 0),
        held: runs.reduce((sum, run) => sum + heldOf(run), 0),
        active: runs.reduce((sum, { gpu_seconds: { active } }) => sum + active, 0),
      }
    }
    let earlier: Awaited<ReturnType<typeof seen>> | undefined
    const before = await poll(
      async () => {
        await scene.step()
        const now = await seen(first)
        // Looks that wait for owners have been counted: the sums go on with the time.
        const goesOn = earlier?.count === SLOTS && now.seconds > earlier.seconds && Math.abs(now.held - earlier.held - (now.seconds - earlier.seconds)) < 0.1
        earlier = now
        return now.count === SLOTS && goesOn ? now : undefined
      },
      { what: 'all to be counted', deadlineMs: 60_000 },
    )
    const over = new AbortController()
    const goOn = async (): Promise<void> => {
      while (!over.signal.aborted) await scene.step()
    }
    const [last] = await Promise.all([killed(first, randomOf(7), [1, 4]).finally(() => over.abort()), goOn()])
    // A look that waits for owners is counted a moment later.
    const found = await poll(
      async () => {
        await scene.step()
        const now = await seen(last)
        const sum = { seconds: now.seconds - before.seconds, held: now.held - before.held, active: now.active - before.active }
        return off(sum.held, sum.seconds) < LIMIT && off(sum.active, (sum.seconds * PERCENT) / 100) < LIMIT ? sum : undefined
      },
      { what: 'the sums to be the time that went by', deadlineMs: 30_000 },
    )
    expect(found.seconds).toBeGreaterThan(SLOTS * KILLS)
    const joules = await poll(
      async () => {
        const sum = (await rowsOf(last)).reduce((all, one) => all + (one.energy_joules ?? 0), 0)
        return off(sum, scene.joules()) < LIMIT ? sum : undefined
      },
      { what: 'the parts of the energy to be the counters', deadlineMs: 30_000 },
    )
    expect(joules).toBeGreaterThan(0)
  }, 1_200_000)

  test.runIf(KILLS >= 50)(
    `is right after ${KILLS} kills with processes that come and go`,
    async () => {
      const random = randomOf(23)
      const first = await begin()
      await scene.spread(scene.enter)
      const over = new AbortController()
      const comeAndGo = async (): Promise<void> => {
        const away = new Set<number>()
        while (!over.signal.aborted) {
          const slot = Math.floor(random() * SLOTS)
          await scene.step(
            () => {
              const back = [...away][0]
              if (back !== undefined && away.size > 3) {
                scene.enter(back)
                away.delete(back)
              } else if (!away.has(slot)) {
                scene.leave(slot)
                away.add(slot)
              }
            },
            Math.floor(1_000 * random()),
          )
        }
      }
      const [last] = await Promise.all([killed(first, random, [5, 15]).finally(() => over.abort()), comeAndGo()])
      await scene.spread(scene.leave)
      const truth = [...scene.truth]
      const sum = (of: (one: { heldMs: number; activeMs: number }) => number): number => truth.reduce((all, [, one]) => all + of(one), 0) / 1_000
      const rows = await poll(
        async () => {
          const all = await rowsOf(last)
          const running = all.reduce((count, one) => count + (one.key !== undefined && scene.truth.has(one.key) ? one.running : 0), 0)
          const joules = all.reduce((sums, one) => sums + (one.energy_joules ?? 0), 0)
          return running === 0 && off(joules, scene.joules()) < 0.01 ? all : undefined
        },
        { what: 'all runs to be over, and the parts of the energy to be the counters', everyMs: 200, deadlineMs: 90_000 },
      )
      const own = rows.filter(({ key }) => key !== undefined && scene.truth.has(key))
      const found = {
        held: own.reduce((all, one) => all + (one.held_seconds ?? 0), 0),
        active: own.reduce((all, one) => all + one.gpu_seconds.active, 0),
      }
      const known = { held: sum(({ heldMs }) => heldMs), active: sum(({ activeMs }) => activeMs) }
      expect(own).toHaveLength(truth.length)
      expect(off(found.held, known.held), `${found.held} s held of ${known.held}`).toBeLessThan(LIMIT)
      expect(off(found.active, known.active), `${found.active} s active of ${known.active}`).toBeLessThan(LIMIT)
    },
    1_200_000,
  )
})
