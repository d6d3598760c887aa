// The source that has jobs looked at: what a look brings that was under way when its job ended.
import { expect, test } from 'vitest'
import type { AskLook } from '../../../agent/hang/live/ask.ts'
import type { LookReply } from '../../../agent/hang/live/request.ts'
import type { Container } from '../../../agent/inventory/inventory.ts'
import type { Event } from '../../../agent/model/event.ts'
import { createHangsSource } from '../../../agent/sources/hangs.ts'

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

test('a look that ends after its job is no hang again', async () => {
  const events: Event[] = []
  const looks: PromiseWithResolvers<LookReply>[] = []
  const ask: AskLook = () => {
    const look = Promise.withResolvers<LookReply>()
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
  const states = (): readonly string[] => events.flatMap((event) => (event.type === 'hang' ? [event.state] : []))
  const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

  const begun = Date.now() - 200_000
  for (let step = 0; step < 8; step += 1) {
    progressedAt = begun + step * 2_000
    tick(progressedAt)
  }
  tick(begun + 60_000)
  expect(looks).toHaveLength(1)
  looks[0]?.resolve(REPLY)
  await settled()
  expect(states()).toEqual(['hangs'])

  // Looked at again, and ended meanwhile.
  tick(Date.now() + 60_000)
  expect(looks).toHaveLength(2)
  containers = []
  tick(Date.now() + 62_000)
  expect(states()).toEqual(['hangs', 'over'])
  looks[1]?.resolve(REPLY)
  await settled()
  expect(states()).toEqual(['hangs', 'over'])
})
