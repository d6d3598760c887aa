// How a run ended, from what engine, kernel and incidents say of it. Pure: exit code and signals are facts, the sender of a signal is named only where it was seen.
import type { Outcome } from '../model/job.ts'
import type { IncidentKind } from '../model/kinds.ts'
import { signalName, signalOfExitCode } from '../text/signals.ts'

export type SentSignal = { readonly t: number; readonly signal: number }
/** `words`: its own. Without an outcome, code, signal and incidents decide. */
export type ReportedOutcome = { readonly by: string; readonly words: string; readonly outcome?: Outcome | undefined }
export type EndFacts = {
  /** Unix ms. */
  readonly t: number
  readonly exitCode?: number | undefined
  /** Of a process that a signal ended; engines and shells say it by an exit code above 128. */
  readonly signal?: string | undefined
  /** Signals that were sent through the container engine, oldest first. */
  readonly sent?: readonly SentSignal[]
  /** When the kernel last killed one of its processes because memory ran out: engine, cgroup counter. */
  readonly oomKilledAt?: number | undefined
  /** What a scheduler or systemd says of the end. */
  readonly reported?: ReportedOutcome | undefined
  /** Why the engine could not start it. */
  readonly startError?: string | undefined
  /** Kinds of the incidents that fell in the run, the cause first. */
  readonly kinds?: readonly IncidentKind[]
  /** What the cause is called, as its own output says. */
  readonly title?: string | undefined
}
export type EndVerdict = { readonly outcome: Outcome; readonly reason: string; readonly signal?: string; readonly sentBy?: string }

/** What a run ended as when this is the cause. A kind that is not here leaves it to the exit code. */
const OUTCOME_OF_KIND: Readonly<Partial<Record<IncidentKind, Outcome>>> = {
  cuda_oom: 'out_of_memory',
  nvml_allocator_assert: 'out_of_memory',
  host_oom_kill: 'out_of_memory',
  host_memory: 'out_of_memory',
  gpu_lost: 'lost_gpu',
  gpu_missing: 'lost_gpu',
  container_lost_gpu: 'lost_gpu',
  driver_hung: 'lost_gpu',
  time_limit: 'time_limit',
  preempted: 'preempted',
  cancelled: 'cancelled',
}
const KIND_REASONS: Readonly<Partial<Record<Outcome, string>>> = {
  out_of_memory: 'It ran out of memory',
  lost_gpu: 'Its GPU was lost',
  time_limit: 'Its time limit was reached',
  preempted: 'It was preempted',
  cancelled: 'It was cancelled',
}

/** A worker that the kernel killed may take its parent down later, but not hours later. */
const OOM_WITHIN_MS = 60_000
/** `docker stop -t` gives a job up to so long to save its state. */
const STOP_WITHIN_MS = 15 * 60_000
/** What ends a program unless it handles it; HUP, USR1 and the like are often messages. */
const ENDING = new Set([2, 3, 9, 15])

/** Signals by which a program is ended from outside; the others are raised by its own fault. */
const FROM_OUTSIDE = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGXCPU'])
const CODES: Readonly<Record<number, string>> = {
  125: 'The container engine could not run it (exit code 125)',
  126: 'Its command cannot be executed (exit code 126)',
  127: 'Its command was not found (exit code 127)',
  128: 'It could not be started (exit code 128)',
}

function stoppedBy({ t, sent = [] }: EndFacts, signal: string | undefined): SentSignal | undefined {
  const near = sent.filter((one) => t - one.t <= STOP_WITHIN_MS && (ENDING.has(one.signal) || signalName(one.signal) === signal))
  // The first request to end says what was meant: SIGKILL follows SIGTERM when the grace period is over.
  return near.find(({ signal: number }) => number !== 9) ?? near[0]
}

/** With a cause that names the end, the code alone would say less: an out-of-memory error exits with 1. */
function byIncident(kinds: readonly IncidentKind[]): Outcome | undefined {
  for (const kind of kinds) if (OUTCOME_OF_KIND[kind] !== undefined) return OUTCOME_OF_KIND[kind]
  return undefined
}

export function outcomeOf(end: EndFacts): EndVerdict {
  const { t, exitCode: code, oomKilledAt, reported, startError, kinds = [], title } = end
  const signal = end.signal ?? (code === undefined ? undefined : signalOfExitCode(code))
  const named = signal === undefined ? {} : { signal }
  const how = signal === undefined ? (code === undefined ? '' : ` (exit code ${code})`) : ` (${signal}${code === undefined ? '' : `, exit code ${code}`})`

  if (reported?.outcome !== undefined) return { outcome: reported.outcome, reason: `${reported.by} says: ${reported.words}${how}`, ...named }
  const stop = stoppedBy(end, signal)
  const isOom = oomKilledAt !== undefined && Math.abs(t - oomKilledAt) <= OOM_WITHIN_MS
  if (stop !== undefined && !(isOom && oomKilledAt < stop.t)) {
    const name = signalName(stop.signal) ?? `signal ${stop.signal}`
    return stop.signal === 9
      ? { outcome: 'killed', reason: `Killed through the container engine${how}`, ...named, sentBy: 'container engine' }
      : { outcome: 'cancelled', reason: `Stopped through the container engine with ${name}${how}`, ...named, sentBy: 'container engine' }
  }
  if (code === 0) return { outcome: 'completed', reason: 'Completed (exit code 0)' }
  if (isOom && (signal === 'SIGKILL' || signal === undefined))
    return {
      outcome: 'out_of_memory',
      reason: signal === undefined && code !== undefined ? `The OOM killer killed one of its processes${how}` : `Killed by the OOM killer${how}`,
      ...named,
      ...(signal === undefined ? {} : { sentBy: 'OOM killer' }),
    }
  const cause = byIncident(kinds)
  if (cause !== undefined) return { outcome: cause, reason: `${KIND_REASONS[cause] ?? cause}${how}`, ...named }
  if (startError !== undefined && startError !== '') return { outcome: 'failed', reason: `The container engine could not start it: ${startError}`, ...named }
  if (signal === 'SIGINT') return { outcome: 'cancelled', reason: `Interrupted${how}`, signal }
  if (signal !== undefined && FROM_OUTSIDE.has(signal))
    return { outcome: 'killed', reason: `Ended by ${signal}${code === undefined ? '' : ` (exit code ${code})`}; sender unknown`, signal }
  if (signal !== undefined) return { outcome: 'failed', reason: `Crashed with ${signal}${code === undefined ? '' : ` (exit code ${code})`}`, signal }
  if (code === 124) return { outcome: 'time_limit', reason: 'timeout ended it (exit code 124)' }
  if (code !== undefined) return { outcome: 'failed', reason: title === undefined ? (CODES[code] ?? `Failed with exit code ${code}`) : `${title}${how}` }
  if (kinds.length > 0) return { outcome: 'failed', reason: 'Ended after an error; its exit code is unknown' }
  return { outcome: 'unknown', reason: 'Ended; its exit code is unknown' }
}
