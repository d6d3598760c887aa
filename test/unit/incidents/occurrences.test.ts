// A fault that comes again: the page is of the newest occurrence alone, and those before keep their own process, verdict, lines and memory.
import { expect, test } from 'vitest'
import type { Event } from '../../../agent/model/event.ts'
import { CONTEXT, GIB, message, oomOf, secondOf, TOTAL, trainer, TRAINER } from './oom-scene.ts'
import { createScene, happened, line, only, T } from './scene.ts'

/** The same second of a run with another pid. */
const ofRun = (event: Event, pid: number): Event => {
  if (event.type === 'allocator' || event.type === 'allocator_oom') return { ...event, pid }
  if (event.type !== 'scrape' || event.source !== 'processes') return event
  return {
    ...event,
    readings: event.readings.map((one) => ({
      ...one,
      series: { ...one.series, key: `${one.series.key} ${pid}`, labels: { ...one.series.labels, pid: String(pid) } },
    })),
  }
}

test('a crash loop: newest first, none mixed with another', () => {
  const scene = createScene()
  const free = TOTAL - 21 * GIB - CONTEXT
  const fails = (from: number, pid: number, asked: number): void => {
    for (let second = 0; second < 90; second++)
      scene.feed(...secondOf(from + second * 1_000, { allocated: 20 * GIB, reserved: 21 * GIB }).map((event) => ofRun(event, pid)))
    const t = from + 90_000
    scene.feed(
      ofRun(oomOf(t, 20 * GIB, 21 * GIB, asked * GIB, free), pid),
      line(t + 5, trainer, message(20 * GIB, 21 * GIB, asked * GIB, free)),
      happened(t + 900, 'die', trainer, 1),
    )
  }
  fails(T, TRAINER, 4)
  fails(T + 100_000, TRAINER + 1, 5)
  fails(T + 200_000, TRAINER + 2, 6)
  const incident = only(scene)
  expect(incident.count).toBe(3)
  expect([incident.facts.pid, incident.facts.requested_bytes]).toEqual([TRAINER + 2, 6 * GIB])
  expect(incident.occurred_at).toBe(T + 290_000)
  expect(incident.evidence.log_lines.filter(({ matched }) => matched).map(({ text }) => /allocate (\S+) GiB/.exec(text)?.[1])).toEqual(['6.00'])
  expect(incident.occurrences?.map(({ at, pid, facts }) => [at, pid, facts.requested_bytes])).toEqual([
    [T + 190_000, TRAINER + 1, 5 * GIB],
    [T + 90_000, TRAINER, 4 * GIB],
  ])
  expect(incident.occurrences?.map(({ log_lines: lines }) => lines.filter(({ matched }) => matched).length)).toEqual([1, 1])
  expect(incident.occurrences?.[0]?.verdict).toContain('asked for 5 GiB')
})

test('a container that is restarted within seconds: each run is an occurrence of its own', () => {
  const scene = createScene()
  const free = TOTAL - 21 * GIB - CONTEXT
  const fails = (t: number, asked: number): void => {
    for (let second = 15; second > 0; second--)
      scene.feed(...secondOf(t - second * 1_000, { allocated: 20 * GIB, reserved: 21 * GIB }).map((event) => ofRun(event, TRAINER + asked)))
    scene.feed(
      line(t, trainer, 'Traceback (most recent call last):'),
      line(t, trainer, `  File "/work/tune.py", line ${10 * asked}, in <module>`),
      line(t, trainer, '    model(batch)'),
      line(t + 5, trainer, message(20 * GIB, 21 * GIB, asked * GIB, free)),
      happened(t + 900, 'die', trainer, 1),
    )
  }
  for (const [run, asked] of [4, 5, 6].entries()) fails(T + run * 20_000, asked)
  const incident = only(scene)
  expect(incident.count).toBe(3)
  expect(incident.title).toContain('at tune.py:60')
  expect(incident.occurred_at).toBe(T + 40_005)
  expect(incident.facts.exit_code).toBe(1)
  expect(incident.evidence.log_lines.filter(({ matched }) => matched).map(({ text }) => /allocate (\S+) GiB/.exec(text)?.[1])).toEqual(['6.00'])
  expect(incident.occurrences?.map(({ facts: { requested_bytes, frame } }) => [requested_bytes, frame])).toEqual([
    [5 * GIB, 'tune.py:50'],
    [4 * GIB, 'tune.py:40'],
  ])
})
