// What CUDA programs and frameworks say when they find no GPU.
import { printTorch } from '../remedies/environment.ts'
import type { Matched, Rule, Seen } from '../parts/rules.ts'
import { noDriver, noneFor, withoutLibcuda } from './program-remedies.ts'
import { around, cudaErrorCode, known } from '../parts/window.ts'
import { driver, fabric, HOST_DRIVER } from './driver-remedies.ts'
import { asker, build, ONE_INSTANCE, ordinal, program } from './program-remedies.ts'
import { JAX_LITERALS, jaxRules } from './jax.ts'
import { requestGpu } from './request.ts'
import type { Piece } from '../remedies/plan.ts'

export const LITERALS = [
  ...JAX_LITERALS,
  'No CUDA GPUs are available',
  'No HIP GPUs are available',
  'no NVIDIA driver on your system',
  'Torch not compiled with CUDA enabled',
  'Torch not compiled with XPU enabled',
  'torch.cuda.is_available() is False',
  'is_available() should be True but is False',
  'No GPU found. A GPU is needed',
  'error=30 : unknown error',
  'MPS client failed to connect',
  'device < num_gpus INTERNAL ASSERT',
  'CUDA unknown error',
  'unable to get number of CUDA devices',
  'CUDA driver initialization failed',
  'CUDA driver error: unknown error',
  'Unexpected error from cudaGetDeviceCount',
  'no CUDA-capable device is detected',
  'No CUDA devices',
  'CUDA_ERROR_',
  'cudaError',
  'hipErrorNoDevice',
  'no ROCm-capable device is detected',
  'Could not initialize Tensile host',
  'system not yet initialized',
  'System not yet initialized',
  'library init failure: 802',
  'CUDA driver is a stub library',
  'invalid device ordinal',
  'failed call to cuInit',
  'call to cuInit returned error 100',
  'Cuda driver error',
  'kernel driver does not appear to be running',
  'Could not find cuda drivers on your machine',
  'no supported devices found for platform CUDA',
  'No visible GPU devices',
  'failed to initialize CUDA',
  "Can't initialize NVML",
  'Cannot load NVML; DCGM ',
  'Failed to initialize NVML',
  'Failed to infer device type',
  'Invalid CUDA ',
  'visible CUDA devices',
  'No supported gpu backend found',
  'But your machine only has: []',
  'cuInit failed',
  'cuInit(0) returned ',
  'no platforms that are instances of',
  'No visible GPU is found',
  'Unsloth cannot find any torch accelerator',
  'not compiled with CUDA support',
]

// Where the text names what is really wrong, the family of that speaks.
const BETTER =
  /NVML: Unknown Error|version mismatch|driver version is insufficient|InsufficientDriver|GPU is lost|fallen off the bus|Unable to determine the device handle|driver on your system is too old|forward compatibility|Error 80[234]\b|cuInit\b[^\n]{0,60}\b80[234]\b|does not match DSO version|named symbol not found|unsupported display driver|lib(?:cuda|cudart)\.so[\d.]{0,8}'?(?:; dlerror|: cannot)|out of memory/
const explained = ({ text, at, message }: Seen): boolean => BETTER.test(message) || BETTER.test(around(text, at, 6, 6))
const code = ({ message }: Seen): ReturnType<typeof known> => known({ cuda_error_code: cudaErrorCode(message) })

/** TensorFlow looks itself whether the module is there. */
const NO_DRIVER = /kernel driver does not appear to be running on this host|\/proc\/driver\/nvidia\/version does not exist/
const UNLOADED =
  'The program found no GPU: the NVIDIA kernel driver is not loaded here (no /proc/driver/nvidia/version). It is not installed, its module does not load, or it is a container without the GPU.'
/** Docker's containers are called by twelve digits of their id; only their host loads a module. */
const CONTAINER = /\bon this host \(([0-9a-f]{12})\)/
/** TensorFlow compares the two. */
const fitting = (text: string): string => {
  const version = /kernel version seems to match DSO: (\d{3}\.[\d.]{1,8}\d)/.exec(text)?.[1]
  return version === undefined ? '' : ` though driver ${version} is loaded and its library fits`
}
const unloaded = (matched: Matched): readonly Piece[] => {
  const at = matched.situation()
  return [CONTAINER.test(at.text) ? HOST_DRIVER : driver(matched), requestGpu(at)]
}
const blind = ({ text, at }: Seen): boolean => /torch\.cuda\.is_available\(\): False|device_count\(\): 0\b/.test(around(text, at, 0, 5))
const isNumber = ({ match }: Seen): boolean => /^[\d, ]+$/.test(match[1] ?? '')

export const programRules: readonly Rule[] = [
  {
    pattern: /[Ss]ystem not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|library init failure: 802\b|cuInit err: 802\b|cuInit\b[^\n]{0,60}\b802\b/,
    severity: 'critical',
    title: 'NVSwitch fabric is not ready',
    verdict:
      'CUDA reports that the system is not yet initialized (802). On hosts with NVSwitch: the Fabric Manager does not run, or its version is not that of the driver.',
    remedies: fabric,
    facts: (seen) => ({ cuda_error_code: 802, ...code(seen) }),
  },
  {
    pattern: /CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY/,
    severity: 'critical',
    title: 'The stub of libcuda was loaded',
    verdict: 'The program loaded the libcuda that exists only for linking (…/lib64/stubs) instead of the one of the driver.',
    remedies: ({ situation }) =>
      /\/nix\/store/.test(situation().text)
        ? [
            {
              text: "On NixOS the driver's libraries are in /run/opengl-driver/lib: put that folder first.",
              command: 'export LD_LIBRARY_PATH=/run/opengl-driver/lib:$LD_LIBRARY_PATH',
            },
          ]
        : [
            {
              text: "Take the stubs folder out of the loader's path: only the linker needs it.",
              command: 'echo "$LD_LIBRARY_PATH"; ldconfig -p | grep libcuda.so.1',
            },
            { text: "See that the driver's own libcuda.so.1 is installed; in a container the toolkit mounts it.", command: 'nvidia-smi' },
          ],
    facts: (seen) => ({ cuda_error_code: 34, ...code(seen) }),
  },
  {
    pattern:
      /Could not initialize Tensile host: No devices|no CUDA-capable device is detected|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|hipErrorNoDevice|call to cuInit returned error 100\b|Cuda driver error 100\b|cuInit\(0\) returned 100\b|no ROCm-capable device is detected|^(?:what\(\): )?No CUDA devices\s*$/,
    severity: 'critical',
    title: ({ situation }) => `${situation().vendor === 'amd' ? 'ROCm' : 'CUDA'} finds no GPU`,
    verdict: ({ situation }) =>
      situation().vendor === 'amd'
        ? 'ROCm started and found no GPU: none was given to this container or process, HIP_VISIBLE_DEVICES hides it, or the driver could not initialize it.'
        : NO_DRIVER.test(situation().text)
          ? UNLOADED
          : `CUDA started and found no GPU${fitting(situation().text)}: none was given to this container or process, CUDA_VISIBLE_DEVICES hides it, or the driver could not initialize it.`,
    remedies: (matched) => (NO_DRIVER.test(matched.situation().text) ? unloaded(matched) : program(matched)),
    facts: (seen) => ({ cuda_error_code: 100, ...code(seen) }),
    unless: explained,
  },
  {
    pattern: /No (?:CUDA|HIP) GPUs are available/,
    severity: 'critical',
    title: 'No GPU for this program',
    verdict: noneFor,
    remedies: program,
    unless: explained,
  },
  {
    pattern: /Found no NVIDIA driver on your system/i,
    severity: 'critical',
    title: 'No NVIDIA driver here',
    verdict: noDriver,
    remedies: (matched) => withoutLibcuda(matched) ?? [driver(matched), program(matched)],
  },
  {
    pattern: /Torch not compiled with (?:CUDA|XPU) enabled|package was not compiled with CUDA support/,
    severity: 'critical',
    title: ({ match, situation }) =>
      situation().system === 'mac' ? 'No CUDA on a Mac' : match[0].includes('XPU') ? 'A build without support for Intel GPUs' : 'A build without CUDA',
    verdict: ({ match, situation }) =>
      situation().system === 'mac'
        ? 'The program asks for CUDA, and on macOS there is none: PyTorch for Macs uses the GPU by another device (mps).'
        : match[0].includes('XPU')
          ? 'The PyTorch that is installed is not the build for Intel GPUs (XPU), so it cannot use any.'
          : `${match[0].includes('package') ? 'The package' : 'The framework'} that is installed is a build for the CPU only, so it cannot see any GPU.`,
    remedies: build,
  },
  {
    pattern: /Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False/,
    severity: 'critical',
    title: 'A checkpoint needs a GPU that is not seen',
    verdict: 'A file that was saved from a GPU is to be loaded, and PyTorch sees no GPU here.',
    remedies: (matched) => [{ text: "To load it without a GPU: torch.load(…, map_location='cpu')." }, program(matched)],
  },
  {
    // Diffusers, of xFormers; Transformers, of bitsandbytes, GPTQ and AWQ.
    pattern: /torch\.cuda\.is_available\(\) should be True but is False|No GPU found\. A GPU is needed for quantization/,
    severity: 'critical',
    title: 'PyTorch sees no GPU',
    verdict: ({ match }) =>
      `The program is to use what runs only on a GPU (${match[0].startsWith('No') ? 'quantized weights' : 'xFormers'}), and PyTorch sees none here.`,
    remedies: (matched) => [
      {
        text: 'See whether this PyTorch was built for a GPU. None: only for CPUs; install one with CUDA in its place.',
        command: printTorch('torch.__version__, torch.version.cuda'),
      },
      program(matched),
    ],
  },
  {
    // Ultralytics says what PyTorch sees in the lines below.
    pattern: /Invalid CUDA 'device=([^'\n]{0,40})' requested/,
    severity: 'critical',
    title: (matched) => (blind(matched) ? 'PyTorch sees no GPU' : `device=${matched.match[1]} is none of the GPUs here`),
    verdict: (matched) =>
      `The program asks for device=${matched.match[1]}, ${blind(matched) ? 'and PyTorch sees no GPU at all' : 'and PyTorch has no such device'}.${isNumber(matched) ? '' : ` ${matched.match[1]} is none of the values that device takes: numbers such as 0 or 0,1, or cpu.`}`,
    remedies: (matched) => [
      blind(matched) && {
        text: 'See whether this PyTorch was built for a GPU (None: only for CPUs, install one with CUDA in its place) and whether the driver shows one.',
        command: `${printTorch('torch.__version__, torch.version.cuda')}; nvidia-smi -L`,
      },
      {
        text: `${blind(matched) ? 'Then set' : 'Set'} device=0${isNumber(matched) ? ', or another number that nvidia-smi -L shows' : ''}; device=cpu runs without a GPU.`,
      },
    ],
    facts: code,
  },
  {
    pattern: /(?<!NCCL WARN [^\n]{0,60})invalid device ordinal|CUDA_ERROR_INVALID_DEVICE\b|Invalid CUDA (?:'device=|device index)/,
    severity: 'critical',
    title: 'A GPU number that does not exist here',
    verdict: (matched) =>
      ONE_INSTANCE.test(matched.situation().text)
        ? 'The program asks for a second GPU and was given one MIG instance: a process sees only one, as GPU 0.'
        : `${asker(matched)} asks for a GPU by a number that it does not have: fewer are visible to it.`,
    remedies: ordinal,
    facts: code,
  },
  {
    // docs.nvidia.com/deploy/mps: clients find the daemon by its pipes, in /tmp/nvidia-mps where nothing else is set; one user has the server at a time.
    pattern: /MPS client failed to connect to the MPS control daemon|CUDA_ERROR_MPS_\w{4,30}|cudaErrorMps\w{4,30}/,
    severity: 'critical',
    title: 'CUDA does not reach the MPS server',
    verdict:
      'CUDA was to work through MPS, whose control daemon or server it does not reach. In a container: it does not see the pipes of the daemon, or it has an IPC namespace of its own.',
    remedies: ({ situation }) => [
      situation().programs.has('docker') && {
        text: 'Start the container with the pipes of the daemon and the IPC namespace of the host.',
        command: `docker run --gpus all --ipc=host -v /tmp/nvidia-mps:/tmp/nvidia-mps ${situation().subject.image ?? '<IMAGE>'}`,
      },
      {
        text: 'See whether the daemon runs, as which user, and where its pipes are: a client of another user waits or is refused.',
        command: 'ps -eo user,pid,args | grep "[n]vidia-cuda-mps"; ls -l "${CUDA_MPS_PIPE_DIRECTORY:-/tmp/nvidia-mps}"',
      },
      { text: 'Or do without MPS: end the daemon (its clients end with it).', command: 'echo quit | sudo nvidia-cuda-mps-control', destroys: true },
    ],
    facts: code,
  },
  {
    // pytorch #107300, #130181, #131650
    pattern: /device >= 0 && device < num_gpus INTERNAL ASSERT FAILED/,
    severity: 'critical',
    title: 'PyTorch counts other GPUs than CUDA shows',
    verdict: ({ situation }) =>
      `PyTorch asked for a GPU that CUDA does not show. It counts GPUs before CUDA starts, and ${/MIG (?:M\.|\d|mode)|MIG-/.test(situation().text) ? 'with MIG on a process gets one instance only, whatever was counted' : 'the two differ when CUDA_VISIBLE_DEVICES is changed within the program, with MIG, or when a GPU failed'}.`,
    remedies: [
      {
        text: 'With MIG: give each process the one instance that it shall use, by its UUID.',
        command: 'nvidia-smi -L\nexport CUDA_VISIBLE_DEVICES=MIG-<UUID>',
      },
      { text: 'Set CUDA_VISIBLE_DEVICES before Python starts, not in the program: what was imported may have started CUDA already.' },
      { text: 'If nvidia-smi shows an error for a GPU, leave that one out until it was reset.' },
    ],
  },
  {
    pattern:
      /CUDA unknown error|THCudaCheck FAIL[^\n]{0,160} error=30 : unknown error|CUDA driver initialization failed|CUDA driver error: unknown error|Unexpected error from cudaGetDeviceCount|failed call to cuInit|cuInit failed|cuInit\(0\) returned (?!0\b|100\b|80[234]\b)(\d{1,3})|failed to initialize CUDA|unable to get number of CUDA devices: initialization error/,
    severity: 'critical',
    title: 'CUDA cannot start',
    verdict: ({ message, match }) =>
      cudaErrorCode(message) === 304
        ? 'CUDA could not be started (304: a call of the operating system failed): the program may not open the device files of the GPU, or runs in a sandbox that does not pass their calls on.'
        : `CUDA could not be started${match[1] === undefined ? '' : ` (error ${match[1]})`}, so the program sees no GPU. Likely causes: the nvidia_uvm module after a suspend, missing device files, a driver that is not loaded.`,
    remedies: (matched) => [
      cudaErrorCode(matched.message) === 304 || matched.situation().programs.has('docker') || matched.situation().programs.has('kubernetes')
        ? undefined
        : {
            text: 'After a suspend the module nvidia_uvm is often broken: reload it (programs on the GPU must be stopped first).',
            command: 'sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm',
            destroys: true,
          },
      program(matched),
    ],
    facts: code,
    unless: explained,
  },
  {
    pattern:
      /kernel driver does not appear to be running on this host|Could not find cuda drivers on your machine(?!, GPU will not be used)|no supported devices found for platform CUDA|No visible GPU devices|No supported gpu backend found|But your machine only has: \[\]|Failed to infer device type|no platforms that are instances of (?:gpu|cuda) are present|No visible GPU is found|Unsloth cannot find any torch accelerator/,
    severity: 'warning',
    title: 'The framework finds no GPU',
    verdict: ({ situation }) => (NO_DRIVER.test(situation().text) ? UNLOADED : 'The program looked for a GPU and found none that it can use.'),
    remedies: (matched) => (NO_DRIVER.test(matched.situation().text) ? unloaded(matched) : program(matched)),
    unless: explained,
  },
  ...jaxRules,
  {
    // DCGM's host engine gives no reason.
    pattern: /Can't initialize NVML|Failed to initialize NVML\s*$|Cannot load NVML; DCGM will proceed without/,
    severity: 'warning',
    title: 'NVML cannot be started',
    verdict: "The program could not start NVML: the driver's libraries are missing here, do not fit, or the GPU is not given to this container.",
    remedies: program,
    unless: explained,
  },
]
