// Files of hosts that several checks look at: one with a GPU and its driver, and what differs on others.
import { engineFacts, gpuFacts, nvmlFacts, type Scene, type SceneFile } from './scene.ts'

export const BUS = '0000:01:00.0'

/** The card as the kernel lists it; `driver`: who holds it. */
export function card(driver: string | undefined, address = BUS): Readonly<Record<string, SceneFile>> {
  const at = `/sys/bus/pci/devices/${address}`
  return {
    [`${at}/vendor`]: '0x10de\n',
    [`${at}/class`]: '0x030200\n',
    ...(driver === undefined ? {} : { [`${at}/driver`]: { link: `../../../../bus/pci/drivers/${driver}` } }),
  }
}
/** A network card: NVIDIA makes those too, under other vendors' numbers. */
export const NO_GPU = { '/sys/bus/pci/devices/0000:00:03.0/vendor': '0x1af4\n', '/sys/bus/pci/devices/0000:00:03.0/class': '0x020000\n' } as const

export const MODULE = (version: string): string =>
  `NVRM version: NVIDIA UNIX x86_64 Kernel Module  ${version}  Fri May 31 09:35:42 UTC 2024\nGCC version:  gcc version 12.2.0\n`
/** As Debian links them. */
export const library = (version: string): Readonly<Record<string, SceneFile>> => ({
  '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': { link: `libnvidia-ml.so.${version}` },
  [`/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.${version}`]: 'ELF',
})
/** Card, module and library of one version, as on a host that is well. */
export const healthy = (version = '580.65.06'): Readonly<Record<string, SceneFile>> => ({
  ...card('nvidia'),
  '/proc/driver/nvidia/version': MODULE(version),
  [`/proc/driver/nvidia/gpus/${BUS}/information`]: 'Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t 0\n',
  ...library(version),
})
export const WSL: Readonly<Record<string, SceneFile>> = {
  '/proc/sys/kernel/osrelease': '5.15.153.1-microsoft-standard-WSL2\n',
  '/dev/dxg': '',
  '/usr/lib/wsl/lib/libnvidia-ml.so.1': 'ELF',
}
export const IN_CONTAINER: Readonly<Record<string, SceneFile>> = { '/.dockerenv': '' }
/** modinfo of a host on which the module is installed for the running kernel. */
export const modinfo = (version: string, signer: string) => ({ script: `case "$2" in version) echo '${version}';; signer) echo '${signer}';; esac` })
export const NO_MODULE = { script: 'echo "modinfo: ERROR: Module nvidia not found." >&2; exit 1' }
export const SECURE_BOOT = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'

/** They need root to be made; else the host is one that makes them when somebody needs them. */
const NODES: Readonly<Record<string, SceneFile>> =
  process.getuid?.() === 0 ? { '/dev/nvidiactl': { node: [195, 255] }, '/dev/nvidia0': { node: [195, 0] }, '/dev/nvidia-uvm': { node: [511, 0] } } : {}

/** What every Linux host has. */
const LINUX = { '/proc/1/root': { link: '/' }, '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n', '/proc/uptime': '1000.00 900.00\n' } as const
const VALUES = {
  persistence_mode: 1,
  ecc_enabled: 1,
  row_remap_pending: 0,
  row_remap_failure: 0,
  'ecc_errors_total{type=uncorrected,scope=volatile}': 0,
  pcie_link_width: 16,
  pcie_link_width_max: 16,
  pcie_link_generation: 1,
  pcie_link_generation_max: 5,
  utilization_ratio: 0,
}

/** Hosts on which nothing is wrong: a check that complains of one of them is wrong itself. */
export const WELL: Readonly<Record<string, Scene>> = {
  'a host without GPUs': { files: { ...LINUX, ...NO_GPU } },
  'a host that shows nothing': { files: LINUX },
  'a container without a GPU on a host with one': { files: { ...LINUX, ...IN_CONTAINER, ...card('nvidia'), '/dev/kmsg': '' } },
  'WSL2 with a GPU': {
    files: { ...LINUX, ...WSL, '/run/systemd/container': 'wsl\n' },
    nvml: nvmlFacts({ driverVersion: '566.36', gpus: [gpuFacts({ name: 'NVIDIA GeForce RTX 4070 Laptop GPU' })] }),
  },
  'a healthy host with a GPU': {
    files: { ...LINUX, ...healthy(), '/usr/bin/nvidia-modprobe': { text: '', mode: 0o755 }, ...NODES },
    nvml: nvmlFacts({ gpus: [gpuFacts({ values: VALUES })] }),
    engine: engineFacts(),
    programs: { dmesg: { prints: '[    0.000000] Linux version 6.1.0\n' } },
  },
}
