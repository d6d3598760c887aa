// NVML that answers Unknown Error; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'nvidia-smi in a container', text: '$ docker exec trainer nvidia-smi\nFailed to initialize NVML: Unknown Error', kinds: ['nvml_unknown_error'] },
  {
    name: 'with an exit code',
    text: 'nvidia-smi -L: rc=255 Failed to initialize NVML: Unknown Error',
    kinds: ['nvml_unknown_error'],
    facts: { exit_code: 255 },
  },
  { name: 'the toolkit', text: 'nvidia-container-cli: initialization error: nvml error: unknown error: unknown', kinds: ['nvml_unknown_error'] },
  { name: 'pynvml', text: 'pynvml.NVMLError_Unknown: Unknown Error', kinds: ['nvml_unknown_error'] },
  {
    name: 'what PyTorch says after it is its consequence',
    text: "Failed to initialize NVML: Unknown Error\nUserWarning: Can't initialize NVML\nRuntimeError: No CUDA GPUs are available",
    kinds: ['nvml_unknown_error'],
  },
  { name: 'quiet: a change log', text: '- Fixed "Failed to initialize NVML: Unknown Error" after systemctl daemon-reload', kinds: [] },
]
