// A fit as the page keeps it: what the address asks, what the agent answered, and what its GPUs have.
import { messageOf } from '../../../../agent/text/error.ts'
import { computed, effect, signal } from '@preact/signals'
import type { FitReport, GpuRoom } from '../../../../agent/model/fit.ts'
import { ApiError, getJson, send, storedToken } from '../../parts/connection/api.ts'
import { agentNow, connection } from '../../parts/live/state.ts'
import { route, setParams } from '../../parts/route.ts'
import { HELD, MAX_CONFIG_BYTES, MAX_LINKED, questionOf } from './question.ts'
import { parseFit, parseRooms } from './report.ts'

/** Long enough for a figure to be typed, too short to be waited for. */
const PAUSE_MS = 250

const held = signal<string | undefined>(undefined)
export const words = computed(() => route.value.params)
export const question = computed(() => questionOf(words.value, held.value))
/** The link was made where the config was too long for it. */
export const configMissing = computed(() => words.value.get('config') === HELD && held.value === undefined)
export const configHeld = computed(() => words.value.get('config') === HELD && held.value !== undefined)

/** `at`: of the agent's clock. */
export const answered = signal<{ readonly report: FitReport; readonly at: number } | undefined>(undefined)
export const rooms = signal<{ readonly list: readonly GpuRoom[]; readonly at: number } | undefined>(undefined)
export const busy = signal(false)
/** Why the question has no answer. */
export const problem = signal<string | undefined>(undefined)

let asked = 0

async function ask(): Promise<void> {
  const now = question.peek()
  const turn = ++asked
  if (now === undefined) {
    answered.value = undefined
    problem.value = undefined
    busy.value = false
    return
  }
  busy.value = true
  const path = `api/v1/fit?${now.query}`
  try {
    const token = storedToken()
    const reported = parseFit(await (now.config === undefined ? getJson(path, token) : send('POST', path, token, Object(JSON.parse(now.config)))))
    if (turn !== asked) return
    answered.value = { report: reported, at: agentNow.peek() }
    problem.value = undefined
  } catch (error) {
    if (turn !== asked) return
    problem.value =
      error instanceof ApiError ? error.failure.message : error instanceof SyntaxError ? 'config.json: expected JSON' : 'the agent does not answer'
  }
  busy.value = false
}

async function askRooms(): Promise<void> {
  try {
    rooms.value = { list: parseRooms(await getJson('api/v1/fit/gpus', storedToken())), at: agentNow.peek() }
  } catch (error) {
    console.warn(error) // the answer to a question says as much
  }
}

export function askAgain(): void {
  void (question.peek() === undefined ? askRooms() : ask())
}

/** Asks when the address changes, and again when the agent is back. */
export function watchFit(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let first = true
  const stop = effect(() => {
    void question.value
    if (connection.value.state !== 'live') return
    clearTimeout(timer)
    timer = setTimeout(askAgain, first ? 0 : PAUSE_MS)
    first = false
  })
  return () => {
    clearTimeout(timer)
    asked++
    busy.value = false
    stop()
  }
}

/** Takes the text of a config.json; what is wrong with it, undefined where nothing is. */
export function takeConfig(text: string): string | undefined {
  let compact: string
  try {
    compact = JSON.stringify(JSON.parse(text))
  } catch (error) {
    return `That is no JSON: ${messageOf(error)}`
  }
  if (!compact.startsWith('{')) return `Not the config.json of a model: it begins with ${compact.slice(0, 30)}`
  if (new Blob([compact]).size > MAX_CONFIG_BYTES) return 'Expected at most 1 MiB; the config.json of a model has some kilobytes'
  const long = compact.length > MAX_LINKED
  held.value = long ? compact : undefined
  setParams({ config: long ? HELD : compact, params: undefined })
  return undefined
}

/** The config that is asked about, as a person reads it. */
export function shownConfig(): string {
  const config = question.peek()?.config
  if (config === undefined) return ''
  try {
    return JSON.stringify(JSON.parse(config), null, 2)
  } catch {
    return config
  }
}
