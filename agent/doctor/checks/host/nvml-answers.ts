// NVML, through which everything learns of GPUs, loads, starts and opens each of them.
import { DRIVER_NOT_LOADED, LIB_RM_VERSION_MISMATCH, NO_PERMISSION } from '../../../nvml/codes.ts'
import type { Remedy } from '../../../model/fault.ts'
import { counted } from '../../../text/grammar.ts'
import { defineCheck, type Finding, type Surroundings } from '../../definition.ts'
import { loadedModule } from '../../parts/driver-files.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { NvmlError, type NvmlFacts } from '../../parts/nvml-facts.ts'

const KERNEL_SAYS: Remedy = { text: 'Read what the kernel says of the GPUs.', command: "sudo dmesg -T | grep -iE 'NVRM|Xid|GSP|blocked for more' | tail -30" }
const RESET = (index: number | undefined): Remedy => ({
  text: 'End what uses the GPU, then reset it.',
  command: `sudo fuser -v /dev/nvidia${index ?? '*'}; sudo timeout 60 nvidia-smi --gpu-reset${index === undefined ? '' : ` -i ${index}`}`,
})

function hung(error: NvmlError): Finding {
  return {
    status: 'fail',
    summary: `driver not responding: ${error.message}`,
    remedies: [
      { text: 'See whether it hangs for others too (with a time limit, or your shell hangs as well).', command: 'timeout 10 nvidia-smi; echo $?' },
      KERNEL_SAYS,
      { text: 'Stop the jobs on that GPU, then reset it.', command: 'sudo timeout 60 nvidia-smi --gpu-reset -i GPU' },
      { text: 'Processes in state D cannot be killed: drain the host and reboot.', command: 'sudo reboot' },
    ],
  }
}

function crashed(error: NvmlError, wsl: number): Finding {
  const fix: Remedy =
    wsl === 2
      ? { text: 'Under WSL2 known of Windows drivers 552 to 560: update the driver in Windows, then restart WSL (in PowerShell).', command: 'wsl --shutdown' }
      : { text: 'Install the driver again: its library does not fit itself or this system.' }
  return { status: 'fail', summary: `NVML crashed: ${error.message}`, remedies: [fix, KERNEL_SAYS] }
}

async function refused(error: NvmlError, around: Surroundings): Promise<Finding> {
  const { wsl } = await around.distribution()
  if (error.kind === 'hang') return hung(error)
  if (error.kind === 'crash') return crashed(error, wsl)
  if (error.kind !== 'failed') return { status: 'skipped', summary: error.message }
  switch (error.code) {
    case DRIVER_NOT_LOADED:
      return { status: 'skipped', summary: 'no NVIDIA driver is loaded; driver-loaded says whether one should be' }
    case LIB_RM_VERSION_MISMATCH:
      return {
        status: 'fail',
        summary: `${error.message}: the libraries were updated, the old kernel module is still loaded`,
        remedies: [{ text: 'Drain the machine and reboot; driver-library-match has the way without a reboot.', command: 'sudo reboot' }],
      }
    case NO_PERMISSION:
      return {
        status: 'warn',
        summary: `${error.message}: this user may not open the GPUs`,
        remedies: [{ text: 'Run as root, or in the group that owns the device.', command: 'ls -l /dev/nvidiactl; sudo warpwatch doctor' }],
      }
    case undefined:
    default:
      return {
        status: 'fail',
        summary: `NVML does not start: ${error.message}`,
        remedies: [KERNEL_SAYS, { text: 'If an Xid is there, do what the runbook says of it; else drain the host and reboot.', command: 'sudo reboot' }],
      }
  }
}

function judge({ from, driverVersion, gpus, lost }: NvmlFacts): readonly Finding[] {
  if (lost.length > 0)
    return lost.map(({ index, detail }) => ({
      status: 'fail',
      ...(index === undefined ? {} : { subject: `GPU ${index}` }),
      summary: `the driver counts this GPU and cannot open it: ${detail}`,
      remedies: [
        KERNEL_SAYS,
        RESET(index),
        { text: 'If it does not come back: shut down, unplug the host for a minute, start it again.', command: 'sudo poweroff' },
      ],
    }))
  return [{ status: 'pass', summary: `${from} answers: driver ${driverVersion}, ${counted(gpus.length, 'GPU')}` }]
}

export const nvmlAnswers = defineCheck({
  id: 'nvml-answers',
  group: 'host',
  title: 'NVML loads, answers and opens each GPU',
  covers: ['driver_hung', 'nvml_unknown_error', 'nvml_driver_mismatch', 'gpu_lost', 'gpu_missing', 'telemetry_stale'],
  async run(around) {
    let facts: NvmlFacts | undefined
    try {
      facts = await around.nvml()
    } catch (error) {
      if (error instanceof NvmlError) return [await refused(error, around)]
      throw error
    }
    if (facts !== undefined && (facts.gpus.length > 0 || facts.lost.length > 0)) return judge(facts)
    const loaded = await loadedModule(around.files)
    if (loaded === undefined) return skipped(facts === undefined ? 'no NVIDIA library and no driver here' : 'NVML lists no GPU, and no driver is loaded')
    const { inContainer, family, installDriver, install } = await around.distribution()
    if (inContainer) return skipped('this container was not given the library and the devices: start it with --gpus all and NVIDIA_DRIVER_CAPABILITIES=utility')
    if (facts === undefined) {
      const tools: Readonly<Record<string, string>> = { debian: 'nvidia-smi libnvidia-ml1', ubuntu: `nvidia-utils-${loaded.version.split('.')[0]}-server` }
      const packages = tools[family]
      return [
        {
          status: 'fail',
          summary: `the kernel module ${loaded.version} is loaded, and no libnvidia-ml.so.1 was found`,
          remedies: [
            { text: "Install the driver's libraries, in the version of the module.", command: packages === undefined ? installDriver : install(packages) },
            { text: 'If they are elsewhere, set the path: gpu.library in warpwatch.yaml.', command: 'ldconfig -p | grep libnvidia-ml' },
          ],
        },
      ]
    }
    return [
      {
        status: 'fail',
        summary: `expected the GPUs, the driver ${facts.driverVersion} is loaded and lists none`,
        remedies: [
          { text: 'See what the host has, and what the kernel said.', command: "lspci -nn | grep -i nvidia; sudo dmesg -T | grep -iE 'NVRM|Xid' | tail -30" },
        ],
      },
    ]
  },
})
