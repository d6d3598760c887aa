// A host on whose PCI bus no NVIDIA GPU stands: what it has instead, or what its owner does next.
import type { Finding, Surroundings } from '../definition.ts'
import { skipped } from './nvidia-pci.ts'

/** Vendors whose cards are read from the kernel's files. */
const OTHERS: Readonly<Record<string, string>> = { '0x1002': 'AMD', '0x8086': 'Intel' }
const CARD = /^card\d+$/

/** Those of other vendors that have a driver. */
async function otherVendors({ files }: Pick<Surroundings, 'files'>): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const name of ((await files.list('/sys/class/drm')) ?? []).filter((one) => CARD.test(one))) {
    const vendor = OTHERS[(await files.readText(`/sys/class/drm/${name}/device/vendor`))?.trim() ?? '']
    if (vendor !== undefined) found.add(vendor)
  }
  return [...found].toSorted()
}

export async function withoutNvidia(around: Pick<Surroundings, 'files' | 'config'>): Promise<readonly Finding[]> {
  const { files, config } = around
  const none = 'no NVIDIA GPU on the PCI bus'
  if (config.simulate.scenario !== 'off') return skipped(`${none}; simulated ones are shown`)
  if (config.gpu.expected_gpus === 0) return skipped(`${none}, as gpu.expected_gpus says`)
  if ((await files.readText('/proc/device-tree/compatible'))?.includes('nvidia,tegra') === true) return skipped('a Jetson: its GPU is no PCI device')
  const others = await otherVendors(around)
  if (others.length > 0) return skipped(`${none}; GPUs of ${others.join(' and ')} are there`)
  const isVirtual = / hypervisor\b/.test((await files.readText('/proc/cpuinfo')) ?? '')
  return [
    {
      status: 'warn',
      summary: `no GPU on the PCI bus${isVirtual ? ' of this virtual machine' : ''}: containers and jobs are watched, GPUs are not`,
      remedies: [
        { text: 'See which display and compute devices the bus has.', command: "lspci -nn | grep -iE 'nvidia|vga|3d|display|accelerat'" },
        isVirtual
          ? { text: 'Give the virtual machine a GPU (PCI passthrough, vGPU, or a cloud instance type that has one), then start it again.' }
          : { text: 'A card is in this machine: power off, reseat it and its power cables, and switch on “Above 4G decoding” in the firmware’s set-up.' },
        { text: 'To see what Warpwatch shows of GPUs, simulate some.', command: 'warpwatch run --simulate' },
        { text: 'No GPU is wanted here: set gpu.expected_gpus to 0 in warpwatch.yaml.' },
      ],
    },
  ]
}
