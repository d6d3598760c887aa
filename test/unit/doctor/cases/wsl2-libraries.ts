// Cases of the check wsl2-libraries.
import { library, WSL } from '../hosts.ts'
import { nvmlFacts, type CheckCase } from '../scene.ts'

const installed = (...names: readonly string[]): string =>
  names.map((name) => `Package: ${name}\nStatus: install ok installed\nPriority: optional\nDescription: a package\n of its own\n`).join('\n')
const status = (...names: readonly string[]) => ({ '/var/lib/dpkg/status': installed('bash', ...names, 'zlib1g') })
const without = (...paths: readonly string[]) => Object.fromEntries(Object.entries(WSL).filter(([path]) => !paths.includes(path)))

export const cases: readonly CheckCase[] = [
  {
    about: 'those of Windows alone',
    scene: { files: { ...WSL, ...status('nvidia-container-toolkit', 'libnvidia-container1', 'cuda-toolkit-12-8') } },
    status: 'pass',
  },
  {
    about: 'a link into the folder of WSL',
    scene: { files: { ...WSL, '/usr/lib/x86_64-linux-gnu/libcuda.so.1': { link: '/usr/lib/wsl/lib/libcuda.so.1' } } },
    status: 'pass',
  },
  {
    about: 'a driver of Ubuntu hides it',
    scene: {
      files: { ...WSL, ...library('550.90.07'), ...status('libnvidia-compute-550', 'nvidia-dkms-550', 'nvidia-utils-550') },
      distribution: 'ubuntu',
      nvml: new Error('NVML does not start'),
    },
    status: 'fail',
    says: /finds no GPU.*apt-get purge -y libnvidia-compute-550 nvidia-dkms-550 nvidia-utils-550.*ldconfig/,
  },
  {
    about: 'it is there beside that of Windows, which works',
    scene: { files: { ...WSL, ...library('550.90.07'), ...status('libnvidia-compute-550') }, nvml: nvmlFacts() },
    status: 'warn',
  },
  { about: 'kernel modules alone', scene: { files: { ...WSL, ...status('nvidia-dkms-550') } }, status: 'warn', says: /of no use here/ },
  {
    about: 'a package that was removed',
    scene: { files: { ...WSL, '/var/lib/dpkg/status': 'Package: nvidia-driver-550\nStatus: deinstall ok config-files\n' } },
    status: 'pass',
  },
  {
    about: "NVIDIA's installer",
    scene: { files: { ...WSL, ...library('550.90.07'), '/usr/bin/nvidia-uninstall': '' } },
    status: 'fail',
    says: /sudo nvidia-uninstall/,
  },
  {
    about: 'a driver of Fedora',
    scene: {
      files: { ...WSL, '/usr/lib64/libcuda.so.1': { link: 'libcuda.so.580.65.06' }, '/usr/lib64/libcuda.so.580.65.06': 'ELF' },
      distribution: 'fedora',
      programs: { rpm: { prints: 'xorg-x11-drv-nvidia-cuda-libs\n' } },
    },
    status: 'fail',
    says: /dnf remove -y xorg-x11-drv-nvidia-cuda-libs/,
  },
  { about: 'one is missing', scene: { files: without('/usr/lib/wsl/lib/libcuda.so.1') }, status: 'fail', says: /libcuda\.so\.1 is missing/ },
  {
    about: 'the loader is not told',
    scene: { files: { ...without('/etc/ld.so.conf.d/ld.wsl.conf'), '/etc/wsl.conf': '[automount]\nldconfig = false\n' } },
    status: 'warn',
    says: /take ldconfig=false out.*sudo ldconfig/,
  },
  { about: 'a distribution without such a cache', scene: { files: without('/etc/ld.so.conf.d/ld.wsl.conf'), distribution: 'nixos' }, status: 'pass' },
  {
    about: 'a GPU of others',
    scene: { files: without('/usr/lib/wsl/lib/libcuda.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1') },
    status: 'skipped',
    says: /no NVIDIA library/,
  },
  { about: 'no WSL', scene: { files: library('550.90.07') }, status: 'skipped', says: /not WSL/ },
]
