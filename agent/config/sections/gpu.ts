// How the GPUs are read.
import { choice, optionalWholeNumber, text, wholeNumber } from '../field.ts'

export const gpu = {
  description: 'Where GPU readings come from.',
  fields: {
    source: choice(['auto', 'nvml', 'nvidia-smi', 'off'], {
      default: 'auto',
      description: 'auto: NVML, and nvidia-smi where the library cannot be loaded.',
    }),
    library: text({ default: '', description: 'Path of libnvidia-ml.so.1; empty = where drivers and WSL2 put it.' }),
    nvidia_smi: text({ default: 'nvidia-smi', description: 'Command of the fall-back.' }),
    deadline_ms: wholeNumber({
      default: 2_000,
      min: 100,
      max: 60_000,
      description: 'A GPU that does not answer for so long hangs: its reader is killed, the others go on.',
    }),
    integrated: choice(['auto', 'always', 'never'], {
      default: 'auto',
      description: 'Integrated GPUs of AMD and Intel. auto: only when the host has no other GPU, or a process computes on the integrated one.',
    }),
    peak_hz: wholeNumber({ default: 10, min: 0, max: 100, description: 'Fast samples of memory and utilization per second, for the peaks; 0 = none.' }),
    expected_gpus: optionalWholeNumber({
      min: 0,
      max: 1_024,
      description: 'How many GPUs this host has; fewer is reported. Not set = as many as there were before.',
    }),
  },
}
