// Drivers that refuse a card, or whose installation stops: generations, open and proprietary modules, NVIDIA's installer, packages, akmods, AMD and Intel.
import { driverLines, driverOf } from './parts/drm.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { around, known } from './parts/window.ts'
import { TOOLKIT_REPOSITORY } from './remedies/toolkit-repository.ts'

/** The kernel's message goes on in the next lines, each with the driver's name. */
const WRAP = String.raw`(?:\s{1,4}NVRM:)?\s{1,4}`
const cardAbove = ({ text, at }: Seen) =>
  known({ pci_bus_id: /GPU ([\da-f]{4,8}:[\da-f]{2}:[\da-f]{2}\.\d)/i.exec(around(text, at, 2, 0))?.[1]?.toLowerCase() })
const AKMOD_LOG = /\/\S{3,80}\/nvidia\/([\d.]{3,12})-\S{1,8}-for-([\w.+-]{3,60})\.failed\.log/
/** The first error of the compiler. */
const compilers = ({ situation }: Seen): string | undefined =>
  /\.[ch]:\d{1,6}:\d{1,4}: (?:fatal )?error: ([^\n]{5,120}?)(?: \[-W[\w-]{1,60}\])?$/m.exec(situation().text)?.[1]
const IN_USE = 'sudo fuser -v /dev/nvidia*; lsmod | grep nvidia'

export const driverInstall = ruleFamily({
  id: 'driver-install',
  kind: 'driver_not_loaded',
  literals: [
    'GPU installed in this system is',
    'installed in this system is not supported by',
    'installed in this vGPU host system is not supported by',
    'Unable to find the kernel source tree',
    'You appear to be running an X server',
    "An NVIDIA kernel module '",
    'Building rpms failed; see ',
    'akmodsbuild: make',
    'nvidia-persistenced: Failed to query',
    ']: Failed to query NVIDIA devices',
    'unrecognized command-line option',
    'Bad return status for module build',
    'probe with driver ',
    'does not have a Release file',
  ],
  rules: [
    {
      // The layout by distribution ended in 2023: docs.nvidia.com, container toolkit, installation.
      pattern: /repository 'https:\/\/nvidia\.github\.io\/(\S{3,80}?) {1,2}Release' does not have a Release file/,
      kind: 'config_error',
      severity: 'critical',
      title: "NVIDIA's repository for containers is not at that address",
      verdict: ({ match }) =>
        `There is no repository at nvidia.github.io/${match[1]}: lists by distribution are no longer made, one serves all of Debian and Ubuntu.`,
      remedies: [
        { text: 'Find the old list, and remove it.', command: 'grep -rl nvidia.github.io /etc/apt/sources.list.d' },
        {
          text: 'Then add the present one with its key, and install again.',
          command: TOOLKIT_REPOSITORY,
        },
      ],
    },
    {
      pattern: new RegExp(`The NVIDIA ([\\w ().-]{2,60}?) GPU installed in this system is${WRAP}supported through the NVIDIA (\\d{3})\\.xx Legacy`),
      severity: 'critical',
      title: ({ match }) => `The GPU needs an older driver: branch ${match[2]}`,
      verdict: ({ match }) => `The installed driver no longer supports the ${match[1]}: ${match[2]}.xx is the last branch that does. It ignores the GPU.`,
      remedies: ({ match }) => [
        {
          text: `Install branch ${match[2]} in place of the present driver, then reboot; it may need an older kernel, and runs only the CUDA of its time.`,
          command: `apt-cache policy nvidia-driver-${match[2]}`,
        },
      ],
    },
    {
      pattern: new RegExp(`installed in this system is not supported by open${WRAP}nvidia\\.ko`),
      severity: 'critical',
      title: 'The GPU needs the proprietary kernel modules',
      verdict: (seen) =>
        `${cardAbove(seen).pci_bus_id === undefined ? 'This GPU' : `The GPU at ${cardAbove(seen).pci_bus_id}`} is of a generation before Turing, and NVIDIA's open kernel modules are installed, which do not support it.`,
      remedies: [
        {
          text: "Install the driver with its proprietary kernel modules, then reboot (Ubuntu: the package without -open; NVIDIA's installer: --kernel-module-type=proprietary). Branch 580 is the last one that has them for Maxwell to Volta.",
          command: 'sudo ubuntu-drivers list',
        },
      ],
      facts: cardAbove,
    },
    {
      pattern: new RegExp(`installed in this (?:vGPU host )?system is not supported by${WRAP}proprietary${WRAP}?nvidia\\.ko`),
      severity: 'critical',
      title: 'The GPU needs the open kernel modules',
      verdict: 'This GPU works here only with the open kernel modules, and the proprietary ones are installed.',
      remedies: [
        {
          text: 'Install the same driver (or vGPU manager) with its open kernel modules, then reboot.',
          command: 'cat /proc/driver/nvidia/version; modinfo -F license nvidia',
        },
      ],
      facts: cardAbove,
    },
    {
      pattern: /Unable to find the kernel source tree for the currently running kernel/,
      severity: 'critical',
      title: 'The kernel headers are not installed',
      verdict: "NVIDIA's installer found no headers for the kernel that runs, so it could not build the module.",
      remedies: [
        {
          text: 'Install headers and compiler for the running kernel, then start the installer again.',
          command: 'sudo apt-get install -y linux-headers-$(uname -r) gcc make',
        },
        {
          text: 'If there are none for it: the kernel was updated without a reboot, or is not one of the distribution. Reboot into the installed one.',
          command: 'uname -r; ls /lib/modules',
        },
      ],
    },
    {
      pattern: /You appear to be running an X server; please exit X/,
      severity: 'critical',
      title: "NVIDIA's installer stopped: a display uses the GPU",
      verdict: 'An X server or desktop runs, and the installer does not replace the driver below it. Nothing was changed.',
      remedies: [
        {
          text: 'Save what is open, log in on a text console or by ssh, and end the desktop (its programs end); then install.',
          command: 'sudo systemctl isolate multi-user.target',
          destroys: true,
        },
        { text: 'Or install the driver as packages of the distribution: they need no such step, only a reboot.' },
      ],
    },
    {
      pattern: /An NVIDIA kernel module '(nvidia[\w-]{0,20})' appears to already be loaded in your kernel/,
      severity: 'critical',
      title: "NVIDIA's installer stopped: the loaded driver is in use",
      verdict: ({ match }) => `The module ${match[1]} of the present driver is loaded and in use, so the installer cannot replace it. Nothing was changed.`,
      remedies: [
        { text: 'See what uses it: a display, work on the GPUs, nvidia-persistenced, monitoring (DCGM).', command: IN_USE },
        {
          text: 'End those, unload the modules and install again; or let the installer build it and reboot.',
          command: 'sudo systemctl stop nvidia-persistenced; sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia',
          destroys: true,
        },
      ],
    },
    {
      pattern: /Building rpms failed; see (\/\S{5,200}?\.log) for details|akmodsbuild: make(?:\[\d\])?: \*\*\* \[[^\n\]]{1,200}\] Error \d/,
      severity: 'critical',
      title: 'akmods could not build the kernel module',
      verdict: (seen) => {
        const [, driver, kernel] = AKMOD_LOG.exec(seen.situation().text) ?? []
        const built = kernel ?? /\/kernels\/([\w.+-]{3,60})\//.exec(seen.match[0])?.[1]
        const why = compilers(seen)
        return `akmods could not build ${driver === undefined ? 'a module' : `driver ${driver}`}${built === undefined ? '' : ` for kernel ${built}`}, so the GPU cannot be used with that kernel.${why === undefined ? '' : ` The compiler says: "${why}".`}`
      },
      remedies: (seen) => [
        compilers(seen) === undefined
          ? {
              text: 'Read why: missing kernel-devel, or a driver that is too old for the kernel.',
              command: `sudo grep -iE 'error|fatal' ${AKMOD_LOG.exec(seen.situation().text)?.[0] ?? '/var/cache/akmods/nvidia/*.failed.log'} | head -n 20`,
            }
          : {
              text: 'The headers are there, and the code does not fit the kernel: that driver is too old for it. A newer one or a patched package may come with the next update.',
            },
        {
          text: 'Update driver and headers together, then build again; until then boot the kernel before it.',
          command: 'sudo dnf upgrade -y akmod-nvidia kernel-devel && sudo akmods --force',
        },
      ],
      unless: ({ match, text, at }) => !/nvidia/.test(match[1] ?? `${match[0]}${around(text, at, 4, 8)}`),
    },
    {
      pattern: /nvidia-persistenced(?:\[\d{1,10}\])?: Failed to query NVIDIA devices/,
      severity: 'warning',
      title: 'nvidia-persistenced finds no GPU',
      verdict: 'nvidia-persistenced cannot open the device files of the driver: most likely its kernel module is not loaded.',
      remedies: [
        {
          text: 'See whether the module is loaded, and why not.',
          command: "lsmod | grep nvidia; ls -l /dev/nvidia*; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau' | tail -n 30",
        },
      ],
    },
    {
      pattern: /(?:gcc|cc)(?:-\d{1,2})?: error: unrecognized command-line option ['‘"](-[\w=+-]{3,60})/,
      severity: 'critical',
      title: 'The kernel was built with a newer compiler',
      verdict: ({ match }) =>
        `The compiler that builds the NVIDIA module does not know ${match[1]}, with which the kernel was built: it is older than the kernel's.`,
      remedies: [
        {
          text: 'See with which compiler the kernel was built, install that one, and build again (Ubuntu 22.04 with kernel 6.5 and newer: gcc-12).',
          command: 'cat /proc/version; gcc --version | head -n 1',
        },
      ],
      unless: ({ text, at }) => !/nvidia/i.test(around(text, at, 6, 4)),
    },
    {
      pattern: /Bad return status for module build on kernel: (\S{3,60})/,
      severity: 'critical',
      title: 'The amdgpu kernel module cannot be built',
      verdict: ({ match }) =>
        `amdgpu-dkms could not be built for kernel ${match[1]}: the kernel is newer than that release of the driver, or its headers are missing.`,
      remedies: ({ text, at, match }) => [
        {
          text: 'Read the first error of the build.',
          command: `grep -m 5 -iE 'error' ${/(\/var\/lib\/dkms\/amdgpu\/\S{3,80}make\.log)/.exec(around(text, at, 2, 4))?.[1] ?? '/var/lib/dkms/amdgpu/*/build/make.log'}`,
        },
        { text: `Install a release of the amdgpu driver that supports kernel ${match[1]}, or boot a kernel that this one supports.` },
        {
          text: "ROCm also runs on the kernel's own amdgpu, for GPUs that it knows: then amdgpu-dkms is not needed.",
          command: 'lsmod | grep amdgpu; rocminfo | grep gfx',
        },
      ],
      unless: ({ text, at }) => !/dkms\/amdgpu|amdgpu-dkms|amdgpu\//.test(around(text, at, 6, 6)) || /dkms\/nvidia/.test(around(text, at, 6, 6)),
    },
    {
      pattern: /\b(xe|i915|amdgpu) ([\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d): probe with driver \w{2,8} failed with error (-\d{1,4})/,
      severity: 'critical',
      title: ({ match }) => `The driver ${match[1]} could not start the GPU`,
      verdict: ({ match, text, at }) => {
        const why = /\*ERROR\* ([^\n]{4,120})/.exec(around(text, at, 12, 0))?.[1]?.trim()
        return `The kernel driver ${match[1]} could not start the GPU at ${match[2]} (${match[3]})${why === undefined ? '' : `; its first error was "${why}"`}.`
      },
      remedies: ({ match }) => [
        { text: 'Read what the driver said before: missing or old firmware files are the most frequent reason.', command: driverLines(driverOf(match[0]), 40) },
        {
          text: 'Update the firmware files (package linux-firmware), rebuild the initramfs and reboot; a new card also needs a new kernel.',
          command: 'uname -r; ls /lib/firmware',
        },
      ],
      facts: ({ match }) => known({ pci_bus_id: match[2] }),
    },
  ],
})
