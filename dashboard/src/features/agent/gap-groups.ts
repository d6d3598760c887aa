// What cannot be read, put together: by reason, and within it by figure, with all whom it concerns.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import type { GapEntry } from './source-rows.ts'

export type GapGroup = { readonly metric: string; readonly source: string; readonly detail: string | undefined; readonly where: string; readonly count: number }
export type ReasonGroup = { readonly reason: string; readonly count: number; readonly groups: readonly GapGroup[] }

/** What the hardware does not offer is no trouble, and comes last. */
const weight = (reason: string): number => (reason === 'not_supported' ? 1 : 0)

/** `GPUs 0–7`, or the names of what is no GPU. */
function whereOf(gaps: readonly GapEntry[]): string {
  const indices = gaps.flatMap(({ labels }) => (labels['gpu'] === undefined || labels['gpu'] === '' ? [] : [Number(labels['gpu'])])).filter(Number.isInteger)
  const others = new Set(
    gaps.filter(({ labels }) => labels['gpu'] === undefined).map(({ labels }) => labels['container'] ?? labels['target'] ?? Object.values(labels)[0] ?? ''),
  )
  const gpus = indices.length === 0 ? [] : [`${new Set(indices).size === 1 ? 'GPU' : 'GPUs'} ${indexRanges(indices)}`]
  return [...gpus, ...others].filter((text) => text !== '').join(', ')
}

function gather<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly (readonly Row[])[] {
  const byKey = new Map<string, Row[]>()
  for (const row of rows) {
    const known = byKey.get(keyOf(row))
    if (known === undefined) byKey.set(keyOf(row), [row])
    else known.push(row)
  }
  return [...byKey.values()]
}

export function gapGroups(gaps: readonly GapEntry[]): readonly ReasonGroup[] {
  return gather(gaps, ({ reason }) => reason)
    .map((ofReason) => {
      const groups = gather(ofReason, ({ source, metric, detail }) => `${source}\n${metric}\n${detail ?? ''}`).map((same) => {
        const [first] = same
        return { metric: first?.metric ?? '', source: first?.source ?? '', detail: first?.detail, where: whereOf(same), count: same.length }
      })
      return { reason: ofReason[0]?.reason ?? '', count: ofReason.length, groups: groups.toSorted((a, b) => b.count - a.count) }
    })
    .toSorted((a, b) => weight(a.reason) - weight(b.reason) || b.count - a.count)
}

/**
 * When the newest gap of this reason appeared, to the step of the history: the counter's last rise. Its first value is a rise from nothing, unless
 * it is at the window's edge; undefined where the counter stood still for all of the window.
 */
export function newestGap(rows: readonly SeriesRow[], reason: string): number | undefined {
  let newest: number | undefined
  for (const { labels, t, max } of rows) {
    if (labels['reason'] !== reason) continue
    let before: number | null = null
    for (const [i, at] of t.entries()) {
      const value = max[i] ?? null
      if (value === null) continue
      const rose = before === null ? i > 0 && value > 0 : value > before || (value < before && value > 0)
      if (rose && (newest === undefined || at > newest)) newest = at
      before = value
    }
  }
  return newest
}
