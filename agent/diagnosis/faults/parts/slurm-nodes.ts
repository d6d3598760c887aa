// Why Slurm took a node out of use, in the table of sinfo -R: what the reasons mean.
import type { Piece } from '../remedies/plan.ts'
import { step } from './rows.ts'

type Node = readonly [pattern: RegExp, why: string, remedies: readonly Piece[]]
const NODES: readonly Node[] = [
  [
    /^Kill task failed/,
    'a process of a job did not end even on SIGKILL: it is stuck in the kernel, mostly in storage or in the driver of the GPU',
    [
      step('See on the node which processes wait in the kernel (state D), and for what.', "ps -eo pid,stat,wchan:32,args | awk '$2 ~ /^D/'"),
      step('See what the kernel says of storage and GPUs.', "sudo dmesg -T | grep -iE 'nfs|lustre|blocked for more|NVRM|Xid|amdgpu' | tail -n 30"),
    ],
  ],
  [
    /^Not responding/,
    'its slurmd does not answer: the node crashed, hangs, lost its network, or slurmd ended',
    [
      step(
        'See whether the node can be reached, and whether slurmd runs there.',
        'ssh <NODE> "uptime; systemctl status slurmd; sudo tail -n 30 /var/log/slurm/slurmd.log"',
      ),
    ],
  ],
  [
    /^Low (?:RealMemory|TmpDisk|socket\S{0,20}|CPUs)/,
    'it has less memory, disk or CPUs than slurm.conf says',
    [
      step(
        'Compare what the node has with its line in slurm.conf: correct that (a little below what the node has), or find the memory module that is gone.',
        'slurmd -C; free -m',
      ),
    ],
  ],
  [
    /^(?:Prolog|Epilog) error|^batch job complete failure/,
    'its prolog or epilog failed: often a check of its GPUs',
    [step('Read what it said.', 'sudo tail -n 50 /var/log/slurm/slurmd.log; nvidia-smi')],
  ],
  [
    /^Node unexpectedly rebooted/,
    'it rebooted without Slurm: a crash, a power loss, or a reboot by hand',
    [step('See how the boot before this one ended.', 'last -x reboot | head -n 3; sudo journalctl -b -1 -e | tail -n 40')],
  ],
  [/^NHC: ?|^nhc\b/i, 'the node health check found a fault', [step('Run the check on the node, and repair what it names.', 'sudo nhc; nvidia-smi')]],
]
export const drained = (text: readonly string[], at: number): { why: string; node: string; said: string; remedies: readonly Piece[] } | undefined => {
  for (const line of text.slice(at + 1, at + 40)) {
    const row = /^(\S.{1,80}?) {1,20}\S{1,20} {1,12}\d{4}-\d\d-\d\dT[\d:]{8} (\S{1,120})\s*$/.exec(line)
    const known = row === null ? undefined : NODES.find(([pattern]) => pattern.test(row[1] ?? ''))
    if (row !== null && known !== undefined) return { why: known[1], node: row[2] ?? '', said: row[1] ?? '', remedies: known[2] }
  }
  return undefined
}
export const single = (node: string): string => (/[[,]/.test(node) ? '<NODE>' : node)
