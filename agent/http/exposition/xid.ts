// DCGM_FI_DEV_XID_ERRORS, the code of the last Xid of each GPU, made from our counters by code; and the zero of DCGM_EXP_XID_ERRORS_COUNT.
import type { Inventory } from '../../inventory/inventory.ts'
import { gpuXidErrorsRecent, gpuXidErrorsTotal, gpuXidLastCode, gpuXidLastTimestampSeconds } from '../../metrics/xid.ts'
import type { Reading } from '../../model/reading.ts'
import type { LatestGroup } from '../../store/latest.ts'
import type { Labels } from '../../model/series.ts'
import { XID_COUNT, XID_WINDOW_LABEL } from '../../model/xid-count.ts'
import { createRow, enterRow, type Family, type FamilyText, type Row } from './row.ts'
import { XID_NAMES } from './dcgm.ts'
import type { DcgmLabels, Generation } from './dcgm-labels.ts'
import { xidMessage } from './xid-messages.ts'

const CODE = gpuXidLastCode.name
const LAST = gpuXidLastTimestampSeconds.name
const TOTAL = gpuXidErrorsTotal.name
const RECENT = gpuXidErrorsRecent.name
const HELP = 'Value of the last XID error encountered.'
/** Sources that know GPUs but never hear of an Xid: from them no GPU is said to have had none. */
const BLIND: ReadonlySet<string> = new Set(['nvidia-smi', 'amd', 'intel'])

type Last = { readonly labels: Labels; readonly t: number; readonly xid: number; readonly at: number }

export type XidRows = {
  readonly begin: () => void
  readonly see: (reading: Reading, group: LatestGroup) => void
  /** Enters one row per GPU. A GPU without any Xid so far says 0, unless a gap says that its Xids cannot be seen. */
  readonly end: (groups: Iterable<LatestGroup>, generation: number) => void
}

export function createXidRows(
  generations: readonly Generation[],
  dcgm: DcgmLabels,
  inventory: Pick<Inventory, 'gpus'>,
  familyOf: (def: FamilyText) => Family,
): XidRows {
  /** By GPU and code, made at `version` of the labels. */
  const rows = new Map<string, readonly Row[]>()
  const last = new Map<string, Last>()
  const recent = new Set<string>()
  const unseen = new Set<string>()
  let version = -1

  const rowsOf = (gpu: Labels, xid: number): readonly Row[] => {
    const key = `${gpu['uuid']}|${gpu['gpu']}|${xid}`
    let found = rows.get(key)
    if (found === undefined) {
      const more = { err_code: String(xid), err_msg: xidMessage(xid) }
      found = generations.flatMap((generation) => {
        const name = XID_NAMES[generation]
        const family = familyOf({ name, kind: 'gauge', unit: '', help: HELP })
        return dcgm.texts(gpu, generation, false, more).map((text) => createRow(family, `${name}{${text}}`))
      })
      rows.set(key, found)
    }
    return found
  }
  /** As dcgm-exporter has it: no Xid within the window is one series of 0 without a code. */
  const zeroRows = (gpu: Labels): readonly Row[] => {
    const key = `${gpu['uuid']}|${gpu['gpu']}|none`
    let found = rows.get(key)
    const generation = generations[0]
    if (found === undefined && generation !== undefined) {
      const family = familyOf({ ...XID_COUNT, unit: '' })
      found = dcgm.texts(gpu, generation, false, XID_WINDOW_LABEL).map((text) => createRow(family, `${XID_COUNT.name}{${text}}`))
      rows.set(key, found)
    }
    return found ?? []
  }

  return {
    begin() {
      last.clear()
      recent.clear()
      // For a GPU that is there, none until a source reports one.
      for (const { uuid, labels, source } of inventory.gpus()) if (!BLIND.has(source)) last.set(uuid, { labels, t: 0, xid: 0, at: -1 })
    },
    see({ series, value }, group) {
      const { name } = series.metric
      const uuid = series.labels['uuid']
      if (uuid === undefined) return
      if (name === RECENT) recent.add(uuid)
      if (name !== CODE && name !== LAST) return
      const known = last.get(uuid)
      // The source's own word first; else the code with the newest time.
      const [xid, at] = name === CODE ? [value, Infinity] : [Number(series.labels['xid'] ?? 0), value]
      if (known === undefined || at > known.at) last.set(uuid, { labels: series.labels, t: group.t, xid, at })
    },
    end(groups, generation) {
      if (version !== dcgm.version()) rows.clear()
      version = dcgm.version()
      unseen.clear()
      for (const group of groups) {
        for (const gap of group.gaps) {
          const uuid = gap.labels['uuid']
          if (uuid !== undefined && (gap.metric === TOTAL || gap.metric === LAST)) unseen.add(uuid)
        }
      }
      for (const [uuid, { labels, t, xid, at }] of last) {
        if (at < 0 && unseen.has(uuid)) continue
        const gpu: Labels = { uuid, gpu: labels['gpu'] ?? '' }
        for (const row of rowsOf(gpu, xid)) enterRow(row, xid, t, generation)
        if (!recent.has(uuid)) for (const row of zeroRows(gpu)) enterRow(row, 0, t, generation)
      }
    },
  }
}
