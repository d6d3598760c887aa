// All cards of one maker in a sampler child: finds them, walks them in order, notices those that go and come back.
import { writeSync } from 'node:fs'
import { createSeriesIds } from '../sampler/child/series-ids.ts'
import type { GpuSet } from '../sampler/child/gpu-set.ts'
import type { CardsRequest, FromChild, GpuSample, Hello, StartRequest } from '../sampler/protocol.ts'
import type { Failure } from '../nvml/codes.ts'
import { failureOf } from '../nvml/codes.ts'
import { createAsking } from './asking.ts'
import type { Card, FoundCard, Vendor } from './card.ts'
import { createCardSampler, type CardSampler } from './card-sampler.ts'
import { createClients } from './clients/clients.ts'
import { createFiles, type FileReader } from './files.ts'
import { findCards } from './find.ts'
import * as vendors from './index.ts'
import { driverVersion } from './parts/driver-version.ts'

const CALL_BYTES = 16
/** The kernel shows which part is being read: /proc/PID/comm. The record keeps it when the process dies of it (agent/sampler/call-record.ts). */
export function showInFlight(call: string, callFd: number | undefined): void {
  process.title = call === '' ? 'warpwatch-cards' : call
  if (callFd !== undefined) writeSync(callFd, call.slice(0, CALL_BYTES).padEnd(CALL_BYTES, '\0'), 0)
}

export function createCardSet(
  request: StartRequest & { readonly cards: CardsRequest },
  send: (message: FromChild) => void,
  { reader, inFlight = (call) => showInFlight(call, request.callFd) }: { readonly reader?: FileReader; readonly inFlight?: (call: string) => void } = {},
): GpuSet {
  const { vendor: id, sys, proc, slots, firstIndex } = request.cards
  const files = createFiles(reader)
  const roots = { sys, proc }
  const ids = createSeriesIds()
  const all: readonly Vendor[] = Object.values(vendors)
  const vendor = all.find((known) => known.id === id)
  let cards: readonly CardSampler[] = []

  const attach = (of: Vendor, found: FoundCard, clients: Card['clients']): CardSampler => {
    const index = firstIndex + slots.indexOf(found.slot)
    const { uuid, name } = of.identify(files, found, roots)
    const asking = createAsking(files, found)
    const labels = { gpu: String(index), uuid }
    const card: Card = { ...found, index, uuid, name, labels, files, roots, clients, ...asking }
    return createCardSampler(card, asking, of, ids, inFlight)
  }
  const touched = (index: number): boolean => !request.leaveOut.includes(index) && (request.only === undefined || request.only === index)
  const present = (of: Vendor): readonly FoundCard[] =>
    findCards(files, sys, of, proc).filter(({ slot }) => slots.includes(slot) && touched(firstIndex + slots.indexOf(slot)))

  const start = (): Failure | undefined => {
    if (vendor === undefined) return failureOf('cards', -1, 'not_supported', `no reader of cards of ${id}`)
    const clients = createClients(files, roots)
    const found = present(vendor)
    cards = found.map((card) => attach(vendor, card, clients))
    const gpus: Hello['gpus'] = cards.map(({ card: { index, uuid, name, slot } }) => ({ index, uuid, name, pciBusId: slot }))
    const [first] = cards
    send({ type: 'hello', driverVersion: first === undefined ? '' : driverVersion(first.card), library: `${sys}/class/drm`, gpus, lost: [] })
    return undefined
  }
  const sendSample = (card: CardSampler, rate: GpuSample['rate'], request_: number): void => {
    const sample = card.sample(rate, request_)
    const fresh = ids.fresh()
    if (fresh !== undefined) send({ type: 'series', series: fresh })
    send(sample)
  }
  /** Cards were unbound or came back. */
  const changed = (): boolean => {
    const now = vendor === undefined ? [] : present(vendor).map(({ slot }) => slot)
    return now.length !== cards.length || cards.some(({ card, gone }) => gone() || !now.includes(card.slot))
  }

  return {
    start,
    scrape({ id: requestId, rates }) {
      if (rates.includes('slow') && changed()) {
        // What is gone says so once; hello then lists the others.
        for (const card of cards) if (card.gone()) sendSample(card, 'fast', requestId)
        const failure = start()
        if (failure !== undefined) return failure
      }
      for (const card of cards) {
        for (const rate of rates) {
          sendSample(card, rate, requestId)
          if (card.gone()) break
        }
      }
      send({ type: 'done', id: requestId })
      return undefined
    },
    peak() {
      const now = performance.now()
      for (const card of cards) card.peak(now)
    },
    hasGpus: () => cards.length > 0,
  }
}
