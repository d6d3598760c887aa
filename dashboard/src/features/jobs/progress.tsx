// How far a job is: bar, rate, time left and phase, as its log says.
import type { ProgressRow } from '../../../../agent/model/live.ts'
import { age } from '../../../../agent/text/span.ts'
import { Meter } from '../../parts/figure.tsx'
import { frame } from '../../parts/live/state.ts'
import { None } from './cells.tsx'
import { progressOf } from './progress-of.ts'
import type { Job } from './running.ts'

const count = (value: number): string => value.toLocaleString('en-US')
/** Steps slower than one a second are told by their time. */
const rate = ({ step_rate: steps, tokens_rate: tokens, samples_rate: samples }: ProgressRow): string | undefined => {
  if (tokens !== undefined) return `${count(Math.round(tokens))} tokens/s`
  if (steps !== undefined && steps > 0) return steps >= 1 ? `${Number(steps.toPrecision(3))} steps/s` : `${Number((1 / steps).toPrecision(3))} s a step`
  return samples === undefined ? undefined : `${count(Math.round(samples))} samples/s`
}

export function Progress({ job }: { readonly job: Job }) {
  const now = frame.value
  const row = now === undefined ? undefined : progressOf(job, now)
  if (row === undefined) return <None nothing />
  const { step, steps, progress_ratio: done, eta_seconds: left, loss, phase } = row
  const parts = [
    step === undefined ? undefined : `step ${count(step)}${steps === undefined ? '' : ` of ${count(steps)}`}`,
    rate(row),
    left === undefined ? undefined : `${age(left)} left`,
    loss === undefined ? undefined : `loss ${Number(loss.toPrecision(4))}`,
    phase === 'training' ? undefined : phase,
  ]
  return (
    <span class="against">
      {done !== undefined && <Meter value={done} limit={1} label={`progress of ${job.name}`} />}
      <span>{parts.filter((part) => part !== undefined).join(' · ')}</span>
    </span>
  )
}
