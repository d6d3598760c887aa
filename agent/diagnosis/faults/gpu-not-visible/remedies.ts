// What to do when a program sees no GPU, by who says so and where it runs.
import type { Situation } from '../../../diagnosis/situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'
import { generationIn } from '../parts/architecture.ts'
import { torchWheel, wheelFor } from '../remedies/packages.ts'
import type { Matched } from '../parts/rules.ts'

export const HOST_DRIVER: Piece = { text: 'Check that the driver works on the host: everything else needs it first.', command: 'nvidia-smi' }

/** In a container: how a GPU is asked for, by who starts it. Nothing is said where the text shows no container. */
export function requestGpu(situation: Situation): Piece {
  const { programs, subject, text } = situation
  if (programs.has('kubernetes')) return { text: 'In a pod: request the GPU (resources.limits: nvidia.com/gpu: 1).' }
  if (programs.has('compose'))
    return {
      text: `In compose: give the service${subject.service === undefined ? '' : ` ${subject.service}`} a GPU (deploy.resources.reservations.devices, driver nvidia, capabilities [gpu]).`,
    }
  if (programs.has('podman'))
    return { text: 'With podman: request the GPU by its CDI name.', command: `podman run --device nvidia.com/gpu=all ${subject.image ?? '<IMAGE>'}` }
  if (programs.has('docker')) return { text: 'In a container: request the GPU.', command: `docker run --gpus all ${subject.image ?? '<IMAGE>'}` }
  if (/\bslurmd\b/.test(text))
    return {
      text: 'The node daemon of Slurm starts before the driver has made its device files: start it again when they are there.',
      command: 'sudo systemctl restart slurmd',
    }
  if (programs.has('slurm')) return { text: 'In Slurm: request a GPU for the job.', command: 'sbatch --gpus=1 <SCRIPT>' }
  return { text: 'If it runs in a container: was a GPU requested (Docker: --gpus all; Kubernetes: nvidia.com/gpu)?' }
}

export function toolkit({ situation }: Matched): readonly Piece[] {
  const { programs, system } = situation()
  if (system === 'windows')
    return [
      { text: 'On Windows, GPUs reach containers through WSL 2: switch Docker Desktop to its WSL 2 engine (Settings, General), and run Linux containers.' },
      {
        text: 'Update the NVIDIA driver in Windows: it brings the GPU into WSL 2. Restarting WSL stops its distributions.',
        command: 'wsl --update\nwsl --shutdown',
      },
      { text: 'Then check that a container sees the GPU.', command: 'docker run --rm --gpus all ubuntu nvidia-smi' },
    ]
  if (system === 'mac')
    return [
      {
        text: 'Take the request for a GPU out of the compose file or the command (deploy.resources.reservations.devices, --gpus): the container then runs on the CPU.',
      },
      { text: "Or run the program itself on the Mac, outside of Docker: there it can use Apple's GPU (Metal)." },
    ]
  const runtime = programs.has('containerd') && !programs.has('docker') ? 'containerd' : 'docker'
  return [
    {
      text: `Install the NVIDIA Container Toolkit, register it with ${runtime === 'docker' ? 'Docker' : 'containerd'} and restart the engine (containers stop unless live-restore is on).`,
      command: `sudo apt-get install -y nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=${runtime} && sudo systemctl restart ${runtime}`,
    },
    HOST_DRIVER,
  ]
}

export function cdi({ situation, message }: Matched): readonly Piece[] {
  const { programs } = situation()
  const podman = programs.has('podman')
  const old = /[Pp]odman version (?:is )?([123]\.\d{1,2}|4\.0)\b/.exec(situation().text)?.[1]
  const driver = /device driver "cdi"/.test(message)
  return [
    old !== undefined && { text: `Update podman: it knows CDI devices from 4.1 on, and this is ${old}.` },
    driver && {
      text: 'Switch CDI on in the engine: Docker 25 to 27 need "features": {"cdi": true} in /etc/docker/daemon.json, then a restart; newer Docker has it on.',
      command: 'docker version',
    },
    {
      text: 'Generate the CDI description of the GPUs: it is missing, or older than the driver.',
      command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && nvidia-ctk cdi list',
    },
    podman
      ? { text: 'Then request a name that the list holds.', command: `podman run --device nvidia.com/gpu=all ${situation().subject.image ?? '<IMAGE>'}` }
      : !programs.has('kubernetes') &&
        !driver && {
          text: 'Then request a name that the list holds.',
          command: `docker run --device nvidia.com/gpu=all ${situation().subject.image ?? '<IMAGE>'}`,
        },
    HOST_DRIVER,
  ]
}

export const OPERATOR = /nvidia-operator-validator|toolkit-validation|\bgpu-operator\b/
export const HOST_WORKS = /NVIDIA-SMI \d{3}\.[\d.]{2,9} {1,20}(?:Driver|KMD) Version/
const ENGINE: Piece = {
  text: "If nvidia-smi works on the host, see which engine it is: Docker from a snap, and Docker Desktop for Linux, do not see the host's libraries.",
  command: "docker info --format '{{.OperatingSystem}}'; docker context ls; snap list docker",
}
/** The toolkit's program runs on the host. */
export function hook({ situation, message }: Matched): readonly Piece[] {
  const noLibrary = /load library failed/.test(message)
  if (noLibrary && OPERATOR.test(situation().text))
    return [
      {
        text: 'With the GPU Operator the driver comes from its driver pod, or from the host (driver.enabled=false): see that the driver pod of this node is ready.',
        command: "kubectl get pods -A -o wide | grep -E 'nvidia-(driver|container-toolkit|operator)'",
      },
      {
        text: 'If the driver is installed on the host itself: check that it works there, libnvidia-ml.so.1 included.',
        command: 'nvidia-smi; ldconfig -p | grep libnvidia-ml',
      },
    ]
  // The head of its table: nvidia-smi works on the host.
  if (noLibrary && HOST_WORKS.test(situation().text))
    return [
      ENGINE,
      {
        text: 'If it is the ordinary engine: renew the cache of libraries, in which the toolkit looks, then start the container again.',
        command: 'sudo ldconfig && ldconfig -p | grep libnvidia-ml',
      },
      { text: 'See what the toolkit finds.', command: 'sudo nvidia-container-cli -k -d /dev/tty info' },
    ]
  return [
    noLibrary
      ? { text: 'Install the NVIDIA driver on the host, with its user-space libraries: libnvidia-ml.so.1 is part of it.', command: 'nvidia-smi' }
      : HOST_DRIVER,
    noLibrary && situation().system !== 'wsl' && situation().system !== 'windows' && ENGINE,
    /driver not loaded|failed to process request/.test(message) && situation().system !== 'wsl' && [SEE_MODULE, LOAD],
    { text: 'See what the toolkit finds.', command: 'sudo nvidia-container-cli -k -d /dev/tty info' },
    /unknown device/.test(message) && { text: 'Compare the requested GPUs (index or UUID) with those of the host.', command: 'nvidia-smi -L' },
    situation().system === 'wsl' && WSL[0],
  ]
}

const SEE_MODULE: Piece = {
  text: 'See whether the kernel module is loaded, and why not.',
  command: "lsmod | grep nvidia; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau' | tail -n 30",
}
const LOAD: Piece = {
  text: 'Load it. After a kernel update, let DKMS build it for the new kernel first.',
  command: 'sudo dkms autoinstall && sudo modprobe nvidia && nvidia-smi',
}
/** The module is not there, or refuses: the text may say why. */
export function driver({ situation }: Matched): readonly Piece[] {
  const { text, programs, system } = situation()
  if (system === 'wsl') return WSL
  if (/Building kernel modules|bad exit status|module build|kernel module was successfully built/i.test(text))
    return [
      {
        text: "The build of the kernel module failed. Read why in the installer's log: mostly headers of another kernel, or another compiler.",
        command: 'tail -n 60 /var/log/nvidia-installer.log; uname -r',
      },
      programs.has('apt') || system === 'linux'
        ? {
            text: 'Install the headers and the compiler of the running kernel, then install the driver again.',
            command: 'sudo apt-get install -y linux-headers-$(uname -r) gcc make',
          }
        : { text: 'Install the headers and the compiler of the running kernel, then install the driver again.' },
    ]
  const nouveau = /nouveau/i.test(text)
  return [
    nouveau && {
      text: 'Keep nouveau from taking the card: blacklist it, rebuild the initramfs and reboot.',
      command: "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf && sudo update-initramfs -u",
    },
    SEE_MODULE,
    /dkms'? is currently not installed|dkms: (?:command )?not found/.test(text)
      ? {
          text: 'The running kernel has no NVIDIA module, and DKMS is not here to build it. Install both it and the headers, then install the driver again.',
          command: 'sudo apt-get install -y dkms linux-headers-$(uname -r)',
        }
      : /akmod|RPM ?Fusion|\bFedora\b/i.test(text)
        ? {
            text: 'Load it. After a kernel update, let akmods build it for the new kernel first.',
            command: 'sudo akmods --force && sudo modprobe nvidia && nvidia-smi',
          }
        : LOAD,
    /Secure ?Boot|Key was rejected|Required key|signature/i.test(text) && {
      text: 'Secure Boot refuses an unsigned module: enrol the key of the module (MOK), or switch Secure Boot off in the firmware.',
      command: 'mokutil --sb-state; sudo mokutil --import /var/lib/shim-signed/mok/MOK.der',
    },
    requestGpu(situation()),
  ]
}

export const WSL: readonly Piece[] = [
  {
    text: 'Update the NVIDIA driver in Windows, then WSL (in PowerShell). Restarting WSL stops all its distributions.',
    command: 'wsl --update\nwsl --shutdown',
  },
  {
    text: 'Install no Linux NVIDIA driver inside WSL: it hides the one in /usr/lib/wsl/lib.',
    command: 'ls -l /dev/dxg /usr/lib/wsl/lib/nvidia-smi && /usr/lib/wsl/lib/nvidia-smi',
  },
]

/** A program sees none: what is there, what it may see, what it was built for. */
export function program(matched: Matched): readonly Piece[] {
  const { vendor, system, programs, text } = matched.situation()
  if (vendor === 'amd')
    return [
      { text: 'See whether the machine shows a GPU here at all.', command: 'rocminfo | grep -i gfx; ls -l /dev/kfd /dev/dri' },
      { text: 'See what the program may see: an empty or wrong value hides all GPUs.', command: "env | grep -E 'HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES'" },
      (programs.has('docker') || programs.has('compose')) && {
        text: 'In a container: pass the devices.',
        command: 'docker run --device=/dev/kfd --device=/dev/dri <IMAGE>',
      },
    ]
  if (system === 'windows')
    return [
      { text: 'See whether Windows shows the GPU.', command: 'nvidia-smi' },
      { text: 'See whether CUDA_VISIBLE_DEVICES hides it.', command: 'set CUDA_VISIBLE_DEVICES' },
    ]
  return [
    programs.has('ray') && {
      text: 'Ray hides all GPUs from a task or actor that asked for none: num_gpus=1 (Tune: tune.with_resources; Serve: ray_actor_options).',
      command: 'ray status',
    },
    { text: 'See whether a GPU is there at all, where the program runs.', command: 'nvidia-smi -L; ls -l /dev/nvidia*' },
    {
      text: 'See what the program may see: an empty or wrong value hides all GPUs.',
      command: "env | grep -E 'CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES'",
    },
    /\bMIG\b/.test(text) && {
      text: 'With MIG a CUDA program sees one instance: name it by its UUID (MIG-…) in CUDA_VISIBLE_DEVICES.',
      command: 'nvidia-smi -L',
    },
    requestGpu(matched.situation()),
  ]
}
export function build({ situation }: Matched): readonly Piece[] {
  const at = situation()
  if (at.vendor === 'intel')
    return [
      torchWheel(at, 'xpu', 'Install the build for Intel GPUs: the one that is installed is for the CPU or for CUDA.'),
      {
        text: 'Check which build is installed: the version of an XPU build ends in +xpu.',
        command: 'python -c "import torch; print(torch.__version__, torch.xpu.is_available())"',
      },
    ]
  return [
    // Of the wheels cu128 runs on most: Turing to Blackwell, with a driver for CUDA 12 or newer.
    torchWheel(
      at,
      at.vendor === 'amd' ? undefined : (wheelFor(generationIn(at.text), at.versions.driverCuda) ?? 'cu128'),
      'Install the build with CUDA: the one that is installed is for the CPU only.',
    ),
    {
      text: 'See which build is installed: without CUDA the last word is None.',
      command: 'python -c "import torch; print(torch.__version__, torch.version.cuda)"',
    },
  ]
}
export const fabric = (): readonly Piece[] => [
  {
    text: 'On hosts with NVSwitch, start the Fabric Manager and see what it says.',
    command: 'sudo systemctl enable --now nvidia-fabricmanager; systemctl status nvidia-fabricmanager',
  },
  {
    text: 'Its version must be exactly that of the driver: compare, and install the matching one.',
    command: 'nv-fabricmanager --version; cat /proc/driver/nvidia/version',
  },
  {
    text: 'See the state of the fabric: it must say Completed. In a virtual machine or cloud the fabric belongs to the host: ask its operator.',
    command: 'nvidia-smi -q | grep -A3 -i fabric',
  },
]
export function permission({ situation }: Matched): readonly Piece[] {
  return [
    {
      text: 'See who may open the device files, and join the group that owns them. On hosts with SELinux look for denials too.',
      command: 'ls -l /dev/nvidia*; id',
    },
    requestGpu(situation()),
  ]
}
/** The job or process asks for a number that it does not have. */
export const ordinal = (matched: Matched): readonly Piece[] => {
  const { text } = matched.situation()
  const asked = /device index "(\d{1,3})"/.exec(text)?.[1]
  const visible = /there are (\d{1,3}) visible/.exec(text)?.[1]
  return [
    {
      text: `Use only indexes that are visible${asked === undefined || visible === undefined ? '' : ` (${asked} was asked for, ${visible} ${visible === '1' ? 'is' : 'are'} visible)`}: they count from 0 within CUDA_VISIBLE_DEVICES. A MIG instance counts as one device, and a process sees only one.`,
    },
    (matched.situation().distributed || /local_rank|\baccelerate\b/.test(text)) && {
      text: 'Start no more ranks on a node than it has GPUs (torchrun --nproc_per_node, accelerate launch --num_processes).',
    },
    { text: 'See which GPUs and instances there are.', command: 'nvidia-smi -L' },
    { text: 'See what the program may see.', command: "env | grep -E 'CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES'" },
    !/--gpus all/.test(text) && requestGpu(matched.situation()),
  ]
}
