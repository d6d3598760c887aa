// One card in the child: its collectors by rate, as gpu-sampler.ts is for an NVIDIA GPU.
import type { Attached, ReadGpu } from '../collectors/collector.ts'
import { failureOf } from '../nvml/codes.ts'
import { createOutput, type Output } from '../sampler/child/output.ts'
import type { SeriesIds } from '../sampler/child/series-ids.ts'
import { formatCardCall, RATES, type GpuSample, type Rate } from '../sampler/protocol.ts'
import type { Asking } from './asking.ts'
import type { Card, CardCollector, Vendor } from './card.ts'
import { isBound } from './find.ts'

export type CardSampler = {
  readonly card: Card
  /** A sample with one gap for everything, when the card is gone. */
  readonly sample: (rate: Rate, id: number) => GpuSample
  readonly peak: (nowMs: number) => void
  readonly gone: () => boolean
}

type Part = { readonly id: string; readonly read: ReadGpu }

/** `inFlight` is told which part is being read, so that one that hangs can be named. */
export function createCardSampler(
  card: Card,
  asking: Asking,
  { collectors, isPresent = isBound }: Pick<Vendor, 'collectors' | 'isPresent'>,
  ids: SeriesIds,
  inFlight: (call: string) => void,
): CardSampler {
  const samples: NonNullable<Attached['sample']>[] = []
  const byRate = new Map<Rate, { readonly parts: readonly Part[]; readonly output: Output }>()
  for (const rate of RATES) {
    const parts = collectors.flatMap((collector): readonly Part[] => {
      const attached = collector.rate === rate ? collector.attach(card) : undefined
      if (attached === undefined) return []
      if (attached.sample !== undefined) samples.push(attached.sample)
      return [{ id: collector.id, read: collector.readsAsleep ? attached.read : whileAwake(card, collector, attached.read) }]
    })
    byRate.set(rate, { parts, output: createOutput(ids, { gone: ({ reason }) => reason === 'gpu_lost', driverGone: () => false }) })
  }
  const lost = failureOf(card.slot, -1, 'gpu_lost', `${card.slot} is no longer bound to ${card.driver}`)
  let gone = false

  return {
    card,
    gone: () => gone,
    peak: (nowMs) => {
      if (!gone) for (const sample of samples) sample(nowMs)
    },
    sample(rate, id) {
      const begun = performance.now()
      const base = { type: 'gpu', id, index: card.index, uuid: card.uuid, rate } as const
      const part = byRate.get(rate)
      if (part === undefined) return { ...base, durationMs: 0, series: [], values: [] }
      const { parts, output } = part
      asking.begin()
      output.begin()
      gone = !isPresent(card.files, card)
      if (!gone) {
        for (const { id: name, read } of parts) {
          inFlight(formatCardCall(card.index, name))
          read(output, begun)
        }
        inFlight('')
      }
      const gaps = output.end(gone ? { labels: card.labels, failure: lost } : undefined)
      const rows = gone ? undefined : output.rows()
      return {
        ...base,
        durationMs: Math.round((performance.now() - begun) * 1_000) / 1_000,
        series: gone ? [] : output.series(),
        values: gone ? [] : output.values(),
        ...(gaps === undefined ? {} : { gaps }),
        ...(rows === undefined ? {} : { processes: rows }),
      }
    },
  }
}

/** One gap for each metric while the card is asleep. */
function whileAwake(card: Card, { metrics }: CardCollector, read: ReadGpu): ReadGpu {
  const why = failureOf(card.device, -10, 'not_supported', 'the card is asleep (power/runtime_status); reading this would wake it')
  return (out, nowMs) => {
    if (!card.asleep()) return read(out, nowMs)
    for (const metric of metrics) out.gap(metric, card.labels, why)
  }
}
