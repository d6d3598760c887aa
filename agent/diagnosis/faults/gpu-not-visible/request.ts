// How a container, pod or job asks for a GPU, by who starts it.
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'

/** It was asked for, in the words of any engine or of Slurm; or the pod is to install the driver. */
const ASKED =
  /nvidia-driver-daemonset|--gpus(?:-per-\w{4,6})?[ =]|--gres[ =]gpu|capabilities: ?\[.{0,24}gpu|(?:nvidia|amd)\.com\/gpu["']?: ?["']?[1-9]|--runtime[ =]nvidia|--device[ =](?:\/dev\/)?nvidia|\b(?:singularity|apptainer)\b[^\n]{0,80} --(?:nv|nvccli|rocm)\b/

export const SEE_VISIBLE: Piece = {
  text: 'See what the program may see: an empty or wrong value hides all GPUs.',
  command: "env | grep -E 'CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES'",
}

/** In a container: how a GPU is asked for, by who starts it. Nothing is said where the text shows no container. */
export function requestGpu(situation: Situation): Piece {
  const { hosted, programs, subject, text, vendor } = situation
  if (ASKED.test(text)) return undefined
  if (hosted)
    return {
      text: 'Give the notebook a GPU: in Colab under Runtime, Change runtime type; in Kaggle under Accelerator. The runtime starts again with it, without its variables.',
    }
  const [, tool, instance] = /\b(lxc|incus) exec ([a-zA-Z][\w-]{0,60})/.exec(text) ?? []
  if (tool !== undefined)
    return {
      text: `In ${tool === 'lxc' ? 'LXD' : 'Incus'}: ${/^ {2}\w{1,30}:\n(?: {4}\S[^\n]{0,80}\n){0,6}? {4}type: gpu\b/m.test(text) ? 'the instance has the device; let it' : `add the GPU (${tool} config device add ${instance} gpu gpu), and let the instance`} use the driver of the host, for which that needs the NVIDIA container toolkit. A driver installed in the instance must be of exactly the release of the host.`,
      command: `${tool} config set ${instance} nvidia.runtime true; ${tool} restart ${instance}`,
    }
  if (/\bpct (?:exec|enter) \d/.test(text))
    return {
      text: 'In an LXC container: pass /dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm in, and install there the driver of exactly the release of the host, without its kernel module.',
      command: 'ls -l /dev/nvidia*',
    }
  if (programs.has('kubernetes')) return { text: 'In a pod: request the GPU (resources.limits: nvidia.com/gpu: 1).' }
  if (programs.has('compose'))
    return {
      text: `In compose: give the service${subject.service === undefined ? '' : ` ${subject.service}`} a GPU (deploy.resources.reservations.devices, driver nvidia, capabilities [gpu]).`,
    }
  if (programs.has('podman'))
    return { text: 'With podman: request the GPU by its CDI name.', command: `podman run --device nvidia.com/gpu=all ${subject.image ?? '<IMAGE>'}` }
  if (programs.has('docker')) return { text: 'In a container: request the GPU.', command: `docker run --gpus all ${subject.image ?? '<IMAGE>'}` }
  // The user guide, "GPU Support".
  if (programs.has('apptainer')) {
    const [, tool = 'apptainer'] = /\b(apptainer|singularity)\b/.exec(text) ?? []
    return {
      text: `With ${tool}: pass the GPU and its driver in (--nv; AMD: --rocm).`,
      command: `${tool} exec ${vendor === 'amd' ? '--rocm' : '--nv'} <IMAGE> <PROGRAM>`,
    }
  }
  if (/\bslurmd\b/.test(text))
    return {
      text: 'slurmd started before the driver made its device files: start it again when they are there.',
      command: 'sudo systemctl restart slurmd',
    }
  if (programs.has('slurm'))
    return {
      text: `In Slurm: request a GPU for the job${/AllocTRES[^]{0,400}billing=(?![^\n]{0,160}gres\/gpu)/.test(text) ? ' (it was given none: AllocTRES has no gres/gpu)' : /\bNoDevFiles\b/.test(text) ? ' (it was given none: CUDA_VISIBLE_DEVICES is NoDevFiles)' : ''}.`,
      command:
        /^[^\n]{0,80}[$#%>] ?srun -[^\n]{0,200}--pty/m.test(text) && !/\bsbatch\b|#SBATCH/.test(text) ? 'srun --gpus=1 --pty bash' : 'sbatch --gpus=1 <SCRIPT>',
    }
  return { text: 'If it runs in a container: was a GPU requested (Docker: --gpus all; Kubernetes: nvidia.com/gpu)?' }
}
