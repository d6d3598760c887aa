// DCGM_FI_DEV_COUNT: how many GPUs the host has, on each GPU's own series, as DCGM gives it.
import type { LatestGroup } from '../../store/latest.ts'
import type { DcgmLabels, Generation } from './dcgm-labels.ts'
import { createRow, enterRow, type Family, type FamilyText, type Row } from './row.ts'

export const GPU_COUNT_NAMES: Readonly<Record<Generation, string>> = { classic: 'DCGM_FI_DEV_COUNT', current: 'DCGM_FI_SYSTEM_GPU_QUANTITY' }
const HELP = 'Number of GPUs on the node.'

export type GpuCountRows = { readonly enter: (groups: Iterable<LatestGroup>, generation: number) => void }

export function createGpuCountRows(generations: readonly Generation[], labels: DcgmLabels, familyOf: (def: FamilyText) => Family): GpuCountRows {
  let rows: readonly Row[] = []
  let version = -1
  let known = ''

  const make = (): readonly Row[] =>
    [...labels.gpus()].flatMap(([uuid, gpu]) =>
      generations.flatMap((generation) =>
        labels.texts({ uuid, gpu }, generation, false).map((text) => {
          const name = GPU_COUNT_NAMES[generation]
          return createRow(familyOf({ name, kind: 'gauge', unit: '', help: HELP }), `${name}{${text}}`)
        }),
      ),
    )
  return {
    enter(groups, generation) {
      const gpus = labels.gpus()
      const now = [...gpus.keys()].join()
      if (version !== labels.version() || known !== now) {
        rows = make()
        version = labels.version()
        known = now
      }
      let t = 0
      for (const group of groups) t = Math.max(t, group.t)
      for (const row of rows) enterRow(row, gpus.size, t, generation)
    },
  }
}
