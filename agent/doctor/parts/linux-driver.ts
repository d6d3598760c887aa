// A Linux driver of NVIDIA's inside WSL, where it must not be: its files outside of WSL's folder, and the packages that brought them.
import type { Surroundings } from '../definition.ts'

/** Folders of the dynamic loader that come before, or beside, WSL's own. */
const FOLDERS = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib', '/lib64', '/usr/local/lib'] as const
const LIBRARY = /^lib(?:cuda|nvidia-ml)\.so\.(?:1|\d{3}\.\d[\d.]*)$/
const WSL = '/usr/lib/wsl/'

/** Kernel modules of the driver and its libraries. CUDA's toolkit, the container toolkit and what only sets something may be there. */
const PACKAGE = new RegExp(
  `^(?:${[
    'nvidia-(?:driver|dkms|kernel|open|utils|compute-utils|smi|headless|firmware)\\b',
    'nvidia(?:-open)?-dkms$',
    'xserver-xorg-video-nvidia',
    'linux-(?:modules|objects|signatures)-nvidia',
    'libnvidia-(?:compute|ml1|cfg|gl|decode|encode|extra|fbc|common|ptxjitcompiler|opticalflow)',
    'libcuda1\\b',
    'cuda-drivers',
  ].join('|')})`,
)
/** 5,000 packages with their descriptions. */
const MAX_STATUS = 12 * 2 ** 20

/** Installed ones by dpkg's status file (deb822: paragraphs of `Package:`, `Status: install ok installed`). */
export function installedDriverPackages(status: string): readonly string[] {
  return status.split('\n\n').flatMap((paragraph) => {
    const name = /^Package: (\S+)$/m.exec(paragraph)?.[1]
    return name !== undefined && PACKAGE.test(name) && /^Status: \S+ \S+ installed$/m.test(paragraph) ? [name] : []
  })
}

async function ownersByRpm({ run }: Surroundings, paths: readonly string[]): Promise<readonly string[]> {
  const result = await run('rpm', ['-qf', '--qf', '%{NAME}\\n', ...paths])
  if (result.kind !== 'ended') return []
  return [...new Set(result.stdout.split('\n').filter((line) => /^[\w.+-]+$/.test(line)))]
}
async function ownersByPacman({ run }: Surroundings, paths: readonly string[]): Promise<readonly string[]> {
  const result = await run('pacman', ['-Qqo', ...paths])
  return result.kind === 'ended' ? [...new Set(result.stdout.split('\n').filter((line) => /^[\w.@+-]+$/.test(line)))] : []
}

export type LinuxDriver = {
  readonly paths: readonly string[]
  readonly packages: readonly string[]
  /** NVIDIA's own installer (.run), which leaves a program to undo it. */
  readonly byInstaller: boolean
}

export async function findLinuxDriver(around: Surroundings): Promise<LinuxDriver> {
  const { files } = around
  // By where they really are: /lib64 is mostly /usr/lib64, and links that lead into WSL's folder do no harm.
  const paths = new Set<string>()
  for (const folder of FOLDERS) {
    for (const name of ((await files.list(folder)) ?? []).filter((one) => LIBRARY.test(one))) {
      const real = await files.realpath(`${folder}/${name}`)
      if (real !== undefined && !real.startsWith(WSL)) paths.add(real)
    }
  }
  const found = [...paths]
  const status = await files.readText('/var/lib/dpkg/status', MAX_STATUS)
  const byDpkg = status === undefined ? [] : installedDriverPackages(status)
  const others = status !== undefined || found.length === 0 ? [] : [...(await ownersByRpm(around, found)), ...(await ownersByPacman(around, found))]
  return { paths: found, packages: [...byDpkg, ...others], byInstaller: await files.exists('/usr/bin/nvidia-uninstall') }
}
