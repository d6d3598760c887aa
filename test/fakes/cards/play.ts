// Plays a tree through the readers of a maker's cards as the sampler child does, without a process of its own.
import { createCardSet } from '../../../agent/drm/card-set.ts'
import type { FileReader } from '../../../agent/drm/files.ts'
import { createFiles } from '../../../agent/drm/files.ts'
import { findCards } from '../../../agent/drm/find.ts'
import * as vendors from '../../../agent/drm/index.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import type { Labels } from '../../../agent/model/series.ts'
import { RATES, type FromChild, type Hello, type ProcessRow, type Rate } from '../../../agent/sampler/protocol.ts'

export type Played = {
  readonly hello: Hello
  /** By metric, without the prefix `warpwatch_gpu_`; `{…}` holds the labels beside `gpu` and `uuid`. */
  readonly values: ReadonlyMap<string, number>
  readonly labels: ReadonlyMap<string, Labels>
  readonly gaps: readonly Gap[]
  readonly gap: (metric: string) => Gap | undefined
  readonly processes: readonly ProcessRow[]
}
export const MAKERS = vendors
export type Player = { readonly slots: readonly string[]; readonly pass: (rates?: readonly Rate[]) => readonly Played[] }

const short = (metric: string): string => metric.replace(/^warpwatch_(gpu_)?/, '')

/** One entry per card of the maker in each pass. */
export function createPlayer(vendor: keyof typeof MAKERS, roots: { readonly sys: string; readonly proc: string }, reader?: FileReader): Player {
  const files = createFiles(reader)
  const slots = findCards(files, roots.sys, MAKERS[vendor], roots.proc).map(({ slot }) => slot)
  let messages: FromChild[] = []
  const set = createCardSet(
    { type: 'start', libraries: [], leaveOut: [], peakHz: 0, cards: { vendor, ...roots, slots, firstIndex: 0 } },
    (message) => messages.push(message),
    { ...(reader === undefined ? {} : { reader }), inFlight: () => undefined },
  )
  const series = new Map<number, { readonly metric: string; readonly labels: Labels }>()
  const kept = new Map<string, readonly Gap[]>()
  let hello: Hello = { type: 'hello', driverVersion: '', library: '', gpus: [], lost: [] }
  let id = 0
  set.start()
  return {
    slots,
    pass(rates = RATES) {
      set.scrape({ type: 'scrape', id: ++id, rates })
      const taken = messages
      messages = []
      const byCard = new Map<number, { values: Map<string, number>; labels: Map<string, Labels>; processes: readonly ProcessRow[] }>()
      for (const message of taken) {
        if (message.type === 'hello') hello = message
        if (message.type === 'series') for (const [number, metric, labels] of message.series) series.set(number, { metric, labels })
        if (message.type !== 'gpu') continue
        if (message.gaps !== undefined) kept.set(`${message.index}/${message.rate}`, message.gaps)
        const card = byCard.get(message.index) ?? { values: new Map<string, number>(), labels: new Map<string, Labels>(), processes: [] }
        byCard.set(message.index, { ...card, processes: message.processes ?? card.processes })
        for (const [at, number] of message.series.entries()) {
          const of = series.get(number)
          if (of === undefined) throw new Error(`series ${number} was not announced`)
          const { gpu: _gpu, uuid: _uuid, ...more } = of.labels
          const dimension = of.metric.endsWith('_info')
            ? ''
            : Object.values(more)
                .map((value) => `{${value}}`)
                .join('')
          card.values.set(`${short(of.metric)}${dimension}`, message.values[at] ?? Number.NaN)
          card.labels.set(short(of.metric), of.labels)
        }
      }
      return [...byCard].map(([index, { values, labels, processes }]) => {
        const gaps = [...kept].flatMap(([place, list]) => (place.startsWith(`${index}/`) ? list : []))
        return { hello, values, labels, gaps, gap: (metric) => gaps.find((entry) => short(entry.metric) === metric), processes }
      })
    },
  }
}
