// Cases of the check secure-boot.
import { card, healthy, modinfo, NO_GPU, NO_MODULE, SECURE_BOOT, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const on = { ...card(undefined), [SECURE_BOOT]: '\u0006\u0000\u0000\u0000\u0001' }
const installed = { modinfo: modinfo('550.90.07', 'DKMS module signing key') }

export const cases: readonly CheckCase[] = [
  { about: 'off', scene: { files: { ...card(undefined), [SECURE_BOOT]: '\u0006\u0000\u0000\u0000\u0000' } }, status: 'pass', says: /off/ },
  { about: 'on, and the driver is loaded', scene: { files: { ...healthy(), [SECURE_BOOT]: on[SECURE_BOOT] } }, status: 'pass' },
  {
    about: 'on, and the module is not signed',
    scene: { files: on, programs: { modinfo: modinfo('550.90.07', '') } },
    status: 'fail',
    says: /not signed.*mokutil --import.*MOK Manager/,
  },
  {
    about: 'on, and the kernel refused it',
    scene: { files: on, distribution: 'ubuntu', programs: { ...installed, dmesg: { prints: '[   11.5] Loading of unsigned module nvidia is rejected\n' } } },
    status: 'fail',
    says: /the kernel refused it.*update-secureboot-policy/,
  },
  { about: 'on, signed, not loaded', scene: { files: on, programs: installed }, status: 'warn', says: /DKMS module signing key/ },
  { about: 'on, and nothing is installed', scene: { files: on, programs: { modinfo: NO_MODULE } }, status: 'skipped' },
  { about: 'a BIOS', scene: { files: card(undefined) }, status: 'skipped' },
  { about: 'no GPU', scene: { files: { ...NO_GPU, [SECURE_BOOT]: on[SECURE_BOOT] } }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL }, status: 'skipped' },
]
