// Sampling does not wait for who holds the memory: however long that takes, readings, the end of the request and the next request come first.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createOwners } from '../../../agent/sources/gpu/owners.ts'
import { createGpuRegistry } from '../../../agent/sources/gpu/registry.ts'
import type { Sample } from '../../../agent/sampler/child-handle.ts'
import { processGpuMemoryBytes } from '../../../agent/metrics/process.ts'
import { runScript, until } from './harness.ts'

const GPUS = [0, 1, 2, 3, 4, 5]
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('all GPUs are read and the next request goes out before the owners of a second GPU are looked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-answered-'))
  const answered = join(folder, 'answered')
  writeFileSync(answered, '')
  const ticks: ((t: number) => unknown)[] = []
  const first = Math.floor(Date.now() / 1_000) * 1_000 + 60_000
  const next = first + 1_000
  let looks: number | undefined
  let before: readonly string[] = []
  const identify = (): undefined => {
    if (looks === undefined) return
    looks++
    // As long as the child needs for its whole answer, which then is in the channel.
    if (looks === 1) for (let waited = 0; readFileSync(answered, 'utf8') !== '2' && waited < 15_000; waited += 5) pause(5)
    if (looks !== 2) return
    before = groupsAt(first)
    ticks[0]?.(next)
  }
  const processes = [{ pid: 7, type: 'C', bytes: 3_000 }]
  await using running = runScript({ gpus: GPUS.length, processes, answered }, { identify }, (_, run) => {
    ticks.push(run)
    return () => {}
  })
  const groupsAt = (t: number): readonly string[] => running.scrapes.filter((scrape) => scrape.t === t).map(({ group }) => group)
  const lists = (): number => running.scrapes.filter(({ group }) => group.endsWith('/processes')).length
  await until('the first lists', () => lists() === GPUS.length)

  looks = 0
  ticks[0]?.(first)
  await until('readings of the next second', () => GPUS.every((gpu) => groupsAt(next).includes(`GPU-${gpu}/fast`)))
  expect(before).toEqual(expect.arrayContaining([...GPUS.map((gpu) => `GPU-${gpu}/fast`), 'age']))
  await until('the lists of the next second', () => GPUS.every((gpu) => groupsAt(next).includes(`GPU-${gpu}/processes`)))
  const newest = running.scrapes.findLast(({ group }) => group === 'GPU-5/processes')
  expect(newest?.readings.find(({ series }) => series.metric.name === processGpuMemoryBytes.name)?.value).toBe(3_000)
  rmSync(folder, { recursive: true, maxRetries: 5 })
})

function scene() {
  const registry = createGpuRegistry(() => 0)
  const said: string[] = []
  const owners = createOwners({
    identify: (pid) => {
      if (pid === 666) throw new Error('no such thing')
      return undefined
    },
    found: ({ index }, t, _rate, readings) => said.push(`GPU ${index} at ${t}: ${readings.flatMap(({ series }) => series.labels['pid'] ?? []).join()}`),
    failed: (error) => said.push(String(error)),
  })
  const gpu = (index: number) => registry.sampled(index, `GPU-${index}`)
  const list = (index: number, t: number, pids: readonly number[]): void => {
    const base = { type: 'gpu', id: 1, index, uuid: `GPU-${index}`, rate: 'fast', durationMs: 1, series: [], values: [] } as const
    const sample: Sample = { sample: { ...base, processes: pids.map((pid) => ({ pid, type: 'C', bytes: 1 })) }, readings: [], gaps: [], t }
    owners.add(gpu(index), sample)
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { owners, said, gpu, list, turn }
}

test('one GPU a turn, in their order, each with its newest list', async () => {
  const { said, list, turn } = scene()
  list(0, 1, [10])
  list(1, 1, [11])
  expect(said, 'not while the samples come in').toEqual([])
  await turn()
  expect(said.splice(0)).toEqual(['GPU 0 at 1: 10'])
  list(0, 2, [20])
  list(1, 2, [21])
  await turn()
  expect(said.splice(0)).toEqual(['GPU 1 at 2: 21'])
  await turn()
  expect(said.splice(0)).toEqual(['GPU 0 at 2: 20'])
  await turn()
  expect(said).toEqual([])
})

test('what a GPU said before it fell silent is not told afterwards', async () => {
  const { owners, said, gpu, list, turn } = scene()
  list(0, 1, [10])
  list(1, 1, [11])
  owners.drop(gpu(0))
  await turn()
  expect(said.splice(0)).toEqual(['GPU 1 at 1: 11'])
  list(0, 2, [10])
  owners.stop()
  await turn()
  expect(said).toEqual([])
})

test('one that fails is told, and the next has its turn', async () => {
  const { said, list, turn } = scene()
  list(0, 1, [666])
  list(1, 1, [11])
  await turn()
  await turn()
  expect(said).toEqual(['Error: no such thing', 'GPU 1 at 1: 11'])
})
