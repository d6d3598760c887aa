// A training in container `train` on one card that prints its steps, second by second, with the pauses that trainings make.
import type { Event } from '../../../agent/model/event.ts'
import { reading, scrape, T } from '../incidents/scene.ts'
import { createMoments, type Card } from './use-scene.ts'

export type JobScene = {
  /** Seconds that a step takes at that time. */
  readonly stepSeconds: (second: number) => number
  /** No step is made: an evaluation, a checkpoint, a hang. */
  readonly pauses?: (second: number) => boolean
  readonly card?: (second: number) => Partial<Card>
  readonly steps?: number
  /** Its log is read, and it holds its GPU. */
  readonly lives?: (second: number) => boolean
}

export function createJob({
  stepSeconds,
  pauses = () => false,
  card = () => ({}),
  steps = 1e6,
  lives = () => true,
}: JobScene): (second: number) => readonly Event[] {
  const moments = createMoments()
  let done = 0
  let step = 0
  let progressedAt = T
  return (second) => {
    const t = T + second * 1_000
    if (!lives(second)) return [...moments(second, { cards: [{ jobs: [] }] }), scrape(t, 'job-progress', [])]
    if (!pauses(second) && done < steps) done = Math.min(steps, done + 1 / stepSeconds(second))
    if (Math.floor(done) > step) [step, progressedAt] = [Math.floor(done), t]
    const labels = { job: 'train' }
    const said = [
      reading('job_step', labels, step),
      reading('job_steps', labels, steps),
      reading('job_progress_ratio', labels, step / steps),
      reading('job_last_progress_timestamp_seconds', labels, progressedAt / 1_000),
    ]
    const events = moments(second, { cards: [{ jobs: [{ pid: 7, gib: 40, container: 'train' }], ...card(second) }] })
    return second % 2 === 0 ? [...events, { ...scrape(t, 'job-progress', said), ttlMs: 10_000 }] : events
  }
}
