// GPU time that was held and not used: asked for the period and the grouping that the address names, and again now and then.
import { computed, effect, signal } from '@preact/signals'
import type { WasteGroup, WasteSummary } from '../../../../agent/model/ledger.ts'
import { ApiError, getJson, isObject, storedToken } from '../../parts/connection/api.ts'
import { connection } from '../../parts/live/state.ts'
import { param } from '../../parts/route.ts'

export type Period = { readonly id: string; readonly label: string; readonly spoken: string; readonly days: number }
export const PERIODS: readonly Period[] = [
  { id: '1', label: '1 day', spoken: 'the last day', days: 1 },
  { id: '7', label: '7 days', spoken: 'the last 7 days', days: 7 },
  { id: '31', label: '31 days', spoken: 'the last 31 days', days: 31 },
]
export const GROUPS: readonly WasteGroup[] = ['user', 'namespace', 'account']
const USUAL = '7'
const EVERY_MS = 60_000

const asked = { days: param('days'), by: param('by') }
/** Any number of days that the agent answers; the buttons have the usual ones. */
export const period = computed((): Period => {
  const id = asked.days.value ?? USUAL
  const days = /^\d{1,2}$/.test(id) && Number(id) >= 1 && Number(id) <= 31 ? Number(id) : Number(USUAL)
  return PERIODS.find((each) => each.days === days) ?? { id: String(days), label: `${days} days`, spoken: `the last ${days} days`, days }
})
export const by = computed((): WasteGroup => GROUPS.find((each) => each === asked.by.value) ?? 'user')

type Known =
  | { readonly state: 'asking' }
  | { readonly state: 'failed'; readonly why: string }
  | { readonly state: 'there'; readonly by: WasteGroup; readonly summary: WasteSummary }
export const known = signal<Known>({ state: 'asking' })

const isSummary = (value: unknown): value is WasteSummary =>
  isObject(value) &&
  typeof value['from'] === 'number' &&
  typeof value['to'] === 'number' &&
  Array.isArray(value['rows']) &&
  value['rows'].every((row) => isObject(row) && typeof row['gpu_hours_held'] === 'number' && Array.isArray(row['died']) && Array.isArray(row['oversized']))

/** Gives the end of it. */
export function watchWaste(): () => void {
  let round = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = effect(() => {
    const [days, group] = [period.value.days, by.value]
    const live = connection.value.state === 'live'
    const mine = ++round
    clearTimeout(timer)
    if (!live) return
    const ask = async (): Promise<void> => {
      try {
        const summary = await getJson(`api/v1/usage/waste?days=${days}&by=${group}`, storedToken())
        if (!isSummary(summary)) throw new Error('the answer is no summary of use')
        if (mine === round) known.value = { state: 'there', by: group, summary }
      } catch (error) {
        // What was there stays: the head says that it is old.
        if (mine === round && known.peek().state !== 'there')
          known.value = { state: 'failed', why: error instanceof ApiError ? error.failure.message : 'the agent does not answer' }
      }
      if (mine === round) timer = setTimeout(() => void ask(), EVERY_MS)
    }
    void ask()
  })
  return () => {
    round++
    clearTimeout(timer)
    stop()
  }
}
