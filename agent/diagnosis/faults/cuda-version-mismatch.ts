// The driver, the CUDA runtime, the program's kernels and the GPU do not fit together.
import type { Remedy } from '../../model/fault.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { cudaErrorCode, known } from './parts/window.ts'

const DRIVER_OLD: readonly Remedy[] = [
  { text: 'See which CUDA version the driver supports at most (head line of nvidia-smi).', command: 'nvidia-smi' },
  {
    text: 'Update the driver (and reboot), or install a build for an older CUDA, here 12.6.',
    command: 'pip install torch --index-url https://download.pytorch.org/whl/cu126',
  },
  { text: 'On data-centre GPUs the cuda-compat package bridges one major version.', command: 'sudo apt-get install cuda-compat-12-8' },
]
const ARCHITECTURE: readonly Remedy[] = [
  {
    text: 'Compare what the GPU is with what the build was made for.',
    command: 'python -c "import torch; print(torch.cuda.get_device_capability(), torch.cuda.get_arch_list())"',
  },
  {
    text: 'Install a build for your GPU: Blackwell (sm_100, sm_120) needs CUDA 12.8 or newer, GPUs before Turing (sm_75) an older build.',
    command: 'pip install torch --index-url https://download.pytorch.org/whl/cu128',
  },
  { text: 'Rebuild own extensions with the architecture named.', command: 'TORCH_CUDA_ARCH_LIST="8.6;12.0" pip install --no-build-isolation .' },
]
const COMPATIBILITY: readonly Remedy[] = [
  {
    text: "A cuda-compat library stands before the driver's own in the loader's path. Take it away: GeForce and workstation GPUs do not support it.",
    command: 'sudo apt-get remove "cuda-compat-*"; ldconfig -p | grep libcuda.so',
  },
  { text: 'Or use an image whose CUDA version the host driver supports; after a driver update, reboot.', command: 'nvidia-smi' },
]
const code = ({ message }: Seen): ReturnType<typeof known> => known({ cuda_error_code: cudaErrorCode(message) })
const dotted = (found: string | undefined): string =>
  found !== undefined && /^\d{4,5}$/.test(found) ? `${Math.floor(Number(found) / 1000)}.${Math.floor((Number(found) % 1000) / 10)}` : (found ?? '')

export const cudaVersionMismatch = ruleFamily({
  id: 'cuda-version-mismatch',
  kind: 'cuda_version_mismatch',
  literals: [
    'driver on your system is too old',
    'driver version is insufficient',
    'cudaErrorInsufficientDriver',
    'no kernel image is available',
    'cudaErrorNoKernelImageForDevice',
    'CUDA_ERROR_NO_BINARY_FOR_GPU',
    'device kernel image is invalid',
    'CUDA_ERROR_INVALID_IMAGE',
    'cudaErrorInvalidKernelImage',
    'unsupported toolchain',
    'CUDA_ERROR_UNSUPPORTED_PTX_VERSION',
    'PTX JIT compilation failed',
    'CUDA_ERROR_INVALID_PTX',
    'is not compatible with the current PyTorch',
    'no longer supports this GPU',
    'minimum required Cuda capability',
    'CUDA GPU is too old',
    'has no device code compatible with',
    'invalid value for --gpu-architecture',
    'Unsupported .version ',
    'cudaErrorUnsupportedPtxVersion',
    'cudaErrorCompatNotSupportedOnDevice',
    'cudaErrorSystemDriverMismatch',
    'requires device with capability',
    'forward compatibility was attempted',
    'CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE',
    'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH',
    'unsupported display driver',
    'unsatisfied condition: ',
    'mismatches the version that was used to compile',
    'nsupported gpu architecture',
    "is not defined for option 'gpu-name'",
    'only supports Ampere GPUs or newer',
    'only supported on GPUs with compute capability',
    'but source was compiled with: ',
    'driver version is older than',
    'hipErrorNoBinaryForGpu',
    'invalid device function',
  ],
  facts: code,
  rules: [
    {
      pattern: /NVIDIA driver on your system is too old(?: \(found version (\d{4,5})\))?/,
      severity: 'critical',
      title: 'Driver too old for this CUDA',
      verdict: ({ match }) =>
        `The NVIDIA driver${match[1] === undefined ? '' : `, which supports CUDA up to ${dotted(match[1])},`} is too old for the CUDA that this program was built with.`,
      remedies: DRIVER_OLD,
    },
    {
      pattern: /CUDA driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver|driver version is older than/,
      severity: 'critical',
      title: 'Driver too old for this CUDA runtime',
      verdict: 'The NVIDIA driver is older than the CUDA runtime of this program needs; without any driver the same is said.',
      remedies: DRIVER_OLD,
    },
    {
      pattern: /unsatisfied condition: (\w{1,20} ?[<>=!]{1,2} ?[\d.]{1,12})/,
      severity: 'critical',
      title: 'Image asks for a newer driver',
      verdict: ({ match }) => `The container image requires ${match[1] ?? ''}, which the driver of this host does not give, so the container was not started.`,
      remedies: [
        { text: 'Update the driver of the host, or use an image of an older CUDA.' },
        { text: 'To try all the same, switch the check off.', command: 'docker run -e NVIDIA_DISABLE_REQUIRE=1 --gpus all …' },
      ],
    },
    {
      pattern: /forward compatibility was attempted on non supported HW|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|cudaErrorCompatNotSupportedOnDevice/i,
      severity: 'critical',
      title: 'CUDA compatibility library on a GPU without it',
      verdict:
        'The program loaded a CUDA compatibility library (cuda-compat) that only data-centre GPUs support, or a libcuda that does not fit the kernel module.',
      remedies: COMPATIBILITY,
      facts: (seen) => ({ cuda_error_code: 804, ...code(seen) }),
    },
    {
      pattern: /unsupported display driver \/ cuda driver combination|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorSystemDriverMismatch/i,
      severity: 'critical',
      title: 'libcuda does not fit the kernel driver',
      verdict:
        'The libcuda that was loaded and the kernel module of the driver are of different versions: a driver update without a reboot, or a compatibility library in the image.',
      remedies: COMPATIBILITY,
      facts: (seen) => ({ cuda_error_code: 803, ...code(seen) }),
    },
    {
      pattern: /(?:CUDA capability )?(sm_\d{2,3}) is not compatible with the current PyTorch|is not compatible with the current PyTorch/,
      severity: 'critical',
      title: 'PyTorch build without kernels for this GPU',
      verdict: ({ match }) =>
        `This PyTorch build has no kernels for the GPU${match[1] === undefined ? '' : ` (${match[1]})`}: the GPU is newer or older than those the build was made for.`,
      remedies: ARCHITECTURE,
    },
    {
      pattern:
        /no kernel image is available|cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|hipErrorNoBinaryForGpu|(?:CUDA|HIP) error: invalid device function|has no device code compatible with CUDA arch|device kernel image is invalid|CUDA_ERROR_INVALID_IMAGE|cudaErrorInvalidKernelImage/,
      severity: 'critical',
      title: 'No kernel for this GPU in the program',
      verdict: "The program or one of its libraries holds no code for this GPU's architecture: it was compiled for other generations.",
      remedies: ARCHITECTURE,
    },
    {
      pattern:
        /PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion|Unsupported \.version [\d.]{1,6};|PTX JIT compilation failed|CUDA_ERROR_INVALID_PTX/,
      severity: 'critical',
      title: "Driver too old for the program's PTX",
      verdict: 'The program brings PTX of a CUDA version that the driver cannot translate: the driver is older than the toolkit that compiled it.',
      remedies: DRIVER_OLD,
    },
    {
      pattern:
        /no longer supports this GPU because it is too old|The minimum required Cuda capability is|CUDA GPU is too old\b|requires device with capability [^\n]{0,80}too old/,
      severity: 'warning',
      title: 'GPU too old for this build',
      verdict: 'This build does not support so old a GPU any more.',
      remedies: ARCHITECTURE,
    },
    {
      pattern: /The detected CUDA version \(([\d.]{1,8})\) mismatches the version that was used to compile\s{1,3}PyTorch \(([\d.]{1,8})\)/,
      severity: 'critical',
      title: 'CUDA toolkit and PyTorch differ',
      verdict: ({ match }) =>
        `An extension is to be compiled with CUDA ${match[1] ?? ''}, but PyTorch was built with CUDA ${match[2] ?? ''}; both must have the same major version.`,
      remedies: [
        {
          text: "Point CUDA_HOME at a toolkit of PyTorch's version, or install the PyTorch of your toolkit.",
          command: 'export CUDA_HOME=/usr/local/cuda-12.8',
        },
      ],
    },
    {
      pattern: /[Uu]nsupported gpu architecture '?(\w{1,16})|invalid value for --gpu-architecture|Value '(sm_\w{1,8})' is not defined for option 'gpu-name'/,
      severity: 'critical',
      title: 'CUDA compiler does not know this GPU',
      verdict: ({ match }) =>
        `The CUDA compiler that is installed does not know ${match[1] ?? match[2] ?? 'the architecture'}: it is older than the GPU, or has dropped it.`,
      remedies: [
        {
          text: 'Install a CUDA toolkit that knows the GPU; for Triton, point it at that ptxas.',
          command: 'export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas',
        },
        ...ARCHITECTURE,
      ],
    },
    {
      pattern: /FlashAttention only supports Ampere GPUs or newer|only supported on GPUs with compute capability of at least ([\d.]{1,5})/,
      severity: 'critical',
      title: 'GPU too old for this feature',
      verdict: 'The program asks for a feature that this generation of GPU does not have.',
      remedies: [
        {
          text: 'Choose another attention implementation or number format.',
          command: 'vllm serve MODEL --dtype half; transformers: attn_implementation="sdpa"',
        },
      ],
    },
    {
      pattern: /Loaded runtime CuDNN library: [\d.]{1,12} but source was compiled with: [\d.]{1,12}/i,
      severity: 'critical',
      title: 'cuDNN of another version',
      verdict: 'The cuDNN that was loaded is older than the one the program was built with.',
      remedies: [
        {
          text: 'Install the cuDNN version that the message names, and see that no other stands before it in LD_LIBRARY_PATH.',
          command: "ldconfig -p | grep libcudnn; pip install 'nvidia-cudnn-cu12'",
        },
      ],
    },
  ],
})
