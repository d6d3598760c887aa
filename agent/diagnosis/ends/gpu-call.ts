// What CUDA and HIP mean by the errors that a program brings about itself, for the ends of programs: a wrong call, something unsupported, a graph.
import { REPORTED_LATE } from '../faults/illegal-memory-access.ts'
import { setVariables, withoutPeers } from '../faults/remedies/environment.ts'
import type { Piece } from '../faults/remedies/plan.ts'
import { synchronous } from '../faults/remedies/debug.ts'
import type { Situation } from '../situation/situation.ts'

export type GpuCall = { readonly says: string; readonly remedies: readonly Piece[] }
type Meaning = { readonly pattern: RegExp; readonly says: string; readonly remedies: (situation: Situation) => readonly Piece[] }

const HEAD = /\b(?:CUDA|Cuda|cuda|HIP|hip)(?: \w{1,10}){0,2} (?:error|Error|failure)\b|\bcudaError[A-Z]|\bCUDA_ERROR_|\bhipError[A-Z]/

const noGraphs = ({ programs }: Situation): Piece => ({
  text: 'Run once without CUDA graphs: the call that fails is then named, or goes away.',
  ...(programs.has('vllm')
    ? { command: '--enforce-eager' }
    : programs.has('sglang')
      ? { command: '--disable-cuda-graph' }
      : programs.has('llamacpp')
        ? { command: 'export GGML_CUDA_DISABLE_GRAPHS=1' }
        : {}),
})
const noPeers = (situation: Situation): readonly Piece[] => [
  {
    text: "See which GPUs can reach each other's memory; in virtual machines, and with IOMMU or ACS on, they often cannot.",
    command: 'nvidia-smi topo -p2p r',
  },
  (situation.programs.has('vllm') || situation.programs.has('sglang')) && {
    text: 'Let the server do without its own all-reduce between GPUs.',
    command: '--disable-custom-all-reduce',
  },
  withoutPeers(situation),
]
const capability = ({ vendor }: Situation): Piece =>
  vendor === 'amd'
    ? { text: 'See which GPU it is, and whether this ROCm supports it.', command: 'rocminfo | grep -i gfx' }
    : {
        text: 'See which GPU it is: its compute capability, and whether it is a vGPU or a MIG instance.',
        command: 'nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv; nvidia-smi -L',
      }
const update: Piece = { text: 'Update the program or library that makes the call, and report it with the lines that name its file.' }

const OF_CUBLAS = /in function ggml_cuda_\w{0,40}cublas|^[\s\d.EWI]{0,24}cublas\w{2,40}\(/m
/** CUDA 13 took Maxwell, Pascal and Volta out of its libraries (release notes). */
const cublasLacks = (situation: Situation): readonly Piece[] => [
  capability(situation),
  {
    text: 'It is cuBLAS that refused. Where the GPU is older than Turing (compute capability 7.5): use a build for CUDA 12, since cuBLAS of CUDA 13 has dropped it.',
  },
  {
    text: 'On others let llama.cpp multiply by its own kernels in place of cuBLAS.',
    command: 'cmake -B build -DGGML_CUDA=ON -DGGML_CUDA_FORCE_MMQ=ON && cmake --build build --config Release',
  },
]

const MEANINGS: readonly Meaning[] = [
  {
    pattern: /custom_all_reduce/,
    says: "the server's own all-reduce kernels could not access the memory of the other GPUs.",
    remedies: noPeers,
  },
  {
    pattern: /when stream is capturing|during (?:stream )?capture|capturing blocking stream|StreamCapture|STREAM_CAPTURE|graph/i,
    says: 'a call that is not allowed came while a CUDA graph was being captured.',
    remedies: (situation) => [noGraphs(situation), update],
  },
  {
    pattern: /[Pp]eer|PEER_|P2P/,
    says: "the GPUs cannot use each other's memory, or the program asked for it twice.",
    remedies: noPeers,
  },
  {
    pattern:
      /(?:operation|functionality|feature|limit|affinity)[\w ]{0,40} (?:is )?not supported|cudaErrorNotSupported|CUDA_ERROR_NOT_SUPPORTED|hipErrorNotSupported|UnsupportedLimit/,
    says: 'the GPU, its driver or the virtual machine does not support the call. A vGPU, WSL, an old GPU and an old driver lack some.',
    remedies: (situation) =>
      situation.programs.has('llamacpp') && OF_CUBLAS.test(situation.text)
        ? cublasLacks(situation)
        : [
            /cudaMallocAsync/.test(situation.text) && situation.programs.has('comfyui')
              ? {
                  text: "Let ComfyUI do without CUDA's asynchronous allocator (cudaMallocAsync), which this GPU does not offer.",
                  command: '--disable-cuda-malloc',
                }
              : capability(situation),
            situation.programs.has('llamacpp') && {
              text: 'Build llama.cpp without virtual memory and peer copies, which these often lack.',
              command: 'cmake -B build -DGGML_CUDA=ON -DGGML_CUDA_NO_VMM=ON -DGGML_CUDA_NO_PEER_COPY=ON',
            },
            {
              text: "Run it on one GPU: if the error goes away, they cannot use each other's memory.",
              command: setVariables(situation, situation.vendor === 'amd' ? { HIP_VISIBLE_DEVICES: '0' } : { CUDA_VISIBLE_DEVICES: '0' }),
            },
            { text: 'Update driver and libraries to one CUDA version.' },
          ],
  },
  {
    pattern: /operation not permitted|NotPermitted|NOT_PERMITTED/,
    says: 'the driver does not allow the call here: profiling or a setting of the GPU needs rights that this process or container lacks.',
    remedies: () => [
      {
        text: 'Profilers need counters that are for administrators by default: allow them with NVreg_RestrictProfilingToAdminUsers=0, or run the profiler as root.',
      },
      update,
    ],
  },
  {
    pattern:
      /invalid (?:resource handle|device context|argument|pitch argument|value|configuration)|InvalidValue|INVALID_VALUE|INVALID_HANDLE|INVALID_CONTEXT|mapping of buffer|already mapped|InvalidConfiguration/,
    says: 'the program called CUDA with a value that does not fit: mostly a size, a handle of another GPU, or a library built for another version.',
    remedies: (situation) => [
      synchronous(situation),
      { text: 'Compare with one GPU, a smaller batch and a shorter input: kernels have limits for both.' },
      update,
    ],
  },
  {
    pattern: /driver shutting down|context is destroyed|CONTEXT_IS_DESTROYED|DEINITIALIZED|CudartUnloading/,
    says: 'the process was already ending when it called CUDA. The real cause is what ended it.',
    remedies: () => [{ text: 'Look for the first error above it, of this process or another rank.' }],
  },
]
const OTHER: Omit<Meaning, 'pattern'> = {
  says: `a call of the GPU runtime failed.${REPORTED_LATE}`,
  remedies: (situation) => [synchronous(situation), update],
}

/** Undefined where the message is no error of a GPU runtime. */
export function gpuCall(message: string, situation: Situation): GpuCall | undefined {
  if (!HEAD.test(message)) return undefined
  // A check names what it expects before it says what came.
  const came = message.replaceAll(/Check failed: .{0,120}?CudartUnloading/g, '')
  const { says, remedies } = MEANINGS.find(({ pattern }) => pattern.test(came)) ?? OTHER
  return { says, remedies: remedies(situation) }
}
