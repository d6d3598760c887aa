// NVIDIA's GPUs on the PCI bus, as the kernel lists them: there whatever the driver is doing.
import type { Finding, Surroundings } from '../definition.ts'
import type { HostFiles } from './host-files.ts'

export type PciGpu = {
  /** 0000:01:00.0 */
  readonly address: string
  /** The kernel driver that holds it: nvidia, nouveau, vfio-pci; undefined: none. */
  readonly driver?: string
  /** Its configuration space reads as ones only: it fell off the bus. */
  readonly gone: boolean
  /** A screen is connected to it, so that the driver stays loaded. */
  readonly drivesScreen: boolean
}

const NVIDIA = '0x10de'
/** VGA and 3D controllers (PCI code and ID assignment, base class 03). */
const DISPLAY = /^0x03(00|02)/
const DEVICES = '/sys/bus/pci/devices'

async function screenOwners(files: HostFiles): Promise<ReadonlySet<string>> {
  const owners = new Set<string>()
  for (const name of (await files.list('/sys/class/drm')) ?? []) {
    if (!/^card\d+-/.test(name) || (await files.readText(`/sys/class/drm/${name}/status`))?.trim() !== 'connected') continue
    // …/0000:01:00.0/drm/card0/card0-DP-1
    const address = /([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\/drm\//.exec((await files.realpath(`/sys/class/drm/${name}`)) ?? '')?.[1]
    if (address !== undefined) owners.add(address)
  }
  return owners
}

async function readGpu(files: HostFiles, address: string, screens: ReadonlySet<string>): Promise<PciGpu | undefined> {
  const at = `${DEVICES}/${address}`
  if ((await files.readText(`${at}/vendor`))?.trim() !== NVIDIA || !DISPLAY.test((await files.readText(`${at}/class`)) ?? '')) return undefined
  const driver = (await files.readlink(`${at}/driver`))?.split('/').at(-1)
  // A sleeping card is not woken up for this.
  const sleeps = (await files.readText(`${at}/power/runtime_status`))?.trim() === 'suspended'
  const head = sleeps ? undefined : await files.readText(`${at}/config`, 4).catch(() => undefined)
  // Ones are no UTF-8; the vendor's number 10de, as it is there, is not ones only.
  return { address, ...(driver === undefined ? {} : { driver }), gone: head === '\ufffd\ufffd\ufffd\ufffd', drivesScreen: screens.has(address) }
}

/** undefined: the bus cannot be seen from here. */
export async function readPciGpus(files: HostFiles): Promise<readonly PciGpu[] | undefined> {
  const addresses = await files.list(DEVICES)
  if (addresses === undefined) return undefined
  const screens = await screenOwners(files)
  const found = await Promise.all(addresses.map(async (address) => await readGpu(files, address, screens)))
  return found.filter((gpu) => gpu !== undefined)
}

/** Kept for a virtual machine by KVM or Xen: nothing of this host is to use it. */
export const isHandedOn = ({ driver = '' }: PciGpu): boolean => /^(?:vfio|pci-?stub|(?:xen-)?pciback)/.test(driver)

export const skipped = (summary: string): readonly Finding[] => [{ status: 'skipped', summary }]

export type HostGpus = { readonly gpus: readonly PciGpu[] } | { readonly skip: readonly Finding[] }

/** The GPUs that the Linux driver of this host should serve; else why there is nothing for it to do. */
export async function servedGpus({ files, distribution }: Surroundings): Promise<HostGpus> {
  const { wsl } = await distribution()
  if (wsl !== 0) return { skip: skipped('WSL: the driver is that of Windows, see the group wsl2') }
  const gpus = await readPciGpus(files)
  if (gpus === undefined) return { skip: skipped('the PCI bus cannot be seen from here') }
  if (gpus.length === 0) return { skip: skipped('no NVIDIA GPU on the PCI bus') }
  const served = gpus.filter((gpu) => !isHandedOn(gpu))
  return served.length === 0 ? { skip: skipped('all GPUs are handed to virtual machines (vfio-pci)') } : { gpus: served }
}
