// The one line that answers "is anything wrong, where, since when".
import { since } from '../text/format.ts'
import type { GpuView } from './gpu-view.ts'

export type Attention = { readonly severity: 'critical' | 'warning'; readonly uuid: string; readonly index: number; readonly text: string }
export type Summary = { readonly gpus: number; readonly busy: number; readonly attention: readonly Attention[] }

export function summarise(views: readonly GpuView[], nowMs: number): Summary {
  const attention: Attention[] = []
  for (const view of views) {
    if (view.trouble !== undefined) {
      const when = view.sinceMs === undefined ? '' : ` since ${since(view.sinceMs, nowMs)}`
      attention.push({ severity: 'critical', uuid: view.uuid, index: view.index, text: `GPU ${view.index} ${view.trouble.verdict}${when}` })
    }
    const harmful = view.throttles.filter((throttle) => throttle.harmful)
    if (harmful.length > 0)
      attention.push({
        severity: 'warning',
        uuid: view.uuid,
        index: view.index,
        text: `GPU ${view.index}: ${harmful.map((throttle) => throttle.text).join(', ')}`,
      })
  }
  attention.sort((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
  return { gpus: views.length, busy: views.filter((view) => view.busy).length, attention }
}
