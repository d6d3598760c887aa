// No other kernel driver holds a GPU: nouveau, which comes with Linux, takes it before NVIDIA's can.
import { defineCheck } from '../../definition.ts'
import { moduleOnDisk } from '../../parts/driver-files.ts'
import { servedGpus } from '../../parts/nvidia-pci.ts'

/** nova is nouveau's successor in Linux. */
const OTHERS = ['nouveau', 'nova_core', 'nova-core', 'nova']

export const nouveau = defineCheck({
  id: 'nouveau',
  group: 'host',
  title: "Linux' own driver (nouveau, nova) is not in the way of NVIDIA's",
  covers: ['gpu_not_visible'],
  async run(around) {
    const found = await servedGpus(around)
    if ('skip' in found) return found.skip
    const held = found.gpus.filter(({ driver }) => driver !== undefined && OTHERS.includes(driver))
    if (held.length === 0) return [{ status: 'pass', summary: 'no GPU is held by nouveau or nova' }]
    const [{ installDriver, rebuildInitramfs }, onDisk] = [await around.distribution(), await moduleOnDisk(around.run)]
    const names = [...new Set(held.map(({ driver }) => driver?.replace('-', '_') ?? ''))]
    return held.map(({ address, driver }) => ({
      status: 'fail',
      subject: address,
      summary: `expected the driver nvidia, the GPU is held by ${driver}: CUDA cannot use it`,
      remedies: [
        ...(onDisk === undefined ? [{ text: "Install NVIDIA's driver.", command: installDriver }] : []),
        {
          text: `Keep ${names.join(' and ')} from being loaded at boot.`,
          command: `printf '${names.map((name) => `blacklist ${name}\\noptions ${name} modeset=0\\n`).join('')}' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf && ${rebuildInitramfs}`,
        },
        { text: 'Reboot; a driver that drives the screen cannot be taken out while it runs.', command: 'sudo reboot' },
      ],
    }))
  },
})
