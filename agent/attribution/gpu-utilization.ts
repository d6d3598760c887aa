// Which process keeps a GPU busy: the GPU's utilization divided by the driver's samples of its processes. Pure.
import type { ProcessLoad } from '../sampler/protocol.ts'

export type GpuLoad = {
  /** Utilization of the whole GPU, 0 to 1; undefined where it could not be read (MIG). */
  readonly ratio: number | undefined
  /** Undefined where the driver has no samples of processes; empty: no new ones. */
  readonly loads: readonly ProcessLoad[] | undefined
}
export type LoadShares = {
  /** The utilization of each of these processes at `t` (Unix ms); undefined where nothing tells them apart. */
  readonly divide: (load: GpuLoad, pids: readonly number[], t: number) => ReadonlyMap<number, number> | undefined
}

/** The driver samples at least once a second; until the next samples the proportions of the newest hold. */
const HOLDS_MS = 2_500
/** Less is the rounding of whole percents. */
const IDLE = 0.005

export function createLoadShares(): LoadShares {
  let newest: { readonly t: number; readonly loads: readonly ProcessLoad[] } | undefined
  return {
    divide({ ratio, loads }, pids, t) {
      if (loads !== undefined && loads.length > 0) newest = { t, loads }
      const [only] = pids
      if (ratio === undefined || only === undefined) return undefined
      // Nobody else holds it, and no sample of this look names another one.
      if (pids.length === 1 && loads?.length === 0) return new Map([[only, ratio]])
      // What no sample says is certain where nothing runs, or only one process can.
      if (ratio < IDLE) return new Map(pids.map((pid) => [pid, 0]))
      const current = newest !== undefined && Math.abs(t - newest.t) <= HOLDS_MS ? newest.loads : []
      // Processes that ended since the last look take part: what they did is not the others' work.
      const sum = current.reduce((total, load) => total + load.ratio, 0)
      if (sum < IDLE) return pids.length === 1 ? new Map([[only, ratio]]) : undefined
      const byPid = new Map(current.map((load) => [load.pid, load.ratio]))
      return new Map(pids.map((pid) => [pid, (ratio * (byPid.get(pid) ?? 0)) / sum]))
    },
  }
}
