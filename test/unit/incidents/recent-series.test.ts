// What evidence is cut from is bounded: a crowd of processes is told of once, and takes no GPU's place.
import { expect, test } from 'vitest'
import type { Event } from '../../../agent/model/event.ts'
import { createRecentSeries } from '../../../agent/diagnosis/incidents/recent-series.ts'
import { reading, scrape, T, uuid } from './scene.ts'

const ROOM = 200
const crowd = (t: number, from: number, count: number): Event =>
  scrape(
    t,
    'gpu',
    Array.from({ length: count }, (_, n) => reading('process_gpu_memory_bytes', { gpu: '0', uuid: uuid(0), pid: String(from + n) }, 1)),
  )
const card = (t: number): Event => scrape(t, 'gpu', [reading('gpu_memory_used_bytes', { gpu: '1', uuid: uuid(1) }, 5)])

function full() {
  const reported: number[] = []
  // A thousand places are kept for GPUs and the host.
  return { rings: createRecentSeries({ maxSeries: 1_000 + ROOM, onFull: (max) => reported.push(max) }), reported }
}

test('a GPU that comes after a crowd of processes is kept, and that processes are left out is told once', () => {
  const { rings, reported } = full()
  rings.ingest(crowd(T, 0, ROOM))
  expect(reported).toEqual([])
  rings.ingest(crowd(T, ROOM, 50))
  rings.ingest(crowd(T + 1_000, ROOM + 50, 50))
  expect(reported).toEqual([ROOM])
  rings.ingest(card(T + 1_000))
  expect(rings.size()).toBe(ROOM + 1)
  expect(rings.cut(({ metric }) => metric === 'warpwatch_gpu_memory_used_bytes', T, T + 2_000)).toEqual([
    { metric: 'warpwatch_gpu_memory_used_bytes', labels: { gpu: '1', uuid: uuid(1) }, t: [T + 1_000], value: [5] },
  ])
})

test('it is told again only after the crowd has gone', () => {
  const { rings, reported } = full()
  rings.ingest(crowd(T, 0, ROOM + 1))
  rings.ingest(card(T + 400_000))
  expect(rings.size()).toBe(1)
  rings.ingest(crowd(T + 401_000, 0, ROOM + 1))
  expect(reported).toEqual([ROOM, ROOM])
})
