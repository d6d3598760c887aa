// Processes that came and went between two looks: NVML's accounting mode knows them where an administrator has switched it on (nvidia-smi -am 1).
import { gpuAccountingMode, gpuUnseenProcessSecondsTotal, gpuUnseenProcessesTotal } from '../metrics/gpu-accounting.ts'
import { failureOf } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Attached, Collector } from './collector.ts'
import { listedPids } from './parts/listed-pids.ts'

const COUNTERS = [gpuUnseenProcessesTotal, gpuUnseenProcessSecondsTotal] as const
/** Each costs a call: a host that starts more in ten seconds is counted over several looks. */
const MOST_STATS = 64

function attach(device: Device): Attached {
  const query = device.accounting()
  const listed = listedPids(device)
  const mode = makeSeries(gpuAccountingMode, device.labels)
  const [processes, time] = COUNTERS.map((metric) => makeSeries(metric, device.labels))
  /** Those of the ring that need no look any more; undefined before the first look, whose ring is of before. */
  let known: Set<number> | undefined
  let count = 0
  let seconds = 0
  return {
    read(out) {
      const isOn = query.isOn()
      if (typeof isOn === 'number') {
        for (const metric of [gpuAccountingMode, ...COUNTERS]) out.gap(metric, device.labels, failureOf('nvmlDeviceGetAccountingMode', isOn))
        return
      }
      out.reading(mode, isOn ? 1 : 0)
      if (!isOn) {
        known = undefined
        return
      }
      const pids = query.pids()
      if (typeof pids === 'number') {
        for (const metric of COUNTERS) out.gap(metric, device.labels, failureOf('nvmlDeviceGetAccountingPids', pids))
        return
      }
      const before = known
      known = new Set()
      let asked = 0
      for (const pid of pids) {
        if (before === undefined || before.has(pid) || listed.has(pid)) {
          known.add(pid)
          continue
        }
        if (++asked > MOST_STATS) continue
        const found = query.stats(pid)
        if (typeof found === 'number' || found.isRunning) continue
        known.add(pid)
        count++
        seconds += (found.ms ?? 0) / 1_000
      }
      if (processes !== undefined) out.reading(processes, count)
      if (time !== undefined) out.reading(time, seconds)
    },
  }
}

export const accounting: Collector = { id: 'accounting', rate: 'slow', metrics: [gpuAccountingMode, ...COUNTERS], attach }
