// What the charts show: the last 15 minutes, which the page always keeps, or a longer range that is fetched when it is asked for and goes on live.
import { effect, signal, untracked } from '@preact/signals'
import type { FrameMessage } from '../../../../agent/model/live.ts'
import { storedToken } from '../connection/api.ts'
import { loadPast } from '../connection/history.ts'
import { HISTORY_METRICS, type HistoryMetric, recordFrame, secondOf } from '../live/lanes.ts'
import { agentNow, drawing, frame, joined, pastWanted, timeline as kept } from '../live/state.ts'
import { createTimeline, type Timeline } from '../live/timeline.ts'
import { range, type Range, SHORTEST } from './range.ts'

export type Charted = { readonly range: Range; readonly timeline: Timeline }
const LIVE: Charted = { range: SHORTEST, timeline: kept }
export const charted = signal<Charted>(LIVE)
/** Whether the charts of this view follow the window of the address. */
export const windowed = signal(false)
/** How long a window is that goes on live, where it is not the charted one. */
export const liveSeconds = signal<number | undefined>(undefined)
/** Counts the frames that a window of its own has taken: what is computed from its newest second may have run before the frame was in it. */
export const taken = signal(0)
export const asking = signal<'no' | 'yes' | 'failed'>('no')

/** One GPU, or two that are compared: their own measures, and finer steps. */
export type Close = {
  readonly uuids: readonly string[]
  readonly metrics: readonly HistoryMetric[]
  readonly record: (timeline: Timeline, frame: FrameMessage) => void
}

function follow(next: Range, close: Close | undefined): () => void {
  const step = close === undefined ? next.step : next.fine
  const timeline = createTimeline(Math.floor(next.seconds / step) + 1, step)
  let over = false
  const { end } = next
  timeline.advance(end ?? secondOf(agentNow.peek()))
  const show = (): void => {
    charted.value = { range: next, timeline }
  }
  // Of a window that does not move the charts show the one before until its readings are there.
  if (end === undefined) show()
  const stops = [
    // At once, and again after each loss of the connection.
    effect(() => {
      if (joined.value === undefined) return
      asking.value = 'yes'
      const endMs = end === undefined ? untracked(() => agentNow.value) : end * 1000
      const past = { timeline, span: next.seconds, endMs, token: storedToken(), wanted: () => !over, metrics: close?.metrics ?? HISTORY_METRICS }
      const reported = async (): Promise<void> => {
        const all = await Promise.all(close === undefined ? [loadPast(past)] : close.uuids.map((uuid) => loadPast({ ...past, uuid })))
        if (over) return
        asking.value = all.includes(false) ? 'failed' : 'no'
        if (end !== undefined) show()
      }
      void reported()
    }),
    effect(() => {
      const now = frame.value
      if (now === undefined || end !== undefined) return
      ;(close?.record ?? recordFrame)(timeline, now)
      taken.value = taken.peek() + 1
    }),
    // While nothing comes the charts run on empty instead of standing still.
    effect(() => {
      void drawing.value
      if (end === undefined) timeline.advance(Math.max(timeline.end(), kept.end()))
    }),
  ]
  return () => {
    over = true
    for (const stop of stops) stop()
  }
}

/** Shows the address's range of all GPUs, or of one, until the returned function is called. */
export function showRange(close?: Close): () => void {
  if (close === undefined) pastWanted.value = true
  windowed.value = true
  let stop: (() => void) | undefined
  const end = effect(() => {
    const next = range.value
    stop?.()
    stop = undefined
    untracked(() => {
      asking.value = 'no'
      if (close === undefined && next === SHORTEST) charted.value = LIVE
      else stop = follow(next, close)
    })
  })
  return () => {
    end()
    stop?.()
    charted.value = LIVE
    windowed.value = false
  }
}
