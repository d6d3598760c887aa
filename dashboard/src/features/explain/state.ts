// The log that a reader brought, and what the worker says of it; kept while other pages are looked at.
import { computed, signal } from '@preact/signals'
import type { Answer, FromWorker } from './reader/messages.ts'

export type Log = { readonly name: string; readonly bytes: number }
export type Explained =
  | { readonly state: 'none' }
  | { readonly state: 'reading'; readonly log: Log; readonly done: number }
  | { readonly state: 'told'; readonly log: Log; readonly answer: Answer; readonly tookMs: number }
  | { readonly state: 'failed'; readonly log: Log; readonly why: string }

/** A field that holds more makes the browser slow. */
const DRAFT_CHARACTERS = 500_000

export const explained = signal<Explained>({ state: 'none' })
/** What is in the field. */
export const draft = signal('')
/** The line that the reader jumped to; again with each jump, to the same line too. */
export const lookedAt = signal<{ readonly line: number } | undefined>(undefined)
/** By line, the places in the list of faults of those that it shows. */
export const faultsByLine = computed<ReadonlyMap<number, readonly number[]>>(() => {
  const byLine = new Map<number, number[]>()
  const now = explained.value
  if (now.state !== 'told') return byLine
  for (const [place, { evidence }] of now.answer.faults.entries()) {
    for (const { line } of evidence) {
      const known = byLine.get(line)
      if (known === undefined) byLine.set(line, [place])
      else if (!known.includes(place)) known.push(place)
    }
  }
  return byLine
})

let worker: Worker | undefined
let spare: Worker | undefined

const create = (): Worker => new Worker(new URL('./reader/worker.ts', import.meta.url), { type: 'module' })

/** Loads the log reader before there is a log, so that the first one does not wait for it. Returns its clean-up. */
export function prepare(): () => void {
  spare ??= create()
  // Its file could not be loaded: the next one tries again, and says so.
  spare.addEventListener('error', drop)
  return drop
}

function drop(): void {
  spare?.terminate()
  spare = undefined
}

function stop(): void {
  worker?.terminate()
  worker = undefined
}

/** Reads the log in a worker of its own, which ends with its answer: its memory with it. */
function run(blob: Blob, name: string): void {
  stop()
  const log: Log = { name, bytes: blob.size }
  const begun = performance.now()
  const end = (result: Explained): void => {
    stop()
    explained.value = result
  }
  lookedAt.value = undefined
  explained.value = { state: 'reading', log, done: 0 }
  const own = spare ?? create()
  own.removeEventListener('error', drop)
  spare = undefined
  worker = own
  own.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (worker !== own) return
    if (data.type === 'progress') explained.value = { state: 'reading', log, done: data.bytes }
    else if (data.type === 'failed') end({ state: 'failed', log, why: data.why })
    else end({ state: 'told', log, answer: data.answer, tookMs: performance.now() - begun })
  })
  // Its file could not be loaded, or memory ran out.
  own.addEventListener('error', (event) => {
    if (worker === own)
      end({
        state: 'failed',
        log,
        why: event instanceof ErrorEvent && event.message !== '' ? event.message : 'the part of this page that reads logs could not be loaded',
      })
  })
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker is no window: it takes none
  own.postMessage(blob)
}

export function explainText(text: string, name = 'pasted text'): void {
  draft.value = text.length > DRAFT_CHARACTERS ? '' : text
  run(new Blob([text]), name)
}

export function explainFile(file: File): void {
  draft.value = ''
  run(file, file.name)
}

/** Back to the field, with what was in it. */
export function startOver(): void {
  stop()
  explained.value = { state: 'none' }
}
