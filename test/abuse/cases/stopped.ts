// SIGSTOP for a minute: of the agent itself, and of its sampler child alone.
import { setTimeout as delay } from 'node:timers/promises'
import type { AbuseCase, Outcome } from '../abuse-case.ts'
import { childrenOf } from '../parts/process-times.ts'
import { longestHole, sampledSeconds, samplesCome } from '../parts/sampling.ts'
import { startScene, type Scene } from '../parts/scene.ts'

const STOPPED_MS = 60_000
const STOPPED_SHORT_MS = 2_000

/** Stops `pid`, lets it go on, and looks at what came of it. */
async function ordeal(short: boolean, stop: (scene: Scene) => number, judge: (hole: number, stoppedS: number) => string | undefined): Promise<Outcome> {
  await using scene = await startScene()
  const agent = scene.agent()
  const problems: string[] = []
  await samplesCome(agent, short ? 1 : 5)
  const from = Math.floor(Date.now() / 1_000)
  const stopped = stop(scene)
  const forMs = short ? STOPPED_SHORT_MS : STOPPED_MS
  await delay(forMs)
  try {
    process.kill(stopped, 'SIGCONT')
  } catch {
    // The agent has ended its child meanwhile.
  }
  const begun = performance.now()
  await samplesCome(agent, 1)
  const resumedMs = performance.now() - begun
  scene.crash()
  await scene.allHeard()
  if (!short) await delay(10_000)
  const hole = longestHole(await sampledSeconds(agent.url, from * 1_000, Date.now()), from, Math.floor(Date.now() / 1_000) - 2)
  const wrong = judge(hole, forMs / 1_000)
  if (wrong !== undefined) problems.push(wrong)
  const others = (await scene.incidents()).filter(({ kind }) => kind !== 'cuda_oom')
  if (others.length > 0) problems.push(`${others.map(({ kind }) => kind).join(', ')} fired`)
  return {
    held: problems.length === 0,
    observed:
      `stopped for ${forMs / 1_000} s: ${hole} s without a sample in the history, the next sample within ${(resumedMs / 1_000).toFixed(1)} s, ` +
      `${others.length} false incidents${problems.length === 0 ? '' : `; ${problems.join('; ')}`}`,
  }
}

export const agentStopped: AbuseCase = {
  id: 'agent-stopped',
  area: 'process',
  fault: 'SIGSTOP of the agent for a minute',
  promised: 'it goes on where it was: no false incident, no invented sample, no restart',
  hasShortForm: true,
  run: async ({ short }) =>
    ordeal(
      short,
      (scene) => {
        process.kill(scene.agent().pid, 'SIGSTOP')
        return scene.agent().pid
      },
      (hole, stoppedS) => (hole < stoppedS - 2 ? `only ${hole} s are missing: somebody invented the others` : undefined),
    ),
}

export const samplerStopped: AbuseCase = {
  id: 'sampler-stopped',
  area: 'process',
  fault: 'SIGSTOP of the sampler child for a minute',
  promised: 'another one takes its place within the deadline (2 s) and a start; no GPU is blamed for it',
  hasShortForm: false,
  async run({ short }) {
    return ordeal(
      short,
      (scene) => {
        const [child] = childrenOf(scene.agent().pid, 'sampler-child')
        if (child === undefined) throw new Error('expected a sampler child, found none')
        process.kill(child, 'SIGSTOP')
        return child
      },
      (hole) => (hole > (short ? 10 : 5) ? `${hole} s without a sample` : undefined),
    )
  },
}
