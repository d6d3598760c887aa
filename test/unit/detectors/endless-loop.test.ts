// A process that computes in a loop without end before its first step: an incident of progress_stalled, not of job_hang.
import { expect, test } from 'vitest'
import { jobHang } from '../../../agent/diagnosis/detectors/job-hang.ts'
import { progressStalled } from '../../../agent/diagnosis/detectors/progress-stalled.ts'
import { LOOP_CAUSE, type HangEvent } from '../../../agent/model/event.ts'
import { turnsOf } from './turns.ts'

const event = (t: number, part: Partial<HangEvent> = {}): HangEvent => ({
  type: 'hang',
  t,
  job: 'train',
  container: 'train',
  state: 'hangs',
  since: t - 9 * 60_000,
  text: 'Process 71 computes on the CPU at /job/sample.py:11 in draw.',
  cause: LOOP_CAUSE,
  confidence: 'likely',
  culprits: [0],
  stands_at: ['rank 0: /job/sample.py:11 draw'],
  call_sites: [],
  ranks: [{ rank: 0, culprit: true, gpu: '3', pid: 71 }],
  remedies: ['Bound the loop.'],
  evidence: [],
  ...part,
})
const reported = (definition: typeof progressStalled | typeof jobHang, events: Readonly<Record<number, Partial<HangEvent>>>) =>
  turnsOf(definition, 120, (second, t) => (events[second] === undefined ? [] : [event(t, events[second])]))

test('says since when, and at which line', () => {
  const [first, ...more] = reported(progressStalled, { 5: {} })
  expect(more).toEqual([])
  expect(first).toMatchObject({
    kind: 'progress_stalled',
    state: 'faulty',
    severity: 'warning',
    about: { container: 'train' },
    title: 'train has made no step for 9 min: it computes at /job/sample.py:11 draw',
    facts: { job: 'train', stands_at: ['rank 0: /job/sample.py:11 draw'], gpus: ['3'], confidence: 'likely' },
  })
  expect(reported(jobHang, { 5: {} })).toEqual([])
})

test('is over when the job goes on', () => {
  expect(reported(progressStalled, { 5: {}, 30: { state: 'over', text: 'it makes progress again' } }).map(({ state }) => state)).toEqual(['faulty', 'healthy'])
})

test('is over when the job hangs, and the hang is over when it only loops', () => {
  const events = { 5: {}, 30: { cause: 'missing' }, 60: {} }
  expect(reported(progressStalled, events).map(({ state }) => state)).toEqual(['faulty', 'healthy', 'faulty'])
  expect(reported(jobHang, events).map(({ state }) => state)).toEqual(['faulty', 'healthy'])
})
