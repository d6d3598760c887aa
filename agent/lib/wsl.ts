// Is this WSL, and where do NVIDIA's library and nvidia-smi lie on this kind of host.
import { existsSync, readFileSync } from 'node:fs'

export type WslFacts = {
  /** /proc/sys/kernel/osrelease; undefined where it cannot be read. */
  readonly osRelease: string | undefined
  readonly hasDxg: boolean
  readonly hasWslNvml: boolean
  readonly hasWslNvidiaSmi: boolean
}

export type Wsl = {
  /** 0: not WSL. 1 has no GPU. */
  readonly version: 0 | 1 | 2
  /** NVIDIA's user parts of the Windows driver are there. */
  readonly nvidia: boolean
}

export const WSL_LIBRARY_FOLDER = '/usr/lib/wsl/lib'

/**
 * By the kernel's release (`5.15.153.1-microsoft-standard-WSL2`, WSL1 `4.4.0-19041-Microsoft`), which holds in containers too.
 * A custom kernel may have dropped the suffix: then the para-virtual device /dev/dxg together with NVIDIA's mounted library show it;
 * /dev/dxg alone does not, Azure has it in ordinary virtual machines.
 */
export function detectWsl({ osRelease = '', hasDxg, hasWslNvml, hasWslNvidiaSmi }: WslFacts): Wsl {
  const nvidia = hasWslNvml || hasWslNvidiaSmi
  const release = osRelease.trim()
  if (release.endsWith('-Microsoft') && !/WSL2/i.test(release)) return { version: 1, nvidia: false }
  if (/microsoft/i.test(release) || /WSL2/i.test(release)) return { version: 2, nvidia }
  return hasDxg && nvidia ? { version: 2, nvidia } : { version: 0, nvidia: false }
}

export function readWslFacts(procRoot = '/proc'): WslFacts {
  let osRelease: string | undefined
  try {
    osRelease = readFileSync(`${procRoot}/sys/kernel/osrelease`, 'utf8')
  } catch {
    osRelease = undefined // not Linux, or a /proc that hides it: the devices decide
  }
  return {
    osRelease,
    hasDxg: existsSync('/dev/dxg'),
    hasWslNvml: existsSync(`${WSL_LIBRARY_FOLDER}/libnvidia-ml.so.1`),
    hasWslNvidiaSmi: existsSync(`${WSL_LIBRARY_FOLDER}/nvidia-smi`),
  }
}

/** One line for the log at start under WSL2; undefined elsewhere. */
export function wslHint(wsl: Wsl): string | undefined {
  if (wsl.version === 1) return 'WSL1: no GPU is reachable from it; WSL2 is needed (wsl --set-version DISTRIBUTION 2)'
  if (wsl.version === 0) return undefined
  return wsl.nvidia
    ? "WSL2: memory per process, Xid events and ECC are not available here; Windows programs' memory shows as unattributed"
    : 'WSL2 without NVIDIA libraries in /usr/lib/wsl/lib: install the NVIDIA driver in Windows, none in WSL'
}

/** Folders of libnvidia-ml.so.1 by packager; the soname alone, which asks the dynamic linker, covers a normal installation. */
const LIBRARY_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu', // Debian, Ubuntu
  '/usr/lib/x86_64-linux-gnu/nvidia/current', // Debian's alternatives
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu/nvidia', // Jetson, from JetPack 6 on
  '/usr/lib/aarch64-linux-gnu/nvidia/current',
  '/usr/lib64', // RHEL, SUSE
  '/usr/lib64/nvidia',
  '/usr/lib', // Arch
  '/run/opengl-driver/lib', // NixOS
  '/usr/local/nvidia/lib64', // GKE, older container runtimes
  '/home/kubernetes/bin/nvidia/lib64', // GKE host
  '/run/nvidia/driver/usr/lib/x86_64-linux-gnu', // GPU operator's driver container
  '/run/nvidia/driver/usr/lib/aarch64-linux-gnu',
  '/run/nvidia/driver/usr/lib64',
  '/opt/nvidia/lib64', // Bottlerocket, Talos
]

const COMMAND_FOLDERS = [
  '/usr/bin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
  '/usr/local/nvidia/bin',
  '/home/kubernetes/bin/nvidia/bin',
  '/run/nvidia/driver/usr/bin',
  '/opt/bin',
  '/opt/nvidia/bin',
]

type Where = { readonly wsl?: Wsl; readonly exists?: (path: string) => boolean }

/**
 * Paths and sonames to try, in order. A configured path is alone. Under WSL2 the mounted library comes first:
 * a Linux driver installed by mistake would shadow it and find no device.
 */
export function nvmlLibraries(configured: string, { wsl = detectWsl(readWslFacts()), exists = existsSync }: Where = {}): readonly string[] {
  if (configured !== '') return [configured]
  const first = wsl.version === 2 ? [`${WSL_LIBRARY_FOLDER}/libnvidia-ml.so.1`] : []
  return [...first, 'libnvidia-ml.so.1', ...LIBRARY_FOLDERS.map((folder) => `${folder}/libnvidia-ml.so.1`).filter((path) => exists(path))]
}

/** Commands to try, in order: under WSL2 by its full path, since services and root often lack that folder in PATH. */
export function nvidiaSmiCommands(configured: string, { wsl = detectWsl(readWslFacts()), exists = existsSync }: Where = {}): readonly string[] {
  if (configured !== '' && configured !== 'nvidia-smi') return [configured]
  const first = wsl.version === 2 ? [`${WSL_LIBRARY_FOLDER}/nvidia-smi`] : []
  return [...first, 'nvidia-smi', ...COMMAND_FOLDERS.map((folder) => `${folder}/nvidia-smi`).filter((path) => exists(path))]
}
