// Which cards are asleep and would be woken by the question what their clients hold: xe reads a clock of the GPU for it (xe_drm_client.c, show_run_ticks).
import { isFailure, ueventValue, type Files } from '../files.ts'

/** The PCI address of the card behind `/dev/dri/renderD128` where it must not be asked now. */
export type Sleepers = (node: string) => string | undefined

const WAKES: ReadonlySet<string> = new Set(['xe'])

export function createSleepers(files: Files, sys: string): Sleepers {
  const known = new Map<string, { readonly device: string; readonly slot: string } | undefined>()
  const cardOf = (node: string): { readonly device: string; readonly slot: string } | undefined => {
    const name = /^\/dev\/(?:dri|accel)\/(\w+)$/.exec(node)?.[1]
    if (name === undefined) return undefined
    const device = `${sys}/class/${node.startsWith('/dev/accel/') ? 'accel' : 'drm'}/${name}/device`
    const uevent = files.text(`${device}/uevent`)
    const slot = isFailure(uevent) ? undefined : ueventValue(uevent, 'PCI_SLOT_NAME')
    return slot === undefined || isFailure(uevent) || !WAKES.has(ueventValue(uevent, 'DRIVER') ?? '') ? undefined : { device, slot: slot.toLowerCase() }
  }
  return (node) => {
    if (!known.has(node)) known.set(node, cardOf(node))
    const card = known.get(node)
    if (card === undefined) return undefined
    const status = files.text(`${card.device}/power/runtime_status`)
    return status === 'suspended' || status === 'suspending' ? card.slot : undefined
  }
}
