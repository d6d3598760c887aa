// CUDA's and HIP's own words for "no memory", whoever prints them: the runtime, the driver API, RAPIDS, CuPy, Julia, PaddlePaddle.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { bytesOf, integerIn, SIZE, sizeIn } from '../quantity.ts'
import type { Situation } from '../../situation/situation.ts'
import { gpuName } from './causes.ts'
import { lessMemory } from './less/index.ts'
import { LARGER_POOL, LESS_AT_ONCE, lessInCupy, lessInRapids, lessInXgboost, lessWorkspace, raiseFraction } from './less/others.ts'
import { onlyEvaluates } from './less/phase.ts'
import { memoryFamily, whoSpeaks } from './rules.ts'
import { firstUse, lessAtFirstUse, withoutFigures } from './without-figures.ts'
import { asksPinned, lessPinned, lessPinnedInTensorflow } from '../parts/pinned.ts'
import { known } from '../parts/window.ts'
import { setVariables } from '../remedies/environment.ts'
import { whoHolds } from '../remedies/gpu.ts'
import type { Piece } from '../remedies/plan.ts'

/** Refused before any program of the text asked for memory. */
const atStart = (situation: Situation): readonly Piece[] => [
  situation.system === 'windows'
    ? { text: 'See whether the driver answers at all, and in Task Manager how much memory is left.', command: 'nvidia-smi' }
    : {
        text: 'See whether the driver answers at all, and how much host memory and address space (ulimit -v) is left.',
        command: 'nvidia-smi; free -g; ulimit -v',
      },
  {
    text: 'Limit the program to one GPU: the driver maps memory for each visible GPU.',
    command: setVariables(situation, { CUDA_VISIBLE_DEVICES: '0' }),
  },
  situation.system === 'wsl' && { text: 'Under WSL 2 restart it from Windows, and update the driver there.', command: 'wsl --shutdown' },
]
export const cudaOomPlain = memoryFamily(
  'cuda-oom-plain',
  [
    '_OUT_OF_MEMORY',
    'cudaErrorMemoryAllocation',
    'hipErrorOutOfMemory',
    'HIP_ERROR_OutOfMemory',
    ': out of memory',
    'runtime error (2)',
    'cudaSuccess (2 vs. 0)',
    'error out of memory',
    '<out of memory>',
    'Gpu API call) out of memory',
    'OutOfMemoryError: Out of memory allocating',
    'out of memory to allocate ',
    'Out of GPU memory',
    'Out of memory error on GPU',
    'enforce allocating <= available',
    'System is out of GPU',
    'std::bad_alloc: out_of_memory',
    'Maximum pool size exceeded',
    'MPS backend out of memory',
    'GPU ran out of memory',
    'GPU out of memory',
    'GPU OutOfMemory',
    'RetryOOM',
    'Out of memory on device.',
    'Out of memory in cu',
    'CUDA context for NVENC: 0x2',
    'CUDA error 2 at ',
    'Cuda driver error',
    'nsufficient memory on accelerator',
    'NvMapMemAllocInternalTagged',
    'Insufficient VRAM',
    'No executable batch size found, reached zero',
    'not enough VRAM',
    'ErrorOutOfDeviceMemory',
    'Dst tensor is not initialized',
    ' returned error 2: Out of memory',
    "instance of 'CUDA::error'",
    ' in AlignedAllo',
    'Error out of memory at line',
    "'out of memory'",
    'CUDA Runtime Error at: ',
  ],
  [
    {
      // Before 6.1 "out of memory to allocate 8 bytes (total 9 bytes, limit set to 10 bytes)"; with and without a limit of its pool.
      pattern: new RegExp(
        `(?:OutOfMemoryError: Out of memory allocating|out of memory to allocate) ${SIZE}(?: \\((?:allocated so far:|total) ([\\d,]{1,24}) bytes(?:, limit set to:? ([\\d,]{1,24}) bytes)?)?`,
      ),
      who: 'CuPy',
      facts: ([, amount, unit, held, limit]) =>
        known({ requested_bytes: bytesOf(amount, unit), allocated_bytes: bytesOf(held, ''), allowed_bytes: bytesOf(limit, '') }),
      remedies: (situation, { allowed_bytes: limit }) => [
        limit !== undefined && {
          text: `Raise the limit that is set on CuPy's pool (${gib(limit)}): CUPY_GPU_MEMORY_LIMIT, or cupy.get_default_memory_pool().set_limit().`,
        },
        lessInCupy(situation),
        whoHolds(situation),
      ],
    },
    {
      // pytorch/pytorch, aten/src/ATen/mps/MPSAllocator.mm. GB until 2.5, GiB since.
      pattern: new RegExp(
        `MPS backend out of memory \\(MPS allocated: ${SIZE}, other allocations: ${SIZE}, max allowed: ${SIZE}\\)\\. Tried to allocate ${SIZE}`,
      ),
      who: 'PyTorch',
      facts: ([, held, heldUnit, , , most, mostUnit, asked, unit]) =>
        known({ requested_bytes: bytesOf(asked, unit), allocated_bytes: bytesOf(held, heldUnit), allowed_bytes: bytesOf(most, mostUnit) }),
      verdict: ({ requested_bytes: asked = 0, allocated_bytes: held = 0, allowed_bytes: most = 0 }, { text }) =>
        `PyTorch asked for ${gib(asked)} on the Mac's GPU, which may use ${gib(most)}: its tensors hold ${gib(held)}, and ${/other allocations: ([\d.]{1,12} \w{1,8})/.exec(text)?.[1] ?? 'the rest'} is held beside them (caches, other libraries).`,
      remedies: () => [
        { text: 'Make the work smaller: a smaller batch or resolution, shorter inputs, 16-bit numbers, or a smaller or quantized model.' },
        { text: 'Give cached memory back between steps (torch.mps.empty_cache()), and close programs that hold much memory: GPU and CPU share it.' },
        {
          text: 'Only if enough memory is free: lift the limit. The whole Mac can then run out of memory.',
          command: 'export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0',
        },
      ],
    },
    {
      // Without a size where CUDA itself refused.
      pattern: new RegExp(`Out of GPU memory trying to allocate ${SIZE}|(?:^|\\bERROR: (?:LoadError: ){0,4})Out of GPU memory(?=\\s{0,8}(?:Stacktrace:|$))`),
      who: 'CUDA.jl',
      facts: ([, amount, unit]) => known({ requested_bytes: amount === undefined ? undefined : bytesOf(amount, unit) }),
    },
    {
      pattern: new RegExp(
        `Out of memory error on GPU (\\d{1,4})\\. Cannot allocate ${SIZE}(?:(?: memory on GPU \\d{1,4}| GPU memory), (?:${SIZE} memory has been allocated and )?available memory is (?:only )?${SIZE})?`,
      ),
      who: 'PaddlePaddle',
      facts: ([, device, amount, unit, held, heldUnit, free, freeUnit]) =>
        known({
          gpu_index: Number(device),
          requested_bytes: bytesOf(amount, unit),
          allocated_bytes: held === undefined ? undefined : bytesOf(held, heldUnit),
          free_bytes: free === undefined ? undefined : bytesOf(free, freeUnit),
        }),
      remedies: (situation, facts) => [raiseFraction(situation), lessMemory(situation, facts), whoHolds(situation)],
    },
    {
      // Old releases (Fluid) take memory in blocks of a share of the card.
      pattern: /enforce allocating <= available failed, (\d{4,15}) > (\d{1,15})/,
      who: 'PaddlePaddle',
      facts: ([, amount, free]) => known({ requested_bytes: bytesOf(amount, ''), free_bytes: bytesOf(free, '') }),
      remedies: (situation, facts) => [
        lessMemory(situation, facts),
        {
          text: 'It takes memory in blocks, each as large as a share of the card: with a smaller one a second block may fit.',
          command: setVariables(situation, { FLAGS_fraction_of_gpu_memory_to_use: '0.3' }),
        },
        whoHolds(situation),
      ],
    },
    {
      // accelerate's find_executable_batch_size gives up so.
      pattern: /No executable batch size found, reached zero/,
      verdict: 'Not even a batch of 1 fits the GPU: the program halved its batch until nothing was left.',
      remedies: (situation) => [
        {
          text: onlyEvaluates(situation)
            ? 'Make the rest smaller: 16-bit numbers or a quantized model, shorter prompts and answers (the longest decides), or a smaller model.'
            : 'Make the rest smaller: activation checkpointing, 16-bit numbers, an adapter (LoRA), smaller inputs or a smaller model.',
        },
        whoHolds(situation),
        { text: 'Or run it on a GPU with more memory, or split over several.' },
      ],
    },
    {
      // flashinfer/allocator.h; its older releases misspell the name.
      pattern: /(?<!["'`])(?:Failed to allocate memory for (\w{3,60}) with size (\d{1,15})|Out of workspace memory).{0,40}? in Aligned(?:Allocator|Alloactor)/,
      title: "FlashInfer's workspace is too small",
      facts: ([, , amount]) => known({ requested_bytes: bytesOf(amount, '') }),
      verdict: ({ requested_bytes: asked }) =>
        `FlashInfer's workspace, a buffer of a fixed size, has no space${asked === undefined ? '' : ` for ${gib(asked)}`}: too many or too long prompts in one batch for it. The GPU's memory need not be full.`,
      remedies: (situation, { requested_bytes: asked = 0 }) => lessWorkspace(situation, asked),
    },
    {
      // The number is a tag, the same in all logs (1075072515), and no size.
      pattern: /NvMapMemAllocInternalTagged: \d{1,18} error 12\b/,
      who: 'The program (on a Jetson, where GPU and CPU share memory)',
    },
    {
      // Before 1.5 in bytes, without a unit.
      pattern: new RegExp(
        `Memory allocation error on worker \\d{1,4}: [^]{0,160}?- Free memory: (?:${SIZE}|(\\d{1,15})\\b)\\s{1,4}- Requested memory: (?:${SIZE}|(\\d{1,15})\\b)`,
      ),
      who: 'XGBoost',
      facts: ([, free, freeUnit, freeBytes, asked, unit, bytes]) =>
        known({ free_bytes: bytesOf(free ?? freeBytes, freeUnit), requested_bytes: bytesOf(asked ?? bytes, unit) }),
      remedies: lessInXgboost,
    },
    {
      pattern: /(?:std::bad_alloc|RMM).{0,300}Maximum pool size exceeded/,
      who: 'RAPIDS',
      facts: (_, message) => known({ requested_bytes: sizeIn(message, new RegExp(`failed to allocate ${SIZE}`)) }),
      verdict: ({ requested_bytes: asked }) =>
        `The memory pool of RAPIDS (RMM) has reached its largest size${asked === undefined ? '' : `: ${gib(asked)} more was asked for`}. Other programs have no part in it.`,
      remedies: (situation) => [LARGER_POOL, lessInRapids(situation)],
    },
    {
      pattern: /std::bad_alloc: out_of_memory: (?:CUDA|RMM)/,
      who: 'RAPIDS',
    },
    {
      pattern: /failed to alloc (\d{1,15}) bytes on host: CUDA_ERROR_OUT_OF_MEMORY/,
      title: 'Could not pin host memory for the GPU',
      backsOff: true,
      facts: ([, amount]) => known({ requested_bytes: bytesOf(amount, '') }),
      verdict: ({ requested_bytes: asked }) =>
        `TensorFlow could not pin ${asked === undefined ? '' : `${gib(asked)} of `}host memory, and CUDA reports that as out of memory. Host memory ran out or is limited, not GPU memory.`,
      remedies: (situation, { requested_bytes: asked }) => lessPinnedInTensorflow(situation, asked),
    },
    {
      title: 'CUDA could not start: cuInit ran out of memory',
      pattern: /\bcuInit results in CUDA_ERROR_OUT_OF_MEMORY/,
      verdict: 'cuInit failed with out of memory before the program allocated anything. Most likely host memory, a limit on it, or the driver itself.',
      remedies: atStart,
    },
    {
      pattern: /CUDA_(?:ERROR_)?OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory|HIP_ERROR_OutOfMemory/,
      unless: /^(?:CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory) ?(?:=|is returned|may|can|if)\b/,
      facts: (_, message) => known({ gpu_index: integerIn(message.slice(0, 200), /(?:device (?:ordinal )?|; GPU=)(\d{1,4})\b/) }),
    },
    {
      facts: (_, message) => known({ gpu_index: integerIn(message.slice(0, 300), /(?:current device: (?=\d{1,4}, in function)|; GPU=)(\d{1,4})\b/) }),
      verdict: ({ gpu_index: gpu }, situation) =>
        asksPinned(situation.text)
          ? 'CUDA could not lock host memory (pin_memory), and reports that as out of memory: RAM is lacking or limited, not GPU memory.'
          : withoutFigures(gpu, situation),
      remedies: (situation, facts) =>
        asksPinned(situation.text)
          ? lessPinned(situation)
          : firstUse(situation)
            ? lessAtFirstUse(situation)
            : [lessMemory(situation, facts), whoHolds(situation)],
      pattern:
        /(?:CUDA|HIP|ROCm|cuda)(?: driver| runtime)? (?:error|Error|failure)(?:: | \(2\) ?: ?| 2: )out of memory|CUDA error !{3,8} <out of memory>|CUDA failed with error out of memory|Gpu API call\) out of memory|cudaMalloc error out of memory|cuMemAlloc failed: out of memory|cudaMalloc retry failed: out of memory|Out of memory in cu[A-Z]\w{3,40}\b|Failed creating CUDA context for NVENC: 0x2\b|CUDA error 2 at .{1,160}: out of memory|Cuda driver error 2 in call|Check failed: .{1,120}CUDA: out of memory/,
    },
    {
      // Macros around calls of the runtime, as programs in C++ have them: the place in the source, then the reason, or the other way round.
      pattern:
        /\bGPUassert: out of memory\b|\b(?:CUDA|HIP|GPU|[Cc]uda|[Hh]ip)(?: \w{2,12})? (?:error|Error|ERROR|failure)\b[^\n]{0,200}?\.(?:cuh?|hip|cpp|cxx|cc|c|hpp|h)\b[^\n]{0,24}?[:'] ?'?out of memory\b|\b[Hh]ip (?:error|failure): 'out of memory'|\.cu:\d{1,6}, code: ?2, reason: out of memory|CUDA Runtime Error at: \S{1,200}\s{1,4}out of memory\b/,
      verdict: ({ gpu_index: gpu }, situation) => `${whoSpeaks(situation)} could not allocate memory on ${gpuName(gpu)}. The message carries no figures.`,
      remedies: (situation, facts) => [/python|torch|tensorflow|jax/i.test(situation.text) ? lessMemory(situation, facts) : LESS_AT_ONCE, whoHolds(situation)],
    },
    {
      // lib/gpu: the neighbour lists take most, and each MPI rank has its own.
      pattern: /Insufficient memory on accelerator/,
      who: 'LAMMPS',
      remedies: (situation) => [
        {
          text: 'Let the host build the neighbour lists, and put fewer MPI ranks onto a GPU.',
          command: 'mpirun -np <RANKS> lmp -sf gpu -pk gpu 1 neigh no -in <INPUT>',
        },
        { text: 'Spread the atoms over more GPUs or nodes (-pk gpu <GPUS>), or build the GPU package with single or mixed precision.' },
        whoHolds(situation),
      ],
    },
    {
      // TensorFlow's copy to a GPU whose memory is full.
      pattern: /(?:device:GPU:(\d{1,4}) in order to run \S{1,60}: )?Dst tensor is not initialized/,
      who: 'TensorFlow',
      facts: ([, gpu]) => known({ gpu_index: gpu === undefined ? undefined : Number(gpu) }),
      verdict: ({ gpu_index: gpu }) => `TensorFlow could not copy a tensor to ${gpuName(gpu)}. Likely its memory is full: the message carries no figures.`,
    },
    {
      pattern: /GPU OutOfMemory\b|Gpu(?:Split(?:And)?)?RetryOOM\b/,
      who: 'RAPIDS',
    },
    {
      pattern: /call to cu\w{2,40} returned error 2: Out of memory/,
      who: 'OpenACC',
    },
    {
      // Alpaka and cupla (PIConGPU) put the reason on a line of its own.
      pattern: /instance of 'CUDA::error'[^]{0,400}?\berror: out of memory/,
    },
    {
      pattern: /Out of memory on device\./,
      who: 'MATLAB',
    },
    {
      // CUDA_CHECK_RETURN of bitsandbytes: mostly its paged optimizers, whose state is in managed memory of host and GPU.
      pattern: /^(?:\[\w{1,12}\]: ?)?Error out of memory at line \d{1,5} in file \S{0,200}\/csrc\//,
      who: 'bitsandbytes',
      remedies: (situation, facts) => [
        /pythonInterface/.test(situation.text) && {
          text: 'The state of a paged optimizer needs host memory too: see how much is free, or use an 8-bit optimizer that is not paged (adamw_8bit).',
          command: 'free -g',
        },
        lessMemory(situation, facts),
        whoHolds(situation),
      ],
    },
    {
      // glog's check of a CUDA call
      pattern: /Check failed: .{1,120}== ?cudaSuccess \(2 vs\. 0\)/,
    },
    {
      pattern: /vk::\w{1,40}::\w{1,40}: ErrorOutOfDeviceMemory|VK_ERROR_OUT_OF_DEVICE_MEMORY/,
      facts: (_, message) => known({ requested_bytes: bytesOf(/allocation of size (\d{1,15}) failed/.exec(message)?.[1], '') }),
    },
    {
      pattern: /System is out of GPU (?:and shared host )?memory|\bGPU (?:ran )?out of memory\b|Insufficient VRAM|not enough VRAM/,
      unless: /^[^.]{0,60}\b(?:if|avoid|may|might|could)\b/,
    },
  ],
)
