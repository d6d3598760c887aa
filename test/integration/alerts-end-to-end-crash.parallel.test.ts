// The agent is killed while a message is on its way, and after it arrived: nothing is lost, and a receiver that honours the key is told once.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { OK, startReceiver, type Answer, type Receiver } from '../setup/receiver.ts'

const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.20 GiB is free.'
const message = z.object({ event: z.literal('firing'), reason: z.literal('new'), incident: z.object({ id: z.string() }), others: z.never().optional() })

describe('kill -9', () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-alerts-crash-'))
  let receiver: Receiver
  let agent: RunningAgent
  const start = async (): Promise<RunningAgent> =>
    startAgent({
      dataDir: join(directory, 'data'),
      config: `logs: { files: ["${directory}/*.log"], kernel: false }\ngpu: { source: "off" }\nnotifiers: [{ name: ops, type: webhook, url: "${receiver.url}/" }]\n`,
    })
  const restart = async (): Promise<void> => {
    await agent.kill()
    agent = await start()
  }
  /** Each log is a subject of its own, so each is an incident of its own. */
  const crash = (file: string): void => appendFileSync(join(directory, `${file}.log`), `step 1\n${OOM}\n`)
  const reported = (): readonly string[] => receiver.taken.map(({ body }) => message.parse(JSON.parse(body)).incident.id)
  const arrived = (requests: number) =>
    poll(() => receiver.requests.length >= requests, {
      what: () => `${requests} requests, came ${receiver.requests.length}; the agent's log: ${agent.stderr()}`,
      deadlineMs: 40_000,
    })
  const delivered = (count: number) =>
    poll(async () => ((await agent.metrics()).value('warpwatch_agent_notifications_total', { notifier: 'ops', result: 'delivered' }) ?? 0) >= count, {
      what: `${count} deliveries on /metrics`,
      deadlineMs: 30_000,
      everyMs: 200,
    })

  beforeAll(async () => {
    receiver = await startReceiver({ honoursKeys: true })
    agent = await start()
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await receiver?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('while the receiver has the message and has not answered: it comes again under the same key', async () => {
    const late = Promise.withResolvers<Answer>()
    receiver.answerWith(() => late.promise)
    crash('first')
    await arrived(1)
    await agent.kill()
    receiver.answerWith(() => OK)
    late.resolve(OK) // it took the message, but nobody is there any more to hear so
    agent = await start()
    await arrived(2)
    expect(new Set(receiver.requests.map(({ key }) => key)).size).toBe(1)
    expect(reported().length).toBe(1)
  })

  test('after the answer: only what is new comes', async () => {
    await delivered(1)
    await restart()
    crash('second')
    await delivered(2)
    await restart()
    crash('third')
    await delivered(3)
    expect(receiver.requests.length).toBe(4)
    expect(new Set(reported()).size).toBe(3)
    expect(reported().length).toBe(3)
  })
})
