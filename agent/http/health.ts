// /healthz and /readyz: does the process live, and does it still see the host.
import type { LatestStore } from '../store/latest.ts'

export type Readiness = {
  readonly ready: boolean
  /** Why not; absent when ready. */
  readonly reason?: string
  /** Age of the newest sample of GPUs or host; absent before the first. */
  readonly newest_sample_age_ms?: number
}

/** Sampling runs at 1 Hz; five missed seconds are no jitter. */
const STALE_AFTER_MS = 5_000

/** Sources that report the agent and its findings, not what it watches: they go on reporting when nothing is sampled any more. */
const OWN_SOURCES: ReadonlySet<string> = new Set([
  'agent',
  'incidents',
  'jobs',
  'notifications',
  'container-logs',
  'kernel-log',
  'log-files',
  'journald',
  'targets',
])

/** More than a scrape is ahead of the clock that it was timed by. */
const AHEAD_MS = 2_000

/**
 * Ready while a scrape of something outside the agent is younger than 5 s. Remembers the newest time, since old groups leave the store; one that lies
 * ahead was reported before the clock was set back, and does not count.
 */
export function createReadiness(latest: Pick<LatestStore, 'groups'>, now: () => number = Date.now): () => Readiness {
  let newest: number | undefined
  return () => {
    const t = now()
    if (newest !== undefined && newest - t > AHEAD_MS) newest = undefined
    for (const group of latest.groups()) {
      if (OWN_SOURCES.has(group.source) || group.readings.length === 0 || group.t - t > AHEAD_MS) continue
      if (newest === undefined || group.t > newest) newest = group.t
    }
    if (newest === undefined) return { ready: false, reason: 'no GPU or host sample has come yet' }
    const age = Math.max(0, t - newest)
    if (age <= STALE_AFTER_MS) return { ready: true, newest_sample_age_ms: age }
    return {
      ready: false,
      reason: `the newest sample is ${(age / 1000).toFixed(1)} s old; at most ${STALE_AFTER_MS / 1000} s are allowed`,
      newest_sample_age_ms: age,
    }
  }
}
