// ECC of AMD cards (RAS): errors by block and pages out of use. Reading asks the hardware and moves its counters into the driver's sums, so it is done once a minute.
import { gpuEccErrorsTotal, gpuRetiredPages, gpuRetiredPagesPending } from '../../metrics/gpu-errors.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { Card, CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'

const KINDS = [
  { type: 'uncorrected', key: 'ue' },
  { type: 'corrected', key: 'ce' },
  { type: 'deferred', key: 'de' },
] as const

/** `ue: 3` lines of one block. */
export const countIn = (text: string, key: string): number | undefined => {
  const count = new RegExp(`^${key}:\\s*(\\d{1,15})$`, 'm').exec(text)?.[1]
  return count === undefined ? undefined : Number(count)
}

function blocksOf(card: Card): readonly (readonly [path: string, text: string])[] | Failure {
  const paths = card.files.list(`${card.device}/ras`).filter((name) => name.endsWith('_err_count'))
  const none = failureOf(`${card.device}/ras`, -1, 'not_supported', 'this card or kernel has no ECC counters (ras folder)')
  let failure: Failure | undefined
  const read = paths.flatMap((name) => {
    const path = `${card.device}/ras/${name}`
    const bytes = card.ask(path)
    // A block that cannot be asked says EINVAL, and the others count.
    if (isFailure(bytes)) {
      failure ??= bytes
      return []
    }
    const text = bytes.toString('utf8')
    if (countIn(text, 'ue') !== undefined) return [[path, text] as const]
    failure ??= failureOf(path, -1, 'driver_error', `${path} has no counts now: ${text.trim().slice(0, 60)}`)
    return []
  })
  return read.length > 0 ? read : (failure ?? none)
}

export const ecc: CardCollector = {
  id: 'ecc',
  rate: 'rare',
  readsAsleep: false,
  metrics: [gpuEccErrorsTotal],
  attach(card) {
    const series = KINDS.map((kind) => ({ ...kind, series: makeSeries(gpuEccErrorsTotal, { ...card.labels, type: kind.type, scope: 'volatile' }) }))
    return {
      read(out) {
        const blocks = blocksOf(card)
        if (isFailure(blocks)) return out.gap(gpuEccErrorsTotal, card.labels, blocks)
        for (const { key, series: of } of series) {
          const counts = blocks.flatMap(([, text]) => countIn(text, key) ?? [])
          if (counts.length > 0)
            out.reading(
              of,
              counts.reduce((sum, count) => sum + count, 0),
            )
        }
      },
    }
  },
}

export const retiredPages: CardCollector = {
  id: 'retired-pages',
  rate: 'rare',
  readsAsleep: false,
  metrics: [gpuRetiredPages, gpuRetiredPagesPending],
  attach(card) {
    const path = `${card.device}/ras/gpu_vram_bad_pages`
    const retired = makeSeries(gpuRetiredPages, { ...card.labels, cause: 'uncorrected' })
    const pending = makeSeries(gpuRetiredPagesPending, card.labels)
    return {
      read(out) {
        const bytes = card.ask(path)
        if (isFailure(bytes)) {
          out.gap(gpuRetiredPages, card.labels, bytes)
          return out.gap(gpuRetiredPagesPending, card.labels, bytes)
        }
        // `0x0000abcd : 0x00001000 : R`: reserved; P waits for a reset; F could not be taken out of use.
        const states = [...bytes.toString('utf8').matchAll(/^0x[0-9a-f]+ *: *0x[0-9a-f]+ *: *([RPF])/gim)].map(([, state]) => state?.toUpperCase())
        out.reading(retired, states.length)
        out.reading(pending, states.some((state) => state !== 'R') ? 1 : 0)
      },
    }
  },
}
