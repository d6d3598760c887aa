// Finds the cards of a vendor from /sys/class/drm. Asks no hardware, so it wakes no card.
import type { FoundCard, Vendor } from './card.ts'
import { isFailure, ueventValue, type Files } from './files.ts'

/** By PCI address: card numbers change from boot to boot. */
export function findCards(files: Files, sys: string, vendor: Pick<Vendor, 'drivers' | 'isIntegrated' | 'find'>, proc = '/proc'): readonly FoundCard[] {
  if (vendor.find !== undefined) return vendor.find(files, { sys, proc })
  const found: FoundCard[] = []
  for (const name of files.list(`${sys}/class/drm`)) {
    // Connectors of a card are named `card1-DP-1`.
    if (!/^card\d+$/.test(name)) continue
    const folder = `${sys}/class/drm/${name}`
    const uevent = files.text(`${folder}/device/uevent`)
    if (isFailure(uevent)) continue
    const driver = ueventValue(uevent, 'DRIVER')
    const slot = ueventValue(uevent, 'PCI_SLOT_NAME')
    if (driver === undefined || slot === undefined || !vendor.drivers.includes(driver)) continue
    const card = { folder, device: `${folder}/device`, driver, slot: slot.toLowerCase(), pciId: (ueventValue(uevent, 'PCI_ID') ?? '').toLowerCase() }
    found.push({ ...card, integrated: vendor.isIntegrated(files, card) })
  }
  return found.sort((a, b) => (a.slot < b.slot ? -1 : 1))
}

/** Whether the card is still bound to its driver, at the same place. */
export function isBound(files: Files, { device, slot }: Pick<FoundCard, 'device' | 'slot'>): boolean {
  const uevent = files.text(`${device}/uevent`)
  return !isFailure(uevent) && ueventValue(uevent, 'PCI_SLOT_NAME')?.toLowerCase() === slot
}

/** Whether the host has a card of its own of any maker, so that one on the CPU's chip is only for the screen. */
export function hasOtherCard(files: Files, sys: string, slots: ReadonlySet<string>): boolean {
  return files.list(`${sys}/bus/pci/devices`).some((slot) => {
    if (slots.has(slot)) return false
    const kind = files.text(`${sys}/bus/pci/devices/${slot}/class`)
    const vendor = files.text(`${sys}/bus/pci/devices/${slot}/vendor`)
    if (isFailure(kind) || isFailure(vendor)) return false
    // 0x0300 VGA, 0x0302 3D controller, 0x0380 display controller (Instinct, Data Center GPU); a board's management controller has a VGA part too (ASPEED, Matrox).
    if (/^0x03(?:0[02]|80)/.test(kind)) return /^0x(10de|1002|8086)$/.test(vendor)
    // 0x1200 is MI300's class, and of Intel's and other makers' processors for neural networks.
    return kind.startsWith('0x1200') && vendor === '0x1002'
  })
}
