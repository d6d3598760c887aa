// Sends the summary of waste of the day or the week before to those whose routes ask for it: through the outbox, once for each day or week and receiver.
import type { Route } from '../agent/model/alert-settings.ts'
import { WASTE_PERIODS, type WastePeriod, type WasteSummary } from '../agent/model/ledger.ts'
import type { Outbox } from '../agent/store/outbox.ts'
import { wasteKey } from '../agent/store/outbox/waiting.ts'
import type { BuiltNotifier } from './build.ts'
import type { Delivery } from './delivery/delivery.ts'
import { outgoingWaste } from './messages/waste-text.ts'
import { isWanted, lastSpan, planWaste } from './routing/waste.ts'

export type WasteSummariesOptions = {
  readonly routes: readonly Route[]
  readonly notifiers: readonly BuiltNotifier[]
  readonly outbox: Pick<Outbox, 'putWaste' | 'lastNotification'>
  readonly delivery: Pick<Delivery, 'wake'>
  /** What was held and not used between two times. */
  readonly waste: (from: number, to: number) => WasteSummary
  /** Such as `08:00`. */
  readonly at: string
}
export type WasteSummaries = {
  /** Once a second. */
  readonly tick: (t: number) => void
}

/** A clock that jumps ahead and back within a minute, as at a boot without a battery, sends nothing early. */
const STEADY_TICKS = 60

const minutesOf = (at: string): number => {
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  return hours * 60 + minutes
}

export function createWasteSummaries({ routes, notifiers, outbox, delivery, waste, at }: WasteSummariesOptions): WasteSummaries {
  const takers = notifiers.filter(({ notifier }) => notifier.waste !== undefined).map(({ name }) => name)
  const periods = WASTE_PERIODS.filter((period) => takers.length > 0 && isWanted(routes, period))
  /** By period: the day or week that is due, and for how many ticks it has been. */
  const due = new Map<WastePeriod, { readonly key: string; readonly ticks: number }>()
  const send = (period: WastePeriod, t: number): void => {
    const span = lastSpan(period, t, minutesOf(at))
    const key = wasteKey(span)
    const before = due.get(period)
    const ticks = before?.key === key ? before.ticks + 1 : 1
    due.set(period, { key, ticks })
    if (ticks !== STEADY_TICKS) return
    // A restart or a clock that was set back finds here what was sent, as the outbox has it on disk.
    const missing = takers.filter((notifier) => outbox.lastNotification(notifier, key) === undefined)
    if (missing.length === 0) return
    const summary = { ...waste(span.from, span.to), period, date: span.date }
    for (const notifier of missing) {
      const planned = planWaste(routes, notifier, summary, t)
      if (planned === undefined) continue
      outbox.putWaste(outgoingWaste(planned.report), planned.plan, t)
      delivery.wake(notifier)
    }
  }
  return {
    tick(t) {
      for (const period of periods) send(period, t)
    },
  }
}
