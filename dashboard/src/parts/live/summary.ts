// The one line that answers "is anything wrong, where, since when".
import { since } from '../../../../agent/text/time.ts'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import type { IncidentKind } from '../../../../agent/model/kinds.ts'
import { memoryWarning } from '../gpu/forecast.ts'
import { ABOUT_PROCESS_MEMORY, GPU_SLOWED, GPU_UNREADABLE } from '../incident/kind-sets.ts'
import type { GpuView } from './gpu-view.ts'

export type Attention = {
  readonly about: 'answers' | 'speed' | 'memory'
  readonly severity: 'critical' | 'warning'
  readonly uuid: string
  readonly index: number
  readonly text: string
}
const TOLD_BY: Readonly<Record<Attention['about'], ReadonlySet<IncidentKind>>> = {
  answers: GPU_UNREADABLE,
  speed: GPU_SLOWED,
  memory: ABOUT_PROCESS_MEMORY,
}
/** Without what an incident that fires tells of the same GPU: one thing wrong is said once, with one time. */
export const withoutIncident = (attention: readonly Attention[], firing: readonly IncidentSummary[]): readonly Attention[] =>
  attention.filter(({ uuid, about }) => !firing.some(({ kind, subject }) => subject.gpu?.uuid === uuid && TOLD_BY[about].has(kind)))

/** A title of which one sees where: it says so itself, or the GPU, or else the container, is before it. */
export function placedTitle({ title, subject: { gpu, container } }: Pick<IncidentSummary, 'title' | 'subject'>): string {
  if (gpu?.index !== undefined) return new RegExp(`\\bGPU ${gpu.index}\\b`, 'u').test(title) ? title : `GPU ${gpu.index}: ${title}`
  return container === undefined || title.includes(container.name) ? title : `${container.name}: ${title}`
}

export type Summary = { readonly gpus: number; readonly busy: number; readonly attention: readonly Attention[] }

export function summarise(views: readonly GpuView[], nowMs: number): Summary {
  const attention: Attention[] = []
  for (const view of views) {
    if (view.trouble !== undefined) {
      const { verdict, lasting } = view.trouble
      const reported = view.sinceMs === undefined ? verdict : `${lasting} since ${since(view.sinceMs, nowMs)}`
      attention.push({ about: 'answers', severity: 'critical', uuid: view.uuid, index: view.index, text: `GPU ${view.index} ${reported}` })
    }
    const harmful = view.throttles.filter((throttle) => throttle.harmful)
    if (harmful.length > 0)
      attention.push({
        about: 'speed',
        severity: 'warning',
        uuid: view.uuid,
        index: view.index,
        text: `GPU ${view.index}: ${harmful.map((throttle) => throttle.text).join(', ')}`,
      })
    const memory = view.trouble === undefined ? memoryWarning(view.row) : undefined
    if (memory !== undefined)
      attention.push({ about: 'memory', severity: 'warning', uuid: view.uuid, index: view.index, text: `GPU ${view.index}: memory ${memory}` })
  }
  attention.sort((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
  return { gpus: views.length, busy: views.filter((view) => view.busy).length, attention }
}
