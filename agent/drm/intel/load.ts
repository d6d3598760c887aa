// How busy an Intel card is. Its kernel drivers give no such figure: it is the time of the engines over all clients where all can be seen, else the share of the time outside of the idle state.
import { gpuDecoderUtilizationRatio, gpuUtilizationMethodInfo, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { Card, CardCollector } from '../card.ts'
import type { EngineLoads } from '../clients/clients.ts'
import { isFailure } from '../files.ts'
import { gtsOf } from './gts.ts'

/** Names of engine classes: i915's, xe's. The copy engine moves memory for both. */
const MAIN = /^(?:render|compute|copy|rcs|ccs|bcs)$/
const VIDEO = /^(?:video|video-enhance|vcs|vecs)$/

/** Of the busiest class, since the classes work side by side. */
function busiest(loads: EngineLoads, names: RegExp): number {
  let most = 0
  for (const [name, load] of loads) if (names.test(name)) most = Math.max(most, load)
  return most
}

/** Share of the time outside of the idle state since the reading before, of the busiest GT that computes. undefined: nothing to compare with yet. */
function createAwake(card: Card): (nowMs: number) => number | Failure | undefined {
  const gts = gtsOf(card)
    .filter(({ main }) => main)
    .map((gt) => ({ ...gt, before: undefined as { readonly ms: number; readonly at: number } | undefined }))
  const none = failureOf(`${card.device} idle time`, -1, 'not_supported', 'this driver shows no idle time of the GPU')
  return (nowMs) => {
    let most: number | undefined
    let failure: Failure | undefined = gts.length === 0 ? none : undefined
    for (const gt of gts) {
      const ms = card.askNumber(gt.idleMs)
      if (isFailure(ms)) {
        failure ??= ms
        continue
      }
      const { before } = gt
      gt.before = { ms, at: nowMs }
      if (before === undefined || ms < before.ms) continue
      const status = ms === before.ms && gt.idleStatus !== undefined ? card.ask(gt.idleStatus) : undefined
      // Idle now, and the counter was not brought up to date.
      const idle = status !== undefined && !isFailure(status) && status.toString('utf8').trim() === 'gt-c6'
      const awake = idle ? 0 : 1 - Math.min(1, (ms - before.ms) / (nowMs - before.at))
      most = Math.max(most ?? 0, awake)
    }
    return most ?? failure
  }
}

const ratio = (value: number): number => Math.round(value * 1e4) / 1e4

export const load: CardCollector = {
  id: 'load',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuUtilizationRatio, gpuDecoderUtilizationRatio, gpuUtilizationMethodInfo],
  attach(card) {
    const main = makeSeries(gpuUtilizationRatio, card.labels)
    const video = makeSeries(gpuDecoderUtilizationRatio, card.labels)
    const methods = {
      engines: makeSeries(gpuUtilizationMethodInfo, { ...card.labels, method: 'engines' }),
      awake: makeSeries(gpuUtilizationMethodInfo, { ...card.labels, method: 'awake' }),
    }
    const unseen = failureOf('engines of clients', -1, 'no_permission', 'the time of the video engine is known only where all processes can be seen')
    const awake = createAwake(card)
    return {
      read(out, nowMs) {
        if (card.asleep()) {
          out.reading(main, 0)
          out.reading(video, 0)
          return
        }
        // Asked in any case: the next reading compares with it.
        const share = awake(nowMs)
        const { clients, hidden, loads } = card.clients.of(card.slot, nowMs)
        if (loads !== undefined && hidden === 0 && clients.length > 0) {
          out.reading(main, ratio(busiest(loads, MAIN)))
          out.reading(video, ratio(busiest(loads, VIDEO)))
          out.reading(methods.engines, 1)
          return
        }
        if (hidden > 0) out.gap(gpuDecoderUtilizationRatio, card.labels, unseen)
        if (share === undefined) return
        if (isFailure(share)) return out.gap(gpuUtilizationRatio, card.labels, share)
        out.reading(main, ratio(share))
        out.reading(methods.awake, 1)
      },
    }
  },
}
