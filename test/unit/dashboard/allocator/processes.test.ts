// Whose allocators the page knows: who speaks, who has ended, whom it begins with, who took whose place.
import { describe, expect, test } from 'vitest'
import type { AllocatorRow, SeriesRow } from '../../../../agent/model/live.ts'
import { beginWithOf, nameOf, oomsAmong, probedOf, successorOf } from '../../../../dashboard/src/features/allocator/process/processes.ts'

const row = (pid: number, gpu: string, more: Partial<AllocatorRow> = {}): AllocatorRow => ({
  pid,
  process: 'python',
  uuid: `GPU-${gpu}`,
  gpu,
  reserved_bytes: pid,
  ...more,
})
const past = (labels: Readonly<Record<string, string>>, max: readonly (number | null)[]): SeriesRow => ({
  metric: 'warpwatch_allocator_reserved_bytes',
  labels: { process: 'python', uuid: 'GPU-6', gpu: '6', ...labels },
  step_ms: 1000,
  t: max.map((_, i) => i * 1000),
  min: max,
  mean: max,
  max,
})

describe('processes with a probe', () => {
  test('who speaks comes first, by GPU; then who has ended, the latest first', () => {
    const all = probedOf(
      [row(9, '10'), row(7, '2'), row(5, '2')],
      [past({ pid: '1' }, [1, 2, null]), past({ pid: '2' }, [1, 2, 3]), past({ pid: '7', gpu: '2' }, [1])],
    )
    expect(all.map(({ pid, endedAt, reservedBytes }) => [pid, endedAt, reservedBytes])).toEqual([
      [5, undefined, 5],
      [7, undefined, 7],
      [9, undefined, 9],
      [2, 3000, 3],
      [1, 2000, 2],
    ])
  })
  test('of one process on two GPUs or instances each has a key; series without a reading are nobody', () => {
    const all = probedOf([row(5, '0'), row(5, '1'), row(5, '1', { gi: '3' })], [past({ pid: '6' }, [null, null])])
    expect(all.map(({ key }) => key)).toEqual(['5-0', '5-1', '5-1.3'])
  })
  test('the page begins with who has taken most of its GPU, whatever the room of the second; who tells none comes after, who has ended last', () => {
    const rows = [row(1, '0'), row(2, '1', { reserved_bytes: 60, headroom_bytes: 1 }), row(3, '2', { reserved_bytes: 45, headroom_bytes: 9 })]
    const all = probedOf(rows, [past({ pid: '4' }, [1_000])])
    expect(beginWithOf(all, [], ({ gpu }) => (gpu === '2' ? 50 : 100))?.pid).toBe(3)
    expect(beginWithOf(all, [], () => 100)?.pid).toBe(2)
    expect(
      beginWithOf(
        all.filter(({ pid }) => pid === 4 || pid === 1),
        [],
        () => 100,
      )?.pid,
    ).toBe(1)
    expect(beginWithOf([], [], () => 100)).toBeUndefined()
  })
  test('a firing incident about memory comes first: the process that it names, though it has ended, else who speaks of its container', () => {
    const all = probedOf([row(1, '0', { reserved_bytes: 90 }), row(2, '6', { container: 'tune' })], [past({ pid: '4', container: 'tune' }, [1])])
    const subject = { gpu: { uuid: 'GPU-6' }, container: { name: 'tune' } }
    const begin = (...firing: Parameters<typeof beginWithOf>[1]) => beginWithOf(all, firing, () => 100)?.pid
    expect(begin({ kind: 'cuda_oom', subject: { ...subject, process: { pid: 4 } } })).toBe(4)
    expect(begin({ kind: 'oom_restart_loop', subject })).toBe(2)
    expect(begin({ kind: 'throttling', subject })).toBe(1)
    expect(begin({ kind: 'cuda_oom', subject: { container: { name: 'unknown' } } }, { kind: 'memory_leak', subject: { process: { pid: 2 } } })).toBe(2)
  })
  test('its successor is of the same owner on the same GPU; without an owner nobody knows', () => {
    const all = probedOf(
      [row(8, '6', { container: 'trainer' }), row(9, '5', { container: 'trainer' })],
      [past({ pid: '4', container: 'trainer' }, [1]), past({ pid: '3' }, [1])],
    )
    const [before, alone] = [4, 3].map((pid) => all.find((one) => one.pid === pid))
    if (before === undefined || alone === undefined) throw new Error('expected both that ended')
    expect(successorOf(all, before)?.pid).toBe(8)
    expect(successorOf(all, alone)).toBeUndefined()
  })
  test('is named by its owner, else by its name', () => {
    const named = probedOf([row(5, '0', { slurm_job: '77' }), row(6, '1', { namespace: 'ml', pod: 'p', container: 'c', gi: '2' }), row(7, '2')], []).map(nameOf)
    expect(named).toEqual(['GPU 0 · pid 5 · Slurm job 77', 'GPU 1 instance 2 · pid 6 · ml/p/c', 'GPU 2 · pid 7 · python'])
  })
})

test('an incident that came again tells when its newest process ran out of memory, and nothing of another one or of another kind', () => {
  const subject = { gpu: { uuid: 'GPU-6' }, process: { pid: 7 } }
  const reported = [
    { kind: 'cuda_oom', subject, started_at: 1_000, occurred_at: 61_000 },
    { kind: 'cuda_oom', subject, started_at: 90_000 },
    { kind: 'cuda_oom', subject: { process: { pid: 8 } }, started_at: 2_000 },
    { kind: 'oom_restart_loop', subject, started_at: 3_000 },
  ] as const
  expect(oomsAmong(reported, 7)).toEqual([61_000, 90_000])
})
