// What nvidia-smi, NVML, modprobe and the kernel say when the driver shows no GPU.
import type { Matched, Rule, Seen } from '../parts/rules.ts'
import { around, known } from '../parts/window.ts'
import { compatibility } from '../remedies/cuda-builds.ts'
import {
  blocked,
  builtForOther,
  builtModule,
  driver,
  inJob,
  HOST_DRIVER,
  inContainer,
  NO_NOUVEAU,
  noneShown,
  permission,
  unloaded,
  updated,
  withoutSmi,
  TCC,
} from './driver-remedies.ts'
import { requestGpu } from './request.ts'

export const LITERALS = [
  'NVIDIA-SMI has failed',
  "NVIDIA-SMI couldn't",
  'NVML: Driver Not Loaded',
  'NVML: Insufficient Permissions',
  'NVML: Not Found',
  'NVML: GPU access blocked',
  'GPU access blocked by the operating system',
  'ERROR_DRIVER_NOT_LOADED',
  'ERROR_LIBRARY_NOT_FOUND',
  'GPU functionality will not be available',
  'NVMLError_',
  'NVML Shared Library Not Found',
  "NVML doesn't exist",
  'No devices were found',
  'No NVIDIA GPU found',
  'No NVIDIA graphics adapter found',
  'requires use of the NVIDIA open kernel modules',
  'NVIDIA probe routine',
  'None of the NVIDIA',
  'is not supported by the',
  'Module nvidia',
  "could not insert 'nvidia",
  'could not insert module',
  'PCI I/O region assigned to your NVIDIA device is invalid',
  'nvidia-smi: command not found',
  "Command 'nvidia-smi' not found",
  "'nvidia-smi' is not recognized",
  'exec: "nvidia-smi": executable file not found',
  '/dev/nvidia',
  'nvml error: insufficient permissions',
]

/** A command as it was typed, or a file as it was listed: neither says that something failed. */
const isListing = ({ message }: Seen): boolean => /^\s{0,8}(?:ls|cat|stat)\b/.test(message) && !/cannot access|No such/.test(message)
/**
 * CUDA opens /dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidiaN. All others belong to features that most hosts do not use (IMEX channels, MIG
 * capabilities, NVSwitch, GPUDirect Storage, display, debugger), so a tool that only looks for one and finds none reports no fault.
 */
const TOOL = /(?:^|[\s/])(?:ls|stat|find|file|test|cat|chmod|chown|chgrp|setfacl|getfacl|readlink|realpath|lsof|fuser|tree|du): /
const lacksOptionalFile = ({ match, message }: Seen): boolean =>
  /^\/dev\/nvidia-(?!uvm(?:$|-tools$))/.test(match[1] ?? '') && TOOL.test(message.slice(0, match.index)) && /[Nn]o such|does not exist/.test(match[0])

const holderOf = ({ text, at }: Pick<Seen, 'text' | 'at'>): string | undefined => /is already bound to ([\w-]{2,30})/.exec(around(text, at, 8, 0))?.[1]
/** The kernel's own words: address and release. */
const unsupported = ({ text, at }: Pick<Seen, 'text' | 'at'>): readonly (string | undefined)[] =>
  /GPU ([\da-f]{4,8}:[\da-f:]{5}\.\d)[^\n]{0,60}\n[^\n]{0,60}installed in this system is not supported by the\s(?:[^\n]{0,60} )?(\d{3}\.[\d.]{2,9})/i.exec(
    around(text, at, 2, 3),
  ) ?? []
const nvmlLine = /NVIDIA-SMI|nvidia-smi|NVML/

function notBuilt({ situation }: Matched): string | undefined {
  const other = builtForOther(situation().text)
  return other && `The kernel module of the NVIDIA driver was built for kernel ${other.built}, and kernel ${other.running} runs: it has no module.`
}

export const driverRules: readonly Rule[] = [
  {
    pattern: /GPU access blocked by the operating system/,
    severity: 'critical',
    title: 'Windows blocks the GPU in WSL2',
    verdict: ({ situation }) =>
      TCC.test(situation().text)
        ? 'The driver says that the operating system blocks the GPU: nvidia-smi shows it in the driver model TCC, and Windows passes only GPUs in WDDM or MCDM on to WSL2.'
        : 'The driver says that the operating system blocks the GPU. Under WSL2 the Windows driver is too old or being updated, or the Linux side has no access to it.',
    remedies: blocked,
  },
  {
    pattern:
      /NVIDIA-SMI has failed because it couldn['’‘`´]t communicate with the NVIDIA driver|NVML: Driver Not Loaded|\bERROR_DRIVER_NOT_LOADED|NVMLError_DriverNotLoaded/,
    severity: 'critical',
    title: (matched) =>
      inJob(matched.situation())
        ? 'No GPU in the job'
        : matched.situation().hosted
          ? 'The notebook has no GPU'
          : inContainer(matched.situation())
            ? 'The container has no GPU'
            : 'NVIDIA driver is not loaded',
    verdict: (matched) =>
      matched.situation().hosted
        ? 'nvidia-smi reaches no driver: the runtime of this notebook was started without a GPU.'
        : inJob(matched.situation())
          ? 'nvidia-smi reaches no driver in this Slurm job: the job was given no GPU, or the driver of its node does not work.'
          : inContainer(matched.situation())
            ? 'nvidia-smi reaches no driver in this container: the container was given no GPU, or the driver of the host does not work.'
            : (notBuilt(matched) ??
              `The kernel module of the NVIDIA driver ${unloaded(matched.situation()) ? 'is not loaded, as lsmod shows' : 'is not loaded or does not answer'}: ${builtModule(matched.situation()) === undefined ? 'often it was not built for a new kernel, or Secure Boot refused it' : `modinfo finds it (${builtModule(matched.situation())}), so it is built for this kernel, and something keeps it from being loaded`}.${updated(matched.situation())}`),
    remedies: driver,
    // Of the build that failed driver-not-loaded tells.
    unless: ({ text }) =>
      text.some((line) => line.includes('Bad return status for module build on kernel')) && text.some((line) => /nvidia[-/ ,v]{1,6}\d{3}\./.test(line)),
  },
  {
    // The greeting of NVIDIA's images, which look for the driver's libraries and device files.
    pattern: /NVIDIA Driver was not detected/,
    severity: 'critical',
    title: 'The container has no GPU',
    verdict: 'The image found no NVIDIA driver in its container: mostly it was started without a GPU, else the driver of the host does not work.',
    remedies: (matched) => [requestGpu(matched.situation()), HOST_DRIVER],
  },
  {
    // The greeting of NVIDIA's images; what CUDA said is in brackets below.
    pattern: /NVIDIA Driver is present, but CUDA failed to initialize/,
    severity: 'critical',
    title: 'CUDA cannot start in the container',
    verdict: ({ text, at }) => {
      const said = /\[\[ (.{3,120}?) \]\]/.exec(around(text, at, 0, 4))?.[1]
      return `The container sees the NVIDIA driver, and CUDA could not start in it${said === undefined ? '' : `: "${said}"`}.`
    },
    remedies: (matched) => [HOST_DRIVER, compatibility(matched)],
    // The code names a cause: its rule or family tells it.
    unless: ({ text, at }) => /\(error 80[234]\)/.test(around(text, at, 0, 4)),
  },
  {
    pattern:
      /NVIDIA-SMI couldn['’‘`´]t find libnvidia-ml|NVMLError_LibraryNotFound|\bnvml\b[^\n]{0,60}ERROR_LIBRARY_NOT_FOUND|NVML[^\n]{0,60}ERROR_LIBRARY_NOT_FOUND|NVML Shared Library Not Found|NVML doesn['’]t exist/,
    severity: 'critical',
    title: 'NVML library not found',
    verdict:
      'libnvidia-ml.so.1, which comes with the driver, is not here. In a container it is there only when the GPU was requested through the NVIDIA runtime.',
    remedies: (matched) => [requestGpu(matched.situation()), driver(matched)],
    facts: () => ({ library: 'libnvidia-ml.so' }),
    // The rule of the device plugin knows what its node lacks.
    unless: ({ text, at }) => /Incompatible platform detected|[Ii]ncompatible strategy detected/.test(around(text, at, 6, 6)),
  },
  {
    pattern: /NVML: Insufficient Permissions|NVMLError_NoPermission|nvml error: insufficient permissions/,
    severity: 'critical',
    title: 'No permission to use the GPU',
    verdict: "NVML may not open the GPU's device files: their owner, group or mode, or a container's device rules, keep this user out.",
    remedies: permission,
  },
  {
    pattern: /^No devices were found|(?:NVIDIA-SMI|nvidia-smi|NVML)\W[^\n]{0,80}No devices were found/,
    severity: 'critical',
    title: 'The driver shows no GPU',
    verdict: 'The driver is loaded and shows no GPU: none could be initialised, or the container was given none.',
    remedies: noneShown,
    // The kernel says why.
    unless: ({ text }) => (!text.some((line) => nvmlLine.test(line)) && text.length > 3) || text.some((line) => line.includes('RmInitAdapter failed')),
  },
  {
    pattern: /NVML: Not Found/,
    severity: 'critical',
    title: 'NVML finds no GPU',
    verdict: 'NVML starts and finds no GPU that it may use.',
    remedies: driver,
  },
  {
    pattern: /requires use of the NVIDIA open kernel modules/,
    severity: 'critical',
    title: 'The GPU needs the open kernel modules',
    verdict: ({ text, at }) =>
      `This GPU${
        /\(PCI ID: ([\da-f]{4}:[\da-f]{4})\)/i
          .exec(around(text, at, 2, 0))?.[1]
          ?.replace(/^/, ' (')
          .concat(')') ?? ''
      } works only with NVIDIA's open kernel modules, and the proprietary ones are installed.`,
    remedies: ({ situation }) => [
      /\b(?:dnf|akmod|rpm|Fedora|RHEL|Rocky|AlmaLinux)\b|\.el\d|\.fc\d/.test(situation().text)
        ? { text: 'Install the driver with its open kernel modules, then reboot.', command: 'sudo dnf install -y kmod-nvidia-open-dkms' }
        : {
            text: "Install the driver with its open kernel modules, then reboot (Ubuntu: nvidia-driver-<VERSION>-open; NVIDIA's repository: nvidia-open; NVIDIA's installer: --kernel-module-type=open).",
            command: 'sudo ubuntu-drivers list --gpgpu; apt-cache search --names-only nvidia | grep open',
          },
    ],
    facts: ({ text, at }) => known({ pci_bus_id: /GPU ([\da-f]{4,8}:[\da-f]{2}:[\da-f]{2}\.\d)/i.exec(around(text, at, 2, 0))?.[1]?.toLowerCase() }),
  },
  {
    pattern:
      /NVRM: No NVIDIA (?:GPU|graphics adapter) found|NVRM: None of the NVIDIA (?:graphics adapters|devices) were (?:initialized|probed)|NVRM: The NVIDIA probe routine (?:was not called|failed) for \d{1,3} device|NVIDIA GPU\b[^\n]{0,80}is not supported by the\s{1,3}(?:NVIDIA|NVRM|\d)|installed in this system is not supported by the\s{1,20}(?:NVRM: )?(?:NVIDIA \d|\d{3}\.)/,
    severity: 'critical',
    title: 'The driver took no GPU',
    verdict: (seen) => {
      const [, card, release] = unsupported(seen)
      if (release !== undefined)
        return `Release ${release} of the driver does not support the GPU at ${card}: the GPU is newer than this release, or too old for it. No program can use it.`
      const holder = holderOf(seen)
      const count = /not called for (\d{1,3}) device/.exec(seen.message)?.[1]
      return `The NVIDIA kernel module was loaded and could ${count === undefined ? 'take no GPU' : count === '1' ? 'not take the NVIDIA device of this machine' : `take none of ${count} NVIDIA devices`}: ${holder === undefined ? `${count === undefined && /No NVIDIA/.test(seen.message) ? 'there is none in this machine, ' : ''}another driver holds it (nouveau, vfio-pci), or this driver version does not support it` : `${holder} holds it`}.`
    },
    remedies: (matched) => [
      holderOf(matched) === 'vfio-pci' && {
        text: 'vfio-pci keeps the GPU for virtual machines. If the host is to use it, take its ids out of vfio-pci and reboot.',
        command: 'grep -r vfio /etc/modprobe.d /etc/default/grub /proc/cmdline',
      },
      ...(unsupported(matched)[2] === undefined
        ? holderOf(matched) === undefined
          ? [
              { text: 'See which kernel driver holds the card.', command: 'lspci -nnk -d 10de:' },
              {
                text: 'See what the driver said of the card before: it names the reason.',
                command: "sudo dmesg | grep -iE 'nvrm|nvidia|nouveau' | tail -n 30",
              },
            ]
          : []
        : [
            {
              text: 'Install a release that supports it: a new GPU needs the newest branch, an old one a legacy branch.',
              command: 'lspci -nn -d 10de:; apt-cache search --names-only "^nvidia-driver-[0-9]+$"',
            },
          ]),
      // The module is loaded.
      /nouveau/i.test(matched.situation().text) && NO_NOUVEAU,
    ],
    // Off the bus is a fault of its own; then no other driver and no version is to blame.
    unless: ({ text, at }) => /fallen off the bus|xx Legacy|supported by open|proprietary nvidia\.ko/.test(around(text, at, 8, 0)),
  },
  {
    pattern: /This PCI I\/O region assigned to your NVIDIA device is invalid/,
    severity: 'critical',
    title: 'The firmware gave the GPU no address space',
    verdict: ({ text, at }) => {
      const [, bar, address] = /(BAR\d) is [^\n]{0,40}\(PCI:([\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d)\)/i.exec(around(text, at, 0, 2)) ?? []
      return `The machine's firmware (in a virtual machine: that of the guest) did not map the memory window ${bar ?? 'BAR'} of the GPU${address === undefined ? '' : ` at ${address}`}, so the driver cannot use the card.`
    },
    remedies: [
      {
        text: 'Switch on "Above 4G decoding" in the firmware, or boot with the kernel parameter pci=realloc; for a virtual machine give the guest UEFI and a larger 64-bit MMIO window.',
        command: 'sudo dmesg | grep -iE "BAR|no space for" | tail',
      },
    ],
  },
  {
    // `other`: reasons that say nothing of the build or its signature.
    pattern:
      /Module nvidia[\w-]{0,20} not found in directory|FATAL: Module nvidia[\w-]{0,20} not found\b|could not insert (?:module )?'?(?:[\w./-]{0,120}\/)?nvidia[\w.-]{0,16}'?: (?:No such device|Key was rejected|Required key|Exec format|Invalid module format|Unknown symbol|(?<other>Invalid argument|Operation not permitted|Function not implemented|Input\/output error))/,
    severity: 'critical',
    title: 'The NVIDIA kernel module cannot be loaded',
    verdict: (matched) =>
      /key/i.test(matched.match[0])
        ? 'Secure Boot is on and the kernel refused the NVIDIA module: the key that signed it is not enrolled, or it is not signed.'
        : /No such device/.test(matched.match[0])
          ? 'The module fits the kernel and found no GPU that it could take: another driver holds it, this release does not support it, or the GPU does not start. The kernel log says which.'
          : matched.match.groups?.['other'] !== undefined
            ? `The kernel refused the NVIDIA module ("${matched.match.groups['other']}"). ${matched.match.groups['other'].startsWith('Operation') ? 'Only root on the host may load it, and not even root where Secure Boot has locked the kernel down or kernel.modules_disabled is set.' : 'The kernel log says why.'}`
            : (notBuilt(matched) ?? 'The kernel refused the NVIDIA module or has none: not built for this kernel, or not signed for Secure Boot.'),
    remedies: driver,
    // Its line names both kernels; of the GPU Operator's validator kube-refused tells.
    unless: ({ text, at }) => /nvidia[\w-]{0,20}: version magic '|error creating symlink creator/.test(around(text, at, 3, 3)),
  },
  {
    // Of Singularity's containers another rule tells.
    pattern:
      /(?<!: exec: )nvidia-smi: (?:command )?not found|^Command 'nvidia-smi' not found|exec: \\?"nvidia-smi\\?": executable file not found|'nvidia-smi' is not recognized/,
    severity: 'warning',
    title: 'nvidia-smi is not here',
    verdict: ({ situation }) =>
      `nvidia-smi is not in PATH: ${situation().jetson ? 'on a Jetson older releases of JetPack have none' : situation().system === 'windows' ? 'the NVIDIA driver is not installed' : 'the driver is not installed, or the container was started without the GPU'}.`,
    remedies: withoutSmi,
  },
  {
    pattern:
      /(\/dev\/nvidia(?:\d{1,3}|ctl|-[a-z][\w-]{0,40}(?:\/[\w*-]{0,40})?)?)(?![\w-])[^\n]{0,40}?\b(?:[Nn]o such (?:file|device)|does not exist|[Pp]ermission denied|[Oo]peration not permitted)/,
    severity: 'critical',
    title: 'GPU device file cannot be opened',
    verdict: ({ match }) =>
      `${match[1] === undefined || match[1] === '/dev/nvidia' ? 'A device file of the GPU' : match[1]} is missing or may not be opened, so the GPU cannot be used here.`,
    remedies: (matched) => [
      {
        text: 'Create the device files; in a container, request the GPU instead of passing files.',
        command: 'sudo nvidia-modprobe -c 0 -u && ls -l /dev/nvidia*',
      },
      permission(matched),
    ],
    facts: ({ match }: Seen) => known({ path: match[1] }),
    // Of slurm-gres.
    unless: (seen) =>
      isListing(seen) ||
      lacksOptionalFile(seen) ||
      / gres\.conf file \/|nvidia-container-cli: mount error/.test(`${seen.text[seen.at - 1] ?? ''} ${seen.message}`),
  },
]
