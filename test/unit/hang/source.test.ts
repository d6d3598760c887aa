// The source that has jobs looked at: what a look brings that was under way when its job ended.
import { expect, test } from 'vitest'
import type { AskLook } from '../../../agent/hang/live/ask.ts'
import type { LookReply } from '../../../agent/hang/live/request.ts'
import type { Container } from '../../../agent/inventory/inventory.ts'
import type { Event, HangEvent } from '../../../agent/model/event.ts'
import { createHangsSource, type HangsOptions } from '../../../agent/sources/hangs.ts'

const AFTER = 20_000
const REPLY: LookReply = {
  verdict: 'hang',
  text: 'Rank 0 waits for a lock',
  cause: 'stuck',
  confidence: 'read',
  culprits: [0],
  stands_at: ['rank 0: train.py:8 load'],
  call_sites: [],
  ranks: [{ rank: 0, culprit: true }],
  remedies: [],
  evidence: [],
  problems: [],
  doing: ['lock'],
  waited_for: false,
  complete: true,
  work: { cpuSeconds: 1, bytes: 0, faults: 0, memory: 0 },
  place: 'train.py load',
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** A job of one container that has stood still for long; `looks`: those that were asked for. */
async function standing(hosts: HangsOptions['hosts']) {
  const events: Event[] = []
  const looks: (PromiseWithResolvers<LookReply> & { readonly request: Parameters<AskLook>[0] })[] = []
  const ask: AskLook = (request) => {
    const look = { ...Promise.withResolvers<LookReply>(), request }
    looks.push(look)
    return look.promise
  }
  let containers: readonly Container[] = [{ name: 'train', id: '0123456789ab', image: 'trainer', given: [], pid: '4242' }]
  let progressedAt = 0
  const source = createHangsSource({
    progress: { jobs: () => [{ job: 'train', progress: { step: 9, lost: false }, progressedAt, rises: 8 }], lastLines: () => [] },
    running: () => [],
    latest: { of: () => [], inventory: { containers: () => containers.values(), processes: () => [] } },
    afterMs: AFTER,
    lookMs: 1_000,
    ras: false,
    pipes: false,
    folder: undefined,
    hosts,
    ask,
  })
  let tick: (t: number) => void = () => {}
  const say = (): void => {}
  await source.start({
    emit: (event) => void events.push(event),
    every: (_ms, run) => {
      tick = (t) => void run(t)
      return () => {}
    },
    log: { info: say, warn: say, error: say },
  })
  const reported = (): readonly HangEvent[] => events.filter((event) => event.type === 'hang')
  const begun = Date.now() - 200_000
  for (let step = 0; step < 8; step += 1) {
    progressedAt = begun + step * 2_000
    tick(progressedAt)
  }
  tick(begun + 60_000)
  expect(looks).toHaveLength(1)
  return { looks, reported, tick, end: () => void (containers = []) }
}

test('a look that ends after its job is no hang again', async () => {
  const { looks, reported, tick, end } = await standing({ share: () => {}, elsewhere: async () => [] })
  const states = (): readonly string[] => reported().map(({ state }) => state)
  looks[0]?.resolve(REPLY)
  await settled()
  expect(states()).toEqual(['hangs'])

  // Looked at again, and ended meanwhile.
  tick(Date.now() + 60_000)
  expect(looks).toHaveLength(2)
  end()
  tick(Date.now() + 62_000)
  expect(states()).toEqual(['hangs', 'over'])
  looks[1]?.resolve(REPLY)
  await settled()
  expect(states()).toEqual(['hangs', 'over'])
})

test('a job with ranks on other hosts is judged with the evidence of their agents', async () => {
  const shared: string[] = []
  const { looks, reported } = await standing({
    share: (master, evidence) => void shared.push(master, evidence),
    elsewhere: async (master) => (master === 'node-a:29500' ? ['of node-b'] : []),
  })
  looks[0]?.resolve({ ...REPLY, culprits: [], complete: false, elsewhere: { master: 'node-a:29500', evidence: 'of node-a' } })
  await settled()
  expect(shared).toEqual(['node-a:29500', 'of node-a'])
  expect(looks[1]?.request).toEqual({ join: ['of node-a', 'of node-b'] })
  looks[1]?.resolve({ ...REPLY, culprits: [3], text: 'Rank 3 waits for a lock' })
  await settled()
  expect(reported()).toMatchObject([{ state: 'hangs', culprits: [3], text: 'Rank 3 waits for a lock' }])
})

test('without evidence of other hosts, and with evidence that cannot be judged, the answer of this host stands', async () => {
  const alone = await standing({ share: () => {}, elsewhere: async () => [] })
  alone.looks[0]?.resolve({ ...REPLY, complete: false, elsewhere: { master: 'node-a:29500', evidence: 'of node-a' } })
  await settled()
  expect(alone.reported()).toMatchObject([{ culprits: [0] }])
  // The agents of the other hosts may be about to look: the job is looked at again soon, three times.
  const elsewhere = { master: 'node-a:29500', evidence: 'of node-a' }
  for (const [n, waitMs] of [6_000, 6_000, 6_000, 46_000].entries()) {
    alone.tick(Date.now() + waitMs - 2_000)
    expect(alone.looks).toHaveLength(n + 1)
    alone.tick(Date.now() + waitMs)
    expect(alone.looks).toHaveLength(n + 2)
    alone.looks[n + 1]?.resolve({ ...REPLY, complete: false, elsewhere })
    await settled()
  }

  const damaged = await standing({ share: () => {}, elsewhere: async () => ['of node-b'] })
  damaged.looks[0]?.resolve({ ...REPLY, complete: false, elsewhere: { master: 'node-a:29500', evidence: 'of node-a' } })
  await settled()
  damaged.looks[1]?.reject(new Error('the look did not end within 20 s'))
  await settled()
  expect(damaged.reported()).toMatchObject([{ culprits: [0] }])
})
