// What to do about an Xid, by the class of its action, with the commands.
import type { Remedy } from '../../model/fault.ts'
import type { XidAction } from './entry.ts'

const RESET: Remedy = { text: 'Stop everything that uses this GPU, then reset it.', command: 'sudo fuser -v /dev/nvidia*; sudo nvidia-smi --gpu-reset -i GPU' }
const DIAGNOSE: Remedy = { text: 'If it comes back, test the GPU.', command: 'dcgmi diag -r 3' }
const REPORT: Remedy = { text: 'If it comes back, collect a report for the vendor.', command: 'sudo nvidia-bug-report.sh' }
const NEIGHBOURS: Remedy = { text: 'See what else the kernel said in the same seconds.', command: "sudo dmesg -T | grep -E 'NVRM|AER' | tail -n 30" }

export const ACTIONS: Readonly<Record<XidAction, readonly Remedy[]>> = {
  ignore: [{ text: 'Nothing to do.' }],
  watch: [{ text: 'Nothing to do at once; see whether it repeats.' }, NEIGHBOURS, REPORT],
  'check-program': [
    { text: 'Start the program again, and look for the fault in it.', command: 'compute-sanitizer --tool memcheck PROGRAM; or CUDA_LAUNCH_BLOCKING=1 PROGRAM' },
    NEIGHBOURS,
    DIAGNOSE,
  ],
  'restart-program': [{ text: 'Start the program again; no reset is needed.' }, DIAGNOSE],
  'restart-vm': [{ text: 'Restart the virtual machine that owns the GPU.' }],
  'reset-gpu': [RESET, DIAGNOSE, REPORT],
  'plan-reset': [
    { text: 'Let the GPU be reset when its present work is done: only then does the repair take hold.', command: 'sudo nvidia-smi --gpu-reset -i GPU' },
    { text: 'See what waits for the reset.', command: 'nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT,ECC' },
  ],
  'drain-and-reset': [
    {
      text: 'Give this GPU no new work and let the rest end.',
      command: 'kubectl drain NODE --ignore-daemonsets; Slurm: scontrol update nodename=NODE state=drain reason=xid',
    },
    RESET,
    DIAGNOSE,
  ],
  reboot: [
    {
      text: 'Drain the machine, then reboot it; where the GPU stays away, switch its power off and on.',
      command: 'sudo reboot    # where it stays away: sudo ipmitool chassis power cycle',
    },
    NEIGHBOURS,
    REPORT,
  ],
  replace: [DIAGNOSE, { text: 'Take the GPU out of service and have it replaced.' }, REPORT],
  'check-power': [{ text: "Switch the machine off; check the GPU's power cables and the power supply." }],
  'check-managed-memory': [{ text: 'It matters only to managed memory and virtual GPUs: if one of them is used here, reset the GPU.' }, NEIGHBOURS],
  'update-driver': [{ text: 'Update the driver.', command: 'nvidia-smi --query-gpu=driver_version --format=csv' }, REPORT],
  'decode-nvlink': [
    {
      text: 'Follow the severity that the message names; if an Xid 154 stands beside it, do what that one asks for.',
      command: 'nvidia-smi nvlink -e; nvidia-smi nvlink -s',
    },
    NEIGHBOURS,
  ],
  'follow-recovery-action': [{ text: 'Do what the driver asks for.', command: 'nvidia-smi -q -i GPU | grep -i "recovery action"' }],
  'follow-other': [
    {
      text: 'Look for the other Xid, or for who ended the process, in the same seconds.',
      command: "sudo dmesg -T | grep -E 'NVRM: Xid|Out of memory|Killed process' | tail",
    },
  ],
  report: [NEIGHBOURS, REPORT],
}
