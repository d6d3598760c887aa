// What collectors see of an AMD or Intel card: where its files are, and who uses it. Types only.
import type { Attached } from '../collectors/collector.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Labels } from '../model/series.ts'
import type { Failure } from '../nvml/codes.ts'
import type { Rate } from '../sampler/protocol.ts'
import type { Clients } from './clients/clients.ts'
import type { Files, Roots } from './files.ts'

/** A card as the kernel lists it. */
export type FoundCard = {
  /** `…/class/drm/card1` */
  readonly folder: string
  /** `…/class/drm/card1/device` */
  readonly device: string
  /** Name of the kernel's driver: amdgpu, radeon, xe, i915. */
  readonly driver: string
  /** PCI address, `0000:03:00.0`; of a device of the chip its name, `17000000.gpu`. */
  readonly slot: string
  /** Vendor and device, `1002:7550`. */
  readonly pciId: string
  /** Shares the memory of the host with the CPU, on the same chip. */
  readonly integrated: boolean
}

export type Card = FoundCard & {
  /** The number of the GPU on this host, after NVIDIA's. */
  readonly index: number
  readonly uuid: string
  readonly name: string
  readonly labels: Labels
  readonly files: Files
  readonly roots: Roots
  readonly clients: Clients
  /** Counts the passes over the card: what was read in this one is not asked again. */
  readonly pass: () => number
  /** Of this pass. Reading a sensor would wake a card that is asleep. */
  readonly asleep: () => boolean
  /** Reads what the hardware must be asked for; after a failure of its firmware not again for a while, since each try costs seconds and a line in the kernel's log. */
  readonly ask: (path: string) => Buffer | Failure
  readonly askNumber: (path: string) => number | Failure
}

/** One aspect of a card, as `Collector` is of an NVIDIA GPU. */
export type CardCollector = {
  readonly id: string
  readonly rate: Rate
  readonly metrics: readonly MetricDef[]
  /** Whether it may be read while the card is asleep, because it asks no hardware; else its metrics are gaps then. */
  readonly readsAsleep: boolean
  readonly attach: (card: Card) => Attached | undefined
}

export type Vendor = {
  readonly id: string
  /** In texts: `AMD`. */
  readonly name: string
  readonly drivers: readonly string[]
  readonly isIntegrated: (files: Files, card: Omit<FoundCard, 'integrated'>) => boolean
  /** Where its cards are not in /sys/class/drm. */
  readonly find?: (files: Files, roots: Roots) => readonly FoundCard[]
  /** Whether a card is still bound to its driver; by its PCI address where absent. */
  readonly isPresent?: (files: Files, card: FoundCard) => boolean
  /** UUID and name; the UUID must be the same after a reboot. */
  readonly identify: (files: Files, card: FoundCard, roots: Roots) => { readonly uuid: string; readonly name: string }
  readonly collectors: readonly CardCollector[]
}
