// Is the NVIDIA driver of Windows new enough for WSL2 and containers in it?
import { defineCheck, type Finding, type Surroundings } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { NvmlError } from '../../parts/nvml-facts.ts'
import { readWindows, RESTART_WSL, wsl2Guest } from '../../parts/wsl-guest.ts'
import { NVIDIA_IN_WINDOWS } from './gpu-device.ts'

/** NVML works in containers under WSL2 since 510.06 (NVIDIA's guide "CUDA on WSL"); before, PyTorch's report of an OOM ends in an assert there. */
const LEAST = 510
/** nvidia-smi and NVML crash with these on many laptops (microsoft/WSL#11277, #11870: 552.55 to 560.76); 566.36 is well. */
const [CRASHES_FROM, CRASHES_TO] = [552, 560]

const UPDATE = [{ text: "Install the newest NVIDIA driver in Windows (not in WSL): https://www.nvidia.com/drivers, or NVIDIA's app." }, RESTART_WSL]

/** Windows' own program says it too, by way of interop, where NVML in WSL does not. */
async function askWindows({ files, run }: Surroundings): Promise<string | undefined> {
  const { mounts } = await readWindows(files)
  const result = await run(`${mounts}c/${NVIDIA_IN_WINDOWS}`, ['--query-gpu=driver_version', '--format=csv,noheader'])
  return result.kind === 'ended' ? /^\d{3,4}\.\d+/m.exec(result.stdout)?.[0] : undefined
}

function judge(version: string, crashed: boolean): Finding {
  const branch = Number(version.split('.')[0])
  if (branch < LEAST)
    return {
      status: 'warn',
      summary: `expected a driver of ${LEAST} or newer in Windows, this is ${version}: NVML does not work in containers`,
      remedies: UPDATE,
    }
  if (crashed && branch >= CRASHES_FROM && branch <= CRASHES_TO)
    return { status: 'fail', summary: `the driver ${version} of Windows is one of those whose NVML crashes in WSL2`, remedies: UPDATE }
  if (crashed) return { status: 'fail', summary: `NVML crashes in WSL2 with the driver ${version} of Windows`, remedies: UPDATE }
  return { status: 'pass', summary: `the driver is ${version}` }
}

export const wsl2Driver = defineCheck({
  id: 'wsl2-driver',
  group: 'wsl2',
  title: 'the NVIDIA driver of Windows is new enough for WSL2',
  covers: ['gpu_not_visible', 'nvml_allocator_assert'],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    let crashed = false
    try {
      const version = (await around.nvml())?.driverVersion
      if (version !== undefined && version !== '') return [judge(version, false)]
    } catch (error) {
      if (!(error instanceof NvmlError)) throw error
      crashed = error.kind === 'crash'
    }
    const version = await askWindows(around)
    if (version === undefined) return skipped('neither NVML nor nvidia-smi.exe of Windows reports a driver')
    const finding = judge(version, crashed)
    if (finding.status !== 'pass') return [finding]
    return [{ status: 'pass', summary: `the driver of Windows is ${version}; why WSL does not see it, wsl2-gpu-device and wsl2-libraries say` }]
  },
})
