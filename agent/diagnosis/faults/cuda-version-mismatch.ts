// The driver, the CUDA runtime, the program's kernels and the GPU do not fit together.
import { BFLOAT16_LITERALS, bfloat16Rules } from './parts/bfloat16.ts'
import { notTheGpuAlone, warnedOf } from './parts/xformers.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { around, cudaErrorCode, known } from './parts/window.ts'
import { compiledFor, kernelsOf, oddGpu, usualGpu } from './parts/architecture.ts'
import { builtForDriver, greeted, noGpuOfImage } from './parts/container-driver.ts'
import { jaxLibraries } from './parts/jax-libraries.ts'
import { architecture, compatibility } from './remedies/cuda-builds.ts'
import { driverOld, ptxTooNew } from './remedies/driver.ts'
import { dotted, runsOn, shown, unreached } from './remedies/driver-reach.ts'
import { COMPUTE_CAP } from './remedies/gpu.ts'
import { pipInstall } from './remedies/pip.ts'
import { speaker } from '../situation/programs.ts'
import type { Situation } from '../situation/situation.ts'

const minor = (version = ''): string => version.split('.').slice(0, 2).join('.')
/** pip has cuDNN 9 for CUDA 12 and 13, 8 for CUDA 11. */
function cudnn(needed: string, log: string): string {
  const major = Number.parseInt(needed, 10)
  return `'nvidia-cudnn-cu${/cu(?:da-?)?13/i.test(log) ? 13 : major + 3}>=${minor(needed)},<${major + 1}'`
}
/** "cuda >= 12.8", "driver>=410" of an image's labels. */
function asks(condition = ''): string {
  const [, what = '', version = ''] = /^(\w+)\D*([\d.]+)/.exec(condition) ?? []
  return what === 'driver' ? `release ${version} or newer` : `one that gives ${what.replace('cuda', 'CUDA')} ${version}`
}
const onWindows = ({ system, text }: Situation): boolean => system === 'windows' || /docker[ -]desktop|\bPS [A-Z]:\\/i.test(text)
/** docs.nvidia.com/cuda/parallel-thread-execution, "Release Notes": from 8.6 on the two no longer count alike. */
const CUDA_OF_PTX: Readonly<Record<string, string>> = { '8.6': '12.7', '8.7': '12.8', '8.8': '12.9' }
const ptxOf = (version: string): string => {
  const cuda = CUDA_OF_PTX[version] ?? (/^(?:7\.[0-8]|8\.[0-5]|9\.0)$/.test(version) ? String(Number.parseInt(version, 10) + 4) + version.slice(1) : undefined)
  return cuda === undefined ? version : `${version} (CUDA ${cuda})`
}
const code = ({ message }: Seen): ReturnType<typeof known> => known({ cuda_error_code: cudaErrorCode(message) })

export const cudaVersionMismatch = ruleFamily({
  id: 'cuda-version-mismatch',
  kind: 'cuda_version_mismatch',
  literals: [
    ...BFLOAT16_LITERALS,
    'but JAX was built against',
    'Outdated cuDNN installation',
    'driver on your system is too old',
    'driver version is insufficient',
    'cudaError',
    'CUDA_ERROR_',
    'no kernel image is available',
    ' returned error 209: No binary',
    'Rebuild this file with -',
    'Accelerator Fatal Error: ',
    'src/hip_',
    'device kernel image is invalid',
    'unsupported toolchain',
    'PTX JIT compilation failed',
    'is not compatible with the current PyTorch',
    'no longer supports this GPU',
    'minimum required Cuda capability',
    'CUDA GPU is too old',
    'has no device code compatible with',
    'Unsupported .version ',
    'requires device with capability',
    'forward compatibility was attempted',
    'was built for NVIDIA Driver Release',
    'cuInit(0)',
    'Cuda driver error',
    'cuInit failed',
    'call to cuInit',
    'cuInit err: ',
    'No supported GPU(s) detected',
    'unsupported display driver',
    'unsatisfied cond',
    'mismatches the version that was used to compile',
    'is not supported for the current GPU. Minimum',
    'only supported on GPUs with compute capability',
    'but source was compiled with: ',
    'driver version is older than',
    'hipErrorNoBinaryForGpu',
    'invalid device function',
  ],
  facts: code,
  rules: [
    builtForDriver,
    noGpuOfImage,
    {
      pattern: /NVIDIA driver on your system is too old(?: \(found version (\d{4,5})\))?/,
      severity: 'critical',
      title: 'Driver too old for this CUDA',
      verdict: ({ match, situation }) =>
        `The NVIDIA driver${situation().versions.driver === undefined ? '' : ` ${situation().versions.driver}`}${match[1] === undefined ? '' : `, which supports CUDA up to ${dotted(match[1])},`} is too old for the CUDA that this program was built with.`,
      remedies: driverOld,
    },
    {
      pattern: /CUDA driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver|driver version is older than/,
      severity: 'critical',
      title: ({ situation }) => (runsOn(situation()) === undefined ? 'Driver too old for this CUDA runtime' : 'No usable driver for this CUDA runtime'),
      verdict: ({ situation }) => {
        const { driver, driverCuda } = situation().versions
        const runs = runsOn(situation())
        if (runs !== undefined)
          return `CUDA found no driver that is new enough, or none at all. ${driver === undefined ? 'The one that the log shows' : `Driver ${driver}`} runs CUDA up to ${driverCuda}, enough for CUDA ${runs}: likely the program does not reach it.`
        return `The NVIDIA driver${driver === undefined || driverCuda === undefined ? '' : ` (${driver}, for CUDA up to ${driverCuda})`} is older than the CUDA runtime of ${speaker(situation().programs) ?? 'this program'} needs, or the program does not reach it.`
      },
      remedies: (matched) => (runsOn(matched.situation()) === undefined ? driverOld(matched) : unreached(matched)),
      // The image's greeting says that there is no driver at all; Triton's own line has a rule there.
      unless: ({ situation, text, at }) => situation().text.includes('NVIDIA Driver was not detected') || /allocate pinned system memory/.test(text[at] ?? ''),
    },
    {
      // A terminal may have cut the word.
      pattern: /unsatisfied cond\w{0,5} ?\w{0,5}: (\w{1,20} ?[<>=!]{1,2} ?[\d.]{1,12})/,
      severity: 'critical',
      title: 'Image asks for a newer driver',
      verdict: ({ match }) => `The container image requires ${match[1] ?? ''}, which the driver of this host does not give, so the container was not started.`,
      remedies: ({ match, situation }) => [
        {
          text: `Update the driver of ${onWindows(situation()) ? 'Windows, which containers there use too,' : 'the host'} to ${asks(match[1])}${shown(situation())}, or use an image of an older CUDA.`,
          ...(shown(situation()) === '' ? { command: 'nvidia-smi' } : {}),
        },
        { text: 'NVIDIA_DISABLE_REQUIRE=1 switches the check off; programs that need the newer driver then fail later.' },
      ],
    },
    {
      pattern:
        /forward compatibility was attempted on non supported HW|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|cudaErrorCompatNotSupportedOnDevice|(?:cuInit\b[^\n]{0,60}|Cuda driver error )\b804\b/i,
      severity: 'critical',
      title: 'CUDA compatibility library on a GPU without it',
      verdict:
        'The program loaded a CUDA compatibility library (cuda-compat) that only data-centre GPUs support, or a libcuda that does not fit the kernel module.',
      remedies: compatibility,
      facts: (seen) => ({ cuda_error_code: 804, ...code(seen) }),
      unless: greeted,
    },
    jaxLibraries,
    {
      pattern:
        /unsupported display driver \/ cuda driver combination|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorSystemDriverMismatch|(?:cuInit\b[^\n]{0,60}|Cuda driver error )\b803\b/i,
      severity: 'critical',
      title: 'libcuda does not fit the kernel driver',
      verdict:
        'The libcuda that was loaded and the kernel module of the driver are of different versions: an update without a reboot, or a cuda-compat library.',
      remedies: compatibility,
      facts: (seen) => ({ cuda_error_code: 803, ...code(seen) }),
      unless: greeted,
    },
    {
      pattern: /(?:CUDA capability )?(sm_\d{2,3}) is not compatible with the current PyTorch|is not compatible with the current PyTorch/,
      severity: 'critical',
      title: 'PyTorch build without kernels for this GPU',
      verdict: ({ match, message, text, at }) => {
        const built = [...(/CUDA capabilities ([sm_\d ]{5,120})/.exec(around(text, at, 0, 3))?.[1] ?? '').matchAll(/sm_(\d{2,3})/g)].map((one) =>
          Number(one[1]),
        )
        const own = Number(match[1]?.slice(3))
        const age =
          built.length === 0 || Number.isNaN(own) ? 'newer or older' : own > Math.max(...built) ? 'newer' : own < Math.min(...built) ? 'older' : 'another'
        const gpu = /(?:NVIDIA |GeForce |Tesla |Quadro )((?:\w[\w-]{0,12} ){1,5}?)with CUDA capability/.exec(message)?.[1]?.trim()
        return `This PyTorch build has no kernels for the ${gpu ?? 'GPU'}${match[1] === undefined ? '' : ` (${match[1]})`}${age === 'another' ? '' : `: the GPU is ${age} than those the build was made for`}.`
      },
      remedies: architecture,
    },
    {
      // OpenACC and OpenMP of NVIDIA's compilers, which name the option that is missing.
      pattern:
        /(?:call to cu\w{2,40} returned|Cuda driver) error 209\b|(?:Accelerator Fatal Error: [^]{0,300}?)?Rebuild this file with (-[\w=:,]{4,30}) to use/,
      severity: 'critical',
      title: 'No kernel for this GPU in the program',
      verdict: ({ match }) =>
        `The program holds no code for the architecture of this GPU${match[1] === undefined ? '' : `: it was compiled without ${match[1]}`}.`,
      remedies: ({ match }) => [
        {
          text: `Compile it again for this GPU${match[1] === undefined ? ' (-gpu=cc and its compute capability without the point)' : `, with ${match[1]}`}; several can be given, separated by commas.`,
          command: COMPUTE_CAP,
        },
      ],
    },
    {
      // Triton compiles for the GPU that is there.
      pattern: /Triton Error \[CUDA\]: device kernel image is invalid/,
      severity: 'critical',
      title: 'A Triton kernel that the driver cannot load',
      verdict:
        "Triton compiled a kernel that the driver refuses: its ptxas is of a newer CUDA than the driver, or the kernel came from Triton's cache and is another GPU's.",
      remedies: architecture,
    },
    {
      pattern:
        /no kernel image is available|hip_(?:code_object|fatbin)\.cpp:\d{1,5}: [^\n]{0,300}(?:hipSuccess|NoBinaryForGpu|No compatible)|cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|hipErrorNoBinaryForGpu|(?:(?:CUDA|HIP|ROCm) error: |cudaError_t \d{1,3} : ")invalid device function|has no device code compatible with CUDA arch|device kernel image is invalid|CUDA_ERROR_INVALID_IMAGE|cudaErrorInvalidKernelImage/,
      severity: 'critical',
      title: 'No kernel for this GPU in the program',
      verdict: ({ situation, match, message }) => {
        const gpu = oddGpu(situation().text) ?? usualGpu(situation().text)?.name
        const part = kernelsOf({ message, match })
        return `${part ?? 'The program or one of its libraries'} holds no code for ${warnedOf(situation()) ?? (gpu === undefined ? "this GPU's architecture" : `the ${gpu}`)}: it was compiled for ${compiledFor(situation().text) ?? 'other generations'}.`
      },
      remedies: architecture,
      unless: ({ text, at }) => /is not compatible with the current PyTorch/.test(around(text, at, 10, 10)),
    },
    {
      pattern:
        /PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion|Unsupported \.version [\d.]{1,6};|PTX JIT compilation failed|CUDA_ERROR_INVALID_PTX/,
      severity: 'critical',
      title: "Driver too old for the program's PTX",
      verdict: ({ situation }) => {
        const [, brought, known] =
          /application ptx input[^\n]{0,60}Unsupported \.version (\d\.\d{1,2}); current version is '(\d\.\d{1,2})'/.exec(situation().text) ?? []
        return brought === undefined || known === undefined
          ? 'The program brings PTX of a CUDA version that the driver cannot translate: the driver is too old.'
          : `The program brings PTX ${ptxOf(brought)}; the driver translates up to ${ptxOf(known)}: it is too old.`
      },
      remedies: ptxTooNew,
    },
    {
      pattern:
        /no longer supports this GPU because it is too old|The minimum required Cuda capability is|CUDA GPU is too old\b|requires device with capability [^\n]{0,80}too old/,
      severity: 'warning',
      title: 'GPU too old for this build',
      verdict: 'This build does not support so old a GPU any more.',
      remedies: architecture,
      unless: notTheGpuAlone,
    },
    {
      pattern: /The detected CUDA version \(([\d.]{1,8})\) mismatches the version that was used to compile\s{1,3}PyTorch \(([\d.]{1,8})\)/,
      severity: 'critical',
      title: 'CUDA toolkit and PyTorch differ',
      verdict: ({ match }) =>
        `An extension is to be compiled with CUDA ${match[1] ?? ''}, but PyTorch was built with CUDA ${match[2] ?? ''}; both must have the same major version.`,
      remedies: ({ match }) => [
        {
          text: `Install the CUDA toolkit ${match[2] ?? ''} beside the other and point CUDA_HOME at it.`,
          command: `export CUDA_HOME=/usr/local/cuda-${match[2] ?? '<VERSION>'}`,
        },
        { text: `Or install the PyTorch build for CUDA ${match[1] ?? ''}, or a wheel of the extension that is already compiled.` },
      ],
    },
    ...bfloat16Rules,
    {
      pattern: /method (\w{2,30}) is not supported for the current GPU\. Minimum capability: (\d{1,2})(\d)\. Current capability: (\d{1,2})(\d)\b/,
      severity: 'critical',
      title: 'GPU too old for this quantization',
      verdict: ({ match }) => `Models in ${match[1]} need compute capability ${match[2]}.${match[3]}; this GPU has ${match[4]}.${match[5]}.`,
      remedies: ({ match, situation }) => [
        match[1] === 'fp8' &&
          Number(match[4]) >= 8 && {
            text: 'Update vLLM: current releases run FP8 weights on GPUs from compute capability 8.0 on (the weights stay small, the computing is done in 16 bit).',
            command: pipInstall(situation(), 'vllm', '--upgrade'),
          },
        {
          text: `Use a version of the model without ${match[1]}: 16 bit where it fits${Number(match[4]) * 10 + Number(match[5]) >= 75 && !/awq|gptq/i.test(match[1] ?? '') ? ', else AWQ or GPTQ (4 bit), which GPUs from compute capability 7.5 on run' : ''}.`,
        },
        { text: `Or run it on a GPU of compute capability ${match[2]}.${match[3]} or newer.`, command: COMPUTE_CAP },
      ],
    },
    {
      pattern: /only supported on GPUs with compute capability of at least ([\d.]{1,5})/,
      severity: 'critical',
      title: 'GPU too old for this feature',
      verdict: 'The program asks for a feature that this generation of GPU does not have.',
      remedies: [
        { text: 'Switch the feature off, or choose a number format that the GPU supports.' },
        { text: 'See what the GPU supports.', command: COMPUTE_CAP },
      ],
    },
    {
      pattern: /Loaded runtime CuDNN library: (\d[\d.]{0,11}) but source was compiled with: (\d[\d.]{0,10}\d)/i,
      severity: 'critical',
      title: 'cuDNN of another version',
      verdict: ({ match }) => `The cuDNN that was loaded (${match[1]}) is older than the one the program was built with (${match[2]}).`,
      remedies: ({ match, situation }) => [
        {
          text: `Install cuDNN ${minor(match[2])} or newer of the same major version.`,
          command: pipInstall(situation(), cudnn(match[2] ?? '9', situation().text)),
        },
        {
          text: 'See which copies there are: an older one must not come first in LD_LIBRARY_PATH.',
          command: 'printenv LD_LIBRARY_PATH; ldconfig -p | grep libcudnn; pip list | grep -i cudnn',
        },
      ],
    },
  ],
})
