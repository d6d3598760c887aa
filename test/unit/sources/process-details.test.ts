// Who runs a process on a GPU: user, command line and start, by a /proc made of text and through the views that the API shows.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createViews } from '../../../agent/http/views.ts'
import { processGpuMemoryBytes } from '../../../agent/metrics/process.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { ProcessIdentity } from '../../../agent/model/identity.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createProcessDetailsSource } from '../../../agent/sources/process-details.ts'
import { createGetent } from '../../../agent/sources/processes/getent.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'

const T = 1_800_000_000_000
const trainer = { id: 'a'.repeat(64), name: 'trainer' }
const PEOPLE: Readonly<Record<number, ProcessIdentity>> = {
  11: { pid: 11, startTicks: 500, name: 'python', uid: 1000 },
  12: { pid: 12, startTicks: 600, name: 'python', uid: 101_000, container: trainer },
  13: { pid: 13, startTicks: 700, name: 'vasp', uid: 4242 },
}

function scene(showsCommands = true, directoryName?: (uid: number) => string | undefined, people = PEOPLE) {
  const proc = mkdtempSync(join(tmpdir(), 'warpwatch-details-'))
  for (const pid of [1, 11, 12, 13]) mkdirSync(join(proc, `${pid}/root/etc`), { recursive: true })
  writeFileSync(join(proc, 'stat'), 'btime 1799999000\n')
  writeFileSync(join(proc, '1/root/etc/passwd'), 'ada:x:1000:1000:::\n')
  writeFileSync(join(proc, '12/root/etc/passwd'), 'model:x:1000:1000:::\n')
  writeFileSync(join(proc, '12/uid_map'), '0 100000 65536\n')
  for (const pid of [11, 12, 13]) writeFileSync(join(proc, `${pid}/cmdline`), `python\0train${pid}.py\0--token\0abcdefgh\0`)
  const latest = createLatestStore()
  const apply = (event: Event): void => (event.type === 'scrape' ? latest.apply(event) : undefined)
  const source = createProcessDetailsSource({
    procRoot: proc,
    identify: (pid) => people[pid],
    inventory: latest.inventory,
    showsCommands,
    ...(directoryName === undefined ? {} : { directoryName }),
  })
  const ticks: ((t: number) => unknown)[] = []
  const every = (_ms: number, run: (t: number) => unknown) => {
    ticks.push(run)
    return () => {}
  }
  void source.start({ emit: apply, every, log: { info() {}, warn() {}, error() {} } })
  const tick = (t: number) => {
    const readings = [11, 12, 13, 99].map((pid) => ({
      series: makeSeries(processGpuMemoryBytes, {
        gpu: '0',
        uuid: 'GPU-a',
        pid: String(pid),
        process: 'python',
        ...(pid === 12 ? { container_id: 'a'.repeat(12) } : {}),
      }),
      value: 5,
    }))
    apply({ type: 'scrape', t, source: 'gpu', group: '0', ttlMs: 5_000, durationMs: 0, readings, gaps: [] })
    for (const run of ticks) run(t)
    const views = createViews({ latest, hostname: 'h' })
    return views.rows().processes.map(({ pid, user, uid, command, start_timestamp_seconds: start }) => [pid, user, uid, command, start])
  }
  return { tick, latest }
}

test('user, command and start stand in the row of a process; one that nobody knows has none', () => {
  expect(scene().tick(T)).toEqual([
    [11, 'ada', '1000', 'python train11.py --token [redacted]', 1_799_999_005],
    [12, 'model', '101000', 'python train12.py --token [redacted]', 1_799_999_006],
    [13, '4242', '4242', 'python train13.py --token [redacted]', 1_799_999_007],
    [99, undefined, undefined, undefined, undefined],
  ])
})

test('command lines can be left out', () => {
  expect(
    scene(false)
      .tick(T)
      .map((row) => row[3]),
  ).toEqual([undefined, undefined, undefined, undefined])
})

test('a user of the directory service is named when it answers, and asked for once', async () => {
  let asked = 0
  const answered = Promise.withResolvers<void>()
  const getent = createGetent(async (command, args) => {
    asked++
    expect([command, ...args]).toEqual(['getent', 'passwd', '4242'])
    queueMicrotask(() => setImmediate(answered.resolve))
    return { kind: 'ended', stdout: 'grace:*:4242:100:Grace:/home/grace:/bin/sh\n', stderr: '', exitCode: 0, durationMs: 1 }
  })
  const { tick } = scene(true, getent)
  expect(tick(T)[2]?.[1]).toBe('4242')
  await answered.promise
  expect(tick(T + 2_000)[2]?.[1]).toBe('grace')
  tick(T + 4_000)
  expect(asked).toBe(1)
})

test('series stay the same objects while nothing changes', () => {
  const { tick, latest } = scene()
  const info = () => latest.of('warpwatch_process_info').map(({ series }) => series)
  tick(T)
  const before = info()
  tick(T + 61_000)
  expect(info().every((series, at) => series === before[at])).toBe(true)
})

test('what stays the same is told each ten seconds only, a change at once', () => {
  const people = { ...PEOPLE }
  const { tick, latest } = scene(true, undefined, people)
  const reportedAt = (): number | undefined => [...latest.groups()].find(({ source }) => source === 'process-details')?.t
  tick(T)
  tick(T + 2_000)
  expect(reportedAt()).toBe(T)
  people[11] = { pid: 11, startTicks: 900, name: 'python', uid: 1000 }
  expect(tick(T + 4_000)[0]?.[4]).toBe(1_799_999_009)
  expect(reportedAt()).toBe(T + 4_000)
  tick(T + 12_000)
  expect(reportedAt()).toBe(T + 4_000)
  tick(T + 14_000)
  expect(reportedAt()).toBe(T + 14_000)
})
