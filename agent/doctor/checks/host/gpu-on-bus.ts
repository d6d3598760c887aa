// The GPUs are on the PCI bus, as many as there should be, and answer there.
import { counted } from '../../../text/grammar.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { withoutNvidia } from '../../parts/no-gpu.ts'
import { isHandedOn, readPciGpus, skipped } from '../../parts/nvidia-pci.ts'

const ADDRESS = (address: string): string => `echo 1 | sudo tee /sys/bus/pci/devices/${address}/remove; sleep 2; echo 1 | sudo tee /sys/bus/pci/rescan`

export const gpuOnBus = defineCheck({
  id: 'gpu-on-bus',
  group: 'host',
  title: 'the GPUs are on the PCI bus and answer there',
  covers: ['gpu_missing', 'gpu_lost', 'gpu_not_visible'],
  async run(around) {
    const { files, distribution, config } = around
    if ((await distribution()).wsl !== 0) return skipped('WSL: the GPUs are on the bus of Windows, see the group wsl2')
    const gpus = await readPciGpus(files)
    if (gpus === undefined) return skipped('the PCI bus cannot be seen from here')
    const expected = config.gpu.expected_gpus
    if (gpus.length === 0 && (expected === undefined || expected === 0)) return withoutNvidia(around)
    const findings: Finding[] = gpus
      .filter(({ gone }) => gone)
      .map(({ address }) => ({
        status: 'fail',
        subject: address,
        summary: 'the GPU has fallen off the bus: its configuration space reads as ones',
        remedies: [
          { text: 'Stop what uses the GPU, then take it off the bus and look for it again.', command: ADDRESS(address) },
          {
            text: 'If it does not come back: shut down, unplug the host for a minute, start it again. A warm reboot often does not help.',
            command: 'sudo poweroff',
          },
          { text: 'If it goes again: reseat the card and its power cables, then have it replaced.', command: 'sudo nvidia-bug-report.sh' },
        ],
      }))
    if (expected !== undefined && gpus.length < expected) {
      findings.push({
        status: 'fail',
        summary: `expected ${expected} GPUs (gpu.expected_gpus), the bus has ${gpus.length}`,
        remedies: [
          {
            text: 'See what the bus has, and what the kernel said of the missing one.',
            command: "lspci -nn | grep -i nvidia; sudo dmesg -T | grep -iE 'NVRM|Xid|AER|pcieport' | tail -30",
          },
          { text: 'lspci does not list it: shut down, unplug the power for a minute, start again; then reseat the card.', command: 'sudo poweroff' },
          { text: 'It was taken out on purpose: set gpu.expected_gpus in warpwatch.yaml to what there is.' },
        ],
      })
    }
    const handed = gpus.filter(isHandedOn).length
    const more = handed === 0 ? '' : `, ${handed} of them handed to virtual machines`
    return findings.length > 0
      ? findings
      : [
          {
            status: 'pass',
            summary: `${counted(gpus.length, 'NVIDIA GPU')} on the bus${more}: ${gpus.map(({ address }) => address).join(', ')}`,
          },
        ]
  },
})
