// Which summary of waste is due, and who gets it with whose use. Pure, but for the host's time zone.
import { isWasteRoute, type Route } from '../../agent/model/alert-settings.ts'
import { HOUR_MS, type WastePeriod, type WasteReport, type WasteSummary } from '../../agent/model/ledger.ts'
import type { OutboxRunPlan } from '../../agent/store/outbox/waiting.ts'
import { fitsPeriod, fitsUser } from './match.ts'
import { quietUntil } from './quiet.ts'

/** A day or a week by the host's clock, Unix ms; `to` is no more part of it. */
export type WasteSpan = Pick<WasteReport, 'period' | 'date'> & { readonly from: number; readonly to: number }

const MONDAY = 1
const DAYS = 7
const two = (value: number): string => String(value).padStart(2, '0')
const dateOf = (day: Date): string => `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
/** The ledger counts by hour of UTC: in zones of half hours a day begins half an hour earlier, so that days still meet. */
const hourOf = (day: Date): number => Math.floor(day.getTime() / HOUR_MS) * HOUR_MS

/** The last day or week whose summary is due at `t`. `at`: minutes since midnight, from which it is sent; of weeks on Mondays. */
export function lastSpan(period: WastePeriod, t: number, at: number): WasteSpan {
  const now = new Date(t)
  const day = (offset: number, minutes = 0): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset, 0, minutes)
  const length = period === 'daily' ? 1 : DAYS
  const sinceBegin = period === 'daily' ? 0 : (now.getDay() - MONDAY + DAYS) % DAYS
  const end = t >= day(-sinceBegin, at).getTime() ? -sinceBegin : -sinceBegin - length
  return { period, date: dateOf(day(end - length)), from: hourOf(day(end - length)), to: hourOf(day(end)) }
}

export const isWanted = (routes: readonly Route[], period: WastePeriod): boolean => routes.some((route) => fitsPeriod(route, period))

/**
 * What one notifier gets of a summary: the rows of all its routes about that period, by the quiet hours of the first. Undefined where no row is for it,
 * as there is nothing to tell.
 */
export function planWaste(
  routes: readonly Route[],
  notifier: string,
  summary: WasteSummary & Pick<WasteReport, 'period' | 'date'>,
  t: number,
): { readonly report: WasteReport; readonly plan: OutboxRunPlan } | undefined {
  const own = routes.filter((route) => isWasteRoute(route) && route.to.includes(notifier) && fitsPeriod(route, summary.period))
  const rows = summary.rows.filter((row) => own.some((route) => fitsUser(route, row)))
  const [first] = own
  if (first === undefined || rows.length === 0) return undefined
  const dueAt = quietUntil(first.quiet, 'info', t)
  const plan: OutboxRunPlan = { notifier, group: JSON.stringify(['waste', summary.period]), reason: dueAt > t ? 'held' : 'new', dueAt }
  return { report: { ...summary, rows }, plan }
}
