// More processes than there is room for: those that are known keep their past, the others wait until one has ended.
import { expect, test } from 'vitest'
import { createTracks, MAX_TRACKS } from '../../../agent/diagnosis/detectors/parts/tracks.ts'
import { createHostIdentityIndex, MAX_KNOWN } from '../../../agent/diagnosis/incidents/host-identity-index.ts'
import { processGpuMemoryBytes } from '../../../agent/metrics/process.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import { makeSeries, type Series } from '../../../agent/model/series.ts'

const T = 1_750_000_000_000
const BEYOND = 100
const ofPids = (from: number, count: number): readonly Series[] =>
  Array.from({ length: count }, (_, n) => makeSeries(processGpuMemoryBytes, { gpu: '0', uuid: 'GPU-0', pid: String(from + n), type: 'C' }))
const list = (t: number, series: readonly Series[]): Scrape => ({
  type: 'scrape',
  t,
  source: 'gpu',
  group: 'GPU-0/processes',
  ttlMs: 4_500,
  durationMs: 1,
  readings: series.map((of) => ({ series: of, value: 2 ** 24 })),
  gaps: [],
})

test('a track is not given up for a newcomer while its process lives, and is when it has ended', () => {
  const tracks = createTracks()
  const all = ofPids(1, MAX_TRACKS + BEYOND)
  tracks.ingest(list(T, all))
  const first = [...tracks.all()]
  tracks.ingest(list(T + 1_000, all))
  expect(first).toHaveLength(MAX_TRACKS)
  // The same objects: with others every process would have lost its past.
  expect([...tracks.all()].every((track, at) => track === first[at])).toBe(true)
  expect(tracks.get('GPU-0', MAX_TRACKS + 1)).toBeUndefined()

  // Three lists without them: they have ended, and stay known until someone needs the room.
  const rest = all.slice(BEYOND)
  for (const second of [2, 3, 4]) tracks.ingest(list(T + second * 1_000, rest))
  expect(tracks.get('GPU-0', BEYOND)?.endedT).toBe(T + 4_000)
  tracks.ingest(list(T + 5_000, rest))
  expect(tracks.get('GPU-0', MAX_TRACKS + BEYOND)?.firstT).toBe(T + 5_000)
  expect(tracks.get('GPU-0', BEYOND)).toBeUndefined()
  expect([...tracks.all()]).toHaveLength(MAX_TRACKS)
})

test('a process of a GPU that is no longer read makes room after an hour, and none that is heard of again', () => {
  const tracks = createTracks()
  tracks.ingest(list(T, ofPids(1, MAX_TRACKS)))
  const later = T + 3_600_001
  tracks.moveTo(later)
  tracks.ingest(list(later, ofPids(1, 1)))
  tracks.ingest(list(later + 1_000, ofPids(77_777, 1)))
  expect(tracks.get('GPU-0', 77_777)).toBeDefined()
  expect(tracks.get('GPU-0', 1)?.firstT).toBe(T)
  expect(tracks.get('GPU-0', 2)).toBeUndefined()
})

test('who is on a GPU stays known beside more than there is room for', () => {
  const witness = createHostIdentityIndex()
  const all = ofPids(1, MAX_KNOWN + BEYOND)
  for (const second of [0, 1, 2]) witness.ingest(list(T + second * 1_000, all))
  expect(witness.processes(T + 2_000).map(({ pid }) => pid)).toEqual(all.slice(0, MAX_KNOWN).map((_, n) => n + 1))
  // Nobody is on it any more but the last ones: those that left make room when they are no longer believed to be there.
  const rest = all.slice(-2 * BEYOND)
  witness.ingest(list(T + 23_000, rest))
  expect(witness.processes(T + 23_000)).toHaveLength(rest.length)
})
