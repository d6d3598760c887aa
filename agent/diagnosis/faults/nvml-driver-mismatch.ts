// The user-space driver libraries and the loaded kernel module are of different versions, usually after an update without a reboot.
import { bareKernelText } from '../../text/line-prefix.ts'
import { compareVersions } from '../situation/versions.ts'
import type { Situation } from '../situation/situation.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { builtModule, inContainer, WSL } from './gpu-not-visible/driver-remedies.ts'
import { known, lineWith } from './parts/window.ts'
import { podArguments } from './remedies/kubernetes.ts'
import { MOST_REMEDIES, plan } from './remedies/plan.ts'

const MISMATCH =
  /[Dd]river\/library version mismatch|\bAPI mismatch:|LIB_RM_VERSION_MISMATCH|NVMLError_LibRmVersionMismatch|kernel version [\d.]{5,14} does not match DSO version/
const VERSION = '(\\d{2,4}(?:\\.\\d{1,4}){1,3})'
const CLIENT = new RegExp(`\\bclient\\b[^.]{0,80}?has the version:? ${VERSION}|\\bdriver compone?n?e?t has version ${VERSION}`)
const KERNEL = new RegExp(`kernel[ _]module(?: has (?:the |a )?version|:| version:?)? {0,4}v?${VERSION}|kernel version ${VERSION} does not match DSO`, 'i')
// TensorFlow and XLA call libcuda the DSO.
const LIBRARY = new RegExp(`(?:DSO version|NVML library version:|user[ _-]space[ _]library:?|compone?n?e?t has version) {0,4}${VERSION}`, 'i')

/** /proc/driver/nvidia/version, and what a package manager lists. */
const PROC = /NVRM version: {1,4}NVIDIA UNIX[^\n]{0,60}? {1,4}(\d{3}\.\d{1,4}(?:\.\d{1,4})?) {1,4}/
const PACKAGE =
  /^(?:ii {1,4})?(?:nvidia-smi|libnvidia-ml1|nvidia-utils-\d{3}\S{0,20}|nvidia-driver-\d{3}\S{0,20}|libnvidia-compute-\d{3}\S{0,20}|nvidia-utils) {1,40}(\d{3}\.\d{1,4}(?:\.\d{1,4})?)/m

const TELLING = /API mismatch|has the version|has a version|kernel[ _]module|library version|user[ _-]space[ _]library|has version/i

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  if (!MISMATCH.test(line)) return undefined
  // The kernel's message takes four lines; nvidia-smi adds its library's version in the one below.
  let message = ''
  for (let near = Math.max(0, at - 4); near <= at + 6 && near < text.length; near++) message += `${bareKernelText(text[near] ?? '')} `
  const client = CLIENT.exec(message)
  const now = situation()
  const kernel =
    KERNEL.exec(message)
      ?.slice(1)
      .find((one) => one !== undefined) ??
    PROC.exec(now.text)?.[1] ??
    /open-gpu-kernel-modules-(\d{3}\.[\d.]{2,8}\d)|kernel[ _]module\s?(?:is|は|:|=)?\s?(\d{3})\b/
      .exec(now.text)
      ?.slice(1)
      .find((one) => one !== undefined)
  const library = LIBRARY.exec(message)?.[1] ?? PACKAGE.exec(now.text)?.[1]
  // NVIDIA's own installer, as it was run: its libraries are on the disk, so that a reboot changes nothing.
  const installer = /NVIDIA-Linux-[\w-]{3,12}-(\d{3}\.\d{1,4}(?:\.\d{1,4})?)\.run/.exec(now.text)?.[1]
  const installed =
    kernel !== undefined && installer !== undefined && installer !== kernel && (library === undefined || installer.startsWith(library)) ? installer : undefined
  const facts = known({ client_version: client?.[1] ?? client?.[2], kernel_version: kernel, library_version: library })
  const user = installed ?? library ?? facts.client_version
  const versions = user !== undefined && kernel !== undefined ? `: the libraries are ${user}, the loaded kernel module is ${kernel}` : ''
  const versionsKnown = user !== undefined && kernel !== undefined
  const older = user !== undefined && kernel !== undefined && compareVersions(user, kernel) < 0
  const rebooted =
    /^\s{0,8}(?:sudo )?reboot\s*$|after (?:a |the )?reboot|(?:tried|have|also|already) (?:a )?reboot(?:ed|ing)?\b|reboot(?:ed|ing)?\b[^\n.]{0,40}(?:n't|not|no) (?:help|work|change|fix)/im.test(
      now.text,
    )
  const container = (/\b(?:docker|podman) (?:run|exec)\b/.test(now.text) || inContainer(now)) && !/nvidia-docker \|/.test(line) && kernel === undefined
  const wsl = now.system === 'wsl'
  const guest = kernel !== undefined && /\bLXC\b|\/lxc\/|\bpct \w|-pve\b|Proxmox/i.test(now.text)
  // What a package manager logged of the update: from, to.
  const updated = /(?:libnvidia|nvidia)-[\w-]{1,40}:?\w{0,8} \((\d{3}\.[\d.]{2,9})[^,)]{0,30}, (\d{3}\.[\d.]{2,9})/.exec(now.text)
  // The module on the disk is no newer than the loaded one: a reboot loads the same again.
  const notRebuilt = kernel !== undefined && user !== undefined && user !== kernel && builtModule(now) === kernel && installed === undefined
  const also = lineWith(text, at + 1, at + 3, TELLING)
  return {
    kind: 'nvml_driver_mismatch',
    severity: 'critical',
    title: 'NVIDIA libraries and kernel module differ in version',
    verdict: `The driver's libraries do not fit the kernel module that is loaded${versions}${kernel === undefined && user !== undefined ? `: the libraries are ${user}` : kernel !== undefined && user === undefined ? `: the loaded kernel module is ${kernel}` : ''}${updated === null ? '' : ` (a package was updated from ${updated[1]} to ${updated[2]}${/unattended-upgrade/.test(now.text) ? ' by unattended-upgrades' : ''})`}; ${wsl ? 'under WSL the module is that of Windows, and the libraries must be those in /usr/lib/wsl/lib: likely a Linux driver was installed beside them' : notRebuilt ? `the module on the disk is ${kernel} too, so it was not built for ${user}` : rebooted || installed !== undefined ? 'likely they come from two installations' : guest ? 'likely only the host or only its LXC container was updated' : older ? 'likely the program finds libraries of an older driver' : container ? 'likely the driver was updated without a reboot, or the image brings driver libraries of its own' : 'likely the driver was updated without a reboot'}, and new programs cannot use the GPU.`,
    facts,
    remedies: [
      ...plan(
        wsl && WSL,
        guest && {
          text: `In an LXC container: install the driver of exactly the host's version there, without its kernel module, which is the host's.`,
          command: `sudo sh NVIDIA-Linux-x86_64-${kernel}.run --no-kernel-module`,
        },
        container && {
          text: 'If nvidia-smi works on the host itself: start the container again (what runs in it ends). It keeps the libraries of the driver that was there when it started.',
          command: now.programs.has('kubernetes')
            ? `kubectl delete pod ${podArguments(now.subject)}`
            : `docker restart ${now.subject.container ?? '<CONTAINER>'}`,
          destroys: true,
        },
        container && {
          text: `If nvidia-smi works on the host itself: the image brings driver libraries of its own${user === undefined ? '' : ` (${user})`}, which hide those that the toolkit mounts. Use an image without libnvidia-* and nvidia-driver packages.`,
          command: 'nvidia-smi',
        },
        now.programs.has('slurm') && {
          text: 'Before a reboot, drain the node, so that its jobs can end.',
          command: 'sudo scontrol update nodename=<NODE> state=drain reason=driver-update',
        },
        installed !== undefined && {
          text: `Install the libraries of the module's version, ${kernel} (or build the module of ${installed}): the third number must be the same too.`,
          command: `sudo sh NVIDIA-Linux-$(uname -m)-${kernel}.run --no-kernel-modules`,
        },
        installed === undefined &&
          older && {
            text: `Look for older libraries (${user}) that come before the driver's own: in LD_LIBRARY_PATH, in the image, or left by another installation.`,
            command: 'ldconfig -p | grep -E "libcuda.so|libnvidia-ml"',
          },
        installed === undefined &&
          older && {
            text: `If packages of the older branch took their place: install the libraries of the module's branch, ${kernel?.split('.')[0]}.`,
          },
        notRebuilt && {
          text: `Build and install the module of ${user} for the running kernel, then reboot: a reboot alone loads ${kernel} again.`,
          command: `dkms status; sudo dkms install nvidia/${user} -k $(uname -r)`,
        },
        notRebuilt && {
          text: 'If DKMS has built it: an older copy is found first, or is in the initramfs. See which, and rebuild the initramfs.',
          command: 'modinfo -n nvidia; find /lib/modules/$(uname -r) -name "nvidia.ko*"; sudo mkinitcpio -P || sudo update-initramfs -u || sudo dracut --force',
        },
        rebooted &&
          !notRebuilt &&
          installed === undefined && {
            text: `A reboot did not help: ${older || !now.programs.has('apt') ? 'parts of two installations are mixed. Remove one of them' : 'the module of the new packages was not built, or another is loaded in its place. Install the packages of one version, then see what DKMS says'}.`,
            ...(now.programs.has('apt') && !older ? { command: "dkms status; dpkg -l | grep -E 'nvidia-(kernel|dkms|driver|smi)'; modinfo -n nvidia" } : {}),
          },
        !wsl &&
          !rebooted &&
          !notRebuilt &&
          installed === undefined && {
            text: older
              ? 'If the whole driver was set back to the older version on purpose: reboot the host (what runs there ends), so that its module is loaded.'
              : 'Reboot the host (what runs there ends): the surest way to load the module that belongs to the libraries.',
            command: 'sudo reboot',
            destroys: true,
          },
        !wsl &&
          !rebooted &&
          !notRebuilt &&
          !older && {
            text: 'Without a reboot: stop everything that uses the GPU, then reload the module.',
            command: 'sudo systemctl stop nvidia-persistenced; sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia',
            destroys: true,
          },
        versionsKnown || wsl || updated !== null
          ? undefined
          : { text: 'Compare the two versions.', command: 'cat /proc/driver/nvidia/version; modinfo -F version nvidia' },
      ),
      ...(now.programs.has('apt')
        ? [{ text: 'Keep automatic updates from changing the driver under running work.', command: "sudo apt-mark hold '^nvidia-.*' '^libnvidia-.*'" }]
        : []),
    ].slice(0, MOST_REMEDIES),
    lines: also === undefined ? [at] : [at, also],
  }
}

export const nvmlDriverMismatch: FaultFamily = {
  id: 'nvml-driver-mismatch',
  kinds: ['nvml_driver_mismatch'],
  literals: ['river/library version mismatch', 'API mismatch: ', 'LIB_RM_VERSION_MISMATCH', 'NVMLError_LibRmVersionMismatch', 'does not match DSO version'],
  recognise,
}
