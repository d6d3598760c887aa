// NVIDIA kernel modules that cannot be built or loaded; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['driver_not_loaded']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'the installer',
    text: "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when it was built against the wrong kernel sources.",
    kinds: one,
  },
  {
    name: 'DKMS',
    text: 'Building module:\nmake -j8 NV_EXCLUDE_BUILD_MODULES= KERNEL_UNAME=6.8.0-45-generic modules....(bad exit status: 2)\nError! Bad return status for module build on kernel: 6.8.0-45-generic (x86_64)',
    kinds: one,
    facts: { kernel_version: '6.8.0-45-generic' },
  },
  { name: 'Secure Boot', text: 'nvidia: loading out-of-tree module taints kernel.\nLoading of unsigned module is rejected', kinds: one },
  { name: 'quiet: another module', text: 'dkms build of zfs\nError! Bad return status for module build on kernel: 6.8.0-45-generic (x86_64)', kinds: [] },
  { name: 'nouveau', text: `ERROR: The Nouveau kernel driver is currently in use by your system.`, kinds: one },
]
