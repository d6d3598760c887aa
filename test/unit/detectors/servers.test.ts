// Detectors of inference servers: each in its scenes and in those of the others, and over hours of ordinary load.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import * as registry from '../../../agent/diagnosis/detectors/index.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Finding } from '../../../agent/model/finding.ts'
import { rounds } from '../../setup/rounds.ts'
import { serverScenes } from '../../setup/rule-scenes/servers.ts'
import { timeOf } from '../../setup/rule-scenes/scene.ts'
import { hostEvents, says } from './server-scene.ts'

const { kvCacheStarved, serverUnderfed, serverSilent, modelOnCpu, engineDead, modelLoadStuck, cacheReservedIdle, contextOversized } = registry
const definitions = [kvCacheStarved, serverUnderfed, serverSilent, modelOnCpu, engineDead, modelLoadStuck, cacheReservedIdle, contextOversized]

function faultsOf(seconds: number, tell: (second: number) => readonly Event[]): readonly Finding[] {
  const detection = createDetection({
    definitions,
    onFailure: (id, error) => {
      throw new Error(id, { cause: error })
    },
  })
  const found: Finding[] = []
  for (let second = 0; second < seconds; second++) {
    for (const event of tell(second)) detection.ingest(event)
    found.push(...detection.judge(timeOf(second)).filter(({ state }) => state === 'faulty'))
  }
  return found
}
const kindsOf = (found: readonly Finding[]): readonly string[] => [...new Set(found.map(({ kind }) => kind))]

describe('scenes', () => {
  test.each(serverScenes.map((scene) => [scene.name, scene] as const))('%s', (_, { detector, fires, seconds, tell }) => {
    expect(kindsOf(faultsOf(seconds, tell))).toEqual(fires ? detector.kinds : [])
  })
})

describe('figures that fit', () => {
  const textOf = (name: string): string => {
    const scene = serverScenes.find((one) => one.name === name)
    const [first] = scene === undefined ? [] : faultsOf(scene.seconds, scene.tell)
    return first?.state === 'faulty' ? [first.verdict, ...first.remedies.map(({ text }) => text)].join('\n') : ''
  }
  test('a cache that may grow into what is free, by how much and to which share', () => {
    const said = textOf('a full cache and a queue')
    expect(said).toContain('99 % full; 12 requests wait and 8 run')
    // 80 GiB, of which 72.5 are used and 1 is kept: 6.5 GiB, at 100,000 tokens in 40 GiB; 0.9 + 6.5 / 80.
    expect(said).toContain('--gpu-memory-utilization 0.98 instead of 0.9')
    expect(said).toContain('16,250 tokens more')
    expect(said).toContain('--max-num-seqs 6')
  })
  test('what is missing on the card, the layers, and who has it', () => {
    const said = textOf('a model half on the CPU')
    expect(said).toContain('40 % of the model')
    expect(said).toContain('20 of 33 layers')
    // 30 GiB are the other 60 %.
    expect(said).toContain('20 GiB of GPU memory are missing')
    expect(said).toContain('container trainer (50 GiB)')
    expect(said).toContain('OLLAMA_CONTEXT_LENGTH=4096 instead of 8192')
  })
  test('the share that holds what was used, with a fifth to spare', () => {
    const said = textOf('a cache that nobody uses, and a neighbour that fails')
    expect(said).toContain('at most 8 %')
    expect(said).toContain('container trainer ran out of memory')
    // 40 GiB × (1 − 0.08 × 1.2) = 36.16 GiB of 80: 0.9 − 0.452.
    expect(said).toContain('--gpu-memory-utilization 0.45 instead of 0.9')
  })
  test('a context that holds the longest request with a quarter to spare, for each of the requests in parallel', () => {
    const said = textOf('a context eight times as long as any request')
    expect(said).toContain('keeps 40 GiB of GPU 0 for requests of 32768 tokens. Its longest request had 4000 tokens')
    // 4,000 × 1.25 = 5,000, in steps of 1,024: 5,120; 100,000 tokens of cache are three times 32,768. 40 GiB × (1 − 5,120 / 32,768).
    expect(said).toContain('--ctx-size 15360 (5120 tokens for each of 3 requests): it frees about 33.8 GiB')
    expect(said).toContain('--cache-type-k q8_0')
  })
})

/** By day and by night. */
const HOURS = rounds({ full: 8, quick: 4 })
test(`${HOURS} hours of ordinary load of four servers: none`, () => {
  let seed = 7
  const random = (): number => ((seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31), seed / 2 ** 31)
  let generated = 0
  const found = faultsOf(HOURS * 3_600, (second) => {
    // Day and night, bursts of a minute, nobody for minutes.
    const day = Math.max(0, Math.sin((second / 3_600 / 8) * Math.PI * 3))
    const burst = second % 1_200 < 50
    const running = Math.round(day * 12 + (burst ? 30 : 0) + random() * 2)
    generated += running * 30
    const kv = Math.min(1, running / 45 + random() * 0.05)
    const values = says({
      running,
      waiting: burst ? Math.round(random() * 12) : 0,
      kv,
      preempted: Math.floor(second / 1_200),
      generated,
      weightsGib: 15,
      cacheGib: 40,
      // Slow for a minute in the thick of it.
      unanswered: burst && second % 3_600 < 50 ? second % 1_200 : 0,
    })
    const loads = second % 7_200 < 240
    return hostEvents(second, {
      utilization: running > 0 ? 0.7 + random() * 0.3 : 0,
      servers: [
        { name: 'chat', gib: 60, share: 0.75, cores: 1, values },
        { name: 'embed', server: 'tei', gib: 3, values: says({ running: 0, waiting: random() < 0.1 ? 20 : 0 }) },
        loads
          ? { name: 'ollama', server: 'ollama', state: 'loading', gib: (second % 7_200) / 40, cores: 2 }
          : { name: 'ollama', server: 'ollama', gib: 6, values: says({ offloaded: 0 }) },
        {
          name: 'night',
          server: 'llama.cpp',
          state: day < 0.1 ? 'sleeping' : 'ready',
          gib: 2,
          values: says({ running: 0, waiting: 0, generated: 0, context: 8_192, longest: 3_000, cacheGib: 4 }),
        },
      ],
      others: [{ pid: 4_000 + Math.floor(second / 3_000), container: 'notebook', gib: 2 }],
    })
  })
  expect(found).toEqual([])
})
