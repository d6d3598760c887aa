// Remedies at a GPU itself: who uses it, what the kernel says, reset, diagnostics. With the address that the text names.
import type { Facts } from '../../../model/facts.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Advice, Piece } from './plan.ts'

/** The GPU as `nvidia-smi -i` takes it: PCI address, UUID or index, as far as the text names one; else a placeholder. */
export function gpuOf(facts: Facts, situation?: Situation): string {
  const { pci_bus_id: pci, gpu_index: index } = facts
  if (pci !== undefined) return pci.includes('.') ? pci : `${pci}.0`
  const uuid = situation?.subject.uuid
  if (uuid !== undefined) return uuid
  return index === undefined ? '<GPU>' : String(index)
}
/** `GPU 3`, `the GPU at 0000:c1:00.0`, `the GPU`: in a sentence. */
export const theGpu = ({ pci_bus_id: pci, gpu_index: index }: Facts): string =>
  index !== undefined ? `GPU ${index}` : pci === undefined ? 'the GPU' : `the GPU at ${pci}`
export const TheGpu = (facts: Facts): string => theGpu(facts).replace(/^t/, 'T')

/** Which GPUs there are, with their compute capability. */
export const COMPUTE_CAP = 'nvidia-smi --query-gpu=name,compute_cap --format=csv'
export const COMPUTE_MODE: Advice = {
  text: 'See the compute mode; `sudo nvidia-smi -c DEFAULT` allows several processes.',
  command: 'nvidia-smi --query-gpu=index,compute_mode --format=csv',
}
export const WHICH_GPU: Advice = { text: 'See which GPU it is.', command: COMPUTE_CAP }

/** Who holds GPU memory, by the vendor's own tool. */
export function whoHolds(situation: Situation): Advice {
  if (situation.jetson)
    return {
      text: 'GPU and CPU share the memory of this board: see what holds it, and stop what is not needed.',
      command: 'free -m; sudo tegrastats --interval 1000 | head -n 3',
    }
  if (situation.system === 'windows')
    return {
      text: `See in Task Manager (Details, column "Dedicated GPU memory") which programs hold memory on the GPU${situation.vendor === 'amd' || situation.vendor === 'intel' ? '' : '; nvidia-smi shows only how full it is'}.`,
      ...(situation.vendor === 'amd' || situation.vendor === 'intel' ? {} : { command: 'nvidia-smi' }),
    }
  switch (situation.vendor) {
    case 'amd':
      return { text: 'See which processes hold memory on the GPUs.', command: 'rocm-smi --showpids --showmeminfo vram' }
    case 'intel':
      return { text: 'See which processes hold memory on the GPU.', command: 'xpu-smi ps' }
    case 'apple':
      return { text: 'See in Activity Monitor which programs hold memory: GPU and CPU share it.' }
    case 'nvidia':
    case undefined:
      break
  }
  return {
    text: 'See which processes hold memory on the GPUs.',
    command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
  }
}

export const processes = (pids: readonly number[], text: string): Advice => ({ text, command: `ps -o pid,user,lstart,args -p ${pids.join(',')}` })

/** Ends the work on one GPU. NVIDIA only; a GPU off the bus cannot be reset so. */
export const resetGpu = (facts: Facts, why = 'Stop the programs on it first: a reset ends all work on the GPU'): Advice => ({
  text: `Reset ${theGpu(facts)}; ${why.charAt(0).toLowerCase()}${why.slice(1)}.`,
  command: `sudo nvidia-smi --gpu-reset -i ${gpuOf(facts)}`,
  destroys: true,
})
/** Who runs jobs there must not place new ones: the reset or reboot needs the node empty. Undefined where nobody does. */
export function noNewWork({ programs }: Situation): Piece {
  const what = 'Keep new work off that node, and let the rest end: a reset or reboot ends it.'
  return programs.has('kubernetes')
    ? { text: what, command: 'kubectl cordon <NODE>' }
    : programs.has('slurm') && { text: what, command: 'sudo scontrol update nodename=<NODE> state=drain reason=gpu' }
}
export const REBOOT: Advice = {
  text: 'Drain the host and reboot it. If the GPU does not come back, power-cycle the host: switch it off completely, then on.',
  command: 'sudo reboot',
  destroys: true,
}
/** A desktop has no drain and no BMC. */
export const RESTART: Advice = {
  text: 'Reboot. If the GPU does not come back, switch the computer off completely, then on.',
  command: 'sudo reboot',
  destroys: true,
}

/** Lines of the kernel about this GPU and its slot. */
export function kernelLines(facts: Facts, what = 'See what the kernel logged about it before.'): Advice {
  const pci = facts.pci_bus_id?.replace(/\.[0-7]$/, '')
  return { text: what, command: `sudo dmesg -T | grep -E 'NVRM|AER|pcieport${pci === undefined ? '' : `|${pci}`}' | tail -n 40` }
}
/** DCGM's test is for data-centre GPUs; it takes the card for itself. */
export const diagnose = (facts: Facts, situation: Situation, text: string): Advice | undefined =>
  situation.gaming || situation.vendor === 'amd'
    ? undefined
    : facts.gpu_index === undefined
      ? { text: `${text} The test needs idle GPUs.`, command: 'dcgmi diag -r 3' }
      : { text: `${text} The test needs an idle GPU.`, command: `dcgmi diag -r 3 -i ${facts.gpu_index}` }
export const RESET_TOGETHER: Advice = {
  text: 'Reset all GPUs of the host together. Stop the programs on them first: the reset ends all work.',
  command: 'sudo nvidia-smi --gpu-reset',
  destroys: true,
}
export const BUG_REPORT: Advice = { text: 'If it comes back, collect a report for the vendor.', command: 'sudo nvidia-bug-report.sh' }

/** What the daemon that shares a GPU among processes says. */
export const MPS: readonly Piece[] = [
  { text: 'See whether the MPS daemon runs, and as which user.', command: 'ps -o pid,user,args -C nvidia-cuda-mps-control,nvidia-cuda-mps-server' },
  {
    text: 'See what the MPS server logged: each client that it refused is there with the reason.',
    command: 'tail -n 40 "${CUDA_MPS_LOG_DIRECTORY:-/var/log/nvidia-mps}/server.log"',
  },
]
