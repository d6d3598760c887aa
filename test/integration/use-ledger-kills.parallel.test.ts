// The ledger of use with an agent that is killed again and again at any moment (kill -9), while processes come and go on a fake NVML, also while no agent runs:
// GPU seconds, active time and energy against the truth. Only by `npm run test:long`: few kills say little, and on a busy machine each looks worse than it is.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { compiler, fakeLibrary } from '../fakes/nvml/build.ts'
import { scenarioFile } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { randomOf } from '../setup/random.ts'
import { rounds } from '../setup/rounds.ts'
import { createUseScene, SLOTS } from '../setup/use-scene.ts'

const KILLS = rounds({ full: 50, quick: 0 })
const WHY = compiler === undefined ? ' (needs a C compiler)' : KILLS === 0 ? ' (npm run test:long)' : ''
/** The aim is 1 %, which test/property/usage-ledger-kills.slow.test.ts holds without a machine's load: here an agent may be away for six seconds and more, in which each coming and going is a guess. */
const LIMIT = 0.05
const row = z.looseObject({
  key: z.string().optional(),
  running: z.number(),
  held_seconds: z.number().optional(),
  gpu_seconds: z.object({ active: z.number() }),
  energy_joules: z.number().optional(),
})
const off = (found: number, truth: number): number => Math.abs(found - truth) / truth

describe.skipIf(WHY !== '')(`the ledger of a killed agent${WHY}`, () => {
  let agent: RunningAgent | undefined
  const scenario = scenarioFile({ values: {}, gpus: [] })
  const scene = createUseScene(scenario.write)
  afterAll(async () => {
    scene.end()
    await agent?.stop()
    scenario.remove()
  })
  const start = async (dataDir?: string): Promise<RunningAgent> =>
    startAgent({
      env: { FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '' },
      ...(dataDir === undefined ? {} : { dataDir }),
    })

  test(`is right after ${KILLS} kills`, async () => {
    const random = randomOf(23)
    scenario.write(scene.scenario())
    agent = await start()
    await poll(async () => (await agent?.metrics())?.value('warpwatch_gpu_energy_joules_total', { gpu: '1' }), { what: 'the counters of energy' })
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
    const killed = async (first: RunningAgent): Promise<RunningAgent> => {
      let running = first
      try {
        for (let kill = 0; kill < KILLS; kill++) {
          await delay(1_000 + 5_000 * random())
          await running.kill()
          running = agent = await start(first.dataDir)
        }
      } finally {
        over.abort()
      }
      return running
    }
    const [last] = await Promise.all([killed(agent), comeAndGo()])
    await scene.spread(scene.leave)
    const truth = [...scene.truth]
    const sum = (of: (one: { heldMs: number; activeMs: number }) => number): number => truth.reduce((all, [, one]) => all + of(one), 0) / 1_000
    const rows = await poll(
      async () => {
        const all = z.array(row).parse(await last.json('/api/v1/jobs?by=job'))
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
  }, 1_200_000)
})
