// Which cards are watched, and the number of each on this host.
import type { FoundCard, Vendor } from '../../drm/card.ts'
import { isFailure, type Files, type Roots } from '../../drm/files.ts'
import { createScanner } from '../../drm/clients/scan.ts'
import { createSleepers } from '../../drm/clients/sleepers.ts'
import { findCards, hasOtherCard } from '../../drm/find.ts'
import * as vendors from '../../drm/index.ts'

export type Integrated = 'auto' | 'always' | 'never'
export type ChosenCards = { readonly vendor: Vendor; readonly slots: readonly string[] }

/** Engines that a desktop does not use. */
const COMPUTES = /^(?:compute|ccs)$/

/** Who computes on the chip's own GPU: a process that ROCm knows, or a client of the engine for it. */
function isComputedOn(files: Files, roots: Roots, card: FoundCard): boolean {
  const kfd = files.list(`${roots.sys}/class/kfd/kfd/proc`)
  if (card.driver === 'amdgpu' && kfd.length > 0) return true
  return createScanner(
    files,
    roots.proc,
    createSleepers(files, roots.sys),
  )(0).open.some(({ slot, engines }) => slot === card.slot && [...engines].some(([name, { ns, cycles }]) => COMPUTES.test(name) && (ns ?? cycles ?? 0) > 0))
}

/** An integrated GPU beside a card drives the screen and would always be reported as idle; it counts when a process computes on it. */
export function chooseCards(files: Files, roots: Roots, integrated: Integrated, nvidia: number): readonly ChosenCards[] {
  const all: readonly Vendor[] = Object.values(vendors)
  const found = all.map((vendor) => ({ vendor, cards: findCards(files, roots.sys, vendor, roots.proc) }))
  const every = found.flatMap(({ cards }) => cards)
  if (every.length === 0) return []
  const chips = new Set(every.filter((card) => card.integrated).map(({ slot }) => slot))
  const beside = nvidia > 0 || every.length > chips.size || hasOtherCard(files, roots.sys, chips)
  const wanted = (card: FoundCard): boolean =>
    !card.integrated || integrated === 'always' || (integrated === 'auto' && (!beside || isComputedOn(files, roots, card)))
  return found.flatMap(({ vendor, cards }) => {
    const slots = cards.filter(wanted).map(({ slot }) => slot)
    return slots.length === 0 ? [] : [{ vendor, slots }]
  })
}

/** Whether all GPUs of this host are of other makers, so that NVIDIA's driver is not looked for. */
export function onlyOtherMakers(files: Files, roots: Roots): boolean {
  const all: readonly Vendor[] = Object.values(vendors)
  if (all.every((vendor) => findCards(files, roots.sys, vendor, roots.proc).length === 0) || nvidiaCards(files, roots) > 0) return false
  // A Jetson's PCIe bridges are NVIDIA's too.
  return !files.list(`${roots.sys}/bus/pci/devices`).some((slot) => {
    const kind = files.text(`${roots.sys}/bus/pci/devices/${slot}/class`)
    return files.text(`${roots.sys}/bus/pci/devices/${slot}/vendor`) === '0x10de' && (isFailure(kind) || kind.startsWith('0x03'))
  })
}

/** NVIDIA's cards that the kernel driver has, where NVML has not told of them. */
export const nvidiaCards = (files: Files, { proc }: Roots): number => files.list(`${proc}/driver/nvidia/gpus`).length
