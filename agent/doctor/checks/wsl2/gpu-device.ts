// Does Windows hand its GPUs to WSL2: /dev/dxg, through which all of CUDA goes there?
import { defineCheck } from '../../definition.ts'
import { WSL_LIBRARY_FOLDER } from '../../../lib/wsl.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { isSwitchedOff, readWindows, RESTART_WSL, wsl2Guest } from '../../parts/wsl-guest.ts'
import { readWslConfig } from '../../parts/wsl-settings.ts'

export const NVIDIA_IN_WINDOWS = 'Windows/System32/nvidia-smi.exe'

export const wsl2GpuDevice = defineCheck({
  id: 'wsl2-gpu-device',
  group: 'wsl2',
  title: 'Windows hands its GPUs to WSL2 (/dev/dxg)',
  covers: ['gpu_not_visible'],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    const { files } = around
    const { own, mounts } = await readWindows(files)
    if (isSwitchedOff(own, 'gpu.enabled'))
      return [
        {
          status: 'fail',
          summary: '/etc/wsl.conf says [gpu] enabled=false: this distribution gets no libraries of the driver',
          remedies: [{ text: 'Take that line out.', command: 'sudo nano /etc/wsl.conf' }, RESTART_WSL],
        },
      ]
    if (await files.exists('/dev/dxg')) return [{ status: 'pass', summary: '/dev/dxg is there' }]
    const config = await readWslConfig(files, mounts, around.env['PATH'] ?? '').catch(() => undefined)
    if (config !== undefined && config !== 'several' && config.misnamed === undefined && isSwitchedOff(config.settings, 'wsl2.gpusupport'))
      return [
        {
          status: 'fail',
          summary: 'expected /dev/dxg, found none: %UserProfile%\\.wslconfig says gpuSupport=false',
          remedies: [{ text: 'Take that line out, in PowerShell.', command: 'notepad "$env:USERPROFILE\\.wslconfig"' }, RESTART_WSL],
        },
      ]
    const inWindows = await files.exists(`${mounts}c/${NVIDIA_IN_WINDOWS}`).catch(() => false)
    const wanted = (await around.containers().catch(() => [])).some(({ wantsGpu }) => wantsGpu === 'asked')
    if (!inWindows && !wanted && !(await files.exists(`${WSL_LIBRARY_FOLDER}/libcuda.so.1`)))
      return skipped("no /dev/dxg, and no sign of NVIDIA's driver in Windows; if this machine has an NVIDIA GPU, install its driver in Windows")
    return [
      {
        status: 'fail',
        summary: `expected /dev/dxg, found none: nothing in WSL sees a GPU${inWindows ? ', though its driver is installed in Windows' : ''}`,
        remedies: [
          ...(inWindows ? [] : [{ text: "Install NVIDIA's driver in Windows (not in WSL): https://www.nvidia.com/drivers" }]),
          { text: 'See whether Windows itself has the GPU, in PowerShell.', command: 'nvidia-smi.exe -L' },
          { text: 'Update WSL and its kernel.', command: 'wsl --update' },
          RESTART_WSL,
          { text: 'It needs Windows 11, or Windows 10 21H2 (build 19044) or newer.', command: 'winver' },
        ],
      },
    ]
  },
})
