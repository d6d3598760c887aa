// Which Linux this is, and how its users install, remove and restart things: remedies are to be pasted, so they must be the ones of this distribution.
import { detectWsl, WSL_LIBRARY_FOLDER } from '../../lib/wsl.ts'
import type { HostFiles } from './host-files.ts'

export const FAMILIES = ['debian', 'ubuntu', 'rhel', 'fedora', 'suse', 'arch', 'alpine', 'nixos', 'unknown'] as const
export type Family = (typeof FAMILIES)[number]

export type Distribution = {
  readonly family: Family
  /** ID of os-release: debian, ubuntu, rocky, opensuse-leap, …; `unknown` where there is none. */
  readonly id: string
  /** VERSION_ID; absent on rolling ones. */
  readonly version?: string
  /** As its makers write it. */
  readonly name: string
  /** `uname -r`. */
  readonly kernel?: string
  /** 0: no WSL. */
  readonly wsl: 0 | 1 | 2
  /** Whether this process itself is in a container: then most of the host cannot be seen or judged from here. */
  readonly inContainer: boolean
  /** A command that installs packages by the names that they have here, with sudo. */
  readonly install: (...packages: readonly string[]) => string
  readonly remove: (...packages: readonly string[]) => string
  /** The packages of headers for the running kernel, which DKMS needs to build the driver's module. */
  readonly kernelHeaders: string
  /** After a change of modprobe.d: writes the early boot image again. */
  readonly rebuildInitramfs: string
  /** How the NVIDIA driver is installed here. */
  readonly installDriver: string
}

const SUDO: Readonly<Record<Family, { readonly install: string; readonly remove: string }>> = {
  debian: { install: 'sudo apt-get update && sudo apt-get install -y', remove: 'sudo apt-get purge -y' },
  ubuntu: { install: 'sudo apt-get update && sudo apt-get install -y', remove: 'sudo apt-get purge -y' },
  rhel: { install: 'sudo dnf install -y', remove: 'sudo dnf remove -y' },
  fedora: { install: 'sudo dnf install -y', remove: 'sudo dnf remove -y' },
  suse: { install: 'sudo zypper --non-interactive install', remove: 'sudo zypper --non-interactive remove' },
  arch: { install: 'sudo pacman -S --needed --noconfirm', remove: 'sudo pacman -Rns --noconfirm' },
  alpine: { install: 'sudo apk add', remove: 'sudo apk del' },
  nixos: { install: 'nix-env -iA', remove: 'nix-env -e' },
  unknown: { install: 'install with your package manager:', remove: 'remove with your package manager:' },
}
const HEADERS: Readonly<Record<Family, string>> = {
  debian: 'linux-headers-$(uname -r)',
  ubuntu: 'linux-headers-$(uname -r)',
  rhel: 'kernel-devel-$(uname -r) kernel-headers',
  fedora: 'kernel-devel-$(uname -r) kernel-headers',
  suse: 'kernel-default-devel',
  arch: 'linux-headers',
  alpine: 'linux-lts-dev',
  nixos: 'linuxPackages.kernel.dev',
  unknown: 'kernel-headers',
}
const INITRAMFS: Readonly<Record<Family, string>> = {
  debian: 'sudo update-initramfs -u',
  ubuntu: 'sudo update-initramfs -u',
  rhel: 'sudo dracut --force',
  fedora: 'sudo dracut --force',
  suse: 'sudo dracut --force',
  arch: 'sudo mkinitcpio -P',
  alpine: 'sudo mkinitfs',
  nixos: 'sudo nixos-rebuild boot',
  unknown: 'sudo dracut --force',
}
/** By each distribution's own guide; the driver of NVIDIA's repository (nvidia-open, cuda-drivers) where there is none of its own. */
const DRIVER: Readonly<Record<Family, string>> = {
  debian: "sudo apt-get install -y nvidia-driver firmware-misc-nonfree   # needs 'contrib non-free non-free-firmware' in /etc/apt/sources.list",
  ubuntu: 'sudo ubuntu-drivers install --gpgpu || sudo ubuntu-drivers install',
  rhel: 'sudo dnf install -y nvidia-open   # from the repository of https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/',
  fedora: 'sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda   # from https://rpmfusion.org/Howto/NVIDIA',
  suse: 'sudo zypper --non-interactive install nvidia-open-driver-G06-signed-kmp-default nvidia-compute-utils-G06',
  arch: 'sudo pacman -S --needed nvidia-open-dkms nvidia-utils linux-headers',
  alpine: 'NVIDIA has no driver for musl: use another distribution on this host',
  nixos: 'services.xserver.videoDrivers = [ "nvidia" ]; in configuration.nix, then: sudo nixos-rebuild boot && sudo reboot',
  unknown: 'see https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/',
}

const BY_ID: Readonly<Record<string, Family>> = {
  debian: 'debian',
  raspbian: 'debian',
  ubuntu: 'ubuntu',
  linuxmint: 'ubuntu',
  pop: 'ubuntu',
  rhel: 'rhel',
  centos: 'rhel',
  rocky: 'rhel',
  almalinux: 'rhel',
  ol: 'rhel',
  amzn: 'rhel',
  fedora: 'fedora',
  sles: 'suse',
  suse: 'suse',
  opensuse: 'suse',
  arch: 'arch',
  alpine: 'alpine',
  nixos: 'nixos',
}

/** KEY=value, KEY="value" (os-release(5)). */
export function parseOsRelease(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split('\n')) {
    const match = /^([A-Z0-9_]+)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(.*))$/.exec(line.trim())
    if (match?.[1] !== undefined) found.set(match[1], (match[2] ?? match[3] ?? match[4] ?? '').replace(/\\(.)/g, '$1'))
  }
  return found
}

function familyOf(id: string, like: string): Family {
  for (const name of [id, ...like.split(/\s+/)]) {
    const family = BY_ID[name] ?? BY_ID[name.split('-')[0] ?? '']
    if (family !== undefined) return family
  }
  return 'unknown'
}

/** Marks of Docker, Podman, Kubernetes and others; the environment shows those without a mark. */
async function isContainer(files: HostFiles, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) return true
  for (const path of ['/.dockerenv', '/run/.containerenv', '/run/systemd/container']) {
    // WSL writes `wsl` there: a guest of Windows is the host that is meant.
    if ((await files.exists(path)) && (await files.readText(path).catch(() => ''))?.trim() !== 'wsl') return true
  }
  return false
}

export async function readDistribution(files: HostFiles, env: Readonly<Record<string, string | undefined>>): Promise<Distribution> {
  const text = (await files.readText('/etc/os-release')) ?? (await files.readText('/usr/lib/os-release')) ?? ''
  const release = parseOsRelease(text)
  const id = release.get('ID')?.toLowerCase() ?? 'unknown'
  const family = familyOf(id, release.get('ID_LIKE')?.toLowerCase() ?? '')
  const version = release.get('VERSION_ID')
  const kernel = (await files.readText('/proc/sys/kernel/osrelease'))?.trim()
  const wsl = detectWsl({
    osRelease: kernel,
    hasDxg: await files.exists('/dev/dxg'),
    hasWslNvml: await files.exists(`${WSL_LIBRARY_FOLDER}/libnvidia-ml.so.1`),
    hasWslNvidiaSmi: await files.exists(`${WSL_LIBRARY_FOLDER}/nvidia-smi`),
  })
  return {
    family,
    id,
    ...(version === undefined ? {} : { version }),
    name: release.get('PRETTY_NAME') ?? id,
    ...(kernel === undefined ? {} : { kernel }),
    wsl: wsl.version,
    inContainer: await isContainer(files, env),
    install: (...packages) => `${SUDO[family].install} ${packages.join(' ')}`,
    remove: (...packages) => `${SUDO[family].remove} ${packages.join(' ')}`,
    kernelHeaders: HEADERS[family],
    rebuildInitramfs: INITRAMFS[family],
    installDriver: DRIVER[family],
  }
}
