// The allocators' view: which process and span the address names, its past fetched and its present followed.
import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { SeriesRow } from '../../../../../agent/model/live.ts'
import { getJson, storedToken } from '../../../parts/connection/api.ts'
import { parseIncidents, parseSeries } from '../../../parts/connection/messages.ts'
import { firing, incidents, takeIncidents } from '../../../parts/incident/known.ts'
import { agentNow, connection, drawing, frame } from '../../../parts/live/state.ts'
import { route } from '../../../parts/route.ts'
import { createLanes, type Lanes, type Measure, MEASURE_NAMES, type Span, SPANS } from './lanes.ts'
import { beginWithOf, oomsAmong, type Probed, probedOf } from './processes.ts'
import { span } from './span.ts'

/** Enough to know when someone was last heard: six minutes in a day. */
const PAST_POINTS = 240
/** A forecast is made again every 30 s (agent/diagnosis/detectors/memory-exhaustion/memory-exhaustion.ts); one that is older was taken back. */
const FORECAST_HOLDS_MS = 35_000
const FORECAST_EVERY_MS = 10_000

const past = signal<readonly SeriesRow[]>([])
/** Whether history has answered: before, nobody may say that no probe speaks. */
export const looked = signal(false)
export const probed = computed(() => probedOf(frame.value?.allocators ?? [], past.value))
const beginWith = signal<string | undefined>(undefined)
export const chosenKey = computed(() => route.value.params.get('process') ?? beginWith.value)
export const chosen = computed<Probed | undefined>(() => probed.value.find(({ key }) => key === chosenKey.value))

export const lanes = signal<Lanes>(createLanes(SPANS['15m']))
export type Forecast = { readonly earliestMs: number | undefined; readonly latestMs: number | undefined }
export const forecast = signal<Forecast | undefined>(undefined)

const series = async (query: string): Promise<readonly SeriesRow[]> => parseSeries(await getJson(`api/v1/series?${query}`, storedToken()))
const labelsOf = ({ pid, uuid, gi }: Probed): string =>
  new URLSearchParams({ pid: String(pid), uuid, ...(gi === undefined || gi === '' ? {} : { gi }) }).toString()

/** A page that has just been opened may not know yet what fires: whom it begins with hangs on that. */
async function loadFiring(): Promise<void> {
  try {
    incidents.value = takeIncidents(incidents.peek(), parseIncidents(await getJson('api/v1/incidents?status=firing', storedToken())))
  } catch (error) {
    console.warn(error)
  }
}

/** What a process may hold at the most: the memory of its MIG instance, else of its GPU. */
function limitOf({ uuid, gi }: Probed): number | undefined {
  const gpu = frame.peek()?.gpus.find((row) => row.uuid === uuid)
  return gi === undefined || gi === '' ? gpu?.memory_total_bytes : gpu?.mig?.find((instance) => instance.gi === gi)?.memory_total_bytes
}

async function loadPast({ spanS, end }: Span): Promise<void> {
  const asked = looked.peek() ? undefined : loadFiring()
  const to = end === undefined ? Math.round(agentNow.peek()) : end * 1000
  try {
    past.value = await series(`metric=allocator_reserved_bytes&from=${to - spanS * 1000}&to=${to}&points=${PAST_POINTS}`)
  } catch (error) {
    // Who speaks now is in the frames; only who has ended is missing.
    console.warn(error)
  }
  await asked
  looked.value = true
}

/** The past of the chosen process is on its way. */
export const fetching = signal(false)
/** What is asked for now: an answer that comes after another choice is dropped. */
let wanted: Lanes | undefined

function show(next: Lanes): void {
  batch(() => {
    lanes.value = next
    drawing.value++
  })
}

/** Of a window that does not move the chart shows the one before until its readings are there. */
async function loadLanes(into: Lanes, one: Probed): Promise<void> {
  wanted = into
  fetching.value = true
  const to = into.end === undefined ? Math.round(agentNow.peek()) : into.end * 1000
  into.advance(to)
  if (into.end === undefined) show(into)
  const points = Math.ceil(into.spanS / into.stepS) + 1
  const fill = async (measure: Measure): Promise<void> => {
    try {
      const rows = await series(`metric=allocator_${measure}&from=${to - into.spanS * 1000}&to=${to}&points=${points}&${labelsOf(one)}`)
      if (wanted !== into) return
      into.takeHistory(measure, rows)
      if (into.end === undefined) drawing.value++
    } catch (error) {
      console.warn(error)
    }
  }
  await Promise.all(MEASURE_NAMES.map(fill))
  if (wanted !== into) return
  fetching.value = false
  if (into.end !== undefined) show(into)
}

async function loadForecast(one: Probed): Promise<void> {
  const to = Math.round(agentNow.peek())
  const last = async (end: string): Promise<number | undefined> => {
    const rows = await series(`metric=memory_exhaustion_${end}_seconds&from=${to - FORECAST_HOLDS_MS}&to=${to}&points=36&pid=${one.pid}&uuid=${one.uuid}`)
    const [row] = rows
    const i = row?.mean.findLastIndex((value) => value !== null) ?? -1
    const [t, value] = [row?.t[i], row?.mean[i]]
    return t === undefined || value === undefined || value === null ? undefined : t + value * 1000
  }
  try {
    const [earliestMs, latestMs] = await Promise.all([last('earliest'), last('latest')])
    if (chosen.peek()?.key === one.key) forecast.value = earliestMs === undefined && latestMs === undefined ? undefined : { earliestMs, latestMs }
  } catch (error) {
    console.warn(error)
  }
}

/** Out-of-memory errors that an incident tells of this process. */
export const oomsOf = (one: Probed): readonly number[] => oomsAmong(incidents.value.values(), one.pid)

/** Keeps all of it up until the returned function is called. */
export function watchAllocators(): () => void {
  const live = computed(() => connection.value.state === 'live' && frame.value !== undefined)
  const who = computed(() => chosen.value?.key)
  const gone = computed(() => chosen.value !== undefined && chosen.value.row === undefined)
  const stops = [
    effect(() => {
      const name = span.value
      if (live.value) untracked(() => void loadPast(name))
    }),
    effect(() => {
      // Someone ended: what was his last second?
      if (gone.value && live.value) untracked(() => void loadPast(span.peek()))
    }),
    effect(() => {
      // Who has ended, and what fires, are known when the agent has answered.
      if (chosenKey.value === undefined && looked.value) beginWith.value = beginWithOf(probed.value, firing.peek(), limitOf)?.key
    }),
    effect(() => {
      const [name, key] = [span.value, who.value]
      if (key === undefined || !live.value) return
      untracked(() => {
        const one = chosen.peek()
        if (one === undefined) return
        forecast.value = undefined
        void loadLanes(createLanes(name), one)
        void loadForecast(one)
      })
    }),
    effect(() => {
      const now = frame.value
      untracked(() => {
        const row = chosen.peek()?.row
        if (now !== undefined && row !== undefined) lanes.peek().takeRow(row, now.t)
      })
    }),
  ]
  const timer = setInterval(() => {
    const one = chosen.peek()
    if (one?.row !== undefined && connection.peek().state === 'live') void loadForecast(one)
    else forecast.value = undefined
  }, FORECAST_EVERY_MS)
  return () => {
    clearInterval(timer)
    for (const stop of stops) stop()
  }
}
