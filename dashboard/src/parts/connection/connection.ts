// Keeps the page connected: opens the stream, asks the API why where that fails (it can say 401, a WebSocket cannot), and comes back with growing pauses.
import { effect, signal, untracked } from '@preact/signals'
import type { LiveMessage } from '../../../../agent/model/live.ts'
import { incidents, listing, takeIncidents } from '../incident/known.ts'
import { loadSilences, noticed } from '../incident/silences.ts'
import { HISTORY_METRICS } from '../live/lanes.ts'
import { connection, hello, hidden, joined, pace, painted, pastWanted, ready, silence, takeFrame, takeTime, timeline } from '../live/state.ts'
import { WINDOW_S } from '../live/timeline.ts'
import { ApiError, getJson, storedToken, storeToken } from './api.ts'
import { loadPast } from './history.ts'
import { parseIncidents } from './messages.ts'
import { openStream, retryDelayMs, type Stream } from './stream.ts'

/** A stream silent for so long is dead even where no packet says so, as when a laptop slept or a tunnel broke. */
const GIVE_UP_AFTER_S = 12

/** Frames come once a second; a lone one that is missing is drawn over. */
const SKIPPED_MS = 2_500
/** On a link that is too slow for frames, history would make it slower still. */
const ASK_AGAIN_MS = 30_000

/** So long the cards wait at the most for what is above them, rather than jump when it comes. */
const READY_WITHIN_MS = 250

let token = storedToken()
let attempt = 0
let stream: Stream | undefined
let retry: ReturnType<typeof setTimeout> | undefined
let round = 0

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.failure.status === 401

async function loadIncidents(ofRound: number): Promise<void> {
  try {
    const reported = parseIncidents(await getJson('api/v1/incidents?limit=50', token))
    if (ofRound !== round) return
    incidents.value = takeIncidents(incidents.value, reported)
    listing.value = 'there'
  } catch (error) {
    // The stream sends what fires; only what is over is missing then. Without its token the page says so itself.
    if (!isRefused(error)) console.warn(error)
    if (ofRound === round) listing.value = 'failed'
  }
}

function later(): void {
  stream?.close()
  stream = undefined
  const delayMs = retryDelayMs(attempt++)
  connection.value = { state: 'waiting', attempt, retryAtMs: Date.now() + delayMs }
  clearTimeout(retry)
  retry = setTimeout(() => connect(), delayMs)
}

/** After the next frame; at once where nothing is painted, as in a tab in the background. */
function afterPaint(then: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(() => setTimeout(then))
  else then()
}

/** What is missing before this frame, by the agent's clock; changed when it is to be asked for. */
const missing = signal<{ readonly ofRound: number; readonly t: number } | undefined>(undefined)
function askForPast(ofRound: number, t: number): void {
  joined.value = t
  missing.value = { ofRound, t }
}
effect(() => {
  const now = missing.value
  if (now === undefined || !pastWanted.value) return
  untracked(() => void loadPast({ timeline, metrics: HISTORY_METRICS, span: WINDOW_S, endMs: now.t, token, wanted: () => now.ofRound === round }))
})

effect(() => {
  // The agent sends every frame until the page asks for fewer.
  if (connection.value.state === 'live') stream?.pace(pace.value)
})

/** `listed`: incidents that are being asked for already. */
function receiver(ofRound: number, listed: Promise<void> | undefined): (message: LiveMessage) => void {
  let first = true
  let last = 0
  let asked = 0
  let seldom = false
  return (message) => {
    if (ofRound !== round) return
    if (message.type === 'hello') {
      hello.value = message
      connection.value = { state: 'live' }
      if (listed === undefined) void loadIncidents(ofRound)
      return
    }
    if (message.type === 'incident') {
      incidents.value = takeIncidents(incidents.value, [message.incident])
      noticed(message.incident)
      return
    }
    attempt = 0
    takeFrame(message)
    // A page that fell behind was spared some frames, one that nobody looked at asked for few: history has them.
    const slow = pace.peek() > 1
    const skipped = !slow && (seldom || (message.t - last > SKIPPED_MS && message.t - asked > ASK_AGAIN_MS))
    seldom = slow
    last = message.t
    const begins = first
    first = false
    if (!begins && !skipped) return
    asked = message.t
    // Once the figures are on the screen: a megabyte of the past would be in their way.
    const go = (): void => {
      ready.value = true
      afterPaint(() => {
        if (begins) painted.value = true
        if (ofRound !== round) return
        askForPast(ofRound, message.t)
        if (!begins) return
        void loadSilences(token)
        // What ended after that list and before the stream began is in neither.
        if (listed !== undefined) void loadIncidents(ofRound)
      })
    }
    if (ready.peek()) go()
    else void Promise.race([listed, new Promise((wake) => setTimeout(wake, READY_WITHIN_MS))]).then(go)
  }
}

/** Connects now; a running attempt or connection gives way. */
export function connect(): void {
  const ofRound = ++round
  clearTimeout(retry)
  stream?.close()
  stream = undefined
  connection.value = { state: 'connecting' }
  // The first cards wait for it, so it is asked for beside the stream, not after it.
  const listed = ready.peek() ? undefined : loadIncidents(ofRound)
  stream = openStream(token, { message: receiver(ofRound, listed), end: () => void ended(ofRound) })
}

/** Without a token, or with a wrong one, it is no use to try again. */
async function ended(ofRound: number): Promise<void> {
  try {
    if (ofRound === round && connection.peek().state !== 'live') await getJson('api/v1/host', token)
  } catch (error) {
    if (ofRound === round && isRefused(error)) {
      connection.value = { state: 'unauthorized', rejected: token !== undefined }
      return
    }
    // Any other answer is an agent that starts, or a proxy without one: as much a reason to try again as silence.
  }
  if (ofRound === round) later()
}

export function useToken(value: string): void {
  token = value
  storeToken(value)
  attempt = 0
  connect()
}

/** Starts the connection and the page's clock. */
export function start(): void {
  connect()
  setInterval(() => {
    takeTime(Date.now())
    if (connection.peek().state === 'live' && silence.peek() > GIVE_UP_AFTER_S) later()
  }, 1000)
  const now = (): void => {
    if (connection.peek().state === 'waiting') connect()
  }
  window.addEventListener('online', now)
  const seen = (): void => {
    hidden.value = document.visibilityState === 'hidden'
    if (!hidden.value) now()
  }
  seen()
  document.addEventListener('visibilitychange', seen)
}
