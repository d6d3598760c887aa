// NVIDIA's kernel module is loaded and holds the GPUs.
import { defineCheck, type Finding } from '../../definition.ts'
import type { Remedy } from '../../../model/fault.ts'
import { hasDkmsSources, loadedModule, moduleOnDisk } from '../../parts/driver-files.ts'
import { servedGpus, skipped, type PciGpu } from '../../parts/nvidia-pci.ts'
import type { Surroundings } from '../../definition.ts'

const KERNEL_SAYS: Remedy = { text: 'Read what the kernel said about it.', command: "sudo dmesg -T | grep -iE 'nvrm|nvidia' | tail -20" }

async function notLoaded(around: Surroundings): Promise<Finding> {
  const { kernel, install, kernelHeaders, installDriver } = await around.distribution()
  const onDisk = await moduleOnDisk(around.run)
  const running = kernel === undefined ? 'the running kernel' : `the running kernel ${kernel}`
  const base = {
    status: 'fail',
    summary: `expected the kernel module nvidia, none is loaded${onDisk === undefined ? `: there is none for ${running}` : `, though ${onDisk.version} is installed`}`,
  } as const
  if (onDisk !== undefined)
    return { ...base, remedies: [{ text: 'Load it; it says why when it cannot be.', command: 'sudo modprobe nvidia && nvidia-smi' }, KERNEL_SAYS] }
  if (await hasDkmsSources(around.files))
    return {
      ...base,
      detail: 'The driver is installed as sources (DKMS); they were not built for this kernel, mostly because its headers are missing.',
      remedies: [
        { text: 'Install the headers of the running kernel.', command: install(kernelHeaders) },
        { text: 'Build and load the module.', command: 'sudo dkms autoinstall && sudo modprobe nvidia && nvidia-smi' },
        KERNEL_SAYS,
      ],
    }
  return {
    ...base,
    remedies: [
      { text: "Install NVIDIA's driver.", command: installDriver },
      { text: 'Reboot, then see whether it answers.', command: 'sudo reboot' },
      { text: 'If it was installed before, the kernel was updated since: boot the older kernel, or install the driver again for this one.' },
    ],
  }
}

/** Used by no driver, though the module is loaded: not supported by it, or it failed to start. */
const orphan = ({ address }: PciGpu, version: string): Finding => ({
  status: 'fail',
  subject: address,
  summary: `the driver ${version} is loaded and does not hold this GPU`,
  remedies: [
    {
      text: 'Read why: the kernel says whether the card is too old for this driver, unsupported by its open modules (before Turing), or failed to start.',
      command: `sudo dmesg -T | grep -iE 'nvrm|${address}' | tail -20`,
    },
    { text: 'Let the driver try again.', command: `echo ${address} | sudo tee /sys/bus/pci/drivers/nvidia/bind` },
  ],
})

export const driverLoaded = defineCheck({
  id: 'driver-loaded',
  group: 'host',
  title: "NVIDIA's kernel module is loaded and holds the GPUs",
  covers: ['gpu_not_visible', 'gpu_missing'],
  async run(around) {
    const found = await servedGpus(around)
    if ('skip' in found) return found.skip
    const loaded = await loadedModule(around.files)
    const free = found.gpus.filter(({ driver }) => driver === undefined)
    if (loaded === undefined) {
      // In a container /proc/driver is hidden unless it was given a GPU; the link of the device shows it all the same.
      if (found.gpus.some(({ driver }) => driver === 'nvidia'))
        return [{ status: 'pass', summary: 'the kernel module nvidia holds the GPUs; its version cannot be seen from here' }]
      if ((await around.distribution()).inContainer) return skipped('this runs in a container, which does not show the modules of the host')
      // nouveau holds them: that check says so, with the way out.
      if (free.length === 0) return skipped(`the GPUs are held by ${[...new Set(found.gpus.map(({ driver }) => driver))].join(', ')}, see nouveau`)
      return [await notLoaded(around)]
    }
    if (free.length > 0) return free.map((gpu) => orphan(gpu, loaded.version))
    return [{ status: 'pass', summary: `the driver ${loaded.version} is loaded${loaded.open ? ' (open kernel modules)' : ''}` }]
  },
})
