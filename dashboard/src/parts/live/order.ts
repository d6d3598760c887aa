// In which order the cards stand: sick GPUs first, then by index. Pure.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { memoryWarning } from '../gpu/forecast.ts'
import type { GpuView } from './gpu-view.ts'

export type Ailing = Pick<GpuView, 'uuid' | 'index' | 'row' | 'trouble' | 'throttles'>

/** 0: it cannot be used or something critical fires; 1: something needs attention; 2: nothing is known to be wrong. */
export function sickness({ row, trouble, throttles }: Ailing, firing: readonly IncidentSummary[]): 0 | 1 | 2 {
  if (trouble !== undefined || firing.some(({ severity }) => severity === 'critical')) return 0
  return firing.some(({ severity }) => severity === 'warning') || throttles.some(({ harmful }) => harmful) || memoryWarning(row) !== undefined ? 1 : 2
}

export function sickFirst(views: readonly Ailing[], firingOn: (uuid: string) => readonly IncidentSummary[]): readonly string[] {
  return views
    .map((view) => ({ uuid: view.uuid, index: view.index, sick: sickness(view, firingOn(view.uuid)) }))
    .toSorted((a, b) => a.sick - b.sick || a.index - b.index)
    .map(({ uuid }) => uuid)
}
