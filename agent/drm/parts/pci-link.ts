// The PCIe link of a card to its slot: generation and width, now and at most.
import type { Card } from '../card.ts'
import { isFailure } from '../files.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import { gpuPcieLinkGeneration, gpuPcieLinkGenerationMax, gpuPcieLinkWidth, gpuPcieLinkWidthMax } from '../../metrics/gpu-links.ts'
import { makeSeries } from '../../model/series.ts'
import type { CardCollector } from '../card.ts'
import { report } from './report.ts'

/** Transfers per second of each generation (PCI-SIG). */
const GENERATIONS = [2.5, 5, 8, 16, 32, 64, 128] as const

export const generationOf = (gigaTransfers: number): number => GENERATIONS.findIndex((speed) => Math.abs(speed - gigaTransfers) < 0.2) + 1

export type Link = { readonly generation: number | Failure; readonly width: number | Failure }

/**
 * The last device of the card's own maker on the way up: newer cards have a PCIe switch of their own, and the link of the GPU behind it is no
 * link of the slot. undefined: the way up is not shown (a copy of the folder).
 */
function slotDevice(card: Card): string | undefined {
  const link = card.files.link(card.device)
  if (link === undefined) return undefined
  const parts = `${card.folder}/${link}`.split('/')
  const path: string[] = []
  for (const part of parts) {
    if (part === '..') path.pop()
    else if (part !== '.') path.push(part)
  }
  const own = card.files.text(`${path.join('/')}/vendor`)
  let last = path.join('/')
  for (let up = path.slice(0, -1); up.length > 0; up = up.slice(0, -1)) {
    const vendor = card.files.text(`${up.join('/')}/vendor`)
    if (isFailure(vendor) || vendor !== own) break
    // AMD's and Intel's own root ports have their vendor too: a root port hangs directly below pciDDDD:BB.
    if (/^pci[0-9a-f]{4}:[0-9a-f]{2}$/.test(up.at(-2) ?? '')) break
    last = up.join('/')
  }
  return last
}

export function readLink(card: Card, device: string, what: 'current' | 'max'): Link {
  const speed = card.files.text(`${device}/${what}_link_speed`)
  const width = card.files.number(`${device}/${what}_link_width`)
  const transfers = isFailure(speed) ? undefined : /^([\d.]+) GT\/s/.exec(speed)?.[1]
  const generation = isFailure(speed)
    ? speed
    : transfers === undefined || generationOf(Number(transfers)) === 0
      ? failureOf(`${device}/${what}_link_speed`, -1, 'not_supported', `the link's speed is not known: "${speed.slice(0, 40)}"`)
      : generationOf(Number(transfers))
  return {
    generation,
    width: isFailure(width) || width === 0 || width === 255 ? failureOf(`${device}/${what}_link_width`, -1, 'not_supported', 'the link has no width') : width,
  }
}

/** `ownLinkIsSlot`: the card has no switch of its own. `measured`: what its firmware says of the link, which goes before. */
export function linkCollector(ownLinkIsSlot: (card: Card) => boolean, measured?: (card: Card) => Partial<Link> | undefined): CardCollector {
  return {
    id: 'pcie-link',
    rate: 'slow',
    readsAsleep: false,
    metrics: [gpuPcieLinkGeneration, gpuPcieLinkWidth, gpuPcieLinkGenerationMax, gpuPcieLinkWidthMax],
    attach(card) {
      const device = slotDevice(card) ?? (ownLinkIsSlot(card) ? card.device : undefined)
      const series = {
        generation: makeSeries(gpuPcieLinkGeneration, card.labels),
        width: makeSeries(gpuPcieLinkWidth, card.labels),
        generationMax: makeSeries(gpuPcieLinkGenerationMax, card.labels),
        widthMax: makeSeries(gpuPcieLinkWidthMax, card.labels),
      }
      const unseen = failureOf(
        `${card.device}/current_link_speed`,
        -2,
        'not_supported',
        card.integrated
          ? 'a GPU on the chip of the CPU has no PCIe slot'
          : 'the card has a PCIe switch of its own, and the way from it to the slot is not shown here',
      )
      return {
        read(out) {
          const none = { generation: unseen, width: unseen }
          const now = { ...(device === undefined || card.integrated ? none : readLink(card, device, 'current')), ...measured?.(card) }
          const most = device === undefined || card.integrated ? none : readLink(card, device, 'max')
          report(out, series.generation, now.generation)
          report(out, series.width, now.width)
          report(out, series.generationMax, most.generation)
          report(out, series.widthMax, most.width)
        },
      }
    },
  }
}
