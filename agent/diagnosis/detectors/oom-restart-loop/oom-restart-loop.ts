// A program that runs out of memory, is started again, and runs out of memory again: one incident, with the number of times.
import { containerInfo } from '../../../metrics/container.ts'
import type { About, TypedFinding } from '../../../model/finding.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import { rangeText, spanText } from '../../../text/span.ts'
import { defineDetector } from '../definition.ts'
import { createOomDeaths, type Death, type Program } from './oom-deaths.ts'
import { gpuText } from '../parts/who.ts'

const MINUTE_MS = 60_000
const CONTAINERS = containerInfo.name
/** A run this many times longer than the longest of the loop, and at least this long, has come through. */
const OUTLASTS = 2
const OUTLASTS_AT_LEAST_MS = 10 * MINUTE_MS
/** Runs of one program need the same memory; the reference says within 3 % at the same sampling, but a flush just before the end hides some of it. */
const ALIKE = 0.2

const alike = (a: number | undefined, b: number | undefined): boolean => a === undefined || b === undefined || Math.abs(a - b) <= ALIKE * Math.max(a, b)

/** The newest deaths that follow one another: started again soon after, with the same need. */
export function loopOf(deaths: readonly Death[], gapMs: number): readonly Death[] {
  let first = deaths.length - 1
  while (first > 0) {
    const [before, after] = [deaths[first - 1], deaths[first]]
    if (before === undefined || after === undefined) break
    const idle = (after.bornT ?? after.t) - before.t
    if (idle > gapMs || before.memory !== after.memory || !alike(before.peakBytes, after.peakBytes)) break
    first -= 1
  }
  return deaths.slice(Math.max(0, first))
}

const durationsOf = (loop: readonly Death[]): readonly number[] => loop.flatMap(({ t, bornT }) => (bornT === undefined || t <= bornT ? [] : [t - bornT]))
const aboutOf = ({ uuid, container, containerId }: Program): About => ({
  ...(uuid === undefined ? {} : { uuid }),
  ...(container === undefined ? {} : { container }),
  ...(containerId === undefined ? {} : { containerId }),
})

function remedies({ container }: Program, memory: Death['memory']): readonly Remedy[] {
  return [
    {
      text: 'Stop the restarts until something has changed: each of them costs the time from its start or last checkpoint.',
      ...(container === undefined ? {} : { command: `docker update --restart=no ${container}` }),
    },
    memory === 'host'
      ? { text: 'Give it more host memory, or let it use less: fewer DataLoader workers, smaller prefetch, memory-mapped data.' }
      : { text: 'See the incident cuda_oom of the same container: it says why the request failed, and what would have fitted.' },
    ...(memory === 'host'
      ? []
      : [
          {
            text: 'If it always ends at the same place (the first evaluation, the longest input): make that smaller, and call torch.cuda.empty_cache() before it.',
          },
        ]),
  ]
}

export const oomRestartLoop = defineDetector({
  id: 'oom-restart-loop',
  kinds: ['oom_restart_loop'],
  title: 'Out of memory, started again, out of memory',
  severity: 'critical',
  watches: [CONTAINERS],
  everyMs: 5_000,
  options: {
    deaths: { default: 3, min: 2, max: 50, help: 'out-of-memory ends that make a loop' },
    gap_minutes: { default: 15, min: 1, max: 1440, help: 'minutes within which the next run must begin' },
  },
  expression: {
    none: 'only logs and probes show which ends were out of memory, and only its age whether a restart came through; restarts alone are no loop',
  },
  create: ({ deaths: least, gap_minutes: gapMinutes }, { tracks, present }) => {
    const deaths = createOomDeaths(tracks)
    const raised = new Set<string>()
    const gapMs = gapMinutes * MINUTE_MS

    const runs = (program: Program): boolean =>
      program.alive || present.of(CONTAINERS).some(({ series: { labels } }) => labels['container'] === program.container && labels['state'] === 'running')

    /** A source would see it if it ran. */
    const watched = ({ uuid }: Program, t: number): boolean => {
      const readT = uuid === undefined ? undefined : tracks.gpu(uuid)?.t
      return present.of(CONTAINERS).length > 0 || (readT !== undefined && t - readT < MINUTE_MS)
    }

    const faulty = (program: Program, loop: readonly Death[]): TypedFinding => {
      const first = loop[0]?.t ?? 0
      const last = loop.at(-1)?.t ?? 0
      const memory = loop.at(-1)?.memory ?? 'gpu'
      const peak = Math.max(0, ...loop.map(({ peakBytes }) => peakBytes ?? 0))
      const durations = durationsOf(loop)
      const [shortest, longest] = [Math.min(...durations), Math.max(...durations)]
      const each =
        durations.length === 0 ? '' : `; each run lasted ${spanText(shortest) === spanText(longest) ? spanText(longest) : rangeText(shortest, longest)}`
      const where = program.uuid === undefined ? '' : ` on ${gpuText(tracks, program.uuid)}`
      const held = peak === 0 || memory === 'host' ? '' : ` and held up to ${gib(peak)}${where}`
      const who = program.container === undefined ? `Program ${program.name}` : `Container ${program.name}`
      return {
        kind: 'oom_restart_loop',
        key: program.key,
        about: aboutOf(program),
        state: 'faulty',
        severity: 'critical',
        title: `${who} keeps running out of ${memory === 'host' ? 'host' : 'GPU'} memory`,
        verdict: `${who} ran out of ${memory === 'host' ? 'host' : 'GPU'} memory ${loop.length} times within ${spanText(last - first)} and was restarted each time${each}${held}. It will crash again unless something changes.`,
        facts: { deaths: loop.length, since_ms: first, ...(peak === 0 || memory === 'host' ? {} : { peak_bytes: peak }) },
        remedies: remedies(program, memory),
      }
    }

    const judgeOne = (program: Program, t: number): TypedFinding | undefined => {
      const loop = loopOf(program.deaths, gapMs)
      const last = loop.at(-1)
      if (last === undefined) return undefined
      const said = { kind: 'oom_restart_loop', key: program.key, about: aboutOf(program) } as const
      const over = (why: string): TypedFinding | undefined => {
        program.deaths = []
        return raised.delete(program.key) ? { ...said, state: 'healthy', why } : undefined
      }
      const born = program.bornT
      if (born !== undefined && born > last.t) {
        const age = t - born
        if (runs(program) && age >= Math.max(OUTLASTS_AT_LEAST_MS, OUTLASTS * Math.max(0, ...durationsOf(loop))))
          return over(`it has run for ${spanText(age)}, longer than before`)
      } else if (t - last.t > gapMs && !runs(program) && watched(program, t)) {
        return over('it was not started again')
      }
      if (loop.length < least) return undefined
      raised.add(program.key)
      return faulty(program, loop)
    }

    return {
      ingest: deaths.ingest,
      judge(t) {
        deaths.settle(t)
        const found: TypedFinding[] = []
        for (const program of deaths.programs()) {
          const finding = program.deaths.length === 0 ? undefined : judgeOne(program, t)
          if (finding !== undefined) found.push(finding)
        }
        return found
      },
    }
  },
})
