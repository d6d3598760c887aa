// The driver stays loaded without programs: else each first program waits for seconds, and settings and counters are lost in between.
import { busKey } from '../../../inventory/bus.ts'
import { defineCheck } from '../../definition.ts'
import { gpuPersistenceMode } from '../../../metrics/gpu-identity.ts'
import { readPciGpus, skipped } from '../../parts/nvidia-pci.ts'

/** `00000000:01:00.0` of NVML and `0000:01:00.0` of the kernel. */
const short = (address: string): string => busKey(address) ?? address

export const persistence = defineCheck({
  id: 'persistence',
  group: 'host',
  title: 'the driver stays loaded when no program uses it',
  covers: ['driver_hung', 'gpu_lost'],
  async run({ files, nvml, distribution, run }) {
    if ((await distribution()).wsl !== 0) return skipped('WSL: Windows keeps the driver loaded')
    const facts = await nvml()
    if (facts === undefined || facts.gpus.length === 0) return skipped('no GPU answers')
    const reporting = facts.gpus.filter((gpu) => gpu.value(gpuPersistenceMode) !== undefined)
    if (reporting.length === 0) return skipped('the driver does not report it')
    const screens = new Set(((await readPciGpus(files)) ?? []).filter(({ drivesScreen }) => drivesScreen).map(({ address }) => short(address)))
    // What draws a screen keeps the driver loaded as well.
    const off = reporting.filter((gpu) => gpu.value(gpuPersistenceMode) === 0 && !screens.has(short(gpu.pciBusId)))
    if (off.length === 0) return [{ status: 'pass', summary: 'persistence mode is on, or a screen keeps the driver loaded' }]
    const unit = await run('systemctl', ['cat', 'nvidia-persistenced.service'])
    const daemon = unit.kind === 'ended' && unit.exitCode === 0
    return [
      {
        status: 'warn',
        subject: off.map(({ index }) => `GPU ${index}`).join(', '),
        summary: 'persistence mode is off: each first program waits for the driver to load',
        remedies: [
          daemon
            ? { text: 'Let the daemon of the driver hold it, now and after each boot.', command: 'sudo systemctl enable --now nvidia-persistenced' }
            : { text: 'Turn it on until the next reboot; install nvidia-persistenced to keep it.', command: 'sudo nvidia-smi -pm 1' },
        ],
      },
    ]
  },
})
