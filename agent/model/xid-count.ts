// dcgm-exporter's count of recent Xids: its name, and the window that it counts in by default (--xid-count-window-size).
import type { DcgmName } from './metric.ts'

export const XID_WINDOW_MS = 300_000
export const XID_WINDOW_LABEL = { window_size_in_ms: String(XID_WINDOW_MS) } as const
/** A gauge, though its CSV says counter: it falls when Xids leave the window. */
export const XID_COUNT: DcgmName = {
  name: 'DCGM_EXP_XID_ERRORS_COUNT',
  kind: 'gauge',
  help: 'Count of XID errors within the time window.',
  scale: 1,
  labels: ['xid'],
  fixed: XID_WINDOW_LABEL,
}
