// Pressure stall information: how long work waited for CPU, memory and I/O (Documentation/accounting/psi.rst).
import { keepOpen } from '../../attribution/small-file.ts'
import { hostPressureRatio, hostPressureWaitingSecondsTotal } from '../../metrics/host.ts'
import { makeSeries } from '../../model/series.ts'
import type { Aspect } from './aspect.ts'
import { reasonOf, wholeNumber } from './aspect.ts'

export type Pressure = { readonly kind: 'some' | 'full'; readonly ratio: number; readonly waitedSeconds: number }

/** Lines read `some avg10=0.22 avg60=0.49 avg300=0.86 total=48085872` with percent and microseconds. */
export function parsePressure(text: string): readonly Pressure[] {
  const found: Pressure[] = []
  for (const line of text.split('\n')) {
    const match = /^(some|full) avg10=(\d{1,3}\.\d{1,4}) avg60=\S+ avg300=\S+ total=(\d{1,19})$/.exec(line)
    const total = wholeNumber(match?.[3])
    if (match !== null && total !== undefined)
      found.push({ kind: match[1] === 'full' ? 'full' : 'some', ratio: Number(match[2]) / 100, waitedSeconds: total / 1e6 })
  }
  return found
}

export const pressure: Aspect = {
  id: 'pressure',
  rate: 'fast',
  metrics: [hostPressureWaitingSecondsTotal, hostPressureRatio],
  create: ({ proc }) => {
    const resources = (['cpu', 'memory', 'io'] as const).map((resource) => ({
      resource,
      path: `${proc}/pressure/${resource}`,
      read: keepOpen(`${proc}/pressure/${resource}`),
      // For the CPU the kernel prints a full line of zeros: as a whole, work cannot wait for CPU while none runs.
      kinds: (resource === 'cpu' ? (['some'] as const) : (['some', 'full'] as const)).map((kind) => ({
        kind,
        waiting: makeSeries(hostPressureWaitingSecondsTotal, { resource, kind }),
        ratio: makeSeries(hostPressureRatio, { resource, kind }),
      })),
    }))
    return (out) => {
      for (const { resource, path, read, kinds } of resources) {
        let found: readonly Pressure[]
        try {
          found = parsePressure(read())
        } catch (error) {
          const { reason, code, detail } = reasonOf(error)
          for (const metric of [hostPressureWaitingSecondsTotal, hostPressureRatio])
            out.gap(metric, { resource }, reason, code, `${detail} (kernel without PSI, or booted without psi=1)`)
          continue
        }
        for (const each of kinds) {
          const value = found.find(({ kind }) => kind === each.kind)
          if (value === undefined) {
            for (const metric of [hostPressureWaitingSecondsTotal, hostPressureRatio])
              out.gap(metric, { resource, kind: each.kind }, 'parse_error', undefined, `${path}: expected a line "${each.kind} avg10=… total=…"`)
          } else {
            out.reading(each.waiting, value.waitedSeconds)
            out.reading(each.ratio, value.ratio)
          }
        }
      }
    }
  },
}
