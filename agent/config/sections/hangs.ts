// Jobs that stop: when they are looked at, and how.
import { duration, onOff } from '../field.ts'

export const hangs = {
  description: 'Jobs whose progress stops: their processes are looked at from outside, without stopping them, to say who holds the job up and where.',
  fields: {
    enabled: onOff({ default: true, description: "Look at jobs that have stopped. Needs root (or CAP_SYS_PTRACE) for other users' processes." }),
    after: duration({
      default: 20_000,
      min: 1_000,
      max: 3_600_000,
      description: 'How long a job must have said nothing of its progress at least; and three times as long as between its steps.',
    }),
    look: duration({
      default: 3_000,
      min: 100,
      max: 60_000,
      description: 'Time between the two looks at the processes, which show what moves and what stands still.',
    }),
    ras: onOff({
      default: true,
      description: "Ask NCCL's RAS of a job that has stopped, where that is safe (NCCL 2.29.2 or newer): as JSON, and nothing but its status.",
    }),
    keep_dumps: onOff({
      default: true,
      description: "Copy the Flight Recorder's dumps of a job that hangs to data_dir/hangs, before they go with its container.",
    }),
  },
}
