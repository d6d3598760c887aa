// Facts of an incident in the units and the time zone that the reader has chosen.
import type { Facts } from '../../../agent/model/facts.ts'
import type { IncidentKind } from '../../../agent/model/kinds.ts'
import { factRows as rowsOf, type FactRow } from '../../../agent/text/facts.ts'
import { age } from '../../../agent/text/span.ts'
import { since, zoneName } from '../../../agent/text/time.ts'
import { celsiusFigure } from './format.ts'

export { factLabel } from '../../../agent/text/facts.ts'

export function factRows(facts: Facts, nowMs: number, kind?: IncidentKind): readonly FactRow[] {
  const celsius = (value: number): string => {
    const { value: figure, unit } = celsiusFigure(value)
    return `${figure} ${unit}`
  }
  return rowsOf(facts, { moment: (ms) => `${since(ms, nowMs)} ${zoneName(ms)}`, celsius }, kind)
}

/** A moment beside the fault: `−1 min 3 s`, `+ 12 s`, `at the fault`. */
export function offsetText(seconds: number): string {
  if (Math.round(seconds) === 0) return 'at the fault'
  return `${age(Math.abs(Math.round(seconds)))} ${seconds < 0 ? 'before' : 'after'}`
}
