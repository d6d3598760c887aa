// Memory of AMD cards: VRAM and its window for the CPU, GTT, and on APUs both together. Counters of the driver: reading them wakes no card.
import { share } from '../../collectors/parts/share.ts'
import { createPeaks } from '../../collectors/memory-peak.ts'
import {
  gpuBar1FreeBytes,
  gpuBar1TotalBytes,
  gpuBar1UsedBytes,
  gpuGttTotalBytes,
  gpuGttUsedBytes,
  gpuMemoryFreeBytes,
  gpuMemoryTotalBytes,
  gpuMemoryUsedBytes,
  gpuMemoryUsedPeakBytes,
  gpuMemoryUsedRatio,
} from '../../metrics/gpu-memory.ts'
import { makeSeries } from '../../model/series.ts'
import type { Failure } from '../../nvml/codes.ts'
import type { CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { meminfoBytes } from '../parts/meminfo.ts'
import { report } from '../parts/report.ts'

const both = (a: number | Failure, b: number | Failure): number | Failure => (isFailure(a) ? a : isFailure(b) ? b : a + b)
const less = (a: number | Failure, b: number | Failure): number | Failure => (isFailure(a) ? a : isFailure(b) ? b : Math.max(0, a - b))

const METRICS = [
  gpuMemoryTotalBytes,
  gpuMemoryUsedBytes,
  gpuMemoryFreeBytes,
  gpuMemoryUsedRatio,
  gpuMemoryUsedPeakBytes,
  gpuGttTotalBytes,
  gpuGttUsedBytes,
  gpuBar1TotalBytes,
  gpuBar1UsedBytes,
  gpuBar1FreeBytes,
] as const

export const memory: CardCollector = {
  id: 'memory',
  rate: 'fast',
  readsAsleep: true,
  metrics: METRICS,
  attach(card) {
    const { files, device, labels, roots, integrated } = card
    const total = makeSeries(gpuMemoryTotalBytes, labels)
    const used = makeSeries(gpuMemoryUsedBytes, labels)
    const free = makeSeries(gpuMemoryFreeBytes, labels)
    const ratio = makeSeries(gpuMemoryUsedRatio, labels)
    const peak = makeSeries(gpuMemoryUsedPeakBytes, labels)
    const gttTotal = makeSeries(gpuGttTotalBytes, labels)
    const gttUsed = makeSeries(gpuGttUsedBytes, labels)
    const barTotal = makeSeries(gpuBar1TotalBytes, labels)
    const barUsed = makeSeries(gpuBar1UsedBytes, labels)
    const barFree = makeSeries(gpuBar1FreeBytes, labels)
    const peaks = createPeaks()
    const read = (what: string): number | Failure => files.number(`${device}/mem_info_${what}`)
    const usedNow = (): number | Failure => (integrated ? both(read('vram_used'), read('gtt_used')) : read('vram_used'))
    /** An APU's programs get VRAM (a part of the host's memory that the BIOS took away) and GTT, but never more than the host has. */
    const totalOf = (vram: number | Failure, gtt: number | Failure): number | Failure => {
      if (!integrated) return vram
      const host = meminfoBytes(files, roots, 'MemTotal')
      return isFailure(vram) || isFailure(gtt) ? both(vram, gtt) : vram + (host === undefined ? gtt : Math.min(gtt, host))
    }
    return {
      sample: (nowMs) => {
        const value = usedNow()
        if (!isFailure(value)) peaks.add(nowMs, value)
      },
      read(out, nowMs) {
        const vram = read('vram_total')
        const gtt = read('gtt_total')
        const all = totalOf(vram, gtt)
        const taken = usedNow()
        const left = less(all, taken)
        const available = integrated ? meminfoBytes(files, roots, 'MemAvailable') : undefined
        if (!isFailure(taken)) peaks.add(nowMs, taken)
        report(out, total, all)
        report(out, used, taken)
        // What the carve-out has left, and of GTT what the host can still give.
        const carved = less(vram, read('vram_used'))
        report(out, free, available === undefined || isFailure(left) || isFailure(carved) ? left : Math.min(left, available + carved))
        if (isFailure(all) || isFailure(taken)) report(out, ratio, isFailure(all) ? all : taken)
        else if (all > 0) out.reading(ratio, share(taken, all))
        report(out, peak, isFailure(taken) ? taken : (peaks.highest(nowMs) ?? taken))
        report(out, gttTotal, gtt)
        report(out, gttUsed, read('gtt_used'))
        const window = read('vis_vram_total')
        const mapped = read('vis_vram_used')
        report(out, barTotal, window)
        report(out, barUsed, mapped)
        report(out, barFree, less(window, mapped))
      },
    }
  },
}
