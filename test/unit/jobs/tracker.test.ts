// Jobs and runs by the events of the pipeline: starts and ends of containers, restarts of the agent.
import { describe, expect, test } from 'vitest'
import { containerJob } from '../../../agent/jobs/identity.ts'
import { containerInfo, containerMemoryBytes, containerOomKillsTotal } from '../../../agent/metrics/container.ts'
import { processInfo } from '../../../agent/metrics/process.ts'
import type { Labels } from '../../../agent/model/series.ts'
import { A, B, GIB, GPU, T, reading, useTracker } from './tracker-scene.ts'

const { tracker, event, scrape, second, rows, named, restarted } = useTracker()

/** The only container in its engine's list. */
const list = (id: string, t: number, labels: Labels): void => scrape('containers', 'identity', t, [reading(containerInfo, { ...labels, container_id: id }, 1)])

describe('containers', () => {
  test('each start is a run with a number, under the id of the job', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 1 })
    event(A, 'start', T + 6_000)
    expect(named('train')).toMatchObject([
      { run: 2, started_at: T + 6_000 },
      { run: 1, started_at: T, ended_at: T + 5_000, outcome: 'failed', exit_code: 1 },
    ])
    expect(new Set(named('train').map(({ job_id: id }) => id)).size).toBe(1)
  })

  test('compose services and pods are jobs, whatever their containers are called', () => {
    const of = (labels: Labels) => containerJob({ container_id: 'cccccccccccc', ...labels })
    const service = of({ container: 'shop-web-1', compose_project: 'shop', compose_service: 'web' })
    expect(service).toMatchObject({ job: 'web', kind: 'container' })
    expect(of({ container: 'shop-web-2', compose_project: 'shop', compose_service: 'web' })?.job_id).toBe(service?.job_id)
    expect(of({ container: 'shop-web-1', compose_project: 'test', compose_service: 'web' })?.job_id).not.toBe(service?.job_id)
    expect(of({ container: 'main', pod: 'train-0', namespace: 'ml' })).toMatchObject({ job: 'train-0', kind: 'pod', namespace: 'ml' })
    expect(containerJob({ container: 'x' })).toBeUndefined()
  })

  test('compose labels come with the start, and a start told late is no second run', () => {
    event(A, 'start', T, { compose_project: 'shop', compose_service: 'web' })
    expect(rows()).toMatchObject([{ job: 'web', run: 1 }])
    // Seen at work first, without a name.
    list(B.container_id, T + 1_000, { container: B.container_id })
    event(B, 'start', T + 900)
    list(B.container_id, T + 31_000, { container: B.container })
    expect(named('serve')).toMatchObject([{ run: 1, started_before: true }])
    expect(rows()).toHaveLength(2)
  })

  test('whose job becomes known later gets that job’s next number, and the row it had is given up', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 0 })
    tracker().changed(true)
    const id = 'cccccccccccc'
    list(id, T + 10_000, { container: id })
    const [before] = tracker().changed(false)
    list(id, T + 11_000, A)
    expect(tracker().changed(false)).toMatchObject([
      { row: { job: 'train', run: 2, started_at: T + 10_000 }, former: [{ job_id: before?.row.job_id, run: 1 }] },
    ])
    list(id, T + 12_000, A)
    expect(
      tracker()
        .changed(true)
        .flatMap(({ former = [] }) => former),
    ).toEqual([])
  })

  describe('of an engine that answers late, so that an id stands in for the name', () => {
    const unnamed = { container: A.container_id, container_id: A.container_id }
    test('a list that knows less does not take the name away again', () => {
      list(A.container_id, T, unnamed)
      event(A, 'start', T)
      list(A.container_id, T + 1_000, unnamed)
      expect(rows()).toMatchObject([{ job: 'train', run: 1 }])
      event(A, 'die', T + 2_000, { exit_code: 1 })
      expect(rows()).toMatchObject([{ job: 'train', run: 1, outcome: 'failed' }])
    })
    test('its end names it, and so does a start or end that is reported after it is gone', () => {
      list(A.container_id, T, unnamed)
      event(A, 'die', T + 2_000, { exit_code: 1 })
      expect(rows()).toMatchObject([{ job: 'train', run: 1, outcome: 'failed' }])
      const other = { container: B.container_id, container_id: B.container_id }
      list(B.container_id, T + 3_000, other)
      event(other, 'die', T + 5_000, { exit_code: 1 })
      event(B, 'start', T + 3_000)
      event(B, 'die', T + 5_000, { exit_code: 1 })
      expect(named('serve')).toMatchObject([{ run: 1, outcome: 'failed' }])
      expect(rows()).toHaveLength(2)
    })
    test('a restart right after the end is a run of its own', () => {
      list(A.container_id, T, unnamed)
      event(A, 'die', T + 500, { exit_code: 1 })
      event(A, 'start', T + 1_000)
      expect(named('train')).toMatchObject([{ run: 2 }, { run: 1, outcome: 'failed' }])
    })
  })

  test('two rows of one run become one when an agent takes them up', () => {
    event(A, 'start', T)
    const [stale] = tracker().changed(true)
    const row = stale === undefined ? undefined : { ...stale.row, job_id: 'feedfeedfeedfeed', job: 'web', run: 7, seen_at: T + 3_000 }
    if (stale === undefined || row === undefined) throw new Error('nothing was stored')
    event(A, 'die', T + 3_000)
    tracker().changed(true)
    tracker().restore([{ ...stale, row }, stale])
    expect(tracker().changed(false)).toMatchObject([{ row: { job: 'web', run: 7 }, former: [{ job_id: stale.row.job_id, run: 1 }] }])
  })

  test('a stop through the engine is no failure, and two words of one end are one run', () => {
    event(A, 'start', T)
    event(A, 'kill', T + 1_000, { signal: 15 })
    event(A, 'die', T + 2_000, { exit_code: 143 })
    event(A, 'die', T + 2_000, { exit_code: 143 })
    expect(rows()).toMatchObject([{ run: 1, outcome: 'cancelled', sent_by: 'container engine' }])
  })

  test('a signal that is reported after the end still shows who sent it, and counts for the run at its time', () => {
    event(A, 'start', T)
    event(A, 'die', T + 2_000, { exit_code: 137 })
    expect(named('train')).toMatchObject([{ outcome: 'killed' }])
    event(A, 'start', T + 3_000)
    event(A, 'kill', T + 1_000, { signal: 15 })
    event(A, 'kill', T + 2_001, { signal: 9 })
    event(A, 'die', T + 4_000, { exit_code: 0 })
    expect(named('train')).toMatchObject([
      { run: 1, outcome: 'cancelled', sent_by: 'container engine' },
      { run: 2, outcome: 'completed' },
    ])
  })

  test('an OOM kill is seen by the counter, by the event before the end and by the one after it', () => {
    event(A, 'start', T)
    scrape('containers', 'numbers', T + 1_000, [reading(containerOomKillsTotal, A, 0)])
    scrape('containers', 'numbers', T + 2_000, [reading(containerOomKillsTotal, A, 1)])
    event(A, 'die', T + 2_500, { exit_code: 137 })
    event(B, 'start', T)
    event(B, 'die', T + 3_000, { exit_code: 137 })
    expect(named('serve')).toMatchObject([{ outcome: 'killed' }])
    event(B, 'oom', T + 3_000)
    expect(rows().map(({ outcome }) => outcome)).toEqual(['out_of_memory', 'out_of_memory'])
  })

  test('without an engine it begins when it is seen, and ends as unknown when it is not listed any more', () => {
    scrape('containers', 'identity', T, [reading(containerInfo, A, 1)])
    scrape('containers', 'numbers', T, [reading(containerMemoryBytes, A, 3 * GIB)])
    expect(rows()).toMatchObject([{ started_at: T, started_before: true, memory_peak_bytes: 3 * GIB }])
    scrape('containers', 'identity', T + 10_000, [])
    tracker().tick(T + 11_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker().tick(T + 14_000)
    expect(rows()).toMatchObject([{ ended_at: T + 10_000, outcome: 'unknown' }])
  })

  test('an end that its engine tells after the container was missed is the end of that run, with the signal before it', () => {
    const unnamed = { container: A.container_id, container_id: A.container_id }
    list(A.container_id, T, unnamed)
    scrape('containers', 'identity', T + 10_000, [])
    tracker().tick(T + 14_000)
    expect(rows()).toMatchObject([{ outcome: 'unknown' }])
    // Stamped seconds after its processes were seen, yet no second start.
    event(A, 'start', T + 4_000)
    event(A, 'kill', T + 9_000, { signal: 9 })
    event(A, 'die', T + 9_500, { exit_code: 137 })
    event(A, 'die', T + 9_500, { exit_code: 137 })
    expect(rows()).toMatchObject([{ job: 'train', run: 1, outcome: 'killed', sent_by: 'container engine', ended_at: T + 9_500 }])
    event(A, 'start', T + 15_000)
    expect(named('train')).toMatchObject([{ run: 2 }, { run: 1, outcome: 'killed' }])
  })

  test('a signal from before it was seen first counts for it, though it has ended since', () => {
    list(A.container_id, T, A)
    event(A, 'die', T + 1_000, { exit_code: 137 })
    event(A, 'kill', T - 50, { signal: 9 })
    expect(rows()).toMatchObject([{ outcome: 'killed', sent_by: 'container engine' }])
  })

  test('a list that was made before the end opens nothing', () => {
    event(A, 'start', T)
    event(A, 'die', T + 5_000, { exit_code: 0 })
    scrape('containers', 'identity', T + 5_001, [reading(containerInfo, { ...A, started: String(T / 1_000) }, 1)])
    second(T + 5_001, 1, 300, [[{ ...A, pid: '7' }, GIB]])
    expect(rows()).toHaveLength(1)
  })

  test('one that started and is never listed is asked for, and closed when nobody knows of it', () => {
    event(A, 'start', T)
    tracker().tick(T + 10_000)
    expect(tracker().unconfirmed()).toEqual([])
    tracker().tick(T + 30_000)
    expect(tracker().unconfirmed()).toEqual([A.container_id])
    tracker().tick(T + 80_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker().tick(T + 91_000)
    expect(rows()).toMatchObject([{ ended_at: T, outcome: 'unknown' }])
    expect(tracker().unconfirmed()).toEqual([])
  })

  test('one that could not be started is a run that failed', () => {
    event(A, 'create', T)
    event(A, 'die', T + 10, { exit_code: 127 })
    expect(rows()).toMatchObject([{ outcome: 'failed', reason: 'Its command was not found (exit code 127)' }])
  })
})

describe('a restart of the agent', () => {
  test('what still runs goes on with what it had used', () => {
    event(A, 'start', T)
    for (let s = 0; s <= 10; s++) second(T + s * 1_000, 1, 100, [[{ ...A, pid: '7' }, GIB]])
    restarted()
    expect(tracker().unconfirmed()).toEqual([A.container_id])
    scrape('containers', 'identity', T + 30_000, [reading(containerInfo, { ...A, started: String(T / 1_000) }, 1)])
    expect(tracker().unconfirmed()).toEqual([])
    for (let s = 30; s <= 40; s++) second(T + s * 1_000, 1, 100, [[{ ...A, pid: '7' }, GIB]])
    expect(rows()).toMatchObject([{ run: 1, started_at: T, gpu_seconds: { active: 20 }, energy_joules: 2_000 }])
  })

  test('what was started again meanwhile is a new run; the end of the old one is unknown', () => {
    event(A, 'start', T)
    tracker().tick(T + 1_000)
    restarted()
    scrape('containers', 'identity', T + 60_000, [reading(containerInfo, { ...A, started: String(T / 1_000 + 30) }, 1)])
    expect(named('train')).toMatchObject([
      { run: 2, started_at: T + 30_000 },
      { run: 1, ended_at: T, outcome: 'unknown' },
    ])
  })

  test('what nobody has seen again within a minute has gone', () => {
    event(A, 'start', T)
    restarted()
    tracker().tick(T + 100_000)
    expect(rows()[0]?.outcome).toBeUndefined()
    tracker().tick(T + 161_000)
    expect(rows()).toMatchObject([{ outcome: 'unknown' }])
  })
})

test('outcomes are counted when late words can no longer change them', () => {
  event(A, 'start', T)
  event(A, 'die', T + 1_000, { exit_code: 1 })
  const failed = () => tracker().figures().totals.get('train')?.runs.get('failed')
  tracker().tick(T + 2_000)
  expect(failed()).toBeUndefined()
  tracker().tick(T + 12_000)
  expect(failed()).toBe(1)
  tracker().tick(T + 13_000)
  expect(failed()).toBe(1)
})

test('who runs a container’s processes stays known when its engine lists it again', () => {
  const list = (t: number): void => scrape('containers', 'identity', t, [reading(containerInfo, A, 1)])
  list(T)
  scrape('process-details', '', T + 1_000, [reading(processInfo, { ...GPU, pid: '7', container_id: A.container_id, user: 'lab' }, 1)])
  list(T + 2_000)
  expect(rows().map(({ user }) => user)).toEqual(['lab'])
})

test('the user whom a label of a container names goes before that of its image', () => {
  event(A, 'start', T)
  scrape('process-details', '', T + 1_000, [reading(processInfo, { ...GPU, pid: '7', container_id: A.container_id, user: 'root' }, 1)])
  scrape('containers', 'identity', T + 2_000, [reading(containerInfo, { ...A, user: 'maya' }, 1)])
  scrape('process-details', '', T + 3_000, [reading(processInfo, { ...GPU, pid: '7', container_id: A.container_id, user: 'root' }, 1)])
  expect(rows().map(({ user }) => user)).toEqual(['maya'])
})
