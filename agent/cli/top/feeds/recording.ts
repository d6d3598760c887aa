// A recording played at the speed at which it was made, judged as the agent would have.
import { setTimeout as sleep } from 'node:timers/promises'
import { metricNamed } from '../../../catalogue.ts'
import { createViews } from '../../../http/views.ts'
import { rowOf } from '../../../jobs/live-run.ts'
import { createJobTracker } from '../../../jobs/tracker.ts'
import { summaryOf } from '../../../model/incident.ts'
import { readRecording } from '../../../sources/recording.ts'
import { createLatestStore } from '../../../store/latest.ts'
import { createReplayJudge } from '../../replay/incidents.ts'
import type { Feed, FeedEvents } from './feed.ts'

export type PlayOptions = {
  readonly file: string
  /** 1: as it was recorded; Infinity: to its end at once. */
  readonly speed: number
  readonly ended?: () => void
  readonly failed: (error: unknown) => void
}

const TICK_MS = 1_000

export function playRecording({ file, speed, ended, failed }: PlayOptions, { message }: FeedEvents): Feed {
  const stop = new AbortController()
  const play = async (): Promise<void> => {
    const recording = readRecording(file, { metricNamed })
    const latest = createLatestStore()
    const jobs = createJobTracker({ nextRun: () => 1 })
    let views: ReturnType<typeof createViews> | undefined
    let judge: ReturnType<typeof createReplayJudge> | undefined
    const said = new Map<string, string>()
    let [next, host] = [0, 'recording']
    const tick = (t: number): void => {
      latest.expire(t)
      jobs.tick(t)
      views ??= createViews({ latest, hostname: host })
      views.invalidate()
      for (const incident of judge?.incidents() ?? []) {
        const state = `${incident.status} ${incident.last_seen_at} ${incident.count}`
        if (said.get(incident.id) !== state) message({ type: 'incident', incident: summaryOf(incident) })
        said.set(incident.id, state)
      }
      message({ type: 'frame', t, ...views.rows(), jobs: jobs.live().map(rowOf) })
    }
    for await (const event of recording) {
      if (stop.signal.aborted) return
      if (judge === undefined) {
        host = recording.host() ?? host
        judge = createReplayJudge(host)
        next = event.t + TICK_MS
        message({ type: 'hello', version: 1, host, gpus: [], interval_ms: TICK_MS, simulated: false })
      }
      while (event.t >= next) {
        tick(next)
        // A recording may have a gap of hours, which nobody wants to sit through.
        next = Math.max(next + TICK_MS, event.t - 60 * TICK_MS)
        if (speed !== Infinity) await sleep(TICK_MS / speed, undefined, { signal: stop.signal })
      }
      judge.add(event)
      jobs.ingest(event)
      if (event.type === 'scrape') latest.apply(event)
    }
    if (judge !== undefined) tick(next)
    ended?.()
  }
  play().catch((error: unknown) => (stop.signal.aborted ? undefined : failed(error)))
  return { isLocal: false, close: async () => stop.abort() }
}
