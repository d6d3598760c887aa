// Cases of the check nouveau.
import { card, healthy, modinfo, NO_GPU, NO_MODULE, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

export const cases: readonly CheckCase[] = [
  { about: 'the right driver', scene: { files: healthy() }, status: 'pass' },
  { about: 'held by nobody: another check says so', scene: { files: card(undefined) }, status: 'pass' },
  {
    about: "nouveau, with NVIDIA's driver installed",
    scene: { files: card('nouveau'), programs: { modinfo: modinfo('550.90.07', '') } },
    status: 'fail',
    says: /blacklist nouveau.*update-initramfs/,
  },
  {
    about: 'nouveau on Fedora, nothing installed',
    scene: { files: card('nouveau'), distribution: 'fedora', programs: { modinfo: NO_MODULE } },
    status: 'fail',
    says: /akmod-nvidia.*dracut --force/,
  },
  { about: 'nova', scene: { files: card('nova_core') }, status: 'fail', says: /nova_core/ },
  { about: 'no GPU', scene: { files: NO_GPU }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL }, status: 'skipped' },
]
