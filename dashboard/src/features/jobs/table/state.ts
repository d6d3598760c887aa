// The list of jobs as the address asks for it; its rows keep their places while someone points at them.
import { computed, signal } from '@preact/signals'
import { frame, timeline } from '../../../parts/live/state.ts'
import { known, past, slurm } from '../past.ts'
import { BUSY_S, jobsOf, type Recently } from '../running.ts'
import { arranged, parseSort, rowsOf, sortText, type JobRow } from './rows.ts'
import { LANE } from '../../../parts/live/lanes.ts'
import { route, setParams } from '../../../parts/route.ts'
import { heldOrder, nextSort } from '../../../parts/table/sort.ts'

function recently(lane: string): number | undefined {
  const read = timeline
    .values(lane)
    ?.slice(-BUSY_S)
    .filter((value) => !Number.isNaN(value))
  return read === undefined || read.length === 0 ? undefined : read.reduce((sum, value) => sum + value, 0) / read.length
}
const RECENTLY: Recently = {
  gpu: ({ uuid, utilization_ratio: now }) => recently(LANE.utilization(uuid)) ?? now,
  job: (uuid, key) => recently(LANE.job(uuid, key)),
}
export const jobs = computed(() => (frame.value === undefined ? [] : jobsOf(frame.value, RECENTLY)))
export const all = computed(() => rowsOf(jobs.value, past.value, known.value.values(), slurm.value))
const params = computed(() => route.value.params)
export const text = computed(() => params.value.get('text') ?? '')
export const sort = computed(() => parseSort(params.value.get('sort')))
export const opened = computed<ReadonlySet<string>>(() => new Set(params.value.get('open')?.split(',') ?? []))

const places = signal<readonly string[] | undefined>(undefined)
const fresh = computed(() => arranged(all.value, text.value, sort.value))
/** In the places that they had while someone points there; a new one comes at the end. */
export const rows = computed<readonly JobRow[]>(() => {
  const held = places.value
  if (held === undefined) return fresh.value
  return heldOrder(fresh.value, held, ({ job }) => job.key)
})

export function hold(): void {
  places.value ??= fresh.peek().map(({ job }) => job.key)
}
export function release(): void {
  places.value = undefined
}
const ask = (changes: Readonly<Record<string, string | undefined>>): void => {
  release()
  setParams(changes)
}
export const find = (words: string): void => ask({ text: words === '' ? undefined : words })
export const sortBy = (column: string, descending: boolean): void => ask({ sort: sortText(nextSort(sort.peek(), column, descending)) })

export function toggle(key: string): void {
  const next = new Set(opened.peek())
  if (!next.delete(key)) next.add(key)
  setParams({ open: next.size === 0 ? undefined : [...next].join(',') })
}
