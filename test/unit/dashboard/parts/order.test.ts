// In which order the cards of the GPUs stand.
import { expect, test } from 'vitest'
import { sickFirst, type Ailing } from '../../../../dashboard/src/parts/live/order.ts'
import { troubleOf } from '../../../../dashboard/src/parts/live/health.ts'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import type { GpuRow } from '../../../../agent/model/live.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'
import { gpu } from '../helpers.ts'

const view = (index: number, more: Partial<GpuRow> = {}): Ailing => {
  const row = gpu(index, more)
  return { uuid: String(index), index, row, trouble: troubleOf(row), throttles: [] }
}
const fires = (severity: IncidentSummary['severity']): readonly IncidentSummary[] => [{ ...summaryOf(INCIDENT), severity }]
const order = (views: readonly Ailing[], firing: Readonly<Record<string, readonly IncidentSummary[]>> = {}): string =>
  sickFirst(views, (uuid) => firing[uuid] ?? []).join('')

const FULL = { memory_used_bytes: 79, memory_total_bytes: 80 }
const SOON = { memory_exhaustion_earliest_seconds: { '1_a': 600 } }

test('healthy GPUs stand by their index', () => {
  expect(order([view(2), view(0), view(1)])).toBe('012')
})

test('what cannot be used or is critical comes first, then what needs attention', () => {
  expect(order([view(0), view(1, FULL), view(2, { sample_age_seconds: 30 }), view(3)], { 3: fires('critical') })).toBe('2310')
})

test('a forecast, a warning and a GPU that is held back need attention; news do not', () => {
  expect(order([view(0), view(1), view(2, SOON)])).toBe('201')
  expect(order([view(0), view(1)], { 1: fires('warning') })).toBe('10')
  expect(order([view(0), view(1)], { 1: fires('info') })).toBe('01')
  expect(order([view(0), { ...view(1), throttles: [{ reason: 'hw_thermal_slowdown', text: 'hot', harmful: true }] }])).toBe('10')
})
