// Cases of the check driver-loaded.
import { card, healthy, IN_CONTAINER, modinfo, MODULE, NO_GPU, NO_MODULE, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

export const cases: readonly CheckCase[] = [
  { about: 'loaded', scene: { files: healthy('550.90.07') }, status: 'pass', says: /550\.90\.07/ },
  {
    about: 'the open modules',
    scene: {
      files: { ...card('nvidia'), '/proc/driver/nvidia/version': 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n' },
    },
    status: 'pass',
    says: /570\.86\.15 is loaded \(open kernel modules\)/,
  },
  {
    about: 'nothing installed',
    scene: { files: card(undefined), programs: { modinfo: NO_MODULE } },
    status: 'fail',
    says: /none for the running kernel 6\.1\.0-28-amd64.*nvidia-driver/,
  },
  {
    about: 'installed, not loaded',
    scene: { files: card(undefined), programs: { modinfo: modinfo('550.90.07', '') } },
    status: 'fail',
    says: /though 550\.90\.07 is installed.*modprobe nvidia/,
  },
  {
    about: 'sources that were not built for this kernel',
    scene: { files: { ...card(undefined), '/var/lib/dkms/nvidia/550.90.07/source/dkms.conf': '' }, distribution: 'ubuntu', programs: { modinfo: NO_MODULE } },
    status: 'fail',
    says: /linux-headers-.*dkms autoinstall/,
  },
  {
    about: 'a second card that the driver does not take',
    scene: { files: { ...healthy(), ...card(undefined, '0000:02:00.0') } },
    status: 'fail',
    says: /"subject":"0000:02:00\.0".*does not hold this GPU/,
  },
  { about: 'held by nouveau: its own check says so', scene: { files: card('nouveau') }, status: 'skipped', says: /nouveau/ },
  { about: 'a container sees the bus, and no modules', scene: { files: { ...card(undefined), ...IN_CONTAINER } }, status: 'skipped', says: /container/ },
  { about: 'handed to virtual machines', scene: { files: card('vfio-pci') }, status: 'skipped', says: /vfio/ },
  { about: 'a module without a GPU', scene: { files: { ...NO_GPU, '/proc/driver/nvidia/version': MODULE('550.90.07') } }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL }, status: 'skipped' },
]
