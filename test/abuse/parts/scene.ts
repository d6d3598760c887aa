// A host under abuse: two fake GPUs, programs that crash in their log files, a receiver of notifications, and an agent that can be killed and started again.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { eightH100, type FakeScenario } from '../../fakes/nvml/scenario.ts'
import { startAgent, type AgentOptions, type RunningAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { startReceiver, type Received, type Receiver } from '../../setup/receiver.ts'

const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.20 GiB is free.'
const incidents = z.array(z.object({ id: z.string(), kind: z.string(), status: z.string(), started_at: z.number(), subject: z.object({}).loose() }).loose())
const item = z.object({ event: z.enum(['firing', 'resolved']), reason: z.string(), incident: z.object({ id: z.string() }) })
const message = item.extend({ others: z.array(item).default([]) })

export type Incident = z.infer<typeof incidents>[number]
export type Delivered = { readonly id: string; readonly event: 'firing' | 'resolved'; readonly reason: string; readonly key: string }

/** What one message of a webhook tells. */
export function deliveredFrom({ body, key }: Received): readonly Delivered[] {
  const { others, ...first } = message.parse(JSON.parse(body))
  return [first, ...others].map(({ event, reason, incident: { id } }) => ({ event, reason, id, key }))
}
/** All that a receiver took, in order. */
export const deliveredIn = ({ taken }: Receiver): readonly Delivered[] => taken.flatMap(deliveredFrom)

export const twoGpus = (): FakeScenario => {
  const host = eightH100()
  return { ...host, gpus: host.gpus.slice(0, 2) }
}

export type SceneOptions = Pick<AgentOptions, 'dataDir' | 'through'> & {
  readonly scenario?: FakeScenario
  readonly env?: Readonly<Record<string, string>>
  /** Log files that programs write to, which the agent follows from its start; each crash in one of them is an incident of its own. */
  readonly programs?: number
  /** More lines of warpwatch.yaml. */
  readonly config?: string
  /** Instead of one webhook to `receiver`. */
  readonly notifiers?: (receiver: Receiver) => Promise<readonly string[]>
}
export type Scene = {
  readonly agent: () => RunningAgent
  readonly receiver: Receiver
  readonly dataDir: string
  readonly start: () => Promise<RunningAgent>
  /** The next program prints an error and ends; returns its number. */
  readonly crash: () => number
  readonly crashes: () => number
  /** Says over the API that it is over; false where the agent does not take it. */
  readonly resolve: (id: string) => Promise<boolean>
  readonly incidents: () => Promise<readonly Incident[]>
  /** Resolves when as many incidents were delivered as programs have crashed, and, where wanted, as many are listed. */
  readonly allHeard: (options?: { readonly listed?: boolean }) => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export async function startScene(options: SceneOptions = {}): Promise<Scene> {
  const { programs = 8, config = '', scenario = twoGpus() } = options
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-abuse-'))
  const dataDir = options.dataDir ?? join(home, 'data')
  const logs = join(home, 'logs')
  mkdirSync(logs)
  for (let n = 0; n < programs; n++) writeFileSync(join(logs, `program-${n}.log`), 'step 1\n')
  const receiver = await startReceiver()
  const notifiers = (await options.notifiers?.(receiver)) ?? [`{ name: ops, type: webhook, url: "${receiver.url}/", max_messages_per_minute: 0 }`]
  const yaml = `logs: { files: ["${logs}/*.log"], kernel: false }\nnotifiers: [${notifiers.join(', ')}]\n${config}`
  let agent: RunningAgent | undefined
  let crashed = 0
  const running = (): RunningAgent => {
    if (agent === undefined) throw new Error('expected a running agent, none was started')
    return agent
  }
  const list = async (): Promise<readonly Incident[]> => incidents.parse(await running().json('/api/v1/incidents?limit=1000'))
  const scene: Scene = {
    agent: running,
    receiver,
    dataDir,
    async start() {
      // Removes what belongs to the one that was killed.
      await agent?.[Symbol.asyncDispose]()
      agent = await startAgent({
        scenario,
        dataDir,
        config: yaml,
        ...(options.env === undefined ? {} : { env: options.env }),
        ...(options.through === undefined ? {} : { through: options.through }),
      })
      return agent
    },
    crash() {
      if (crashed >= programs) throw new Error(`expected at most ${programs} crashes, one more was wanted`)
      appendFileSync(join(logs, `program-${crashed}.log`), `step 2\n${OOM}\n`)
      return crashed++
    },
    crashes: () => crashed,
    async resolve(id) {
      const answer = await fetch(`${running().url}/api/v1/incidents/${id}/resolve`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      return answer.ok
    },
    incidents: list,
    async allHeard({ listed: wanted = true } = {}) {
      let [listed, heard] = [0, 0]
      await poll(
        async () => {
          listed = (await list()).filter(({ kind }) => kind === 'cuda_oom').length
          heard = new Set(deliveredIn(receiver).map(({ id }) => id)).size
          return (!wanted || listed >= crashed) && heard >= crashed
        },
        {
          what: () => `${crashed} incidents: ${listed} are listed, ${heard} were delivered; the agent's log: ${running().stderr().slice(-3_000)}`,
          deadlineMs: 30_000,
          everyMs: 100,
        },
      )
    },
    async [Symbol.asyncDispose]() {
      await agent?.[Symbol.asyncDispose]()
      await receiver.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
  await scene.start()
  return scene
}
