// Finds the GPU of a Jetson (Nano to Orin): a device of the chip under the driver nvgpu, neither on PCI nor in /sys/class/drm. Asks no hardware.
import type { FoundCard, Vendor } from '../card.ts'
import { isFailure, ueventValue, type Files } from '../files.ts'

/** Names of the GPU in the device tree: Nano and TX1, TX2, Xavier, Orin; newer trees call it `gpu`, as those of other makers' chips do. */
const OF_NVIDIA = /^(?:gm20b|gp10b|gv11b|ga10b)$/

const textOr = (files: Files, path: string): string => {
  const text = files.text(path)
  return isFailure(text) ? '' : text.replaceAll('\0', ' ').trim()
}

/** `NVIDIA Jetson AGX Orin Developer Kit`, from the device tree. */
export function boardText(
  files: Files,
  { sys, proc }: { readonly sys: string; readonly proc: string },
  what: 'model' | 'compatible' | 'serial-number',
): string {
  return textOr(files, `${proc}/device-tree/${what}`) || textOr(files, `${sys}/firmware/devicetree/base/${what}`)
}

/** Thor has nvidia.ko and NVML instead, and its devfreq devices have no node in the device tree. */
export const findJetson: NonNullable<Vendor['find']> = (files, roots) =>
  files.list(`${roots.sys}/class/devfreq`).flatMap((name): readonly FoundCard[] => {
    const folder = `${roots.sys}/class/devfreq/${name}`
    const device = `${folder}/device`
    const uevent = textOr(files, `${device}/uevent`)
    const node = textOr(files, `${device}/of_node/name`) || (ueventValue(uevent, 'OF_NAME') ?? '')
    const compatible = `${textOr(files, `${device}/of_node/compatible`)} ${ueventValue(uevent, 'OF_COMPATIBLE_0') ?? ''}`
    const isOurs = OF_NVIDIA.test(node) || (node === 'gpu' && /\bnvidia,/.test(`${compatible} ${boardText(files, roots, 'compatible')}`))
    return isOurs ? [{ folder, device, driver: 'nvgpu', slot: name, pciId: '', integrated: true }] : []
  })
