// One GPU in the child: its collectors by rate, and whether it answers at all.
import * as collectors from '../../collectors/index.ts'
import type { Attached } from '../../collectors/collector.ts'
import type { OpenedGpu } from '../../nvml/session.ts'
import type { GpuSample, ProcessRow, Rate } from '../protocol.ts'
import { createOutput } from './output.ts'
import type { Output } from './output.ts'
import type { SeriesIds } from './series-ids.ts'

export type GpuSampler = {
  readonly opened: OpenedGpu
  readonly sample: (rate: Rate, id: number) => GpuSample
  /** Samples between the readings, for the peaks. */
  readonly peak: (nowMs: number) => void
  /** undefined before the first sample. */
  readonly state: () => 'fine' | 'gone' | undefined
  readonly driverGone: () => boolean
  /** The set of MIG instances is no longer the one that was attached. */
  readonly migChanged: () => boolean
}

const RATES: readonly Rate[] = ['fast', 'slow', 'rare']

const isSameRow = (a: ProcessRow | undefined, b: ProcessRow): boolean =>
  a !== undefined && a.pid === b.pid && a.bytes === b.bytes && a.type === b.type && a.gi === b.gi && a.ci === b.ci
const areSameRows = (a: readonly ProcessRow[], b: readonly ProcessRow[]): boolean => a.length === b.length && b.every((row, at) => isSameRow(a[at], row))

export function createGpuSampler(opened: OpenedGpu, ids: SeriesIds): GpuSampler {
  const { device } = opened
  const byRate = new Map<Rate, { readonly attached: readonly Attached[]; readonly output: Output }>()
  for (const rate of RATES) {
    const attached = Object.values(collectors)
      .filter((collector) => collector.rate === rate)
      .map((collector) => collector.attach(device))
      .filter((entry) => entry !== undefined)
    byRate.set(rate, { attached, output: createOutput(ids) })
  }
  const peaks = [...byRate.values()].flatMap(({ attached }) => attached.flatMap((entry) => (entry.sample === undefined ? [] : [entry.sample])))
  const signature = opened.migSignature()
  let state: 'fine' | 'gone' | undefined
  let driverGone = false
  /** As the parent has them. */
  let reported: readonly ProcessRow[] | undefined

  return {
    opened,
    state: () => state,
    driverGone: () => driverGone,
    migChanged: () => state !== 'gone' && opened.migSignature() !== signature,
    peak: (nowMs) => {
      if (state === 'fine') for (const sample of peaks) sample(nowMs)
    },
    sample(rate, id) {
      const begun = performance.now()
      const part = byRate.get(rate)
      const base = { type: 'gpu', id, index: device.index, uuid: device.uuid, rate } as const
      if (part === undefined) return { ...base, durationMs: 0, series: [], values: [] }
      const { attached, output } = part
      output.begin()
      for (const { read } of attached) {
        read(output, begun)
        // A lost GPU can take long over every further question, and no answer of it would count.
        if (output.gone() !== undefined) break
      }
      const failure = output.gone()
      driverGone = output.driverGone()
      state = failure === undefined ? 'fine' : 'gone'
      const gaps = output.end(failure === undefined ? undefined : { labels: device.labels, failure })
      const rows = failure === undefined ? output.rows() : undefined
      const isSame = rows !== undefined && reported !== undefined && areSameRows(reported, rows)
      if (rows !== undefined && !isSame) reported = rows
      const loads = failure === undefined ? output.processLoads() : undefined
      return {
        ...base,
        durationMs: Math.round((performance.now() - begun) * 1000) / 1000,
        series: failure === undefined ? output.series() : [],
        values: failure === undefined ? output.values() : [],
        ...(gaps === undefined ? {} : { gaps }),
        ...(rows === undefined ? {} : isSame ? { sameProcesses: true as const } : { processes: rows }),
        ...(loads === undefined ? {} : { loads }),
      }
    },
  }
}
