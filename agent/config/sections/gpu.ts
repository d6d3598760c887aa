// How the GPUs are read.
import { choice, optionalWholeNumber, text, wholeNumber } from '../field.ts'

export const gpu = {
  description: 'Where GPU readings come from.',
  fields: {
    source: choice(['auto', 'nvml', 'nvidia-smi', 'off'], {
      default: 'auto',
      description: 'auto: NVML, and nvidia-smi where the library cannot be loaded.',
    }),
    library: text({ default: '', description: 'Path of libnvidia-ml.so.1; empty = the usual places of drivers and WSL2.' }),
    nvidia_smi: text({ default: 'nvidia-smi', description: 'Command used as fall-back.' }),
    deadline_ms: wholeNumber({
      default: 2_000,
      min: 100,
      max: 60_000,
      description: 'A GPU that does not answer within this time counts as hung: its reader is killed, the other GPUs are still sampled.',
    }),
    integrated: choice(['auto', 'always', 'never'], {
      default: 'auto',
      description: 'Integrated GPUs of AMD and Intel. auto: only when the host has no other GPU, or a process computes on the integrated one.',
    }),
    peak_hz: wholeNumber({ default: 10, min: 0, max: 100, description: 'Fast memory samples per second, for the peaks; 0 = none.' }),
    expected_gpus: optionalWholeNumber({
      min: 0,
      max: 1_024,
      description: 'Number of GPUs of this host; fewer raise an incident. Not set = as many as were seen before.',
    }),
  },
}
