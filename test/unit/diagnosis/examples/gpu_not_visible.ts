// Engines, tools and programs that find no GPU; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['gpu_not_visible']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'docker without the toolkit',
    text: 'docker: Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]].',
    kinds: one,
  },
  { name: 'compose without the runtime', text: 'Error response from daemon: unknown or invalid runtime name: nvidia', kinds: one },
  { name: 'toolkit: driver not loaded', text: 'nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown', kinds: one },
  {
    name: 'toolkit: no library',
    text: 'nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown',
    kinds: one,
    facts: { library: 'libnvidia-ml.so.1' },
  },
  { name: 'toolkit: a GPU that is not there', text: 'nvidia-container-cli: device error: 7: unknown device: unknown', kinds: one },
  { name: 'toolkit under WSL2', text: 'nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown', kinds: one },
  { name: 'CDI', text: 'Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all', kinds: one },
  {
    name: 'podman without the device file',
    text: 'docker: Error response from daemon: error gathering device information while adding custom device "/dev/nvidia0": no such file or directory',
    kinds: one,
    facts: { path: '/dev/nvidia0' },
  },
  {
    name: 'the device plugin',
    text: 'E0101 00:00:00.000000       1 factory.go:87] Incompatible platform detected\nE0101 00:00:00.000000       1 factory.go:88] If this is a GPU node, did you configure the NVIDIA Container Toolkit?',
    kinds: one,
  },
  {
    name: 'nvidia-smi without a driver',
    text: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
    kinds: one,
  },
  {
    name: 'WSL2 refuses',
    text: 'Failed to initialize NVML: GPU access blocked by the operating system\nFailed to properly shut down NVML: GPU access blocked by the operating system',
    kinds: one,
  },
  { name: 'PyTorch', text: '  File "train.py", line 12, in <module>\n    model.cuda()\nRuntimeError: No CUDA GPUs are available', kinds: one },
  { name: 'PyTorch for the CPU', text: 'AssertionError: Torch not compiled with CUDA enabled', kinds: one },
  {
    name: 'a checkpoint from a GPU',
    text: 'RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with map_location',
    kinds: one,
  },
  {
    name: 'a number too high',
    text: 'RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported at some other API call',
    kinds: one,
  },
  {
    name: 'the fabric is not ready',
    text: 'UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized (Triggered internally at CUDAFunctions.cpp:109.)',
    kinds: one,
    facts: { cuda_error_code: 802 },
  },
  {
    name: 'TensorFlow',
    text: 'E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (100)',
    kinds: one,
  },
  { name: 'llama.cpp', text: 'ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected', kinds: one, facts: { cuda_error_code: 100 } },
  { name: 'ROCm', text: 'RuntimeError: No HIP GPUs are available', kinds: one },
  { name: 'modprobe', text: 'modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-51-generic', kinds: one },
  { name: 'Secure Boot', text: "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", kinds: one },
  { name: 'quiet: a healthy start', text: 'INFO: Using device: cuda:0\nFound 2 GPUs: /dev/nvidia0 /dev/nvidia1', kinds: [] },
  {
    name: 'quiet: another tool finds no devices',
    text: 'scanning the bus\nbluetoothctl: done\nusb: idle\nNo devices were found on the printer port',
    kinds: [],
  },
  {
    name: 'containerd',
    text: 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured',
    kinds: one,
  },
  { name: 'the banner of an image', text: 'WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.', kinds: one },
  {
    name: 'quiet: a tool looks for device files that few hosts have',
    text: [
      "ls: cannot access '/dev/nvidia-caps-imex-channels/': No such file or directory",
      "ls: cannot access '/dev/nvidia-caps-imex-channels/channel0': No such file or directory",
      "stat: cannot statx '/dev/nvidia-nvswitchctl': No such file or directory",
      "chmod: cannot access '/dev/nvidia-modeset': No such file or directory",
      "/bin/ls: cannot access '/dev/nvidia-fs*': No such file or directory",
      'find: ‘/dev/nvidia-caps’: No such file or directory',
    ].join('\n'),
    kinds: [],
  },
  {
    name: 'a tool finds none of those that CUDA needs',
    text: "ls: cannot access '/dev/nvidia-uvm': No such file or directory",
    kinds: one,
    facts: { path: '/dev/nvidia-uvm' },
  },
  { name: 'a tool finds no GPU file at all', text: "ls: cannot access '/dev/nvidia*': No such file or directory", kinds: one },
  { name: 'a tool finds no first GPU', text: "stat: cannot statx '/dev/nvidia0': No such file or directory", kinds: one, facts: { path: '/dev/nvidia0' } },
  {
    name: 'a program that was denied an IMEX channel',
    text: 'failed to open /dev/nvidia-caps-imex-channels/channel0: Permission denied',
    kinds: one,
    facts: { path: '/dev/nvidia-caps-imex-channels/channel0' },
  },
  { name: 'ROCm: device files', text: 'Unable to open /dev/kfd read-write: Permission denied', kinds: ['gpu_not_visible'], facts: { path: '/dev/kfd' } },
  { name: 'Intel', text: 'RuntimeError: No XPU devices are available.', kinds: ['gpu_not_visible'] },
  { name: 'Ray', text: 'ValueError: Current node has no GPU available. vLLM engine cannot start without GPU.', kinds: ['gpu_not_visible'] },
  {
    name: 'CUDA cannot be initialized',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: CUDA error: initialization error',
    kinds: ['gpu_not_visible'],
    facts: { cuda_error_code: 3 },
  },
  {
    name: 'the MPS daemon is away',
    text: 'CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server',
    kinds: ['gpu_not_visible'],
    facts: { cuda_error_code: 805 },
  },
  {
    name: 'unknown error of the driver',
    text: 'CUDA failure 999: unknown error',
    kinds: ['gpu_not_visible'],
    facts: { cuda_error_code: 999 },
  },
  {
    name: 'Level Zero without a device',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: level_zero backend failed with error: 2147483646 (UR_RESULT_ERROR_UNINITIALIZED)',
    kinds: ['gpu_not_visible'],
  },
  {
    name: 'a build without XPU',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nAssertionError: Torch not compiled with XPU enabled',
    kinds: ['gpu_not_visible'],
  },
  {
    name: 'quiet: a name in code',
    text: '  case CUDA_ERROR_UNKNOWN: return "unknown";',
    kinds: [],
  },
  {
    name: 'nvidia-smi is not in the container',
    text: 'Error: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found',
    kinds: ['gpu_not_visible'],
  },
  {
    name: 'an outdated CDI description',
    text: 'Error: setting up CDI devices: failed to stat CDI host device "/dev/dri/renderD131": no such file or directory',
    kinds: ['gpu_not_visible'],
    facts: { path: '/dev/dri/renderD131' },
  },
  {
    name: 'Ollama does not take this card',
    text: 'level=WARN source=amd_linux.go:378 msg="amdgpu is not supported (supported types:[gfx1030 gfx1100])" gpu=0 gpu_type=gfx1032 library=/usr/lib/ollama',
    kinds: ['gpu_not_visible'],
  },
  {
    name: 'quiet: one card is taken, another is not',
    text: 'level=INFO msg="amdgpu is supported" gpu=0 gpu_type=gfx1100\nlevel=WARN msg="amdgpu is not supported (supported types:[gfx1030 gfx1100])" gpu=1 gpu_type=gfx1036',
    kinds: [],
  },
  {
    name: 'open modules',
    text: `NVRM: The NVIDIA GPU 0000:05:00.0 (PCI ID: 10de:2c02)
NVRM: installed in this system requires use of the NVIDIA open kernel modules.`,
    kinds: one,
  },
  {
    name: 'a Jetson',
    text: "stderr: Auto-detected mode as 'csv'\ninvoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported.",
    kinds: ['gpu_not_visible'],
  },
  {
    name: 'a rootless engine',
    text: 'nvidia-container-cli: mount error: failed to add device rules: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown',
    kinds: ['gpu_not_visible'],
  },
  { name: 'no Vulkan device', text: 'ggml_vulkan: No devices found.', kinds: ['gpu_not_visible'] },
  {
    name: 'GROMACS',
    text: 'Program:     gmx mdrun, version 2026.1\n\nFatal error:\nCannot run PME on a GPU because no GPU is\ndetected.\n\nFor more information and tips for troubleshooting, please check the GROMACS\nwebsite',
    kinds: ['gpu_not_visible'],
  },
  {
    name: 'OpenACC',
    text: 'call to cuInit returned error 100: No device',
    kinds: ['gpu_not_visible'],
    facts: { cuda_error_code: 100 },
  },
]
