// Counters that outlive the sampler child: Xid events of the GPUs, restarts and hangs of the sampler.
import { agentSamplerAbandoned, agentSamplerHangsTotal, agentSamplerRestartsTotal } from '../../metrics/agent-sources.ts'
import { gpuXidErrorsRecent, gpuXidErrorsTotal, gpuXidLastCode, gpuXidLastTimestampSeconds } from '../../metrics/xid.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'
import { RESTART_REASONS, type RestartReason } from '../../sampler/supervisor.ts'
import { XID_WINDOW_MS } from '../../model/xid-count.ts'

export type XidCounts = {
  readonly add: (labels: Labels, uuid: string, xid: number, t: number) => void
  /** At Unix time `t` in milliseconds. */
  readonly readings: (t: number) => readonly Reading[]
}
type XidEntry = { readonly errors: Series; readonly recent: Series; readonly last: Series; readonly times: number[]; count: number; t: number }
type XidGpu = { readonly code: Series; lastCode: number; readonly byXid: Map<number, XidEntry> }

/** A GPU that raises one Xid without end must not cost memory: three a second, for the whole window. */
const MOST_RECENT = 1_000

/** Kept for GPUs that are gone too: an Xid is often the last that is heard of one, and its alert needs the increase to stay. */
export function createXidCounts(): XidCounts {
  const gpus = new Map<string, XidGpu>()
  return {
    add(labels, uuid, xid, t) {
      const gpu: XidGpu = gpus.get(uuid) ?? { code: makeSeries(gpuXidLastCode, labels), lastCode: xid, byXid: new Map() }
      gpus.set(uuid, gpu)
      gpu.lastCode = xid
      const numbered = { ...labels, xid: String(xid) }
      const entry: XidEntry = gpu.byXid.get(xid) ?? {
        errors: makeSeries(gpuXidErrorsTotal, numbered),
        recent: makeSeries(gpuXidErrorsRecent, numbered),
        last: makeSeries(gpuXidLastTimestampSeconds, numbered),
        times: [],
        count: 0,
        t,
      }
      gpu.byXid.set(xid, entry)
      entry.count++
      entry.t = t
      entry.times.push(t)
      if (entry.times.length > MOST_RECENT) entry.times.shift()
    },
    readings(now) {
      const readings: Reading[] = []
      for (const gpu of gpus.values()) {
        readings.push({ series: gpu.code, value: gpu.lastCode })
        for (const { errors, recent, last, times, count, t } of gpu.byXid.values()) {
          readings.push({ series: errors, value: count }, { series: last, value: t / 1_000 })
          while (times[0] !== undefined && times[0] <= now - XID_WINDOW_MS) times.shift()
          if (times.length > 0) readings.push({ series: recent, value: times.length })
        }
      }
      return readings
    },
  }
}

export type SamplerCounts = {
  readonly restart: (reason: RestartReason) => void
  readonly hang: (labels: Labels, functionName: string) => void
  readonly readings: (abandoned: number) => readonly Reading[]
}

/** All reasons are there from the start, so that the first restart is seen as an increase. */
export function createSamplerCounts(of: Labels = {}): SamplerCounts {
  const restarts = new Map(RESTART_REASONS.map((reason) => [reason, { series: makeSeries(agentSamplerRestartsTotal, { ...of, reason }), value: 0 }]))
  const hangs = new Map<string, { series: Series; value: number }>()
  const abandonedSeries = makeSeries(agentSamplerAbandoned, of)
  return {
    restart(reason) {
      const entry = restarts.get(reason)
      if (entry !== undefined) entry.value++
    },
    hang(labels, functionName) {
      const series = makeSeries(agentSamplerHangsTotal, { ...labels, function: functionName })
      const entry = hangs.get(series.key) ?? { series, value: 0 }
      hangs.set(series.key, entry)
      entry.value++
    },
    readings: (abandoned) => [
      { series: abandonedSeries, value: abandoned },
      ...[...restarts.values(), ...hangs.values()].map(({ series, value }) => ({ series, value })),
    ],
  }
}
