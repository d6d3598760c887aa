// What CUDA programs and frameworks say when they find no GPU.
import type { Rule, Seen } from '../parts/rules.ts'
import { around, cudaErrorCode, known } from '../parts/window.ts'
import { BUILD, BUSY, DRIVER, FABRIC, PROGRAM } from './remedies.ts'

export const LITERALS = [
  'No CUDA GPUs are available',
  'No HIP GPUs are available',
  'no NVIDIA driver on your system',
  'Torch not compiled with CUDA enabled',
  'torch.cuda.is_available() is False',
  'CUDA unknown error',
  'CUDA driver error: unknown error',
  'Unexpected error from cudaGetDeviceCount',
  'no CUDA-capable device is detected',
  'CUDA_ERROR_NO_DEVICE',
  'cudaErrorNoDevice',
  'hipErrorNoDevice',
  'no ROCm-capable device is detected',
  'system not yet initialized',
  'CUDA_ERROR_SYSTEM_NOT_READY',
  'CUDA driver is a stub library',
  'CUDA_ERROR_STUB_LIBRARY',
  'busy or unavailable',
  'CUDA_ERROR_DEVICE_UNAVAILABLE',
  'invalid device ordinal',
  'CUDA_ERROR_INVALID_DEVICE',
  'failed call to cuInit',
  'kernel driver does not appear to be running',
  'Could not find cuda drivers on your machine',
  'no supported devices found for platform CUDA',
  'No visible GPU devices',
  'failed to initialize CUDA',
  "Can't initialize NVML",
  'Failed to infer device type',
  'Invalid CUDA ',
  'No supported gpu backend found',
  'But your machine only has: []',
  'cuInit failed',
  'no platforms that are instances of',
  'No visible GPU is found',
  'not compiled with CUDA support',
]

// Where the text names what is really wrong, the family of that speaks.
const BETTER =
  /NVML: Unknown Error|version mismatch|driver version is insufficient|InsufficientDriver|driver on your system is too old|forward compatibility|Error 80[34]\b|unsupported display driver|lib(?:cuda|cudart)\.so[\d.]{0,8}'?(?:; dlerror|: cannot)|out of memory/
const explained = ({ text, at, message }: Seen): boolean => BETTER.test(message) || BETTER.test(around(text, at, 6, 6))
const code = ({ message }: Seen): ReturnType<typeof known> => known({ cuda_error_code: cudaErrorCode(message) })

export const programRules: readonly Rule[] = [
  {
    pattern: /system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY/,
    severity: 'critical',
    title: 'NVSwitch fabric is not ready',
    verdict:
      'CUDA says that the system is not yet initialised (802): on machines with NVSwitch the Fabric Manager does not run, or not in the version of the driver.',
    remedies: FABRIC,
    facts: (seen) => ({ cuda_error_code: 802, ...code(seen) }),
  },
  {
    pattern: /CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY/,
    severity: 'critical',
    title: 'The stub of libcuda was loaded',
    verdict: 'The program loaded the libcuda that exists only for linking (…/lib64/stubs) instead of the one of the driver.',
    remedies: [
      {
        text: "Take the stubs folder out of the loader's path and put the driver's library there.",
        command: 'echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda.so.1',
      },
    ],
    facts: (seen) => ({ cuda_error_code: 34, ...code(seen) }),
  },
  {
    pattern: /\b[Dd]evices?(?:\(s\) is\/are| are| is) busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE/,
    severity: 'critical',
    title: 'GPU is busy or locked to another process',
    verdict: 'The GPU takes no further process: it is in an exclusive compute mode and held, or in a state that needs a reset.',
    remedies: BUSY,
    facts: code,
  },
  {
    pattern: /no CUDA-capable device is detected|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|hipErrorNoDevice|no ROCm-capable device is detected/,
    severity: 'critical',
    title: 'CUDA finds no GPU',
    verdict:
      'CUDA started and found no GPU: none was given to this container or process, CUDA_VISIBLE_DEVICES hides it, or the driver could not initialise it.',
    remedies: PROGRAM,
    facts: (seen) => ({ cuda_error_code: 100, ...code(seen) }),
    unless: explained,
  },
  {
    pattern: /No (?:CUDA|HIP) GPUs are available/,
    severity: 'critical',
    title: 'No GPU for this program',
    verdict: 'PyTorch finds no GPU: none was given to this container or process, CUDA_VISIBLE_DEVICES hides it, or it was hidden before CUDA started.',
    remedies: PROGRAM,
    unless: explained,
  },
  {
    pattern: /Found no NVIDIA driver on your system/i,
    severity: 'critical',
    title: 'No NVIDIA driver here',
    verdict: 'PyTorch finds no NVIDIA driver: it is not loaded on the host, or the container was started without the GPU.',
    remedies: [...PROGRAM, ...DRIVER.slice(0, 1)],
  },
  {
    pattern: /Torch not compiled with CUDA enabled|package was not compiled with CUDA support/,
    severity: 'critical',
    title: 'A build without CUDA',
    verdict: 'The framework that is installed is a build for the CPU only, so it cannot see any GPU.',
    remedies: BUILD,
  },
  {
    pattern: /Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False/,
    severity: 'critical',
    title: 'A checkpoint needs a GPU that is not seen',
    verdict: 'A file that was saved from a GPU is to be loaded, and PyTorch sees no GPU here.',
    remedies: [{ text: 'To load it without one:', command: "torch.load(FILE, map_location='cpu')" }, ...PROGRAM],
  },
  {
    pattern: /invalid device ordinal|CUDA_ERROR_INVALID_DEVICE\b|Invalid CUDA 'device=/,
    severity: 'critical',
    title: 'A GPU number that does not exist here',
    verdict: 'The program asks for a GPU by a number that it does not have: fewer GPUs are visible to it than it counts on.',
    remedies: PROGRAM,
    facts: code,
  },
  {
    pattern:
      /CUDA unknown error|CUDA driver error: unknown error|Unexpected error from cudaGetDeviceCount|failed call to cuInit|cuInit failed|failed to initialize CUDA/,
    severity: 'critical',
    title: 'CUDA cannot start',
    verdict:
      'CUDA could not be started, so the program sees no GPU. Frequent reasons: the nvidia_uvm module lost after a suspend, device files missing in the container, a driver that is not loaded.',
    remedies: [
      { text: 'Load the memory module anew; it is lost after some suspends.', command: 'sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm' },
      ...PROGRAM,
    ],
    facts: code,
    unless: explained,
  },
  {
    pattern:
      /kernel driver does not appear to be running on this host|Could not find cuda drivers on your machine|no supported devices found for platform CUDA|No visible GPU devices|No supported gpu backend found|But your machine only has: \[\]|Failed to infer device type|no platforms that are instances of (?:gpu|cuda) are present|No visible GPU is found/,
    severity: 'warning',
    title: 'The framework finds no GPU',
    verdict: 'The program looked for a GPU and found none that it can use.',
    remedies: PROGRAM,
    unless: explained,
  },
  {
    pattern: /Can't initialize NVML/,
    severity: 'warning',
    title: 'NVML cannot be started',
    verdict: "PyTorch could not start NVML: the driver's libraries are missing here, do not fit, or the GPU is not given to this container.",
    remedies: PROGRAM,
    unless: explained,
  },
]
