// What to do when the driver shows no GPU: the module, its permissions, the fabric, WSL.
import { FABRIC_STATE, NVLINK_5 } from '../fabric-manager.ts'
import type { Piece } from '../remedies/plan.ts'
import type { Matched } from '../parts/rules.ts'
import { requestGpu } from './request.ts'
import type { Situation } from '../../situation/situation.ts'

export const HOST_DRIVER: Piece = { text: 'Check that the driver works on the host: everything else needs it first.', command: 'nvidia-smi' }

export const UPDATE_WSL = {
  text: 'Update the NVIDIA driver in Windows, then WSL (in PowerShell). Restarting WSL stops all its distributions.',
  command: 'wsl --update\nwsl --shutdown',
}
export const UPDATE_WSL_ONLY: Piece = { text: 'Update WSL (in PowerShell). Restarting it stops all its distributions.', command: UPDATE_WSL.command }
/** Drivers from 555 on brought a library that has to be mapped: https://github.com/NVIDIA/nvidia-container-toolkit/issues/520. */
export const MAPPED_UNDER_WSL: Piece = {
  text: 'In a container under WSL 2: update Docker Desktop to 4.31 or newer, or nvidia-container-toolkit inside WSL to 1.14.4 or newer. Older ones do not fit Windows drivers from 555 on.',
}
export const WSL: readonly Piece[] = [
  UPDATE_WSL,
  {
    text: 'Install no Linux NVIDIA driver inside WSL: it hides the one in /usr/lib/wsl/lib.',
    command: 'ls -l /dev/dxg /usr/lib/wsl/lib/nvidia-smi && /usr/lib/wsl/lib/nvidia-smi',
  },
]

/** The column of nvidia-smi's table on Windows. "CUDA on WSL" of NVIDIA: none of TCC is supported. */
export const TCC = /^\|\s{1,4}\d{1,3} {1,3}\S[^|\n]{2,40}? TCC {1,6}\|/m
/** Installed in the distribution by hand. */
const INSTALLED =
  /\bapt(?:-get)? (?:-y )?install (?:-y )?[^\n]{0,120}?\b((?:nvidia-(?:utils|driver|headless|compute-utils)|libnvidia-\w{2,20})-\d{3}[\w-]{0,20})/
const takenIn = ({ text }: Situation): Piece => {
  const name = INSTALLED.exec(text)?.[1]
  return (
    name !== undefined && {
      text: `Remove ${name} from the distribution: its files hide those of the Windows driver in /usr/lib/wsl/lib.`,
      command: `sudo apt-get remove ${name} && /usr/lib/wsl/lib/nvidia-smi`,
    }
  )
}
export const blocked = ({ situation }: Matched): readonly Piece[] => [
  TCC.test(situation().text) && {
    text: 'In Windows, as administrator: switch the GPU from TCC to WDDM or MCDM (nvidia-smi -dm), whichever its driver offers, then restart Windows. See which is set.',
    command: 'nvidia-smi --query-gpu=name,driver_model.current,driver_model.pending --format=csv',
  },
  takenIn(situation()),
  WSL,
]

export const SEE_MODULE: Piece = {
  text: 'See whether the kernel module is loaded, and why not.',
  command: "lsmod | grep nvidia; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau' | tail -n 30",
}
const SEE_WHY: Piece = {
  text: 'See whether there is a module for the running kernel, and what the kernel said of it.',
  command: "uname -r; find /lib/modules -name 'nvidia.ko*'; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau' | tail -n 30",
}
export const LOAD: Piece = {
  text: 'Load it. After a kernel update, let DKMS build it for the new kernel first.',
  command: 'sudo dkms autoinstall && sudo modprobe nvidia && nvidia-smi',
}

export const SEE_TOOLKIT: Piece = { text: 'See what the toolkit finds.', command: 'sudo nvidia-container-cli -k -d /dev/tty info' }
/** Debian's tool for the initramfs, or the one of RHEL, Fedora and SUSE. */
export const NO_NOUVEAU: Piece = {
  text: 'Keep nouveau from taking the card: blacklist it, rebuild the initramfs and reboot.',
  command:
    "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf\nsudo update-initramfs -u || sudo dracut --force",
}
export const SECURE_BOOT: Piece = {
  text: 'Secure Boot refuses a module without a trusted signature: enrol the key with which it was signed (MOK), reboot and confirm it on the console; or switch Secure Boot off in the firmware.',
  command: 'mokutil --sb-state; sudo mokutil -i "$(ls /var/lib/dkms/mok.pub /var/lib/shim-signed/mok/MOK.der 2>/dev/null | head -n 1)"',
}
/** The release of the module that is on the disk for the running kernel: what `modinfo -F version nvidia` prints. */
export const builtModule = ({ text }: Situation): string | undefined =>
  /\bmodinfo\b[^\n]{0,40}\bnvidia\b[^\n]{0,20}\n(?:[^\n]{0,200}\n){0,3}?(?:version: {1,12})?(\d{3}\.\d{2,3}(?:\.\d{2})?)\s/.exec(`${text}\n`)?.[1]
/** What apt's history or dpkg's log says of the driver's packages. */
const UPGRADE =
  /Start-Date: (\d{4}-\d{2}-\d{2})[^\n]{0,20}\n(?:Commandline: [^\n]{0,60}unattended-upgrade[^\n]{0,20}\n)(?:[^\n]{0,200}\n){0,3}?Upgrade: [^\n]{0,400}?\b(?:lib)?nvidia-/
const updateOf = ({ text }: Situation): string | undefined => UPGRADE.exec(text)?.[1]
export const updated = (situation: Situation): string =>
  updateOf(situation) === undefined ? '' : ` An automatic upgrade (unattended-upgrades) changed packages of the driver on ${updateOf(situation)}.`
/** A prompt with the name that Docker gives a container. */
export const inContainer = ({ text }: Situation): boolean =>
  /(?:^|[\s[])[a-z][\w-]{0,30}@[0-9a-f]{12}(?::| \S{1,60}\])|^\[pod\/|\bkubectl (?:(?:-n|--namespace)[ =]\S{1,60} )?logs\b|\b(?:lxc|incus) exec [a-zA-Z]|\bpct (?:exec|enter) \d/m.test(
    text,
  )
/** `lsmod | grep nvidia` printed nothing: the next prompt is below it. */
export const unloaded = ({ text }: Situation): boolean =>
  /\blsmod ?\| ?grep (?:-i )?["']?(?:\^)?nvidia["']?[ \t]*\n(?:[ \t]*\n)?[ \t]*(?:[\w.@~:()[\]/ -]{0,80})?[#$❯➜%] ?/.test(text)
const ON_HOST = /\blspci\b|\blsmod\b|\bmodprobe\b|\bdkms\b|\bmokutil\b/
/** What a user of Slurm sees, not who runs the node. */
export const inJob = ({ programs, text }: Situation): boolean => programs.has('slurm') && !/\bslurmd\b|\bmodprobe\b|could not insert|sudo |\bdmesg\b/.test(text)
/** `dkms status` beside `uname -r`: built for these kernels, and another one runs. */
export function builtForOther(text: string): { readonly running: string; readonly built: string } | undefined {
  const running = (/\buname -r\s*\n\s*(\d[\w.+-]{3,60})\s*$/m.exec(text) ?? /^Linux \S{1,60} (\d\.[\w.+-]{3,60}) #\d/m.exec(text))?.[1]
  const listed = [...text.matchAll(/^\/lib\/modules\/(\d[\w.+-]{3,60})\/\S{0,80}\/nvidia(?:-current)?\.ko(?:\.\w{2,3})?\s*$/gm)].map(
    ([, kernel = '']) => kernel,
  )
  const installed = [...text.matchAll(/^nvidia[\w-]{0,20}[/, ]{1,2}[\d.]{3,14}, (\d[\w.+-]{3,60}), \w{3,10}: installed/gm)].map(([, kernel = '']) => kernel)
  // What find shows, and DKMS.
  const built = [...installed, ...listed]
  const last = built.at(-1)
  return running === undefined || last === undefined || built.includes(running) ? undefined : { running, built: last }
}
/** The module is not there, or refuses: the text may say why. */
export function driver({ situation }: Matched): readonly Piece[] {
  const { text, programs, system } = situation()
  if (system === 'wsl') return WSL
  if (/Building kernel modules|bad exit status|module build|kernel module was successfully built/i.test(text))
    return [
      {
        text: "Read in the installer's log why the build failed: mostly headers of another kernel, or another compiler.",
        command: 'tail -n 60 /var/log/nvidia-installer.log; uname -r',
      },
      {
        text: 'Install the headers and the compiler of the running kernel, then install the driver again.',
        ...(programs.has('apt') || system === 'linux' ? { command: 'sudo apt-get install -y linux-headers-$(uname -r) gcc make' } : {}),
      },
    ]
  // A user's job cannot load a module, and a job without GPUs sees no driver.
  if (inJob(situation()))
    return [
      requestGpu(situation()),
      {
        text: 'If the job has a GPU: tell the administrators the node; the driver does not work there.',
        command: 'scontrol show job -d "$SLURM_JOB_ID" | grep -iE "gres|nodelist"',
      },
    ]
  if (situation().hosted) return [requestGpu(situation())]
  if (inContainer(situation())) return [requestGpu(situation()), HOST_DRIVER]
  const nouveau = /nouveau/i.test(text)
  const missing =
    /not found in directory \/lib\/modules\/([\w.+-]{3,60})/.exec(text)?.[1] ??
    (/FATAL: Module nvidia not found\.?$/m.test(text) ? /^Linux \S{1,64} (\d[\w.+-]{3,60}) #/m.exec(text)?.[1] : undefined)
  const unsigned = /Key was rejected|Required key/.test(text)
  const other = builtForOther(text)
  if (other !== undefined)
    return [
      {
        text: 'Install the headers of the running kernel, let DKMS build the module for it, and load it.',
        command: `sudo ${/\.(?:el|fc)\d/.test(other.running) ? 'dnf install -y kernel-devel' : 'apt-get install -y linux-headers'}-${other.running} && sudo dkms autoinstall -k ${other.running} && sudo modprobe nvidia && nvidia-smi`,
      },
      { text: `Or boot ${other.built} again, for which the module is there (in the boot menu under advanced options).` },
      unsigned && SECURE_BOOT,
    ]
  if (builtModule(situation()) !== undefined && !unsigned && !nouveau)
    return [
      {
        text: 'Load it, and read what the kernel says: Secure Boot, nouveau on the card, or a GPU that does not answer.',
        command: "sudo modprobe nvidia; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau|secure boot' | tail -n 30; mokutil --sb-state",
      },
      { text: 'See that the card is on the bus, and which driver holds it.', command: 'lspci -nnk -d 10de:' },
    ]
  return [
    nouveau && NO_NOUVEAU,
    unsigned && SECURE_BOOT,
    missing === undefined
      ? unloaded(situation())
        ? SEE_WHY
        : SEE_MODULE
      : {
          text: `There is no module for the running kernel ${missing}. Where a newer one is installed (an update without a reboot), reboot into that; else build it for this one.`,
          command: 'uname -r; ls /lib/modules; find /lib/modules -name "nvidia.ko*"',
        },
    /dkms'? is currently not installed|dkms: (?:command )?not found/.test(text)
      ? {
          text: 'DKMS, which builds the module, is not here. Install it and the headers, then the driver again.',
          command: 'sudo apt-get install -y dkms linux-headers-$(uname -r)',
        }
      : /akmod|RPM ?Fusion|\bFedora\b|\.fc\d\d\b/i.test(text)
        ? {
            text: 'Load it. After a kernel update, let akmods build it for the new kernel first.',
            command: 'sudo akmods --force && sudo modprobe nvidia && nvidia-smi',
          }
        : missing !== undefined && /-arch\d|\bpacman\b/.test(text) && !/dkms/.test(text)
          ? undefined
          : LOAD,
    !unsigned && /Secure ?Boot|signature/i.test(text) && SECURE_BOOT,
    updateOf(situation()) !== undefined && {
      text: 'Then keep automatic upgrades from changing the driver.',
      command: "sudo apt-mark hold '^nvidia-.*' '^libnvidia-.*'",
    },
    // Modprobe looked on the host.
    !unsigned && missing === undefined && !ON_HOST.test(text) && requestGpu(situation()),
  ]
}

/** The module is loaded: its lines tell what became of each card. */
export function noneShown(matched: Matched): readonly Piece[] {
  const { programs, system, jetson, hosted } = matched.situation()
  if (system === 'wsl' || jetson || hosted || inJob(matched.situation())) return driver(matched)
  return [
    {
      text: 'See on the host whether the card is on the bus, and why the driver could not start it.',
      command: "lspci -nnk -d 10de:; sudo dmesg | grep -iE 'nvrm|nvidia' | tail -n 30",
    },
    requestGpu(matched.situation()),
    programs.has('kubernetes')
      ? undefined
      : {
          text: 'If RmInitAdapter failed there: reboot; if it stays, check power cables and seating of the card, or (in a virtual machine) how it is passed through.',
        },
  ]
}

const NO_FABRIC_MANAGER =
  /nvidia-fabricmanager\.service could not be found|Unit nvidia-fabricmanager\.service not found|nv-fabricmanager: (?:command )?not found/
export const fabric = ({ situation }: Matched): readonly Piece[] => [
  NO_FABRIC_MANAGER.test(situation().text) && {
    text: `The Fabric Manager is not installed here. Install it in exactly the release of the driver${situation().versions.driver === undefined ? '' : ` (${situation().versions.driver})`}; its package for Ubuntu has the branch of the driver in its name.`,
    command: `sudo apt-get install -y nvidia-fabricmanager-${situation().versions.driver?.split('.')[0] ?? '<BRANCH>'}`,
  },
  {
    text: 'On hosts with NVSwitch, start the Fabric Manager and see what it says.',
    command: 'sudo systemctl enable --now nvidia-fabricmanager; systemctl status nvidia-fabricmanager',
  },
  {
    text: 'Its version must be exactly that of the driver: compare, and install the matching one.',
    command: 'nv-fabricmanager --version; cat /proc/driver/nvidia/version',
  },
  NVLINK_5.test(situation().text) && {
    text: 'From the B200 on it also needs the NVLink Subnet Manager and the modules mlx5_ib and ib_umad: see that they are there.',
    command: 'lsmod | grep -E "mlx5_ib|ib_umad"; dpkg -l nvlsm',
  },
  FABRIC_STATE,
]

export function permission({ situation }: Matched): readonly Piece[] {
  const { text, programs } = situation()
  const owners = /^crw-rw---- [^\n]{0,12}\broot (\w{2,20}) [^\n]{0,60}\/dev\/nvidia/m.exec(text)?.[1]
  return [
    owners !== undefined &&
      owners !== 'root' && {
        text: `Only the group ${owners} may open the device files: join it, then log in again.`,
        command: `sudo usermod -aG ${owners} "$USER"`,
      },
    // podman-run(1): it needs crun.
    programs.has('podman') &&
      !text.includes('keep-groups') && {
        text: 'Podman without root leaves out the groups of the user: let the container keep them (with crun as the runtime).',
        command: 'podman run --group-add keep-groups --device nvidia.com/gpu=all <IMAGE>',
      },
    {
      text: 'See who may open the device files, and join that group. With SELinux look for denials too.',
      command: 'ls -l /dev/nvidia*; id',
    },
    requestGpu(situation()),
  ]
}

/** nvidia-smi itself is not there. */
export function withoutSmi(matched: Matched): readonly Piece[] {
  const { jetson, system } = matched.situation()
  if (jetson)
    return [
      {
        text: "On a Jetson its place is taken by tegrastats; the board's release says which JetPack it has.",
        command: 'sudo tegrastats | head -n 3; cat /etc/nv_tegra_release',
      },
    ]
  if (system === 'windows')
    return [
      {
        text: 'See which GPU the computer has, and install its driver (nvidia.com/drivers; NVIDIA cards only), then restart Windows.',
        command: 'powershell "Get-CimInstance Win32_VideoController | Select-Object Name, DriverVersion"',
      },
      { text: 'If the driver is there: nvidia-smi is in System32.', command: String.raw`dir C:\Windows\System32\nvidia-smi.exe` },
    ]
  return [requestGpu(matched.situation()), driver(matched)]
}
