// The names of dcgm-exporter beside our own, so that existing dashboards and rules go on working.
// Names: dcgm-exporter 4.8.2 (classic), the 4.9.0 release notes and DCGM 4.6's dcgm_fields.h (current).
import type { DcgmName } from '../../model/metric.ts'
import type { Labels, Series } from '../../model/series.ts'
import type { DcgmLabels, Generation } from './dcgm-labels.ts'

export type DcgmMode = 'classic' | '4.9' | 'both' | 'off'

export type Alias = { readonly name: DcgmName; readonly key: string }

export type DcgmNames = {
  readonly generations: readonly Generation[]
  /** All series under other names that a series of ours means, at the present version of the labels. */
  readonly aliasesOf: (series: Series) => readonly Alias[]
}

const GENERATIONS: Readonly<Record<DcgmMode, readonly Generation[]>> = { classic: ['classic'], '4.9': ['current'], both: ['classic', 'current'], off: [] }
const MIB = 1_048_576

export function createDcgmNames(mode: DcgmMode, labels: DcgmLabels): DcgmNames {
  const generations = GENERATIONS[mode]
  return {
    generations,
    aliasesOf(series) {
      const { dcgm, labels: names } = series.metric
      if (dcgm === undefined || series.labels['uuid'] === undefined) return []
      const ofInstances = names.includes('gi')
      const found: Alias[] = []
      const taken = new Set<string>()
      for (const generation of generations) {
        for (const name of dcgm[generation] ?? []) {
          if (isXidName(name.name)) continue // made by xid.ts
          // A name that 4.9 kept is once under `both`, or sums would count it twice.
          if (taken.has(name.name) || !matches(name.when, series.labels)) continue
          taken.add(name.name)
          for (const text of labels.texts(series.labels, generation, ofInstances, moreOf(name, series.labels)))
            found.push({ name, key: `${name.name}{${text}}` })
        }
      }
      return found
    },
  }
}

/** What a name carries beside the labels of every series. */
function moreOf({ labels, fixed }: DcgmName, from: Labels): Labels | undefined {
  if (labels === undefined && fixed === undefined) return undefined
  return { ...fixed, ...Object.fromEntries((labels ?? []).map((label) => [label, from[label] ?? ''])) }
}

/** The message in these names' labels depends on the value. */
export const XID_NAMES: Readonly<Record<Generation, string>> = { classic: 'DCGM_FI_DEV_XID_ERRORS', current: 'DCGM_FI_DEV_XID_ERROR' }
const isXidName = (name: string): boolean => name === XID_NAMES.classic || name === XID_NAMES.current

function matches(when: Labels | undefined, labels: Labels): boolean {
  for (const label in when) if (labels[label] !== when[label]) return false
  return true
}

/** The value in the other name's unit, without the dirt of binary fractions; MiB are whole ones, as DCGM's integers are. */
export function scaled(value: number, scale: number): number {
  if (scale === 1) return value
  if (scale === 1 / MIB) return Math.floor(value * scale)
  const product = value * scale
  return Number.isInteger(product) ? product : Number(product.toPrecision(12))
}
