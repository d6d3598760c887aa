// The page's state as signals: what came last, what the charts hold, what the reader points at.
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { FrameMessage, HelloMessage } from '../../../../agent/model/live.ts'
import { containerKey } from '../../text/names.ts'
import { createColourBook, SLOTS } from '../chart/palette.ts'
import { stored } from '../stored.ts'
import { type GpuView, gpuViews, type KnownGpu, remember } from './gpu-view.ts'
import { lastFigures, recordFrame, secondOf } from './lanes.ts'
import { steadyList } from './steady.ts'
import { summarise } from './summary.ts'
import { createTimeline } from './timeline.ts'

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'waiting'; readonly attempt: number; readonly retryAtMs: number }
  | { readonly state: 'unauthorized'; readonly rejected: boolean }

export const connection = signal<Connection>({ state: 'connecting' })
export const hello = signal<HelloMessage | undefined>(undefined)
export const frame = signal<FrameMessage | undefined>(undefined)
/** The agent's time (ms) in the first frame of this connection: what came before it is to be asked for. */
export const joined = signal<number | undefined>(undefined)
/** Whether a view has been opened that draws the past of all GPUs: until then nobody need fetch it. */
export const pastWanted = signal(false)
/** Whether the first figures are on the screen: what is not looked for first waits for them. */
export const painted = signal(false)
/** Whether what is above the cards is known, or was waited for long enough: they are drawn in their place. */
export const ready = signal(false)
/** Whether the page's tab is out of sight. */
export const hidden = signal(false)
/** Set by a view that draws nothing of the frames. */
export const framesUnused = signal(false)
/** One frame in so many is requested: a page that nobody looks at costs the agent little. */
export const pace = computed(() => (hidden.value || framesUnused.value ? 5 : 1))
/** This page's clock (ms), moved on once a second and with every frame. */
export const clock = signal(Date.now())
/** When the last frame came, on this page's clock. */
const receivedAt = signal(0)
/** Counts what changes the charts: frames, history, the passing of time. */
export const drawing = signal(0)
/** The second under the pointer in any chart. */
export const hovered = signal<number | undefined>(undefined)
export const timeline = createTimeline()
export const colours = createColourBook(SLOTS, stored('warpwatch.colours'))
const known = signal<ReadonlyMap<string, KnownGpu>>(new Map())

/** Seconds since the last frame, 0 before the first. */
export const silence = computed(() => (frame.value === undefined ? 0 : Math.max(0, clock.value - receivedAt.value) / 1000))
/** Three frames missed: the page says so even where the connection still looks open. */
export const stale = computed(() => silence.value * 1000 > (pace.value + 2.5) * (hello.value?.interval_ms ?? 1000))
/** The agent's present, Unix ms: its last frame's time and what has passed since. */
export const agentNow = computed(() => (frame.value === undefined ? clock.value : frame.value.t + silence.value * 1000))

export const views = computed(() => {
  if (frame.value === undefined) return undefined
  void drawing.value // history may bring what a GPU in trouble last said
  return gpuViews(frame.value, known.value, (uuid) => lastFigures(timeline, uuid))
})
const byUuid = computed(() => new Map(views.value?.map((view) => [view.uuid, view])))
const followed = new Map<string, ReadonlySignal<GpuView>>()
/** What one GPU does, for as long as the page is open: one that is no longer listed stays as it was. */
export function follow(view: GpuView): ReadonlySignal<GpuView> {
  let found = followed.get(view.uuid)
  if (found === undefined) {
    let last = view
    found = computed(() => (last = byUuid.value.get(view.uuid) ?? last))
    followed.set(view.uuid, found)
  }
  return found
}
/** A signal for each GPU: a second's frame redraws figures and no cards. */
export const gpus = steadyList(() => (views.value ?? []).map(follow))
export const summary = computed(() => (views.value === undefined ? undefined : summarise(views.value, agentNow.value)))

export function takeFrame(message: FrameMessage): void {
  const now = Date.now()
  recordFrame(timeline, message)
  // Sorted, so that the same host gets the same colours after a reload; those without a GPU need none.
  const holders = message.containers.filter((row) => row.gpu_memory_bytes !== undefined)
  for (const key of holders.map(containerKey).toSorted()) colours.slot(key)
  batch(() => {
    receivedAt.value = now
    clock.value = now
    known.value = remember(known.value, message)
    frame.value = message
    drawing.value++
  })
}

/** Moves the clock on; while nothing comes, the charts run on empty instead of standing still. */
export function takeTime(nowMs: number): void {
  if (nowMs - clock.peek() < 500) return
  clock.value = nowMs
  if (stale.peek() && frame.peek() !== undefined) {
    timeline.advance(secondOf(agentNow.peek()))
    drawing.value++
  }
}
