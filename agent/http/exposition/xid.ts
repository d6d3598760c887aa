// DCGM_FI_DEV_XID_ERRORS: the code of the last Xid of each GPU, made from our counters by code.
import type { Reading } from '../../model/reading.ts'
import type { LatestGroup } from '../../store/latest.ts'
import type { Labels } from '../../model/series.ts'
import { createFamily, createRow, enterRow, type Family, type Row } from './row.ts'
import type { DcgmNames, Generation } from './dcgm.ts'
import { xidMessage } from './xid-messages.ts'

const LAST = 'warpwatch_gpu_xid_last_timestamp_seconds'
const TOTAL = 'warpwatch_gpu_xid_errors_total'
const INFO = 'warpwatch_gpu_info'
const HELP = 'Value of the last XID error encountered.'
const NAMES: Readonly<Record<Generation, string>> = { classic: 'DCGM_FI_DEV_XID_ERRORS', current: 'DCGM_FI_DEV_XID_ERROR' }

type Last = { readonly labels: Labels; readonly t: number; readonly xid: number; readonly at: number }

export type XidRows = {
  readonly begin: () => void
  readonly see: (reading: Reading, group: LatestGroup) => void
  /** Enters one row per GPU. A GPU without any Xid so far says 0, unless a gap tells that its Xids cannot be seen. */
  readonly end: (groups: Iterable<LatestGroup>, generation: number) => void
}

export function createXidRows(dcgm: DcgmNames, addFamily: (family: Family) => void): XidRows {
  const families = new Map<Generation, Family>()
  const rows = new Map<string, Row>()
  const last = new Map<string, Last>()
  const unseen = new Set<string>()

  const rowOf = (generation: Generation, labels: string, xid: number): Row => {
    const key = `${NAMES[generation]}{${labels}${labels === '' ? '' : ','}err_code="${xid}",err_msg="${xidMessage(xid)}"}`
    let row = rows.get(key)
    if (row === undefined) {
      let family = families.get(generation)
      if (family === undefined) {
        family = createFamily({ name: NAMES[generation], kind: 'gauge', unit: '', help: HELP })
        families.set(generation, family)
        addFamily(family)
      }
      row = createRow(family, key)
      rows.set(key, row)
    }
    return row
  }

  return {
    begin: () => last.clear(),
    see({ series, value }, group) {
      const { name } = series.metric
      if (name !== LAST && name !== INFO) return
      const uuid = series.labels['uuid']
      if (uuid === undefined) return
      const known = last.get(uuid)
      const [xid, at] = name === LAST ? [Number(series.labels['xid'] ?? 0), value] : [0, -1]
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
