// What to do when an engine cannot give a GPU: the toolkit, its hook, CDI.
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'
import { refusal } from './toolkit-refusals.ts'
import type { Matched } from '../parts/rules.ts'
import { requestGpu } from './request.ts'
import { HOST_DRIVER, LOAD, SEE_MODULE, SEE_TOOLKIT, UPDATE_WSL, UPDATE_WSL_ONLY, WSL } from './driver-remedies.ts'

export const named = (situation: () => Situation): string => (situation().subject.container ?? '').replace(/^./, ' $&')

const DESCRIBE: Piece = {
  text: 'Generate the CDI description of the GPUs: it is missing, or older than the driver.',
  command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && nvidia-ctk cdi list',
}
/** A pod's RuntimeClass names a runtime that the containerd of its node does not know. */
const node = (k3s: boolean): readonly Piece[] => [
  k3s
    ? {
        text: 'Install the NVIDIA Container Toolkit on that node and restart k3s: it enters the runtime by itself when it finds it.',
        command:
          'sudo apt-get install -y nvidia-container-toolkit && sudo systemctl restart k3s && sudo grep nvidia /var/lib/rancher/k3s/agent/etc/containerd/config.toml',
      }
    : {
        text: 'Install the NVIDIA Container Toolkit on that node, register it with containerd and restart that (running containers stay).',
        command:
          'sudo apt-get install -y nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=containerd && sudo systemctl restart containerd',
      },
  {
    text: 'With the GPU Operator, its toolkit pod does this: see whether that of the node is ready.',
    command: "kubectl get pods -A -o wide | grep -E 'nvidia-(driver|container-toolkit|operator)'",
  },
  {
    text: 'See what the RuntimeClass of the pod asks for: its handler must be the name in the configuration of containerd.',
    command: 'kubectl get runtimeclass',
  },
]

/** The graphics of a machine as its system names them. */
const OTHER_GRAPHICS = /\bIntel\b[^\n]{0,20}\b(?:HD|UHD|Iris|Xe|Arc)\b|\bMesa (?:Intel|AMD)\b|\bRadeon\b/
const NVIDIA_CARD = /\b(?:GeForce|[RG]TX|Quadro|Tesla|[AHBLT]\d{1,4}0?[0sS]?|NVIDIA[- ](?!Container|Docker|CTK)[A-Z\d])\b/
export function toolkit({ situation, message }: Matched): readonly Piece[] {
  const { programs, subject, system } = situation()
  if (/OCI runtime \\?"nvidia/.test(message))
    return [
      {
        text: 'Podman needs no runtime for GPUs: take it out (runtime in containers.conf, --runtime) and request the GPU by its CDI name.',
        command: `grep -rn nvidia /etc/containers ~/.config/containers; podman run --device nvidia.com/gpu=all ${subject.image ?? '<IMAGE>'}`,
      },
      DESCRIBE,
      HOST_DRIVER,
    ]
  // The reference of Compose, "Turn on GPU access": what needs no runtime of that name.
  const byCompose: Piece = programs.has('compose') &&
    /runtime/.test(message) && {
      text: `In compose: take "runtime: nvidia" out and request the GPU by deploy.resources.reservations.devices (driver: nvidia, count: all, capabilities: [gpu]), which needs no runtime of that name.`,
    }
  if (system === 'windows')
    return [
      byCompose,
      { text: 'GPUs reach containers through WSL 2: switch Docker Desktop to its WSL 2 engine, and run Linux containers.' },
      UPDATE_WSL,
      { text: 'Then check that a container sees the GPU.', command: 'docker run --rm --gpus all ubuntu nvidia-smi' },
    ]
  if (system === 'mac')
    return [
      {
        text: 'Take the request for a GPU out (deploy.resources.reservations.devices, --gpus): the container then runs on the CPU.',
      },
      { text: "Or run the program itself on the Mac, outside of Docker: there it can use Apple's GPU (Metal)." },
    ]
  if (/sandbox|RuntimeHandler|runtime for \\?"nvidia/.test(message) && !/daemon/.test(message)) return node(/\bk3s\b/.test(situation().text))
  if (/\/run\/k3s\//.test(situation().text)) return node(true)
  const runtime = programs.has('containerd') && !programs.has('docker') ? 'containerd' : 'docker'
  return [
    byCompose,
    withoutNvidia(situation()) && {
      text: 'The text names no NVIDIA GPU in this machine. Without one, take the request for a GPU out (--gpus, deploy.resources): the container then runs on the CPU, if its program can.',
      command: 'lspci | grep -iE "vga|3d|display"',
    },
    /Docker Desktop/.test(situation().text) &&
      system !== 'wsl' && {
        text: 'Docker Desktop for Linux runs containers in a virtual machine without a GPU: use Docker Engine on the host instead.',
        command: 'docker context use default',
      },
    {
      text: `Install the NVIDIA Container Toolkit, register it with ${runtime === 'docker' ? 'Docker' : 'containerd'} and restart the engine (containers stop unless live-restore is on).`,
      command: `sudo apt-get install -y nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=${runtime} && sudo systemctl restart ${runtime}`,
    },
    HOST_DRIVER,
  ]
}

/** nvidia-ctk lists devices: the description is there. */
export const CDI_LISTED = /Found [1-9]\d{0,2} CDI devices/

/** The text names graphics, and none of NVIDIA. */
export const withoutNvidia = ({ text }: Situation): boolean => OTHER_GRAPHICS.test(text) && !NVIDIA_CARD.test(text)

export function cdi({ situation, message }: Matched): readonly Piece[] {
  const { programs } = situation()
  const podman = programs.has('podman')
  const old = /[Pp]odman version(?: is |\s{1,3}(?:Client:[^\n]{0,30}\s{1,3})?Version: {1,12}| )([123]\.\d{1,2}|4\.0)\b/.exec(situation().text)?.[1]
  const driver = /device driver "cdi"/.test(message)
  const requested = /nvidia\.com\/gpu=/.test(situation().text)
  if (CDI_LISTED.test(situation().text))
    return [
      {
        text: 'See why the engine does not take the description: its folder, its mode, or its CDI version.',
        command: `ls -l /etc/cdi /var/run/cdi; grep -h cdiVersion /etc/cdi/* /var/run/cdi/*; ${podman ? 'podman' : 'docker'} version`,
      },
    ]
  // Of the toolkit's runtime (made at each start), and of the GPU Operator. https://github.com/NVIDIA/nvidia-container-toolkit/issues/1537
  const kind = /unresolvable CDI devices? (runtime|management)\.nvidia\.com/.exec(message)?.[1]
  if (kind === 'runtime')
    return [
      {
        text: 'The NVIDIA runtime makes this description itself at each start, and could not: see what stops it.',
        command: 'sudo nvidia-ctk --debug cdi generate > /dev/null',
      },
      HOST_DRIVER,
      {
        text: 'Until that works, let it give the GPU in the older way.',
        command: 'sudo nvidia-ctk config --in-place --set nvidia-container-runtime.mode=legacy',
      },
    ]
  if (kind === 'management')
    return [
      {
        text: "The GPU Operator's toolkit pod writes this description on the node: see whether it runs, and restart it after a change of driver or GPUs.",
        command: 'kubectl get pods -A -o wide | grep nvidia-container-toolkit; ls -l /var/run/cdi/management.nvidia.com*',
      },
      HOST_DRIVER,
    ]
  return [
    (old !== undefined || (podman && /\bstat nvidia\.com/.test(message))) && {
      text: `Update podman: it knows CDI devices from 4.1 on${old === undefined ? '' : `, and this is ${old}`}.`,
      ...(old === undefined ? { command: 'podman version' } : {}),
    },
    driver && {
      text: 'Switch CDI on in the engine: Docker 25 to 27 need "features": {"cdi": true} in /etc/docker/daemon.json, then a restart; newer Docker has it on.',
      command: 'docker version',
    },
    DESCRIBE,
    !programs.has('kubernetes') &&
      !driver &&
      (requested
        ? { text: 'Then start the container again.' }
        : {
            text: 'Then request a name that the list holds.',
            command: `${podman || /setting up CDI devices|crun: /.test(message) ? 'podman' : 'docker'} run --device nvidia.com/gpu=all ${situation().subject.image ?? '<IMAGE>'}`,
          }),
    HOST_DRIVER,
  ]
}

/** Some releases leave the library's name out. */
export const NO_LIBRARY = /load library failed|error: (?:\w[\w ]{2,20} error: )?cannot open shared object file/
export const OPERATOR = /nvidia-operator-validator|toolkit-validation|\bgpu-operator\b/
export const HOST_WORKS = /NVIDIA-SMI \d{3}\.[\d.]{2,9} {1,20}(?:Driver|KMD) Version/
const ENGINE: Piece = {
  text: "If nvidia-smi works on the host, see which engine it is: Docker from a snap, and Docker Desktop for Linux, do not see the host's libraries.",
  command: "docker info --format '{{.OperatingSystem}}'; docker context ls; snap list docker",
}
/** The toolkit's program runs on the host. */
export function hook({ situation, message }: Matched): readonly Piece[] {
  const noLibrary = NO_LIBRARY.test(message)
  const known = refusal(message)
  if (known !== undefined) return [known.remedies, SEE_TOOLKIT]
  if (/error: timed out/.test(message))
    return [
      {
        text: 'Keep the driver initialised (persistence mode): else every start sets up all GPUs, which took longer than the toolkit waits.',
        command: 'sudo nvidia-smi -pm 1',
      },
      {
        text: 'If nvidia-smi itself takes long even then, a GPU or the driver is at fault: see the kernel log.',
        command: "sudo dmesg | grep -iE 'NVRM|Xid' | tail",
      },
    ]
  if (/change root failed/.test(message))
    return [
      {
        text: 'The toolkit looks for the driver below a folder that is not there. With a driver on the host, comment out the line root; the GPU Operator sets it to /run/nvidia/driver.',
        command: "grep -n 'root =' /etc/nvidia-container-runtime/config.toml",
      },
    ]
  if (noLibrary && OPERATOR.test(situation().text))
    return [
      {
        text: 'With the GPU Operator the driver comes from its driver pod: see that the one of this node is ready.',
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
        text: 'Else renew the cache of libraries, in which the toolkit looks, then start the container again.',
        command: 'sudo ldconfig && ldconfig -p | grep libnvidia-ml',
      },
      SEE_TOOLKIT,
    ]
  // Containers get the driver of Windows through WSL 2; a driver of the distribution is not asked for.
  if (noLibrary && situation().system === 'windows')
    return [
      {
        text: 'Install or update the NVIDIA driver in Windows: containers get its libraries through WSL 2. On Windows 10 that needs release 21H2 or newer.',
        command: 'nvidia-smi',
      },
      UPDATE_WSL_ONLY,
      { text: 'Let Docker Desktop use its WSL 2 engine with Linux containers (Settings, General), then start the container again.' },
    ]
  return [
    noLibrary
      ? { text: 'Install the NVIDIA driver on the host, with its user-space libraries: libnvidia-ml.so.1 is part of it.', command: 'nvidia-smi' }
      : HOST_DRIVER,
    noLibrary && situation().system !== 'wsl' && situation().system !== 'windows' && ENGINE,
    /driver not loaded|failed to process request/.test(message) && situation().system !== 'wsl' && [SEE_MODULE, LOAD],
    SEE_TOOLKIT,
    /unknown device/.test(message) && { text: 'Compare the requested GPUs (index or UUID) with those of the host.', command: 'nvidia-smi -L' },
    situation().system === 'wsl' && WSL[0],
  ]
}

const podman = ({ subject }: Situation): readonly Piece[] => [
  {
    text: 'Podman gives a GPU by its CDI name; older releases ignore --gpus.',
    command: `podman run --device nvidia.com/gpu=all ${subject.image ?? '<IMAGE>'}`,
  },
  {
    text: 'It needs the CDI description of the GPUs, again after each update of the driver.',
    command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml',
  },
]
/** The image lacks what the toolkit brings with the GPU. */
export const withoutTool = (matched: Matched): readonly Piece[] =>
  /crun: /.test(matched.message) || matched.situation().programs.has('podman')
    ? podman(matched.situation())
    : [requestGpu(matched.situation()), toolkit(matched)]
