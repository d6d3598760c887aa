// An out of memory that was caught, and half the work afterwards: told once; work as before, or nothing known of it, is not. With a log it is one story.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { batchHalving } from '../../../agent/diagnosis/detectors/batch-halving/batch-halving.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { eventsOf, firstFault, GIB, logLine, oomOf, statesOf, watch, type Moment, type Probe } from './memory-scene.ts'

const MINUTES = 60
const FAILS = 900
const FLOOR = 10
/** Steps of ten seconds between the floor and floor plus `work`. */
const step = (second: number, work: number, more: Partial<Probe> = {}): Probe => ({ active: FLOOR + (second % 10 < 3 ? work : 0), reserved: 75, ...more })
const moment = (probe: Probe, events: Moment['events'] = []): Moment => ({
  processes: [{ pid: 4242, container: 'trainer', holds: 76, probe }],
  events,
})
/** Fails at `FAILS` with `before`, then goes on with `after`. */
const failing =
  (before: number, after: number, attempt = 0, how: 'event' | 'counter' = 'event') =>
  (second: number): Moment => {
    if (second < FAILS) return moment(step(second, before))
    const probe = step(second, after, { ooms: 1 })
    const reported =
      second === FAILS && how === 'event' ? [oomOf(second, 4242, attempt === 0 ? 2 : attempt, { active: FLOOR + before, reserved: 78, ooms: 1 })] : []
    return moment(probe, reported)
  }

type Case = { readonly name: string; readonly tell: (second: number) => Moment }
const quiet: readonly Case[] = [
  { name: 'half the work without any failure', tell: (s) => moment(step(s, s < FAILS ? 60 : 30)) },
  { name: 'a failure after which it works as before', tell: failing(30, 30, 30) },
  { name: 'nearly: two thirds of the work', tell: failing(60, 40) },
  { name: 'a failure that ended the process', tell: (s) => (s < FAILS + 5 ? failing(60, 30)(s) : { processes: [{ pid: 9, holds: 1 }] }) },
  {
    name: 'work that never settles',
    tell: (s) => (s < FAILS ? failing(60, 30)(s) : moment(step(s, (s - FAILS) / 30, { ooms: 1 }), failing(60, 30)(s).events)),
  },
  {
    name: 'a failure after which nothing is known',
    tell: (s) => (s < FAILS + 20 ? failing(60, 30)(s) : { processes: [{ pid: 4242, container: 'trainer', holds: 76 }] }),
  },
]
const firing: readonly Case[] = [
  { name: 'half of what the plateau before needed', tell: failing(60, 30) },
  { name: 'the same, told by the counter alone', tell: failing(60, 30, 0, 'counter') },
  { name: 'half of a first long batch that failed', tell: failing(15, 31, 47) },
  {
    name: 'a failure in the first step',
    tell: (s) =>
      s < 5 ? moment({ active: 4, reserved: 5 }) : moment(step(s, 32, { ooms: 1 }), s === 5 ? [oomOf(s, 4242, 2, { active: 74, reserved: 78, ooms: 1 })] : []),
  },
]

describe('batch halving by numbers', () => {
  test.each(quiet)('says nothing of $name', ({ tell }) => {
    expect(statesOf(watch(batchHalving, 60 * MINUTES, tell))).toEqual([])
  })

  test.each(firing)('tells of $name', ({ tell }) => {
    const turns = watch(batchHalving, 60 * MINUTES, tell)
    expect(statesOf(turns)).toEqual(['faulty info'])
  })

  test('says what it always holds, what the work needed and needs', () => {
    const { verdict, facts } = firstFault(watch(batchHalving, 60 * MINUTES, failing(60, 30)))
    expect(verdict).toContain('beside the 10 GiB that it always holds')
    expect(verdict).toContain('30 GiB at once, 50 % of the 60 GiB before')
    expect(facts?.peak_bytes).toBe(70 * GIB)
  })

  test('counts several tries as one', () => {
    const tell = (s: number): Moment => {
      const tries = s < FAILS ? 0 : Math.min(3, 1 + Math.floor((s - FAILS) / 60))
      const again = tries > 0 && tries < 3 ? 60 : 60 / 2
      const reported = tries > 0 && s >= FAILS && s <= FAILS + 120 && (s - FAILS) % 60 === 0
      return moment(step(s, s < FAILS ? 60 : again, { ooms: tries }), reported ? [oomOf(s, 4242, 2, { active: 70, reserved: 78, ooms: tries })] : [])
    }
    const turns = watch(batchHalving, 60 * MINUTES, tell)
    expect(statesOf(turns)).toEqual(['faulty info'])
    expect(firstFault(turns).verdict).toContain('3 times')
  })
})

describe('with a log', () => {
  function incidentsOf(seconds: number, tell: (second: number) => Moment): readonly Incident[] {
    const found = new Map<string, Incident>()
    const detection = createDetection({ definitions: [batchHalving] })
    const diagnosis = createHeardDiagnosis({
      judge: createLogJudge(logScanner()).judge,
      detection,
      hostname: 'test',
      onChange: (incident) => void found.set(incident.id, incident),
    })
    for (let second = 0; second < seconds; second++) for (const event of eventsOf(second, tell(second))) diagnosis.ingest(event)
    diagnosis.flush()
    return [...found.values()]
  }
  const withLog = (second: number): Moment => {
    const plain = failing(60, 30)(second)
    return second === FAILS ? { ...plain, events: [...(plain.events ?? []), logLine(second, 'trainer', 'Batch size 64 failed, trying batch size 32')] } : plain
  }

  test('it is one incident, in the log’s words and with the figures of the numbers', () => {
    const incidents = incidentsOf(FAILS + 12 * MINUTES, withLog)
    expect(incidents.map(({ kind, count }) => [kind, count])).toEqual([['batch_halving', 1]])
    expect(incidents[0]?.verdict).toContain('batch from 64 to 32')
    expect(incidents[0]?.facts).toMatchObject({ batch_from: 64, batch_to: 32, peak_bytes: 70 * GIB })
    // What the probe alone saw of it is a part of the story.
    expect(incidents[0]?.consequences.map(({ kind }) => kind)).toEqual(['cuda_oom'])
  })

  test('without one it is told by the numbers alone, and over ten minutes later', () => {
    const incidents = incidentsOf(FAILS + 30 * MINUTES, failing(60, 30))
    expect(incidents.map(({ kind, status }) => [kind, status])).toEqual([['batch_halving', 'resolved']])
  })
})
