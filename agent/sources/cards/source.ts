// Looks which cards the host has, numbers them after NVIDIA's, and runs a source of GPUs for each maker, begun again when the set of cards changes.
import { createFiles, type Roots } from '../../drm/files.ts'
import type { Source, SourceContext } from '../../model/source.ts'
import { counted } from '../../text/grammar.ts'
import type { NvmlState } from '../definition.ts'
import type { GpuSource, GpuSourceOptions } from '../gpu/options.ts'
import { createGpuSource } from '../gpu/source.ts'
import { chooseCards, nvidiaCards, type ChosenCards, type Integrated } from './choose.ts'

export type CardsOptions = {
  readonly roots: Roots
  readonly integrated: Integrated
  /** What is known of NVIDIA's GPUs, whose numbers come first. */
  readonly nvidia: () => { readonly state: NvmlState; readonly indices: readonly number[] }
  /** Where NVIDIA's sampler does not run, the first of these makes connections inside other network namespaces. */
  readonly connects: (connect: GpuSource['connect']) => void
  readonly sampler: Omit<GpuSourceOptions, 'id' | 'lister' | 'cards'>
}

const LOOK_EVERY_MS = 60_000
/** How long NVIDIA's driver has to tell its GPUs, before the others are numbered without them. */
const WAIT_TICKS = 20
const TICK_MS = 500

export function createCardsSource({ roots, integrated, nvidia, connects, sampler }: CardsOptions): Source {
  const files = createFiles()
  let running: GpuSource[] = []
  let known = ''
  let context: SourceContext | undefined
  let waiting: NodeJS.Timeout | undefined
  let stopLooking: (() => void) | undefined
  let waited = 0

  const begin = async (chosen: readonly ChosenCards[], first: number): Promise<void> => {
    const before = running
    running = []
    await Promise.all(before.map(async (source) => source.stop()))
    if (context === undefined) return
    let firstIndex = first
    for (const { vendor, slots } of chosen) {
      const cards = { vendor: vendor.id, ...roots, slots, firstIndex }
      firstIndex += slots.length
      const source = createGpuSource({ ...sampler, id: vendor.id, lister: `the kernel's ${vendor.drivers.join(' or ')} driver`, cards })
      running.push(source)
      if (running.length === 1 && nvidia().state === 'off') connects(source.connect)
      context.log.debug?.(`${counted(slots.length, `${vendor.name} card`)}: ${slots.join(', ')}`)
      await source.start(context)
    }
  }
  const look = async (): Promise<void> => {
    const { state, indices } = nvidia()
    // Without NVML its numbers are those of the cards read here, as on a Jetson.
    const nvidias = Math.max(0, nvidiaCards(files, roots), ...(state === 'off' ? [] : indices.map((index) => index + 1)))
    const chosen = chooseCards(files, roots, integrated, nvidias)
    const set = JSON.stringify(chosen.map(({ vendor, slots }) => [vendor.id, slots]))
    if (set === known || (chosen.length === 0 && known === '')) return
    // NVIDIA's numbers are not known yet: two GPUs must not have the same.
    if ((state === 'starting' || (state === 'sampling' && indices.length === 0)) && ++waited < WAIT_TICKS) {
      clearTimeout(waiting)
      waiting = setTimeout(() => void look(), TICK_MS)
      return
    }
    known = set
    await begin(chosen, nvidias)
  }

  return {
    id: 'cards',
    metrics: [],
    async start(given) {
      context = given
      stopLooking = given.every(LOOK_EVERY_MS, look)
      await look()
    },
    async stop() {
      clearTimeout(waiting)
      stopLooking?.()
      context = undefined
      await Promise.all(running.map(async (source) => source.stop()))
    },
  }
}
