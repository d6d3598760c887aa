// Inference servers with what their detectors look for, and with what only looks like it.
import {
  cacheReservedIdle,
  contextOversized,
  engineDead,
  kvCacheStarved,
  modelLoadStuck,
  modelOnCpu,
  serverSilent,
  serverUnderfed,
} from '../../../agent/diagnosis/detectors/index.ts'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import { hostEvents, says, type HostNow, type ServerNow } from '../../unit/detectors/server-scene.ts'
import { within, type RuleScene } from './scene.ts'

const chat = (more: Partial<ServerNow>): ServerNow => ({ name: 'chat', gib: 72, share: 0.9, context: 8_192, cores: 1, ...more })
const busy = (second: number) => ({
  running: 8,
  waiting: 0,
  kv: 0.5,
  preempted: 0,
  generated: 100 * second,
  offloaded: 0,
  weightsGib: 30,
  cacheGib: 40,
  unanswered: 0,
})
const [FROM, TO, END] = [200, 600, 1_100]
const scene = (
  name: string,
  detector: DetectorDefinition,
  fires: boolean,
  during: (second: number) => HostNow,
  seconds = END,
  to = TO,
  from = FROM,
): RuleScene => ({
  name,
  detector,
  fires,
  seconds,
  by: 'container',
  tell: (second) => hostEvents(second, within(second, from, to) ? during(second) : { servers: [chat({ values: says(busy(second)) })] }),
})
const one = (second: number, values: Parameters<typeof says>[0], more: Partial<ServerNow> = {}, host: Partial<HostNow> = {}): HostNow => ({
  ...host,
  servers: [chat({ ...more, values: says({ ...busy(second), ...values }) })],
})
/** A queue that has grown since the scene began. */
const growing = (second: number): number => 2 + Math.floor((second - FROM) / 10)
const neighbour = (second: number, fails: boolean) => ({ others: [{ pid: 77, container: 'trainer', gib: 5, fails: fails && second % 600 === 0 }] })
const HOURS = 3_600

export const serverScenes: readonly RuleScene[] = [
  scene('a full cache and a queue', kvCacheStarved, true, (second) => one(second, { kv: 0.99, waiting: 12 })),
  scene('requests that lose their place', kvCacheStarved, true, (second) => one(second, { kv: 0.9, waiting: 3, preempted: Math.max(0, second - FROM) })),
  scene('a full cache and nobody waiting', kvCacheStarved, false, (second) => one(second, { kv: 1, waiting: 0 })),
  scene('a queue before a cache with room', kvCacheStarved, false, (second) => one(second, { kv: 0.4, waiting: 40 })),
  scene('a full cache for half a minute', kvCacheStarved, false, (second) => one(second, { kv: 1, waiting: 9 }), END, FROM + 30),
  scene('a queue that grows before an idle card', serverUnderfed, true, (second) => one(second, { waiting: growing(second) }, {}, { utilization: 0.15 })),
  scene('a queue that grows before a busy card', serverUnderfed, false, (second) => one(second, { waiting: growing(second) })),
  scene('a queue that grows before a full cache', serverUnderfed, false, (second) =>
    one(second, { waiting: growing(second), kv: 0.9 }, {}, { utilization: 0.2 }),
  ),
  scene('an idle card and nobody waiting', serverUnderfed, false, (second) => one(second, { running: 0, kv: 0 }, {}, { utilization: 0 })),
  scene('a model half on the CPU', modelOnCpu, true, (second) =>
    one(second, { offloaded: 0.4 }, { server: 'ollama', layers: '20/33', gib: 20 }, { others: [{ pid: 77, container: 'trainer', gib: 50 }] }),
  ),
  scene('all on the GPU', modelOnCpu, false, (second) => one(second, { offloaded: 0 }, { server: 'ollama' })),
  scene('offload while it loads', modelOnCpu, false, (second) => one(second, { offloaded: 0.4 }, { state: 'loading' })),
  scene('an engine that has ended', engineDead, true, () => ({ utilization: 0, servers: [chat({ state: 'dead', gib: 0, gpu: '' })] })),
  scene('an engine that stands still', engineDead, true, () => one(FROM, { running: 4 }, {}, { utilization: 0 })),
  scene('an engine whose GPUs wait for one of them', engineDead, true, () => one(FROM, { running: 4 }, {}, { utilization: 1, spins: true })),
  scene('an engine that works', engineDead, false, (second) => one(second, { running: 4 }, {}, { utilization: 1, spins: false })),
  scene('a long prompt', engineDead, false, () => one(FROM, { running: 4 }, {}, { utilization: 1 })),
  scene('a server that nobody asks', engineDead, false, () => one(FROM, { running: 0 }, {}, { utilization: 0 })),
  scene('a server that sleeps', engineDead, false, () => one(FROM, { running: 0 }, { state: 'sleeping', gib: 1 }, { utilization: 0 })),
  // What was read before is not known any more.
  scene('a server that takes connections and answers none', serverSilent, true, (second) => ({
    servers: [chat({ state: '', values: says({ unanswered: second - FROM }) })],
  })),
  scene(
    'a server that is slow for two minutes',
    serverSilent,
    false,
    (second) => ({ servers: [chat({ state: '', values: says({ unanswered: second - FROM }) })] }),
    END,
    FROM + 120,
  ),
  scene('a server that begins and does not answer yet', serverSilent, false, () => ({ utilization: 0, servers: [chat({ state: '', cores: 2 })] })),
  scene('a load that stands still', modelLoadStuck, true, () => ({ utilization: 0, servers: [chat({ state: 'loading', gib: 3, cores: 0.02 })] }), 1_400, 1_000),
  scene('a load that takes memory', modelLoadStuck, false, (second) => ({
    utilization: 0,
    servers: [chat({ state: 'loading', gib: (second - FROM) / 10, cores: 0.1 })],
  })),
  scene('a load that compiles', modelLoadStuck, false, () => ({ utilization: 0, servers: [chat({ state: 'loading', gib: 3, cores: 2 })] }), 1_400, 1_000),
  scene(
    'a cache that nobody uses, and a neighbour that fails',
    cacheReservedIdle,
    true,
    (second) => one(second, { kv: 0.08 }, {}, neighbour(second, true)),
    5 * HOURS,
    4 * HOURS,
    0,
  ),
  scene(
    'a cache that nobody uses, and nobody who wants it',
    cacheReservedIdle,
    false,
    (second) => one(second, { kv: 0.08 }, {}, neighbour(second, false)),
    5 * HOURS,
    4 * HOURS,
    0,
  ),
  scene(
    'a cache that is used once an hour, and a neighbour that fails',
    cacheReservedIdle,
    false,
    (second) => one(second, { kv: second % HOURS < 60 ? 0.8 : 0.05 }, {}, neighbour(second, true)),
    5 * HOURS,
    4 * HOURS,
    0,
  ),
  ...(
    [
      ['a context eight times as long as any request', true, 'llama.cpp', 4_000],
      ['a context that a request has used', false, 'llama.cpp', 20_000],
      ['a long context over a shared pool', false, 'vllm', 4_000],
    ] as const
  ).map(([name, fires, server, longest]) =>
    scene(
      name,
      contextOversized,
      fires,
      // The longest request since the start: a longer one stays the longest.
      (second) => one(second, { kv: 0.08, context: 32_768, longest: second < 1.15 * HOURS ? longest : 20_000 }, { server, context: 32_768, gib: 72 }),
      1.3 * HOURS,
      1.3 * HOURS,
      0,
    ),
  ),
]
