// A process whose allocator has to give its whole cache back again and again: each time it waits for the GPU, and asks for the same memory again.
import { allocatorRetriesTotal } from '../../metrics/process.ts'
import type { TypedFinding } from '../../model/finding.ts'
import type { Remedy } from '../../model/fault.ts'
import { gib } from '../../text/bytes.ts'
import { upperFirst } from '../../text/grammar.ts'
import { defineDetector } from './definition.ts'
import { flushesSince, noteFlushes, type Flush, type FlushRecord } from './parts/flushes.ts'
import { aboutOf, gpuText, processText } from './parts/who.ts'
import type { Track } from './parts/tracks.ts'

/** Windows of the reference's rule (pytorch-allocator.md, section 8: retries in 2 of 5 windows of a minute). */
const WINDOW_MS = 60_000
const LOOK_BACK_MS = 5 * WINDOW_MS
/** So often that it costs speed: from here on it is a warning, below it is information. */
const WARNING_PER_MINUTE = 1
/** The probe reports once a second. */
const FRESH_MS = 30_000

/** How many times something happened with at least a window between: a burst is one. */
function apart(flushes: readonly Flush[]): number {
  let counted = 0
  let last = Number.NEGATIVE_INFINITY
  for (const { t } of flushes) {
    if (t - last < WINDOW_MS) continue
    counted += 1
    last = t
  }
  return counted
}

function remedies({ sample }: Track): readonly Remedy[] {
  const native = sample?.expandable === false && (sample.backend ?? 'native') === 'native'
  return [
    { text: 'Keep to a few shapes: pad or bucket lengths, and allocate growing caches (such as a KV cache) once at their full length.' },
    ...(native
      ? [
          {
            text: 'Let segments grow, so that freed memory fits the next, larger request (PyTorch on Linux; 2.9 and newer also read PYTORCH_ALLOC_CONF).',
            command: 'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
          },
        ]
      : []),
    { text: 'Leave more memory free: a smaller batch, or a card that no other process uses.' },
    { text: 'Take torch.cuda.empty_cache() out of loops: what it gives back must be asked for again.' },
  ]
}

export const allocatorRetryStorm = defineDetector({
  id: 'allocator-retry-storm',
  kinds: ['allocator_retry_storm'],
  title: 'The allocator flushes its cache again and again',
  severity: 'warning',
  watches: [],
  everyMs: 10_000,
  options: {
    flushes: { default: 3, min: 2, max: 1000, help: 'flushes within five minutes that raise an incident' },
    quiet_minutes: { default: 10, min: 1, max: 120, help: 'minutes without a flush after which it is over' },
  },
  // Three in five minutes, of which two lie a minute apart; over when ten minutes have passed without one.
  expression: {
    promql: `max_over_time((
  increase(${allocatorRetriesTotal.name}[5m])
  * (increase(${allocatorRetriesTotal.name}[1m]) > bool 0)
  * (increase(${allocatorRetriesTotal.name}[225s] offset 75s) > bool 0)
)[10m:15s]) >= 3
and increase(${allocatorRetriesTotal.name}[10m]) > 0`,
  },
  create: ({ flushes: least, quiet_minutes: quietMinutes }, { tracks }) => {
    const records = new WeakMap<Track, FlushRecord>()
    const raised = new Set<Track>()

    const faulty = (track: Track, recent: readonly Flush[], t: number): TypedFinding => {
      const count = recent.reduce((sum, flush) => sum + flush.count, 0)
      const perMinute = count / (LOOK_BACK_MS / WINDOW_MS)
      const returned = recent.reduce((sum, flush) => sum + flush.returned, 0)
      const often = perMinute >= WARNING_PER_MINUTE
      const gave = returned > 0 ? `, and gave ${gib(returned)} back that it soon asked for again` : ''
      const where = gpuText(tracks, track.uuid)
      const { reserved_bytes: reserved, inactive_split_bytes: split } = track.sample?.stats ?? {}
      return {
        kind: 'allocator_retry_storm',
        key: track.key,
        about: aboutOf(track),
        state: 'faulty',
        severity: often ? 'warning' : 'info',
        title: `The allocator of ${processText(track)} flushes its cache again and again`,
        verdict: `${upperFirst(processText(track))} found no memory for a request ${count} times in the last 5 minutes on ${where} (${perMinute.toFixed(1)} a minute): each time it waited for the GPU, emptied its whole cache${gave}. That costs speed now, and shows that hardly any memory is left.`,
        facts: {
          retries: count,
          retries_per_minute: Math.round(perMinute * 10) / 10,
          since_ms: recent[0]?.t ?? t,
          ...(reserved === undefined ? {} : { reserved_bytes: reserved }),
          ...(split === undefined || track.sample?.expandable === true ? {} : { stranded_bytes: split }),
        },
        remedies: remedies(track),
      }
    }

    const judgeOne = (track: Track, record: FlushRecord, t: number): TypedFinding | undefined => {
      const said = { kind: 'allocator_retry_storm', key: track.key, about: aboutOf(track) } as const
      if (track.endedT !== undefined) {
        if (!raised.delete(track)) return undefined
        return { ...said, state: 'healthy', why: 'the process has ended' }
      }
      if (t - record.last.t > FRESH_MS) return { ...said, state: 'unknown', why: 'the probe is silent' }
      const recent = flushesSince(record, t - LOOK_BACK_MS)
      const count = recent.reduce((sum, flush) => sum + flush.count, 0)
      if (count >= least && apart(recent) >= 2) {
        raised.add(track)
        return faulty(track, recent, t)
      }
      const quietFrom = Math.max(record.wholeSince, record.flushes.at(-1)?.t ?? 0)
      if (t - quietFrom < quietMinutes * WINDOW_MS) return { ...said, state: 'unknown', why: 'not quiet for long enough' }
      raised.delete(track)
      return { ...said, state: 'healthy' }
    }

    return {
      ingest(event) {
        if (event.type !== 'allocator') return
        const track = tracks.get(event.uuid, event.pid)
        if (track !== undefined) noteFlushes(records, track, event)
      },
      judge(t) {
        const found: TypedFinding[] = []
        for (const track of tracks.all()) {
          const record = records.get(track)
          const finding = record === undefined ? undefined : judgeOne(track, record, t)
          if (finding !== undefined) found.push(finding)
        }
        return found
      },
    }
  },
})
