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
  { name: "the operator's driver pod", text: 'gpu-operator   nvidia-driver-daemonset-x9y8z   0/1   CrashLoopBackOff   3   9m', kinds: ['driver_not_loaded'] },
  { name: 'a driver in use', text: 'Could not unload NVIDIA driver kernel modules, driver is in use', kinds: ['driver_not_loaded'] },
  {
    name: 'a legacy card',
    text: 'NVRM: The NVIDIA Quadro K600 GPU installed in this system is\nNVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please',
    kinds: ['driver_not_loaded'],
  },
  { name: 'no headers', text: 'ERROR: Unable to find the kernel source tree for the currently running kernel.', kinds: ['driver_not_loaded'] },
  {
    name: 'akmods',
    text: 'akmods[9]: Building rpms failed; see /var/cache/akmods/nvidia/570.86-1-for-6.14.9-200.fc41.x86_64.failed.log for details',
    kinds: ['driver_not_loaded'],
  },
  {
    name: 'amdgpu-dkms',
    text: 'Error! Bad return status for module build on kernel: 6.15.2-generic (x86_64)\nConsult /var/lib/dkms/amdgpu/6.9/build/make.log for more information.',
    kinds: ['driver_not_loaded'],
  },
  { name: 'i915', text: 'i915 0000:00:02.0: probe with driver i915 failed with error -12', kinds: ['driver_not_loaded'] },
]
