// The snapshot file that the page looks at: read by a worker of its own, asked about, let go.
import { computed, signal } from '@preact/signals'
import type { Asked, BlockPlace, FromWorker, Question, Report, ToWorker } from './messages.ts'
import { forgetSnapshot, keepSnapshot, keptSnapshot } from './kept.ts'
import { chosenSegments, type Choice } from './map/layout.ts'
import { hrefOf, route } from '../../../parts/route.ts'

export type FileState =
  | { readonly state: 'none' }
  | { readonly state: 'reading'; readonly name: string; readonly bytes: number }
  | { readonly state: 'there'; readonly name: string; readonly bytes: number; readonly report: Report }
  | { readonly state: 'refused'; readonly name: string; readonly why: string }

export const file = signal<FileState>({ state: 'none' })
export type AnswerState =
  | { readonly state: 'none' }
  | { readonly state: 'there'; readonly answer: Asked }
  | { readonly state: 'unclear'; readonly field: 'request' | 'free'; readonly why: string }
export const answer = signal<AnswerState>({ state: 'none' })
/** Where the block was allocated that was asked about last. */
export const place = signal<{ readonly block: number; readonly place: BlockPlace } | undefined>(undefined)
/** Blocks: under the pointer, and picked by a click or by the keyboard. */
export const pointedBlock = signal<number | undefined>(undefined)
export const pickedBlock = signal<number | undefined>(undefined)
export const lookedAt = computed(() => pointedBlock.value ?? pickedBlock.value)

export const report = computed(() => (file.value.state === 'there' ? file.value.report : undefined))
/** The device that the address names, else the one that holds most. */
export const device = computed(() => {
  const devices = report.value?.analysis.devices ?? []
  const asked = devices.find((one) => String(one.device) === route.value.params.get('device'))
  return asked ?? devices.toSorted((a, b) => b.reserved_bytes - a.reserved_bytes)[0]
})
const whole = (name: string): number | undefined => {
  const text = route.value.params.get(name)
  return text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : undefined
}
export const zoom = computed(() => whole('zoom') ?? 0)
/** One of the largest allocation sites, the others are dimmed. */
export const site = computed(() => whole('site'))
export const choice = computed((): Choice => {
  const pool = whole('pool')
  const own = device.value?.device ?? 0
  return { device: own, pool: pool !== undefined && report.value?.packed.pools[pool]?.device === own ? pool : undefined }
})
export const segments = computed(() => (report.value === undefined ? [] : chosenSegments(report.value.packed, choice.value)))

let worker: Worker | undefined
let asked = 0
const tell = (message: ToWorker): void => {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker is no window: it takes none
  if (worker !== undefined) worker.postMessage(message)
}

function take(message: FromWorker): void {
  const now = file.peek()
  if (message.type === 'opened' && now.state === 'reading') {
    file.value = { state: 'there', name: now.name, bytes: now.bytes, report: message.report }
    answer.value = message.report.request === undefined ? { state: 'none' } : { state: 'there', answer: message.report.request }
    const { params } = route.peek()
    const request = params.get('request')
    if (request !== undefined && device.peek() !== undefined) ask({ request, free: params.get('free') ?? '', device: device.peek()?.device ?? 0 })
  } else if (message.type === 'refused' && now.state === 'reading') refuse(now.name, message.why)
  else if (message.type === 'place') place.value = { block: message.block, place: message.place }
  else if (message.type === 'answer' && message.id === asked) answer.value = { state: 'there', answer: message.answer }
  else if (message.type === 'unclear' && message.id === asked) answer.value = { state: 'unclear', field: message.field, why: message.why }
}

function end(): void {
  worker?.terminate()
  worker = undefined
  answer.value = { state: 'none' }
  place.value = undefined
  pointedBlock.value = undefined
  pickedBlock.value = undefined
}
function refuse(name: string, why: string): void {
  end()
  void forgetSnapshot()
  file.value = { state: 'refused', name, why }
}

/** Reads a file in place of the one before. */
function read(dropped: File): void {
  end()
  file.value = { state: 'reading', name: dropped.name, bytes: dropped.size }
  const own = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'snapshot' })
  worker = own
  own.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => worker === own && take(data))
  own.addEventListener('error', (event) => {
    event.preventDefault()
    if (worker !== own) return
    refuse(dropped.name, `expected the reader to work, it ended: ${event.message || 'it could not be loaded, or the browser has not enough memory'}`)
  })
  tell({ type: 'open', file: dropped })
}

/** Opens a file that was dropped or picked; the address then names what is shown of it. */
export function openFile(dropped: File): void {
  read(dropped)
  void keepSnapshot(dropped)
  if (route.peek().view !== 'allocator' || route.peek().rest[0] !== 'snapshot') location.hash = hrefOf('allocator', ['snapshot'])
}

/** After a reload: the file that this tab had open. */
export async function reopenFile(): Promise<void> {
  const kept = file.peek().state === 'none' ? await keptSnapshot() : undefined
  if (kept !== undefined && file.peek().state === 'none') read(kept)
}

export function closeFile(): void {
  end()
  void forgetSnapshot()
  file.value = { state: 'none' }
}

export function ask(question: Question): void {
  tell({ type: 'ask', id: ++asked, question })
}

export function pick(block: number | undefined): void {
  pickedBlock.value = block
  if (block !== undefined) tell({ type: 'place', block })
}
export function point(block: number | undefined): void {
  if (block === pointedBlock.peek()) return
  pointedBlock.value = block
  if (block !== undefined) tell({ type: 'place', block })
}
