// Facts of an incident as a person reads them: a name in words, the figure in its unit. The name's ending says the unit, as everywhere in the agent.
import { age } from '../../../agent/text/span.ts'
import { since, zoneName } from '../../../agent/text/time.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { IncidentKind } from '../../../agent/model/kinds.ts'
import { gib } from '../../../agent/text/bytes.ts'
import { causeText, factLabel, isMoment } from '../../../agent/text/fact-label.ts'
import { throttleWord } from './words.ts'
import { celsiusFigure, clock, percent, wattsFigure } from './format.ts'

export type FactRow = { readonly name: string; readonly label: string; readonly value: string }

const spaced = ({ value, unit }: { readonly value: string; readonly unit: string }): string => `${value} ${unit}`
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 2, useGrouping: false })

function numberText(name: string, value: number, nowMs: number): string {
  if (name.endsWith('_bytes_per_second')) return `${gib(value)} per second`
  if (name.endsWith('_bytes')) return gib(value)
  if (name.endsWith('_ratio')) return percent(value)
  if (name.endsWith('_celsius')) return spaced(celsiusFigure(value))
  if (name.endsWith('_watts')) return spaced(wattsFigure(value))
  if (name.endsWith('_hertz')) return clock(value)
  if (isMoment(name)) return `${since(value, nowMs)} ${zoneName(value)}`
  if (name.endsWith('_ms')) return value < 1000 ? `${plain.format(value)} ms` : age(value / 1000)
  if (name === 'sample_age_seconds') return `${age(value)} old`
  if (name.endsWith('_seconds') || name.endsWith('_s') || name === 'gpu_seconds_lost') return age(value)
  return plain.format(value)
}

function others(list: NonNullable<Facts['other_processes']>): string {
  return list.map(({ pid, bytes }) => `${gib(bytes)}${pid === undefined ? '' : ` (pid ${pid})`}`).join(', ')
}

const wordOf = (name: string, text: string): string => (name === 'causes' ? causeText(text) : name === 'active_reasons' ? throttleWord(text).text : text)

function valueText(name: string, value: Facts[keyof Facts], nowMs: number): string {
  if (typeof value === 'number') return numberText(name, value, nowMs)
  if (typeof value === 'string' || value === undefined) return value ?? ''
  return value
    .map((each) => (typeof each === 'string' ? wordOf(name, each) : 'bytes' in each ? others([each]) : ''))
    .join(name === 'causes' || name === 'active_reasons' ? '; ' : ', ')
}

/** In the order in which the judgment gave them; the causes, which explain the rest, first. What is not known is not there. */
export function factRows(facts: Facts, nowMs: number, kind?: IncidentKind): readonly FactRow[] {
  const rows: FactRow[] = []
  let name: keyof Facts
  for (name in facts) {
    const value = facts[name]
    // The number of the GPU stands in the subject, and in the log's own words it may be another.
    // The ranks of a job have a table of their own.
    if (value === undefined || name === 'gpu_index' || name === 'ranks' || (Array.isArray(value) && value.length === 0)) continue
    const single = name === 'causes' && Array.isArray(value) && value.length === 1 ? 'Cause' : undefined
    rows.push({ name, label: single ?? factLabel(name, kind), value: valueText(name, value, nowMs) })
  }
  // What PyTorch reserved is read beside what it uses of it.
  const used = rows.findIndex((row) => row.name === 'allocated_bytes')
  const reserved = rows.findIndex((row) => row.name === 'reserved_bytes')
  if (used >= 0 && reserved > used) rows.splice(used + 1, 0, ...rows.splice(reserved, 1))
  return rows.toSorted((a, b) => Number(b.name === 'causes') - Number(a.name === 'causes'))
}

/** A moment beside the fault: `−1 min 3 s`, `+ 12 s`, `at the fault`. */
export function offsetText(seconds: number): string {
  if (Math.round(seconds) === 0) return 'at the fault'
  return `${age(Math.abs(Math.round(seconds)))} ${seconds < 0 ? 'before' : 'after'}`
}
