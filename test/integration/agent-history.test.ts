// The past of the built agent over /api/v1/series: after an orderly restart, and after kill -9 at random moments again and again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compiler, fakeLibrary } from '../fakes/nvml/build.ts'
import { scenarioFile } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { ALL, powerOf } from '../setup/agent-scenes.ts'
import { poll } from '../setup/poll.ts'
import { rounds } from '../setup/rounds.ts'
import { judge, type Life } from '../soak/judge.ts'
import { sceneAt, tellScenes } from '../soak/load.ts'

const KILLS = rounds({ full: 8, quick: 5 })

function world() {
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-past-'))
  const scene = scenarioFile(sceneAt(Math.floor(Date.now() / 1000)))
  const reported = tellScenes(scene.path)
  onTestFinished(() => {
    reported.stop()
    scene.remove()
    rmSync(home, { recursive: true, force: true })
  })
  const env = { FAKE_NVML_SCENARIO: scene.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '' }
  return { reported, dataDir: join(home, 'data'), start: () => startAgent({ dataDir: join(home, 'data'), env }) }
}

/** The time at which all GPUs are on the page for the first time. */
async function firstReading(agent: RunningAgent): Promise<number> {
  await poll(
    async () => {
      const page = await agent.metrics()
      return ALL.every((gpu) => powerOf(page, gpu) !== undefined)
    },
    { what: () => `readings of all GPUs; the agent said: ${agent.stderr()}`, everyMs: 10 },
  )
  return Date.now()
}
/** Waits until the page shows the reading of `n` seconds later. */
async function seconds(agent: RunningAgent, n: number): Promise<void> {
  let [changes, last] = [0, powerOf(await agent.metrics(), 0)]
  await poll(
    async () => {
      const now = powerOf(await agent.metrics(), 0)
      if (now !== last) changes += 1
      last = now
      return changes >= n
    },
    { what: `${n} more readings`, everyMs: 50 },
  )
}
function integrity(dataDir: string): unknown {
  const db = new Sqlite(join(dataDir, 'history.db'), { readonly: true })
  const found = db.pragma('integrity_check', { simple: true })
  db.close()
  return found
}

describe.skipIf(compiler === undefined).concurrent('history of the built agent (needs a C compiler)', () => {
  test('after an orderly restart the past is there again, each second of it, right to the end', async () => {
    const { reported, dataDir, start } = world()
    const startedAt = Date.now()
    const lives: Life[] = []
    const first = await start()
    const born = await firstReading(first)
    await seconds(first, 4)
    const stopping = Date.now()
    expect((await first.terminate()).code).toBe(0)
    lives.push({ firstReading: born, end: stopping })
    await using second = await start()
    const again = await firstReading(second)
    await seconds(second, 3)
    lives.push({ firstReading: again, end: Date.now() })
    const { rows, invalid, worst } = await judge(second.url, startedAt - 2_000, Date.now(), lives, reported)
    expect(invalid).toEqual([])
    expect(worst?.beyondMs ?? 0).toBe(0)
    expect(rows).toBeGreaterThan(7 * ALL.length * 2)
    expect((await second.metrics()).value('warpwatch_agent_history_degraded')).toBe(0)
    await second.terminate()
    expect(integrity(dataDir)).toBe('ok')
    await first[Symbol.asyncDispose]()
  })

  test(`${KILLS} times kill -9 at a random moment: no hole longer than a second beyond the downtime, no invalid row`, async () => {
    const { reported, dataDir, start } = world()
    const startedAt = Date.now()
    const lives: Life[] = []
    for (let n = 0; n < KILLS; n++) {
      const agent = await start()
      const born = await firstReading(agent)
      await delay(500 + Math.random() * 1_500)
      // Not when it is seen to have ended, which on a busy machine is later.
      const end = Date.now()
      await agent.kill()
      lives.push({ firstReading: born, end })
      expect(agent.stderr().match(/^.* (error|warn ) .*$/gm)).toBeNull()
    }
    await using agent = await start()
    const born = await firstReading(agent)
    await seconds(agent, 2)
    lives.push({ firstReading: born, end: Date.now() })
    const { rows, invalid, worst } = await judge(agent.url, startedAt - 2_000, Date.now(), lives, reported)
    expect(invalid).toEqual([])
    expect(worst?.beyondMs ?? 0, `the worst hole: ${JSON.stringify({ worst, lives })}`).toBeLessThanOrEqual(1_000)
    expect(rows).toBeGreaterThan(KILLS * ALL.length)
    await agent.terminate()
    expect(integrity(dataDir)).toBe('ok')
  })
})
