// What every fault of the storage goes through: incidents before, during and after it, a kill at the end, and a count of all that is left.
import { setTimeout as delay } from 'node:timers/promises'
import { poll } from '../../setup/poll.ts'
import type { Outcome } from '../abuse-case.ts'
import { longestHole, sampledSeconds, samplesCome } from './sampling.ts'
import { deliveredIn, startScene, type Scene } from './scene.ts'
import type { SmallDisk } from './small-disk.ts'

export type Ordeal = {
  readonly short: boolean
  readonly disk?: SmallDisk
  /** Before the agent starts, or while it runs. */
  readonly at?: 'start' | 'running'
  readonly strike: (dataDir: string, scene?: Scene) => void | Promise<void>
  /** Nothing can end the fault while the agent runs. */
  readonly lasting?: boolean
  /** Without it the agent has to help itself. */
  readonly heal?: () => void
  /** What is to be looked at once all is over, with the agent still running. */
  readonly afterwards?: (dataDir: string) => void
  /** The words with which the agent's log tells of it. */
  readonly says: RegExp
  /** Whether the fault keeps history in memory, so that the metric says so; else it is mended at once. */
  readonly degrades: boolean
  /** For how long the fault lasts in the long form: beyond the retries, each 10 s. */
  readonly lastsMs?: number
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

export async function storageOrdeal({
  short,
  disk,
  at = 'running',
  strike,
  heal,
  says,
  degrades,
  lasting = false,
  afterwards,
  lastsMs = 25_000,
}: Ordeal): Promise<Outcome> {
  const dataDir = disk?.dataDir
  if (at === 'start') await strike(dataDir ?? '')
  await using scene = await startScene(dataDir === undefined ? {} : { dataDir })
  const firstSecond = Math.ceil(Date.now() / 1_000) + 1
  const problems: string[] = []
  let agent = scene.agent()
  const degraded = async (): Promise<number | undefined> => (await agent.metrics()).value('warpwatch_agent_history_degraded')

  await samplesCome(agent, short ? 1 : 3)
  scene.crash()
  await scene.allHeard()
  const struckAt = performance.now()
  if (at === 'running') await strike(scene.dataDir, scene)
  const saidAfter = poll(() => says.test(agent.stderr()), { what: () => `${String(says)} in the log: ${agent.stderr().slice(-2_000)}`, deadlineMs: 30_000 })
  scene.crash()
  scene.crash()
  await scene.allHeard()
  await saidAfter
  const saidMs = performance.now() - struckAt
  if (degrades && !short) await poll(async () => (await degraded()) === 1, { what: 'history_degraded to be 1', deadlineMs: 30_000, everyMs: 200 })
  if (!short) await delay(degrades ? lastsMs : 2_000)
  const ready = await agent.get('/readyz')
  if (ready.status !== 200) problems.push(`/readyz answered ${ready.status} ${ready.text}`)
  const hole = longestHole(await sampledSeconds(agent.url, firstSecond * 1_000, Date.now()), firstSecond, Math.floor(Date.now() / 1_000) - 2)

  heal?.()
  if (short || lasting) {
    afterwards?.(scene.dataDir)
    return verdict()
  }
  const healedAt = performance.now()
  await poll(async () => (await degraded()) === 0, {
    what: () => `history_degraded to be 0 again; log: ${agent.stderr().slice(-2_000)}`,
    deadlineMs: 60_000,
    everyMs: 200,
  })
  const backMs = performance.now() - healedAt
  if (/cursors\.db cannot be/.test(agent.stderr()))
    await poll(() => /cursors\.db can be written again/.test(agent.stderr()), { what: 'the cursors to be written again', deadlineMs: 60_000 })
  scene.crash()
  await scene.allHeard()
  await samplesCome(agent, 2)
  const killedAt = Math.floor(Date.now() / 1_000)
  await agent.kill()
  agent = await scene.start()
  await scene.allHeard()
  const after = longestHole(await sampledSeconds(agent.url, firstSecond * 1_000, Date.now()), firstSecond, killedAt - 2)
  if (after > 1) problems.push(`after a kill ${after} s in a row are missing in the history`)
  await samplesCome(agent, 2)
  afterwards?.(scene.dataDir)
  return verdict(`; written again ${seconds(backMs)} after the fault was over; after kill -9: longest hole ${after} s`)

  function verdict(more = ''): Outcome {
    const news = deliveredIn(scene.receiver).filter(({ reason }) => reason === 'new')
    const incidents = new Set(news.map(({ id }) => id)).size
    const lost = scene.crashes() - incidents
    const twice = new Set(news.map(({ id, key }) => `${id} ${key}`)).size - incidents
    if (hole > (short ? 3 : 1)) problems.push(`${hole} s in a row without a sample during the fault`)
    if (lost !== 0) problems.push(`${lost} incidents were not delivered`)
    if (twice !== 0) problems.push(`${twice} incidents were delivered under more than one key`)
    return {
      held: problems.length === 0,
      observed:
        `${lost} of ${scene.crashes()} incidents lost, ${twice} told twice; longest time without a sample ${hole} s; ` +
        `logged ${at === 'start' ? 'at the start' : `after ${seconds(saidMs)}`}${more}${problems.length === 0 ? '' : `; ${problems.join('; ')}`}`,
    }
  }
}
