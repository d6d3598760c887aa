// Are CUDA's libraries those of Windows' driver, which WSL mounts: there, found by the loader, and not hidden by a Linux driver that was installed by mistake?
import { WSL_LIBRARY_FOLDER } from '../../../lib/wsl.ts'
import { plural } from '../../../text/grammar.ts'
import { defineCheck, type Finding, type Surroundings } from '../../definition.ts'
import { findLinuxDriver } from '../../parts/linux-driver.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { isSwitchedOff, readWindows, RESTART_WSL, wsl2Guest } from '../../parts/wsl-guest.ts'

const NEEDED = ['libcuda.so.1', 'libnvidia-ml.so.1', 'libdxcore.so'] as const
/** WSL writes it at each start (ConfigApplyWindowsLibPath in src/linux/init/config.cpp). */
const LOADER_FILE = '/etc/ld.so.conf.d/ld.wsl.conf'

async function mistaken(around: Surroundings, remove: (...packages: readonly string[]) => string): Promise<Finding | undefined> {
  const { paths, packages, byInstaller } = await findLinuxDriver(around)
  if (paths.length === 0 && packages.length === 0) return undefined
  const works = ((await around.nvml().catch(() => undefined))?.gpus.length ?? 0) > 0
  const harm =
    paths.length === 0
      ? 'its kernel modules are of no use here'
      : works
        ? 'some programs take it for that of Windows'
        : 'it hides that of Windows, and finds no GPU'
  const what = [...packages.slice(0, 4), ...(packages.length > 4 ? [`${packages.length - 4} more packages`] : []), ...paths.slice(0, 2)]
  return {
    status: works || paths.length === 0 ? 'warn' : 'fail',
    summary: `a Linux driver is installed in WSL (${what.join(', ')}): ${harm}`,
    remedies: [
      ...(packages.length > 0 ? [{ text: 'Remove it; the driver of Windows is the only one that is needed.', command: remove(...packages) }] : []),
      ...(byInstaller ? [{ text: "Undo NVIDIA's installer.", command: 'sudo nvidia-uninstall' }] : []),
      ...(packages.length === 0 && !byInstaller
        ? [
            {
              text: 'No package is known that brought these files: put them out of the way.',
              command: `sudo mkdir -p /root/linux-driver && sudo mv ${paths.join(' ')} /root/linux-driver/`,
            },
          ]
        : []),
      { text: 'Refresh the loader’s cache.', command: `sudo ldconfig; ldconfig -p | grep -E 'libcuda|libnvidia-ml'; ${WSL_LIBRARY_FOLDER}/nvidia-smi` },
      {
        text: 'For CUDA in WSL install the toolkit alone (cuda-toolkit-12-8 and such): the packages cuda, cuda-drivers and nvidia-cuda-toolkit bring a driver.',
      },
    ],
  }
}

export const wsl2Libraries = defineCheck({
  id: 'wsl2-libraries',
  group: 'wsl2',
  title: "the driver's libraries are those of Windows, and no Linux driver hides them",
  covers: ['gpu_not_visible', 'cuda_library_missing'],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    const { files } = around
    const wrong = await mistaken(around, where.guest.remove)
    const there = (await files.list(WSL_LIBRARY_FOLDER)) ?? []
    const missing = NEEDED.filter((name) => !there.includes(name))
    // GPUs of others come through /dev/dxg too, with Direct3D's libraries alone.
    if (missing.includes('libcuda.so.1') && missing.includes('libnvidia-ml.so.1'))
      return wrong === undefined ? skipped(`no NVIDIA library in ${WSL_LIBRARY_FOLDER}: Windows has no NVIDIA driver, or no such GPU`) : [wrong]
    const findings: Finding[] = wrong === undefined ? [] : [wrong]
    if (missing.length > 0)
      findings.push({
        status: 'fail',
        summary: `expected ${NEEDED.join(', ')} in ${WSL_LIBRARY_FOLDER}, ${missing.join(', ')} ${plural(missing.length, 'is', 'are')} missing`,
        remedies: [
          { text: "Install NVIDIA's driver in Windows again (https://www.nvidia.com/drivers), and update WSL.", command: 'wsl --update' },
          RESTART_WSL,
        ],
      })
    const { own } = await readWindows(files)
    // Distributions without glibc's cache do not use this file.
    const named = ['alpine', 'nixos'].includes(where.guest.family) || (await files.readText(LOADER_FILE))?.includes(WSL_LIBRARY_FOLDER) === true
    if (!named)
      findings.push({
        status: 'warn',
        summary: `${LOADER_FILE} does not name ${WSL_LIBRARY_FOLDER}: programs do not find libcuda.so.1`,
        remedies: [
          ...(isSwitchedOff(own, 'automount.ldconfig')
            ? [{ text: 'WSL is set not to write it: take ldconfig=false out of the section [automount].', command: 'sudo nano /etc/wsl.conf' }, RESTART_WSL]
            : []),
          { text: 'Write it, and refresh the loader’s cache.', command: `echo ${WSL_LIBRARY_FOLDER} | sudo tee ${LOADER_FILE} && sudo ldconfig` },
        ],
      })
    return findings.length > 0 ? findings : [{ status: 'pass', summary: `${NEEDED.join(', ')} come from Windows, and no Linux driver is installed` }]
  },
})
