// Out of memory, started again, out of memory: three times is a loop; a crash of another kind, one that was survived and long pauses are none.
import { describe, expect, test } from 'vitest'
import { oomRestartLoop } from '../../../agent/diagnosis/detectors/oom-restart-loop/oom-restart-loop.ts'
import type { Event } from '../../../agent/model/event.ts'
import { containerEvent, firstFault, logLine, oomOf, statesOf, watch, type Moment, type Process } from './memory-scene.ts'

const MINUTES = 60
const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free.'

type Loop = {
  /** Seconds that a life lasts, and that pass before the next. */
  readonly life: number
  readonly pause: number
  readonly lives: number
  /** What is said at the end of a life: the second, its pid, which life. */
  readonly end: (second: number, pid: number, life: number) => readonly Event[]
  readonly peak?: (life: number) => number
  readonly process?: Partial<Process>
  readonly probed?: true
  /** The driver lists nothing. */
  readonly unlisted?: true
}
/** Lives one after another; the last one goes on. */
const lives =
  ({ life, pause, lives: count, end, peak = () => 79, process = { container: 'trainer' }, probed, unlisted }: Loop) =>
  (second: number): Moment => {
    const turn = Math.min(count, Math.floor(second / (life + pause)))
    const age = second - turn * (life + pause)
    const pid = 1_000 + turn
    const dies = turn < count
    const holds = peak(turn)
    const own: Process = {
      pid,
      ...process,
      ...(unlisted === true ? {} : { holds: age < 5 ? 1 : holds }),
      ...(probed === true ? { probe: { active: 40, reserved: holds - 1 } } : {}),
    }
    const started = age === 0 && process.container !== undefined ? [containerEvent(second, 'start', process.container)] : []
    if (dies && age >= life) return { processes: [], events: [] }
    return { processes: [own], events: [...started, ...(dies && age === life - 1 ? end(second, pid, turn) : [])] }
  }
const logAndEnd: Loop['end'] = (second) => [logLine(second, 'trainer', OOM), containerEvent(second, 'die', 'trainer', 1)]
const usual: Loop = { life: 200, pause: 20, lives: 5, end: logAndEnd }

type Case = { readonly name: string; readonly loop: Loop }
const quiet: readonly Case[] = [
  { name: 'nearly: two deaths, the third life goes on', loop: { ...usual, lives: 2 } },
  {
    name: 'crashes without a word of memory',
    loop: { ...usual, end: (s) => [logLine(s, 'trainer', 'ValueError: wrong shape'), containerEvent(s, 'die', 'trainer', 1)] },
  },
  {
    name: 'ends by themselves, exit 0, after an OOM that was caught',
    loop: { ...usual, end: (s) => [logLine(s, 'trainer', OOM), containerEvent(s, 'die', 'trainer', 0)] },
  },
  { name: 'deaths with half an hour between', loop: { ...usual, pause: 1_800, lives: 3 } },
  { name: 'programs with different needs in a container of one name', loop: { ...usual, peak: (life) => [79, 40, 20, 70, 30, 60][life] ?? 10 } },
  { name: 'failures that the program survives', loop: { ...usual, life: 3_000, end: () => [] } },
]
const firing: readonly Case[] = [
  { name: 'log and engine, with the driver', loop: usual },
  { name: 'log and engine alone', loop: { ...usual, unlisted: true } },
  { name: 'log alone: the driver’s list tells the end', loop: { ...usual, end: (s) => [logLine(s, 'trainer', OOM)] } },
  {
    name: 'a program without a container, told by its probe',
    loop: { ...usual, process: { name: 'train' }, probed: true, end: (s, pid) => [oomOf(s, pid, 4, { active: 70, reserved: 78 })] },
  },
  {
    name: 'the host’s memory, by the engine’s word',
    loop: { ...usual, end: (s) => [containerEvent(s, 'oom', 'trainer'), containerEvent(s, 'die', 'trainer', 137)] },
  },
  { name: 'lives of seconds', loop: { ...usual, life: 12, pause: 2 } },
  { name: 'lives of an hour', loop: { ...usual, life: 3_600, lives: 3 } },
  { name: 'a log line that comes after the end', loop: { ...usual, end: (s) => [containerEvent(s, 'die', 'trainer', 1), logLine(s, 'trainer', OOM)] } },
]

describe('OOM restart loop', () => {
  test.each(quiet)('says nothing of $name', ({ loop }) => {
    expect(statesOf(watch(oomRestartLoop, 2.5 * 60 * MINUTES, lives(loop)))).toEqual([])
  })

  test.each(firing)('tells with the third death of $name', ({ loop }) => {
    const fault = firstFault(watch(oomRestartLoop, 3.5 * 60 * MINUTES, lives(loop)))
    const third = 3 * loop.life + 2 * loop.pause
    expect(fault.second).toBeGreaterThanOrEqual(third - 1)
    expect(fault.second).toBeLessThanOrEqual(third + 90)
    expect(fault).toMatchObject({ severity: 'critical', facts: { deaths: 3 } })
  })

  test('counts one death for the ranks that fall together', () => {
    const end: Loop['end'] = (s, pid) => [
      oomOf(s, pid, 4, { active: 70, reserved: 78 }, 'trainer'),
      logLine(s, 'trainer', OOM),
      logLine(s, 'trainer', OOM),
      containerEvent(s, 'die', 'trainer', 1),
      logLine(s, 'trainer', OOM),
    ]
    expect(statesOf(watch(oomRestartLoop, 15 * MINUTES, lives({ ...usual, lives: 2, end })))).toEqual([])
  })

  test('says how often, how long each lived and what it held', () => {
    const turns = watch(oomRestartLoop, 12 * MINUTES, lives(usual))
    const { verdict, remedies, facts } = firstFault(turns)
    expect(verdict).toContain('Container trainer ran out of GPU memory 3 times')
    expect(verdict).toContain('each run lasted 3 min and held up to 79 GiB on GPU 0')
    expect(facts?.peak_bytes).toBe(79 * 2 ** 30)
    expect(remedies?.[0]?.command).toBe('docker update --restart=no trainer')
  })

  test('is over when a life outlasts the others, or when it is not started again', () => {
    const outlasts = watch(oomRestartLoop, 60 * MINUTES, lives({ ...usual, lives: 4 }))
    expect(statesOf(outlasts)).toEqual(['faulty critical', 'healthy'])
    expect(outlasts.at(-1)?.why).toMatch(/it has run for 10 min, longer than before/)
    const stopped = watch(oomRestartLoop, 60 * MINUTES, (second) => {
      const moment = lives({ ...usual, lives: 4 })(second)
      return second < 4 * 220 - 10 ? moment : { processes: [{ pid: 5, holds: 1 }] }
    })
    expect(stopped.at(-1)).toMatchObject({ state: 'healthy', why: 'it was not started again' })
  })

  test('stays while nobody would see it run again', () => {
    const turns = watch(oomRestartLoop, 60 * MINUTES, (second) =>
      second < 4 * 220 - 10 ? lives({ ...usual, lives: 4 })(second) : { processes: [], blind: true },
    )
    expect(statesOf(turns)).toEqual(['faulty critical'])
  })
})
