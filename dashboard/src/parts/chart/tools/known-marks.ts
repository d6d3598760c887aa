// The marks that the charts of this view need: incidents as the stream tells them and as the past has them, restarts from the readings.
import { computed, effect, signal, untracked } from '@preact/signals'
import type { IncidentSummary } from '../../../../../agent/model/incident.ts'
import { getJson, storedToken } from '../../connection/api.ts'
import { parseIncidents, parseSeries } from '../../connection/messages.ts'
import { incidents, takeIncidents } from '../../incident/known.ts'
import { LANE } from '../../live/lanes.ts'
import { joined } from '../../live/state.ts'
import { charted, liveSeconds } from '../../range/charted.ts'
import { containerRestartsTotal } from '../../../text/metric-names.ts'
import { incidentMarks, type Mark, restartMarks } from './mark-list.ts'
import { shown, still } from './zoom.ts'

const MOST = 300
const POINTS = 600
const EVERY_MS = 60_000

const before = signal<ReadonlyMap<string, IncidentSummary>>(new Map())
const restarts = signal<readonly Mark[]>([])
export const marks = computed(() => [...incidentMarks(takeIncidents(before.value, [...incidents.value.values()], 2 * MOST).values()), ...restarts.value])

/** A restart belongs to the GPUs on which the readings saw its container. */
const isOn = (container: string, about: readonly string[]): boolean =>
  about.some((one) => one.startsWith('gpu ') && charted.peek().timeline.values(LANE.container(one.slice(4), container)) !== undefined)
export const marksFor = (about: readonly string[]): readonly Mark[] =>
  marks.peek().filter((mark) => mark.about.some((one) => about.includes(one)) || (mark.container !== undefined && isOn(mark.container, about)))

async function load(): Promise<void> {
  const { from, to } = shown()
  const span = `from=${from * 1000}&to=${to * 1000}&points=${POINTS}`
  try {
    const [known, rows] = await Promise.all([
      getJson(`api/v1/incidents?since=${from * 1000}&limit=${MOST}`, storedToken()),
      getJson(`api/v1/series?metric=${containerRestartsTotal}&${span}`, storedToken()),
    ])
    before.value = new Map(parseIncidents(known).map((incident) => [incident.id, incident]))
    restarts.value = restartMarks(parseSeries(rows))
  } catch (error) {
    // The charts stand without them; what fires comes by the stream.
    console.warn(error)
  }
}

let watching = 0
let stop = (): void => {}
function start(): void {
  const again = (): void => void (document.visibilityState === 'visible' && still.peek() === undefined && load())
  const timer = setInterval(again, EVERY_MS)
  const end = effect(() => {
    void [still.value, liveSeconds.value, charted.value.range.id]
    if (joined.value !== undefined) untracked(() => void load())
  })
  stop = () => {
    clearInterval(timer)
    end()
  }
}

/** Keeps them up while any chart asks for some. */
export function watchMarks(about: readonly string[]): () => void {
  if (about.length === 0) return () => {}
  if (watching++ === 0) start()
  return () => {
    // The next view's charts are made at once: it goes on for them.
    setTimeout(() => --watching === 0 && stop(), 100)
  }
}
