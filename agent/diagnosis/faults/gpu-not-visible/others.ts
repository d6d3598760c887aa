// No GPU of AMD or Intel that the program may use, and none in the node of a cluster.
import { known } from '../parts/window.ts'
import type { Rule } from '../parts/rules.ts'
import { podEvents } from '../remedies/kubernetes.ts'
import { setVariables } from '../remedies/environment.ts'
import type { Situation } from '../../situation/situation.ts'
import { UPDATE_WSL } from './driver-remedies.ts'
import { NO_ROCK, program } from './program-remedies.ts'
import { requestGpu } from './request.ts'

const UNDER_WSL = /WSL2|microsoft-standard|\/usr\/lib\/wsl/
const REFUSED = /^(?:Permission|Operation not)/

export const LITERALS = [
  'Error 2: out of memory',
  'ROCk module is NOT loaded',
  'Dense stereo reconstruction requires CUDA',
  'SiftGPU not fully supported',
  'Unable to open /dev/kfd',
  'hsa_init failed with ',
  'while adding custom device "/dev/',
  'No XPU devices are available',
  'Current node has no GPU available',
  'amdgpu is not supported',
  'on a GPU because no GPU is',
  ' files on this host',
  ' libraries on this host',
  ': exec: nvidia-smi: not found',
  'unhealthy devices amd.com/',
  'unhealthy devices nvidia.com/',
]

const PART_OF_GPU = /current_node_resource=\{[^}\n]{0,200}'GPU': (0\.\d{1,3})/
/** Lists the GPUs by the vendor's own tool. */
const lister = ({ vendor }: Situation): string => (vendor === 'amd' ? 'rocm-smi -i' : vendor === 'intel' ? 'xpu-smi discovery' : 'nvidia-smi -L')

/** --nv or --rocm: releases name the platform in several ways. */
const flagOf = (named: string | undefined): string => (/^nv/i.test(named ?? '') ? 'nv' : 'rocm')

export const otherRules: readonly Rule[] = [
  {
    // colmap.github.io/faq: a build without CUDA has no dense part.
    pattern: /Dense stereo reconstruction requires CUDA/,
    severity: 'critical',
    title: 'COLMAP was built without CUDA',
    verdict: 'This COLMAP was built without CUDA, as the packages of Debian, Ubuntu and pip are, and its dense reconstruction runs on the GPU only.',
    remedies: [
      { text: 'See what it was built with: the first lines say "with CUDA" or "without CUDA".', command: 'colmap -h | head -n 5' },
      {
        text: 'Use a build with CUDA (the image colmap/colmap, the archive for Windows with cuda in its name, or CMake with CUDA installed).',
        command: 'docker run --rm --gpus all -v "$PWD":/work -w /work colmap/colmap colmap -h',
      },
      { text: 'Or make the dense cloud with a program that does without a GPU, such as OpenMVS.' },
    ],
  },
  {
    pattern: /SiftGPU not fully supported/,
    severity: 'critical',
    title: 'COLMAP finds no GPU for SIFT',
    verdict:
      'COLMAP was to find or match features on the GPU and could not: built without CUDA it needs a display with OpenGL, and with CUDA a GPU that it sees.',
    remedies: [
      {
        text: 'Without a GPU: find and match on the CPU (newer releases call these FeatureExtraction and FeatureMatching).',
        command: '--SiftExtraction.use_gpu 0\n--SiftMatching.use_gpu 0',
      },
      { text: 'With one: see whether it is there and whether this build has CUDA.', command: 'nvidia-smi -L; colmap -h | head -n 5' },
    ],
  },
  {
    pattern: NO_ROCK,
    severity: 'critical',
    title: "AMD's kernel driver is not loaded",
    verdict: "rocminfo says that the kernel's driver amdgpu is not loaded, or that there is no GPU for it.",
    remedies: program,
    unless: ({ text, situation }) => situation().system === 'wsl' || text.some((line) => line.includes('No HIP GPUs are available')),
  },
  {
    pattern: /\/\.singularity\.d\/actions\/\w{3,8}: (?:line )?\d{1,4}: exec: nvidia-smi: not found/,
    severity: 'critical',
    title: 'The container was given no GPU',
    verdict: ({ situation }) =>
      `nvidia-smi is not in the container. ${/ --nv\b/.test(situation().text) ? 'Singularity brings it in from the host with --nv, and did not find it there: the host has no driver, or keeps it in a folder of its own.' : 'Singularity brings it in from the host only with --nv.'}`,
    remedies: [
      { text: 'Start the container with --nv in front of the name of the image.', command: 'singularity exec --nv <IMAGE> nvidia-smi' },
      {
        text: 'See on the same host whether the driver works, and whether its programs and libraries are on PATH and known to ldconfig; if not, name them in nvliblist.conf.',
        command: 'command -v nvidia-smi; nvidia-smi -L; ldconfig -p | grep libcuda.so',
      },
    ],
  },
  {
    // Singularity and Apptainer look for the names of etc/nvliblist.conf (rocmliblist.conf) in the cache of ldconfig.
    pattern: /Could not find any (nv|rocm|NVIDIA|Nvidia|ROCm) (?:files|libraries) on this host/,
    severity: 'critical',
    title: 'The container gets no GPU driver from the host',
    verdict: ({ match }) =>
      `The container was started with --${flagOf(match[1])}, and none of the driver's libraries that go in with it was found on this host. It starts without the GPU.`,
    remedies: ({ match }) => [
      flagOf(match[1]) === 'nv'
        ? {
            text: 'See whether the driver works on this host (a login node has none), and whether ldconfig knows its libraries.',
            command: 'nvidia-smi -L; ldconfig -p | grep -E "libcuda.so|libnvidia-ml"',
          }
        : { text: 'See whether this host has ROCm and a GPU.', command: 'rocm-smi -i; ldconfig -p | grep -E "libhsa|libamdhip"' },
      flagOf(match[1]) === 'nv' && {
        text: 'If they are in a folder of their own (on a Jetson: tegra): enter it for ldconfig, and names that are missing in nvliblist.conf.',
        command: 'grep -rs . /etc/ld.so.conf.d | grep -iE "nvidia|tegra"; sudo ldconfig; find / -xdev -name nvliblist.conf 2>/dev/null',
      },
    ],
  },
  {
    pattern: /Cannot run ([^\n]{3,80}) on a GPU because no GPU is/,
    severity: 'critical',
    title: 'GROMACS finds no GPU',
    verdict: ({ match }) => `mdrun was told to run ${match[1]} on a GPU and finds none that it can use on this node.`,
    remedies: ({ situation }) => [
      { text: 'See whether the job sees a GPU: ask in the same job.', command: `${lister(situation())}; echo "CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES"` },
      requestGpu(situation()),
      { text: 'See whether this GROMACS was built with GPU support.', command: 'gmx --version | grep -i GPU' },
    ],
  },
  {
    // Ollama, of each card; with another that it takes, nothing is wrong.
    pattern: /amdgpu is not supported \(supported types:\[([\w ]{0,400})\]\)"?(?:[^\n]{0,60}gpu_type=(gfx\w{3,5}))?/,
    severity: 'warning',
    title: 'Ollama does not support this GPU',
    verdict: ({ match }) =>
      `Ollama's ROCm holds no code for this GPU${match[2] === undefined ? '' : ` (${match[2]})`}, so models run on the CPU: many times slower.`,
    remedies: ({ match }) => [
      {
        text: 'For Ollama, let ROCm treat it as a relative that is supported (10.3.0 for RDNA 2, 11.0.0 for RDNA 3).',
        command: `sudo systemctl edit ollama  # Environment=HSA_OVERRIDE_GFX_VERSION=${match[2]?.startsWith('gfx11') === true ? '11.0.0' : '10.3.0'}`,
      },
      { text: 'See which GPU it is.', command: 'rocminfo | grep -i gfx' },
      { text: 'Or use the Vulkan build, which takes more GPUs.' },
    ],
    unless: ({ text }) => text.some((line) => line.includes('amdgpu is supported')),
  },
  {
    // Docker refuses a device that the host does not have: daemon/devices in moby.
    pattern: /error gathering device information while adding custom device "(\/dev\/[\w/.-]{1,60})": (?:no such file or directory|not a device node)/,
    severity: 'critical',
    title: ({ match }) => `The host has no ${match[1]} to give to the container`,
    verdict: ({ match }) => {
      const [device = ''] = match.slice(1)
      const why = device.includes('kfd')
        ? "the kernel's amdgpu driver is not loaded, or has no ROCm for this card"
        : device.includes('nvidia')
          ? 'the NVIDIA driver is not loaded, or has not made its device files yet'
          : device.includes('dxg')
            ? 'this is no WSL2 with GPU support'
            : 'the driver of the GPU is not loaded'
      return `Docker did not start the container, because ${device} is not there: ${why}. With Docker Desktop the host is its virtual machine, which has no such device.`
    },
    remedies: ({ match }) => [
      {
        text: 'See whether the driver and its device files are there.',
        command: match[1]?.includes('nvidia') === true ? 'nvidia-smi; ls -l /dev/nvidia*' : 'lsmod | grep -E "amdgpu|i915|xe"; ls -l /dev/kfd /dev/dri',
      },
      match[1]?.includes('kfd') === true && {
        text: 'If it is missing: install the amdgpu driver of ROCm, or a kernel whose amdgpu knows the card; then reboot.',
      },
      match[1]?.includes('nvidia') === true && {
        text: 'Ask for the GPU instead of naming files: the toolkit makes them.',
        command: 'docker run --gpus all <IMAGE>',
      },
    ],
    facts: ({ match }) => known({ path: match[1] }),
  },
  {
    pattern:
      /Unable to open \/dev\/kfd read-write: (Permission denied|Operation not permitted|No such file or directory|No such device|Invalid argument|[A-Z][a-z]+(?: [a-z]+)?)/,
    severity: 'critical',
    title: 'ROCm may not open the GPU',
    verdict: ({ match }) =>
      REFUSED.test(match[1] ?? '')
        ? 'The program may not open /dev/kfd: its user is not in the group that owns it (render, on some systems video).'
        : `ROCm could not open /dev/kfd (${match[1]}): the amdgpu driver is not loaded, or the container was not given the device.`,
    remedies: ({ match }) => [
      REFUSED.test(match[1] ?? '')
        ? {
            text: 'Add the user to the groups of the devices; it takes effect at the next login.',
            command: 'sudo usermod -aG render,video "$USER"; ls -ln /dev/kfd /dev/dri',
          }
        : { text: 'See whether driver and device files are there.', command: 'lsmod | grep amdgpu; ls -l /dev/kfd /dev/dri' },
      {
        text: 'In a container: pass the devices and the groups that own them (numbers of the host).',
        command: 'docker run --device /dev/kfd --device /dev/dri --group-add $(stat -c %g /dev/kfd) <IMAGE>',
      },
    ],
    facts: () => ({ path: '/dev/kfd' }),
  },
  {
    // rocdevice.cpp, with AMD_LOG_LEVEL: the status in hexadecimal; 1008 is what hsa_init gives when /dev/kfd cannot be opened or no GPU is behind it.
    pattern: /hsa_init failed with (?:status )?(?:0x)?(1[\da-f]{3})\b/,
    severity: 'critical',
    title: 'ROCm finds no GPU',
    verdict: ({ match }) =>
      `ROCm's runtime could not start (HSA status 0x${match[1]}): its user may not open /dev/kfd, the container was not given it, or the amdgpu driver has no GPU for it.`,
    remedies: [
      { text: 'See who may open the device files, and as whom the program runs.', command: 'ls -ln /dev/kfd /dev/dri; id' },
      {
        text: 'In a container: pass the devices and the groups that own them (numbers of the host).',
        command: 'docker run --device /dev/kfd --device /dev/dri --group-add $(stat -c %g /dev/kfd) <IMAGE>',
      },
    ],
  },
  {
    pattern: /No XPU devices are available/,
    severity: 'critical',
    title: 'No Intel GPU visible to the program',
    verdict: 'PyTorch finds no Intel GPU: the compute runtime (Level Zero) is missing or too old, or the user may not open /dev/dri.',
    remedies: [
      { text: 'See whether Level Zero lists the GPU, and who may open it.', command: 'sycl-ls; ls -l /dev/dri' },
      { text: 'Add the user to the group of the device files; it takes effect at the next login.', command: 'sudo usermod -aG render "$USER"' },
      { text: 'In a container: pass the device.', command: 'docker run --device /dev/dri <IMAGE>' },
    ],
  },
  {
    pattern: /Current node has no GPU available/,
    severity: 'critical',
    title: ({ message }) => (PART_OF_GPU.test(message) ? 'Ray has given the GPU of this node away' : 'Ray sees no GPU on this node'),
    verdict: ({ message }) =>
      PART_OF_GPU.test(message)
        ? `Of the GPU of this node ${PART_OF_GPU.exec(message)?.[1]} is left: another actor of Ray has the rest, mostly the one that started vLLM.`
        : 'vLLM was started on a Ray node without a GPU: the driver is not visible there, or Ray was started without GPUs.',
    remedies: ({ situation, message }) => [
      PART_OF_GPU.test(message) && {
        text: 'Let the actor around vLLM ask for no GPU (ray_actor_options, num_gpus=0): vLLM asks for its own, by a placement group of the deployment.',
        command: 'ray list actors --filter "state=ALIVE" --detail',
      },
      { text: 'See how many GPUs Ray counts on each node, and whether the driver shows them there.', command: `ray status; ${lister(situation())}` },
      !PART_OF_GPU.test(message) && [
        { text: 'Start vLLM on a node with GPUs, or start Ray there again: it counts GPUs at its start.' },
        requestGpu(situation()),
      ],
    ],
  },
  {
    pattern:
      /no healthy devices present; cannot allocate unhealthy devices ((?:nvidia|amd)\.com\/[\w-]{1,30}(?:\.[\w-]{1,20}){0,3})|cannot allocate unhealthy devices ((?:nvidia|amd)\.com\/[\w-]{1,30}(?:\.[\w-]{1,20}){0,3})/,
    severity: 'critical',
    title: 'The GPUs of the node are unhealthy',
    verdict: ({ match }) =>
      `Kubernetes rejected the pod: all devices ${match[1] ?? match[2]} of the node are marked as unhealthy${(match[1] ?? match[2])?.startsWith('amd') ? '' : ' (Xids do that)'}.`,
    remedies: ({ match, situation }) => [
      (match[1] ?? match[2])?.startsWith('amd')
        ? {
            text: 'See on the node what its driver says of the GPUs.',
            command: "sudo dmesg -T | grep -E 'amdgpu|amdkfd' | tail -n 40; ls -l /dev/kfd /dev/dri",
          }
        : { text: 'See on the node why: Xids mark a GPU as unhealthy.', command: "sudo dmesg -T | grep 'NVRM: Xid' | tail; nvidia-smi -L" },
      { text: 'See what the device plugin says.', command: 'kubectl get pods -A -o wide | grep -i device-plugin' },
      {
        text: `When the GPU is healthy again, or its MIG layout was changed: recreate the device plugin's pod, so that it advertises ${match[1] ?? match[2]} again. Running work is not stopped.`,
        command: 'kubectl delete pod -n <NAMESPACE> <DEVICE_PLUGIN_POD>',
        destroys: true,
      },
      situation().subject.pod !== undefined && podEvents(situation()),
    ],
  },
  {
    // microsoft/WSL#10269, MicrosoftDocs/WSL#1947: with fewer GPUs it works.
    pattern: /(?:Unexpected error from cudaGetDeviceCount|CUDA initialization)[^\n]{0,240}\bError 2: out of memory/,
    severity: 'critical',
    title: 'CUDA cannot start: out of memory',
    verdict: ({ situation }) =>
      `CUDA ran out of memory while it started (error 2), before the program asked for any, so the program sees no GPU. ${UNDER_WSL.test(situation().text) ? 'Under WSL 2 that happens with several GPUs, also where all are empty.' : 'Either a GPU is full, or the process may not take as much host memory or address space as CUDA reserves.'}`,
    remedies: ({ situation }) => [
      UNDER_WSL.test(situation().text) && {
        text: 'Show the program one GPU first; if that works, add the others one by one.',
        command: setVariables(situation(), { CUDA_VISIBLE_DEVICES: '0' }),
      },
      UNDER_WSL.test(situation().text) && UPDATE_WSL,
      {
        text: 'See whether another process fills a GPU, and what host memory and address space the process may have.',
        command: 'nvidia-smi; free -h; ulimit -v',
      },
    ],
    facts: () => ({ cuda_error_code: 2 }),
  },
]
