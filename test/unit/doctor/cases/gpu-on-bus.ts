// Cases of the check gpu-on-bus.
import { card, healthy, NO_GPU, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const gone = { ...healthy(), '/sys/bus/pci/devices/0000:01:00.0/config': { bytes: [0xff, 0xff, 0xff, 0xff] } } as const

export const cases: readonly CheckCase[] = [
  { about: 'one GPU', scene: { files: healthy() }, status: 'pass', says: /1 NVIDIA GPU on the bus/ },
  {
    about: 'one that answers in its configuration space',
    scene: { files: { ...healthy(), '/sys/bus/pci/devices/0000:01:00.0/config': { bytes: [0xde, 0x10, 0x30, 0x23] } } },
    status: 'pass',
  },
  { about: 'a card that fell off the bus', scene: { files: gone }, status: 'fail', says: /fallen off the bus/ },
  {
    about: 'a sleeping laptop card, which must not be woken up',
    scene: { files: { ...gone, '/sys/bus/pci/devices/0000:01:00.0/power/runtime_status': 'suspended\n' } },
    status: 'pass',
  },
  {
    about: 'fewer than there should be',
    scene: { files: healthy(), config: { 'gpu.expected_gpus': 2 } },
    status: 'fail',
    says: /expected 2 GPUs.*the bus has 1/,
  },
  { about: 'none, though there should be some', scene: { files: NO_GPU, config: { 'gpu.expected_gpus': 1 } }, status: 'fail' },
  {
    about: 'one handed to a virtual machine',
    scene: { files: { ...card('nvidia'), ...card('vfio-pci', '0000:02:00.0') } },
    status: 'pass',
    says: /1 of them handed/,
  },
  { about: 'a host without GPUs', scene: { files: NO_GPU }, status: 'warn', says: /no GPU on the PCI bus: .*reseat it/s },
  {
    about: 'a virtual machine without GPUs',
    scene: { files: { ...NO_GPU, '/proc/cpuinfo': 'flags\t\t: fpu vme hypervisor lahf_lm\n' } },
    status: 'warn',
    says: /of this virtual machine.*PCI passthrough/s,
  },
  {
    about: 'a host without GPUs that wants none',
    scene: { files: NO_GPU, config: { 'gpu.expected_gpus': 0 } },
    status: 'skipped',
    says: /as gpu\.expected_gpus says/,
  },
  {
    about: 'a card of another vendor',
    scene: { files: { ...NO_GPU, '/sys/class/drm/card0/device/vendor': '0x1002\n', '/sys/class/drm/card0-DP-1/status': 'connected\n' } },
    status: 'skipped',
    says: /GPUs of AMD are there/,
  },
  {
    about: 'a Jetson',
    scene: { files: { ...NO_GPU, '/proc/device-tree/compatible': 'nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0' } },
    status: 'skipped',
    says: /Jetson/,
  },
  { about: 'WSL', scene: { files: WSL }, status: 'skipped', says: /Windows/ },
  { about: 'no bus to be seen', scene: {}, status: 'skipped' },
]
