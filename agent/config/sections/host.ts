// The machine around the GPUs.
import { onOff, text } from '../field.ts'

export const host = {
  description: 'CPU, memory, pressure, disks and network of the host.',
  fields: {
    enabled: onOff({ default: true, description: 'Watch the host.' }),
    proc_root: text({ default: '/proc', description: 'The procfs of the host, also used to identify processes.' }),
    ask_schedulers: onOff({
      default: true,
      description: 'Ask Slurm (scontrol) and systemd (systemctl) how a job ended that held a GPU.',
    }),
    command_lines: onOff({
      default: true,
      description: 'Show the command lines of processes on GPUs, with secrets masked.',
    }),
    sys_root: text({ default: '/sys', description: 'The sysfs of the host.' }),
  },
}
