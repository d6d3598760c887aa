// The driver's kernel module could not be built or was refused: DKMS, the installer, Secure Boot, nouveau.
import { group } from '../situation/versions.ts'
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known } from './parts/window.ts'
import { NO_NOUVEAU, SECURE_BOOT } from './gpu-not-visible/driver-remedies.ts'
import type { Piece } from './remedies/plan.ts'

const KERNEL = /on kernel: (\d[\w.+-]{2,60})|KERNEL_UNAME=(\d[\w.+-]{2,60})|kernel (\d\.\d{1,3}[\w.+-]{1,50})/
const near = ({ text, at }: Seen): string => around(text, at, 24, 12)
const kernel = (seen: Seen): string | undefined => group(KERNEL.exec(near(seen)))
const facts = (seen: Seen): Facts => known({ kernel_version: kernel(seen) })
/** The release of the driver whose module it is. */
const DRIVER = /(?:nvidia[-/ ,v]{1,6}|NVIDIA driver version )(\d{3}\.\d{2,3}(?:\.\d{2})?)\b/
const SIGNATURE = /unsigned module|Required key|Key was rejected|Secure ?Boot/i

function remedies({ situation, facts: { kernel_version: version }, text, at }: Matched): readonly Piece[] {
  const lines = around(text, at, 24, 12)
  const { programs } = situation()
  // The compiler's own word says why: another rule tells it.
  const compiler = /unrecognized command-line option/.test(lines)
  const compiled = /bad exit status|\.[co](?::\d|\] Error)/.test(lines)
  // NVIDIA's installer: it compiled the module to the end, and the kernel did not take it.
  if (/Building kernel modules\s{1,4}:? ?\[#{20,40}\] 100%/.test(lines) && !SIGNATURE.test(lines))
    return [
      {
        text: 'The module was compiled to the end, so headers and compiler are there: read why the kernel did not take it.',
        command: 'sudo dmesg | grep -iE "nvidia|nouveau|module verification|lockdown|key" | tail; mokutil --sb-state; lsmod | grep nouveau',
      },
      {
        text: 'With Secure Boot on: the module must be signed with a key that the firmware trusts. Install the driver as packages of the distribution, which sign it, or switch Secure Boot off in the firmware.',
      },
      NO_NOUVEAU,
    ]
  const module = DRIVER.exec(lines)?.[1]
  const release = version ?? '$(uname -r)'
  const apt = programs.has('apt') || /ubuntu|debian|apport/i.test(lines)
  return [
    SIGNATURE.test(lines) && SECURE_BOOT,
    {
      text: 'Read why the build or the load failed: headers of another kernel, another gcc, or nouveau on the card.',
      command: "tail -n 60 /var/log/nvidia-installer.log /var/lib/dkms/nvidia/*/build/make.log; sudo dmesg | grep -iE 'nvidia|nouveau' | tail",
    },
    compiler || SIGNATURE.test(lines)
      ? undefined
      : compiled
        ? {
            text: `The compiler ran, so the headers are there: likely ${module === undefined ? 'this driver' : `driver ${module}`} is too old for ${version === undefined ? 'the kernel that runs' : `kernel ${version}`}. Install a newer driver, or boot an older kernel.`,
          }
        : apt
          ? {
              text: `Install headers and compiler for the kernel${version === undefined ? '' : ` ${version}`}, then build again.`,
              command: `sudo apt-get install -y linux-headers-${release} gcc make && sudo dkms autoinstall`,
            }
          : {
              text: `Install the headers and the compiler of the kernel${version === undefined ? ' that runs' : ` ${version}`}, then build again. Or boot an older kernel.`,
            },
    module !== undefined &&
      !compiled &&
      !compiler &&
      !SIGNATURE.test(lines) && {
        text: `If it then fails in the code of driver ${module}: that is older than the kernel. Install a newer release, or boot an older kernel.`,
      },
    /nouveau/.test(lines) && NO_NOUVEAU,
  ]
}

const verdict = (seen: Matched): string => {
  const version = seen.facts.kernel_version
  const why = SIGNATURE.test(near(seen)) ? ' The kernel refused it because of its signature (Secure Boot).' : ''
  const what = /Bad return status/.test(seen.match[0]) ? 'could not be built' : 'could not be loaded'
  const driver = DRIVER.exec(near(seen))?.[1]
  return `The NVIDIA kernel module${driver === undefined ? '' : ` of driver ${driver}`} ${what}${version === undefined ? '' : ` for kernel ${version}`}, so no program can use the GPU.${why}`
}
/** Some installers hand over the name of the package. */
const kernelOf = (name = ''): string => name.replace(/^linux-headers-/, '')
const rule = { severity: 'critical', title: 'NVIDIA kernel module cannot be built or loaded', verdict, remedies } as const

export const driverNotLoaded = ruleFamily({
  id: 'driver-not-loaded',
  kind: 'driver_not_loaded',
  literals: [
    'Nouveau kernel driver is currently in use',
    'Unable to load the kernel module',
    'Bad return status for module build',
    'Your kernel headers for kernel ',
    'Loading of unsigned module is rejected',
    'GPL-incompatible module nvidia',
  ],
  facts,
  rules: [
    {
      ...rule,
      pattern: /Unable to load the kernel module '?nvidia[\w-]{0,20}\.ko/,
      // The kernel's own lines below say that the release does not support the GPU.
      unless: ({ text, at }) => /installed in this system is not supported by the/.test(around(text, at, 0, 20)),
    },
    {
      ...rule,
      pattern: /Nouveau kernel driver is currently in use/,
      title: 'nouveau holds the GPU',
      verdict: "The kernel's own driver, nouveau, holds the GPU, so the installer of NVIDIA's driver stopped.",
      remedies: [
        NO_NOUVEAU,
        { text: "Or install the driver as a package of the distribution instead of NVIDIA's installer: it keeps nouveau away by itself." },
      ],
    },
    {
      ...rule,
      pattern: /Your kernel headers for kernel (\S{3,80}) cannot be found/,
      title: 'The headers of the kernel are not installed',
      verdict: ({ match }) => `DKMS found no headers of kernel ${kernelOf(match[1])}, so it did not build its modules (the NVIDIA driver among them) for it.`,
      remedies: (seen) => [
        {
          text: 'Install the headers of exactly that kernel (own kernels: the package that was built with it), then build again.',
          command: `${/\.fc\d|\.el\d/.test(seen.match[1] ?? '') ? `sudo dnf install -y kernel-devel-${kernelOf(seen.match[1])}` : `sudo apt-get install -y linux-headers-${kernelOf(seen.match[1])}`} && sudo dkms autoinstall`,
        },
        { text: 'See for which kernels there are headers, and which modules are built.', command: 'ls -d /lib/modules/*/build; dkms status' },
        { text: 'If that kernel is gone: remove what is left of it, so that DKMS no longer asks for it.', command: 'ls /lib/modules' },
      ],
      facts: ({ match }) => known({ kernel_version: kernelOf(match[1]) }),
    },
    // DKMS builds many modules: this one is NVIDIA's.
    { ...rule, pattern: /Bad return status for module build on kernel/, unless: (seen) => !/nvidia|\bNV_/i.test(near(seen)) },
    {
      ...rule,
      pattern: /GPL-incompatible module nvidia[\w-]{0,12}\.ko uses GPL-only symbol '(\w{1,60})'/,
      title: 'The NVIDIA driver does not fit this kernel',
      verdict: (seen) =>
        `The kernel module of the driver could not be built: ${kernel(seen) === undefined ? 'this kernel' : `kernel ${kernel(seen)}`} keeps ${seen.match[1]} for modules under the GPL, and this version of the driver still uses it.`,
      remedies: [
        { text: 'Install a newer driver (a later release of the same branch is enough), or its open kernel modules where the GPU is Turing or newer.' },
        { text: 'Or boot the kernel that it was built for before.', command: 'uname -r; ls /boot/vmlinuz-*' },
      ],
    },
    { ...rule, pattern: /Loading of unsigned module is rejected/, unless: (seen) => !/nvidia/i.test(near(seen)) },
  ],
})
