// Jobs that stop: when they are looked at, and how.
import { duration, onOff } from '../field.ts'

export const hangs = {
  description:
    'Jobs whose progress stops: the agent inspects their processes from outside, without stopping them, to find which rank blocks the job and where.',
  fields: {
    enabled: onOff({ default: true, description: "Look at jobs that have stopped. Needs root (or CAP_SYS_PTRACE) for other users' processes." }),
    after: duration({
      default: 20_000,
      min: 1_000,
      max: 3_600_000,
      description: 'A job counts as silent after this time without progress, and after three times its usual time between steps.',
    }),
    look: duration({
      default: 3_000,
      min: 100,
      max: 60_000,
      description: 'Time between the two inspections of a process; comparing them shows whether it moves.',
    }),
    ras: onOff({
      default: true,
      description: "Ask NCCL's RAS of a job that has stopped, where that is safe (NCCL 2.29.2 or newer): as JSON, and nothing but its status.",
    }),
    ask_for_dumps: onOff({
      default: true,
      description:
        'Where a job has set up the pipe for it (TORCH_NCCL_DEBUG_INFO_PIPE_FILE), write a byte into it to get the Flight Recorder dumps of a job that has stopped and of which no rank can be named. PyTorch then writes them, and the job goes on.',
    }),
    keep_dumps: onOff({
      default: true,
      description: "Copy the Flight Recorder's dumps of a job that hangs to data_dir/hangs, before they go with its container.",
    }),
  },
}
