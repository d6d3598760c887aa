// CUDA's own errors by number, name and words, where they say what is wrong with the host, the container or the build.
// Those of kernels and of memory have families of their own; those of the program are in ends/gpu-call.ts. Numbers: CUDA driver API, CUDA_TYPES.
import { printTorch } from './remedies/environment.ts'
import type { LogKind } from '../../model/kinds.ts'
import { inForkedChild } from './parts/forked.ts'
import { ruleFamily, type Matched, type Rule, type Seen } from './parts/rules.ts'
import { WSL } from './gpu-not-visible/driver-remedies.ts'
import { SEE_VISIBLE } from './gpu-not-visible/request.ts'
import { inNccl } from './parts/window.ts'
import { asksPinned, lessPinned } from './parts/pinned.ts'
import { ran } from '../situation/work.ts'
import { architecture } from './remedies/cuda-builds.ts'
import { driverOld } from './remedies/driver.ts'
import { synchronous } from './remedies/debug.ts'
import { COMPUTE_MODE, MPS, whoHolds } from './remedies/gpu.ts'
import { MAPPED_UNDER_WSL } from './gpu-not-visible/driver-remedies.ts'
import type { Piece } from './remedies/plan.ts'

const HEAD = String.raw`\b(?:(?:CUDA|Cuda|cuda|HIP|ROCm)(?: (?:driver|runtime|Runtime|API))? (?:error|Error|failure)|call to cu\w{2,40} returned error)\b`
/** How programs print one error: its words behind "CUDA error", its number there, or its name. */
const printed = (code: number, words: string, names: string): RegExp =>
  new RegExp(String.raw`${HEAD}[^\n]{0,160}?(?:${words})|${HEAD}:? {0,2}(?:code )?[:=]? ?\(?${code}\b|\bError ${code}: ${words}|\b(?:${names})\b`)

/** NCCL passes on what others broke; code and lists of constants are no errors. */
const quoted = ({ message, match }: Seen): boolean =>
  inNccl({ message, match }) || /(?:==|!=|\bcase|\bif \(|\breturn) {0,2}$/.test(message.slice(0, match.index))

type Row = {
  readonly code: number
  readonly words: string
  readonly names: string
  readonly kind: LogKind
  readonly title: Rule['title']
  readonly verdict: Rule['verdict']
  /** Of HIP, where it means something else there. */
  readonly hip?: string
  readonly remedies: (matched: Matched) => readonly Piece[]
  readonly unless?: (seen: Seen) => boolean
}
/** Kinds that keep CUDA's number among their facts. */
const WITH_CODE: readonly LogKind[] = ['gpu_not_visible', 'cuda_version_mismatch', 'gpu_busy']
const isHip = ({ match, message }: Seen): boolean => /^(?:HIP|ROCm)\b/.test(match[0]) || /\bHIP error: /.test(message)
/** What the table says of NVIDIA's driver and tools is of no use there. */
const forHip = (matched: Matched, pieces: readonly Piece[]): readonly Piece[] => [
  pieces.filter((piece) => !/nvidia|NVRM|CUDA|libcuda|torch\.version\.cuda/i.test(JSON.stringify(piece ?? ''))),
  architecture(matched),
]
const named = (words: Rule['title'], matched: Matched): string => {
  const said = typeof words === 'string' ? words : words(matched)
  return isHip(matched) ? said.replaceAll('CUDA', 'ROCm') : said
}
const rule = ({ code, words, names, unless, hip, ...rest }: Row): Rule => ({
  ...rest,
  title: (matched) => named(rest.title, matched),
  verdict: (matched) => (isHip(matched) && hip !== undefined ? hip : named(rest.verdict, matched)),
  remedies: (matched) => (isHip(matched) ? forHip(matched, rest.remedies(matched)) : rest.remedies(matched)),
  pattern: printed(code, words, names),
  severity: 'critical',
  unless: (seen) => quoted(seen) || unless?.(seen) === true,
  facts: () => (WITH_CODE.includes(rest.kind) ? { cuda_error_code: code } : {}),
})

const DRIVER_LOG: Piece = { text: 'See what the kernel logged about the driver and the GPU.', command: "sudo dmesg -T | grep -iE 'NVRM|nvidia' | tail -n 40" }
const versions = ({ situation }: Matched): Piece => ({
  text: 'Compare the CUDA version that the driver supports with the one that the program was built for.',
  command: situation().programs.has('jax')
    ? 'nvidia-smi; pip list | grep -iE "jax|nvidia"'
    : situation().programs.has('pytorch')
      ? `nvidia-smi; ${printTorch('torch.__version__, torch.version.cuda')}`
      : 'nvidia-smi',
})
const updateDriver = (matched: Matched): Piece => (matched.situation().system === 'wsl' ? WSL[0] : driverOld(matched))
const pins = ({ text, at }: Seen): boolean => asksPinned(text.slice(Math.max(0, at - 6), at + 1).join('\n'))
/** The program computed before: progress is above, or the call is one of a step. */
const midRun = ({ text, at }: Seen): boolean => {
  const near = text.slice(Math.max(0, at - 40), at + 1).join('\n')
  return (ran(near) || /\.backward\(|optimizer\.step|isfinite|grad_scaler/i.test(near)) && !/is_available|_lazy_init|_cuda_init|device_count|cuInit/.test(near)
}

const SYMBOL: Row = {
  code: 302,
  words: 'shared object symbol not found',
  names: 'cudaErrorSharedObjectSymbolNotFound|CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND',
  kind: 'cuda_version_mismatch',
  title: 'The driver lacks a function that the program needs',
  verdict: 'A library looked for a function that the installed NVIDIA driver does not have: the driver is older than the CUDA libraries of the program.',
  remedies: (matched) => [updateDriver(matched), versions(matched)],
}
const ROWS: readonly Row[] = [
  SYMBOL,
  {
    ...SYMBOL,
    code: 36,
    words: 'API call is not supported in the installed CUDA driver',
    names: 'cudaErrorCallRequiresNewerDriver',
    title: 'The program needs a newer driver',
  },
  {
    code: 500,
    words: 'named symbol not found',
    names: 'cudaErrorSymbolNotFound|CUDA_ERROR_NOT_FOUND',
    kind: 'cuda_version_mismatch',
    title: 'CUDA does not find a function',
    verdict:
      'CUDA did not find a function or variable by its name. At the start of a program, the driver does not match the CUDA libraries; later, the build lacks a kernel.',
    remedies: (matched) => [
      (matched.situation().system?.startsWith('w') === true || /cudaGetDeviceCount|CUDA initialization/.test(matched.message)) && MAPPED_UNDER_WSL,
      updateDriver(matched),
      versions(matched),
    ],
  },
  {
    code: 303,
    words: 'shared object initialization failed',
    names: 'cudaErrorSharedObjectInitFailed|CUDA_ERROR_SHARED_OBJECT_INIT_FAILED',
    kind: 'cuda_version_mismatch',
    title: 'A part of the driver could not be loaded',
    hip: "ROCm could not load the program's code for this GPU: the build has none for it, or does not belong to the ROCm that is installed.",
    verdict: 'CUDA could not initialize a shared library: two driver versions are mixed, or a library of the driver is missing.',
    remedies: (matched) => [
      { text: 'See which libraries of the driver the program can load.', command: 'ldconfig -p | grep -E "libcuda|libnvidia"' },
      versions(matched),
    ],
  },
  {
    code: 221,
    words: 'PTX JIT compiler library not found',
    names: 'cudaErrorJitCompilerNotFound|CUDA_ERROR_JIT_COMPILER_NOT_FOUND',
    kind: 'cuda_library_missing',
    title: "The driver's compiler library is missing",
    verdict: "The driver's library that compiles the kernels of the program (libnvidia-ptxjitcompiler.so.1) is not here.",
    remedies: ({ situation }) => [
      { text: 'See whether the library is here.', command: 'ldconfig -p | grep ptxjitcompiler' },
      situation().programs.has('docker') || situation().programs.has('kubernetes')
        ? { text: 'A container gets it with the driver capability "compute": set NVIDIA_DRIVER_CAPABILITIES=compute,utility.' }
        : { text: 'Install the complete driver on the host; in a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility.' },
    ],
  },
  {
    code: 102,
    words: "device doesn't have (?:a )?valid Grid license",
    names: 'cudaErrorDeviceNotLicensed|CUDA_ERROR_DEVICE_NOT_LICENSED',
    kind: 'vgpu_license',
    title: 'The vGPU has no licence',
    verdict: 'CUDA refuses work because this vGPU has no valid licence.',
    remedies: () => [
      { text: 'See the state of the licence.', command: 'nvidia-smi -q | grep -iA2 license' },
      { text: 'Give the guest its licence token, then restart the licence client.', command: 'sudo systemctl restart nvidia-gridd' },
    ],
  },
  {
    code: 216,
    words: 'exclusive(?: \\([\\w ]{1,30}\\))?-thread device already in use',
    names: 'cudaErrorDeviceAlreadyInUse',
    kind: 'gpu_busy',
    title: 'GPU is locked to another process',
    verdict: 'The GPU is in exclusive compute mode, and another process holds it.',
    remedies: ({ situation }) => [whoHolds(situation()), COMPUTE_MODE],
  },
  {
    code: 805,
    words: 'MPS client failed to connect to the MPS',
    names: 'cudaErrorMpsConnectionFailed|CUDA_ERROR_MPS_CONNECTION_FAILED',
    kind: 'gpu_not_visible',
    title: 'The MPS server does not answer',
    verdict: 'CUDA could not connect to the daemon or server of NVIDIA MPS, so the program gets no GPU.',
    remedies: ({ situation }) => [
      MPS,
      {
        text: 'To run without MPS, name a pipe directory that does not exist: without one CUDA still tries /tmp/nvidia-mps.',
        command: 'export CUDA_MPS_PIPE_DIRECTORY=/nonexistent',
      },
      situation().programs.has('docker') && {
        text: "A container needs the host's IPC namespace and the pipe directory mounted (--ipc=host, -v /tmp/nvidia-mps:/tmp/nvidia-mps).",
      },
    ],
  },
  {
    code: 807,
    words:
      'between the MPS server and the MPS client failed|required to create (?:the )?MPS client|MPS server is not ready|required to support device connections',
    names: 'cudaErrorMps(?:RpcFailure|ServerNotReady|MaxClientsReached|MaxConnectionsReached)|CUDA_ERROR_MPS_\\w{5,30}',
    kind: 'gpu_busy',
    title: 'The MPS server refused the program',
    verdict: 'The MPS server of this GPU accepts no more clients, or failed while it served one.',
    remedies: () => [MPS, { text: 'Run fewer processes through one MPS server: each GPU takes 48 clients (60 from Hopper on).' }],
  },
  {
    code: 304,
    words: 'OS call failed',
    names: 'cudaErrorOperatingSystem|CUDA_ERROR_OPERATING_SYSTEM',
    kind: 'gpu_not_visible',
    title: (matched) => (pins(matched) ? 'Host memory could not be locked for the GPU' : 'The operating system refused a call of the driver'),
    verdict: (matched) =>
      pins(matched)
        ? 'The program asked for page-locked (pinned) host memory, and the system refused it: little memory is left, a limit on locked memory is reached, or under WSL2 the smaller share that may be locked there.'
        : 'A system call of the CUDA driver failed. Most often the process may not open the device files, or a limit forbids the call.',
    remedies: (matched) => [
      pins(matched)
        ? lessPinned(matched.situation())
        : [
            { text: 'Check that the device files exist and that this user may open them.', command: 'ls -l /dev/nvidia*; id' },
            { text: 'Check the limits of this process: locked memory, open files, address space.', command: 'ulimit -a' },
          ],
      DRIVER_LOG,
    ],
  },
  {
    code: 999,
    words: 'unknown error',
    names: 'CUDA_ERROR_UNKNOWN|cudaErrorUnknown',
    kind: 'gpu_not_visible',
    title: (matched) => (midRun(matched) ? 'The GPU stopped working in the middle of a run' : 'CUDA cannot use the driver'),
    verdict: (matched) =>
      midRun(matched)
        ? 'CUDA worked until here and then failed without a reason: most likely the driver reset the GPU, or the GPU failed.'
        : 'The CUDA driver failed and gave no reason. At the start of a program the driver is in a broken state; later, the GPU most likely failed.',
    remedies: (matched) => [
      matched.situation().system === 'windows'
        ? { text: 'Look into the event viewer for messages of nvlddmkm at that time: they name a reset of the driver (TDR) and its reason.' }
        : DRIVER_LOG,
      midRun(matched)
        ? [
            { text: 'If it comes back: run without overclocking and with a lower power limit, and test another power supply, cable or slot.' },
            synchronous(matched.situation()),
          ]
        : matched.situation().system === 'wsl'
          ? updateDriver(matched)
          : {
              text: 'Reload the kernel module nvidia_uvm. Stop what uses the GPU first.',
              command: 'sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm',
            },
      { text: 'If it stays, reboot the host.' },
    ],
  },
  {
    code: 701,
    words: 'too many resources requested for launch|too many blocks in cooperative launch',
    names: 'cudaErrorLaunchOutOfResources|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|cudaErrorCooperativeLaunchTooLarge|CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE',
    kind: 'compile_error',
    title: 'A kernel does not fit the GPU',
    verdict: 'A kernel asks for more registers, threads or blocks than a multiprocessor of this GPU has.',
    remedies: () => [
      { text: 'Launch the kernel with fewer threads in each block, or build it with fewer registers (nvcc --maxrregcount).' },
      { text: 'Update the library that brings the kernel, or build it for the architecture of this GPU.' },
    ],
  },
  {
    code: 3,
    words: 'initialization error',
    names: 'cudaErrorInitializationError|CUDA_ERROR_NOT_INITIALIZED',
    kind: 'gpu_not_visible',
    unless: inForkedChild,
    title: 'CUDA could not be initialized',
    verdict: 'CUDA could not be initialized in this process: the driver does not work here, or the process was forked after its parent had used CUDA.',
    remedies: ({ situation }) => [
      situation().programs.has('pytorch') && {
        text: "Start workers with spawn, not fork: torch.multiprocessing.set_start_method('spawn'), or multiprocessing_context='spawn' of the DataLoader.",
      },
      { text: 'See whether the driver works where the program runs.', command: 'nvidia-smi' },
      SEE_VISIBLE,
    ],
  },
]

export const cudaApiError = ruleFamily({
  id: 'cuda-api-error',
  kind: 'gpu_not_visible',
  literals: [
    'CUDA error',
    'CUDA Error',
    'Cuda error',
    'cuda error',
    'HIP error: ',
    'ROCm error: ',
    'CUDA failure',
    'CUDA driver error',
    'Cuda driver error',
    'CUDA runtime error',
    'cuda runtime error',
    'cudaError',
    'CUDA_ERROR_',
    'creating cudnn handle',
    'named symbol not found',
    'undefined symbol: cu',
    'call to cu',
  ],
  rules: [
    ...ROWS.map(rule),
    // The loader's words for a function of the driver that is newer than the driver.
    {
      ...rule(SYMBOL),
      pattern: /undefined symbol: cu(?:Stream|Ctx|Mem|Device|Launch|Kernel|Library|Module|Tensor|Graph|Multicast|Green|Event|Func)[A-Z]\w/,
      // Ollama says it itself.
      unless: ({ text, at }) => text.slice(Math.max(0, at - 2), at + 3).some((line) => line.includes('symbol lookup for cu')),
    },
    // XLA's words for the same: xla/stream_executor/cuda/cuda_dnn.cc
    { ...rule(SYMBOL), pattern: /error before creating cudnn handle \(30[23]\)|cudaGetErrorName symbol not found/ },
  ],
})
