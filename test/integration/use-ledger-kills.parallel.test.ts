// The ledger of use with an agent that is killed again and again at any moment (kill -9), while processes come and go on a fake NVML with a time-sliced card, a card that
// is lost now and then and MIG instances, also while no agent runs:
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
import { ALL_SLOTS, createUseScene, isOnInstance, SLOTS } from '../setup/use-scene.ts'
import { createShareCheck } from '../setup/use-shares.ts'

const KILLS = rounds({ full: 50, quick: 3 })
const WHY = compiler === undefined ? ' (needs a C compiler)' : ''
const LIMIT = 0.01
/** Of the utilization of the card, 0 to 1. */
const SHARES_LIMIT = 0.05
/** Steps of a second: a process of less than a second, and a card that is lost for some of them. */
const [BRIEF_EVERY, LOST_EVERY, LOST_FOR] = [5, 20, 3]
const QUIET_STEPS = 3
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
  /** Kills it, and starts it with its files, again and again, after so many seconds; `before` is what is asked of it before each kill. */
  const killed = async (
    first: RunningAgent,
    random: () => number,
    [least, most]: readonly [number, number],
    before: (running: RunningAgent) => Promise<void> = () => Promise.resolve(),
  ): Promise<RunningAgent> => {
    let running = first
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(1_000 * (least + (most - least) * random()))
      await before(running)
      await running.kill()
      running = agent = await start(first.dataDir)
    }
    return running
  }
  const rowsOf = async (of: RunningAgent) => z.array(row).parse(await of.json('/api/v1/jobs?by=job'))

  test(`counts the time without an agent for those who stay: ${KILLS} kills`, async ({ annotate }) => {
    const first = await begin()
    await scene.step(() => Array.from({ length: ALL_SLOTS }, (_, slot) => slot).forEach(scene.enter))
    /** Of all runs in one answer, so that the figures are those of the look at which they were last seen. */
    const seen = async (of: RunningAgent) => {
      const all = listed.parse(await of.json('/api/v1/jobs')).map(({ job, last }) => ({ job, ...last }))
      const heldOf = ({ gpus }: (typeof all)[number]): number => gpus.reduce((sum, { held_seconds: seconds }) => sum + seconds, 0)
      // The containers of tests beside this one hold no GPU.
      const runs = all.filter((run) => heldOf(run) > 0)
      const total = (figure: (run: (typeof runs)[number]) => number): number => runs.reduce((sum, run) => sum + figure(run), 0)
      return {
        count: runs.length,
        seconds: total(({ seen_at: t }) => t / 1_000),
        busy: total(({ job, seen_at: t }) => (t / 1_000) * scene.busy(job)),
        held: total(heldOf),
        active: total(({ gpu_seconds: { active } }) => active),
      }
    }
    let earlier: Awaited<ReturnType<typeof seen>> | undefined
    const before = await poll(
      async () => {
        await scene.step()
        const now = await seen(first)
        // Looks that wait for owners have been counted: the sums go on with the time.
        const goesOn =
          earlier?.count === ALL_SLOTS &&
          now.seconds > earlier.seconds &&
          Math.abs(now.held - earlier.held - (now.seconds - earlier.seconds)) < 0.1 &&
          Math.abs(now.active - earlier.active - (now.busy - earlier.busy)) < 0.1
        earlier = now
        return now.count === ALL_SLOTS && goesOn ? now : undefined
      },
      { what: 'all to be counted', deadlineMs: 60_000 },
    )
    const over = new AbortController()
    const goOn = async (): Promise<void> => {
      while (!over.signal.aborted) await scene.step()
    }
    const [last] = await Promise.all([killed(first, randomOf(7), [1, 4]).finally(() => over.abort()), goOn()])
    let sums = { seconds: 0, busy: 0, held: 0, active: 0 }
    // A look that waits for owners is counted a moment later.
    const found = await poll(
      async () => {
        await scene.step()
        const now = await seen(last)
        sums = {
          seconds: now.seconds - before.seconds,
          busy: now.busy - before.busy,
          held: now.held - before.held,
          active: now.active - before.active,
        }
        return off(sums.held, sums.seconds) < LIMIT && off(sums.active, sums.busy) < LIMIT ? sums : undefined
      },
      { what: () => `the sums to be the time that went by: ${JSON.stringify(sums)}`, deadlineMs: 30_000 },
    )
    expect(found.seconds).toBeGreaterThan(ALL_SLOTS * KILLS)
    const joules = await poll(
      async () => {
        const sum = (await rowsOf(last)).reduce((all, one) => all + (one.energy_joules ?? 0), 0)
        return off(sum, scene.joules()) < LIMIT ? sum : undefined
      },
      { what: 'the parts of the energy to be the counters', deadlineMs: 30_000 },
    )
    expect(joules).toBeGreaterThan(0)
    await annotate(JSON.stringify({ ...found, joules, counters: scene.joules() }))
  }, 1_200_000)

  test.runIf(KILLS >= 50)(
    `is right after ${KILLS} kills with processes that come and go, some for less than a second, and a card that is lost now and then`,
    async ({ annotate }) => {
      const random = randomOf(23)
      const first = await begin()
      const shares = createShareCheck(scene)
      await scene.spread(scene.enter)
      const over = new AbortController()
      // What the driver shows is of the second before, and on a busy host the agent looks late: shares are compared when it has looked after some seconds without a change.
      let [isQuiet, quietSteps, quietAt] = [false, 0, Infinity]
      const lookedAt = async (json: RunningAgent['json']): Promise<number> =>
        Math.max(0, ...listed.parse(await json('/api/v1/jobs')).map(({ last }) => last.seen_at))
      const compared = async (json: RunningAgent['json']): Promise<void> => {
        ;[isQuiet, quietSteps, quietAt] = [true, 0, Infinity]
        await poll(async () => quietSteps >= QUIET_STEPS && (await lookedAt(json)) > quietAt, {
          what: 'a look after some seconds without a change',
          everyMs: 200,
        })
        await shares.look(json)
        isQuiet = false
      }
      const comeAndGo = async (): Promise<void> => {
        const away = new Set<number>()
        for (let second = 1; !over.signal.aborted; second++) {
          if (isQuiet) {
            await scene.step()
            if (++quietSteps === QUIET_STEPS) quietAt = Date.now()
            continue
          }
          const slot = Math.floor(random() * SLOTS)
          await scene.step(
            () => {
              if (second % BRIEF_EVERY === 0) scene.brief()
              if (second % LOST_EVERY === 0 || second % LOST_EVERY === LOST_FOR) scene.lost(second % LOST_EVERY === 0)
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
      const all = killed(first, random, [5, 15], ({ json }) => compared(json))
      const [last] = await Promise.all([all.finally(() => over.abort()), comeAndGo()])
      await scene.step(() => scene.lost(false))
      await scene.spread(scene.leave)
      const truth = [...scene.truth]
      let parts = 0
      const rows = await poll(
        async () => {
          const all = await rowsOf(last)
          const running = all.reduce((count, one) => count + (one.key !== undefined && scene.truth.has(one.key) ? one.running : 0), 0)
          parts = all.reduce((sums, one) => sums + (one.energy_joules ?? 0), 0)
          return running === 0 && off(parts, scene.joules()) < LIMIT ? all : undefined
        },
        {
          what: () => `all runs to be over, and the parts of the energy to be the counters: ${parts} J of ${scene.joules()}`,
          everyMs: 200,
          deadlineMs: 90_000,
        },
      )
      const own = rows.filter(({ key }) => key !== undefined && scene.truth.has(key))
      const found = {
        held: own.reduce((sum, { held_seconds: held = 0 }) => sum + held, 0),
        active: own.reduce((sum, { key = '', gpu_seconds: { active } }) => sum + (isOnInstance(key) ? 0 : active), 0),
      }
      const known = {
        held: truth.reduce((sum, [, { heldMs }]) => sum + heldMs, 0) / 1_000,
        active: truth.reduce((sum, [job, { activeMs }]) => sum + (isOnInstance(job) ? 0 : activeMs), 0) / 1_000,
      }
      const { worst } = shares
      await annotate(JSON.stringify({ found, known, joules: parts, counters: scene.joules(), worst }))
      expect(own).toHaveLength(truth.length)
      expect(off(found.held, known.held), `${found.held} s held of ${known.held}`).toBeLessThan(LIMIT)
      expect(off(found.active, known.active), `${found.active} s active of ${known.active}`).toBeLessThan(LIMIT)
      expect(worst.looks).toBeGreaterThan(3)
      expect(Math.max(worst.own, worst.sum), 'points').toBeLessThan(SHARES_LIMIT)
    },
    1_200_000,
  )
})
