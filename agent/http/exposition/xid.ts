// DCGM_FI_DEV_XID_ERRORS: the code of the last Xid of each GPU, made from our counters by code.
import type { Reading } from '../../model/reading.ts'
import type { LatestGroup } from '../../store/latest.ts'
import type { Labels } from '../../model/series.ts'
import { createRow, enterRow, type Family, type FamilyText, type Row } from './row.ts'
import { XID_NAMES, type DcgmNames, type Generation } from './dcgm.ts'
import { xidMessage } from './xid-messages.ts'

const CODE = 'warpwatch_gpu_xid_last_code'
const LAST = 'warpwatch_gpu_xid_last_timestamp_seconds'
const TOTAL = 'warpwatch_gpu_xid_errors_total'
const INFO = 'warpwatch_gpu_info'
const HELP = 'Value of the last XID error encountered.'
/** Sources that know GPUs but never hear of an Xid: from them no GPU is said to have had none. */
const BLIND: ReadonlySet<string> = new Set(['nvidia-smi'])

type Last = { readonly labels: Labels; readonly t: number; readonly xid: number; readonly at: number }

export type XidRows = {
  readonly begin: () => void
  readonly see: (reading: Reading, group: LatestGroup) => void
  /** Enters one row per GPU. A GPU without any Xid so far says 0, unless a gap tells that its Xids cannot be seen. */
  readonly end: (groups: Iterable<LatestGroup>, generation: number) => void
}

export function createXidRows(dcgm: DcgmNames, familyOf: (def: FamilyText) => Family): XidRows {
  const rows = new Map<string, Row>()
  const last = new Map<string, Last>()
  const unseen = new Set<string>()

  const rowOf = (generation: Generation, labels: string, xid: number): Row => {
    const key = `${XID_NAMES[generation]}{${labels}${labels === '' ? '' : ','}err_code="${xid}",err_msg="${xidMessage(xid)}"}`
    let row = rows.get(key)
    if (row === undefined) {
      row = createRow(familyOf({ name: XID_NAMES[generation], kind: 'gauge', unit: '', help: HELP }), key)
      rows.set(key, row)
    }
    return row
  }

  return {
    begin: () => last.clear(),
    see({ series, value }, group) {
      const { name } = series.metric
      const uuid = series.labels['uuid']
      if (uuid === undefined || (name !== CODE && name !== LAST && name !== INFO)) return
      if (name === INFO && BLIND.has(group.source)) return
      const known = last.get(uuid)
      // The source's own word first; else the code with the newest time; else, for a GPU that is there, none.
      const [xid, at] = name === CODE ? [value, Infinity] : name === LAST ? [Number(series.labels['xid'] ?? 0), value] : [0, -1]
      if (known === undefined || at > known.at) last.set(uuid, { labels: series.labels, t: group.t, xid, at })
    },
    end(groups, generation) {
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
        for (const { generation: names, text } of dcgm.gpuLabels(gpu)) enterRow(rowOf(names, text, xid), xid, t, generation)
      }
      // Label texts change rarely (a new driver); rows of the old ones are dropped then.
      if (rows.size > 16 * (last.size + 1)) for (const [key, row] of rows) if (row.generation !== generation) rows.delete(key)
    },
  }
}
