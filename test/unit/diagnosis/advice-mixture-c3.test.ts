// A fourth mixture of the common kinds, second part: drivers, libraries, hosts, the hub, NCCL.
import { rows } from './advice-rows.ts'

rows('the hub', [
  [
    'the name of a data set behind resolve-cache',
    'HTTP Error 429 thrown while requesting HEAD https://huggingface.co/api/resolve-cache/datasets/acme/rooms/88bdca74dd4ec1f8c994904f7985392fc3f2b4c4/configs%2Fa.json\nRetrying in 8s [Retry 5/5].',
    /Download acme\/rooms once[^]*snapshot_download\('acme\/rooms', repo_type='dataset'\)/,
    /resolve-cache/,
  ],
  [
    'of a model there',
    'huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/resolve-cache/models/acme/tiny/88bd/config.json',
    /snapshot_download\('acme\/tiny'\)/,
  ],
])

rows('libraries', [
  [
    'a name without a number',
    'app-1  | Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file: No such file or directory\napp-1 exited with code 139',
    /Only development packages[^]*libnvrtc\.so without a number[^]*ending in -devel/,
    /cudnn-runtime|number behind the name must match/,
  ],
  [
    "vLLM's log, and a package of another CUDA",
    '(EngineCore pid=169)     from . import nixl_ep_cpp as _nixl_ep_cpp\n(EngineCore pid=169) ImportError: libcudart.so.13: cannot open shared object file: No such file or directory\n(APIServer pid=45)   File "/workspace/vllm/serve.py", line 24, in <module>',
    /nixl_ep_cpp was built for libcudart\.so\.13 \(CUDA 13\)/,
    /This vLLM was built/,
  ],
  [
    "cuDNN's failed kernel in PyTorch",
    '  File "/usr/local/lib/python2.7/dist-packages/torch/nn/modules/rnn.py", line 113, in flatten_parameters\nRuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED',
    /built for an older CUDA than the GPU needs/,
  ],
])

rows('drivers', [
  [
    'an update that apt logged: the reboot first',
    '$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: libnvidia-common-460:amd64 (460.56-0ubuntu0.20.04.1, 460.73.01-0ubuntu0.20.04.1)\nEnd-Date: 2021-04-24  06:50:54',
    /from 460\.56 to 460\.73\.01[^]*?cannot use the GPU\.\n?[^]{0,20}Reboot the host/,
    /Compare the two versions/,
  ],
  [
    'the number of the driver that is too old',
    'RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver.\n| NVIDIA-SMI 470.86       Driver Version: 470.86       CUDA Version: 11.4     |',
    /NVIDIA driver 470\.86, which supports CUDA up to 11\.4,/,
  ],
  [
    'a build for the CPU, with its version and the driver of a csv',
    ">>> torch.cuda.is_available()\nFalse\n>>> torch.__version__\n'2.6.0+cpu'\n$ nvidia-smi --query-gpu=name,driver_version --format=csv\nname, driver_version\nNVIDIA GeForce RTX 3090, 535.183.01",
    /installed \(2\.6\.0\+cpu\) is a build for the CPU[^]*whl\/cu126/,
  ],
  [
    'one device that another driver holds',
    'NVRM: The NVIDIA probe routine was not called for 1 device(s).\nNVRM: This can occur when another driver was loaded and \nNVRM: obtained ownership of the NVIDIA device(s).\nNVRM: No NVIDIA devices probed.',
    /could not take the NVIDIA device of this machine: another driver holds it/,
    /none of 1|there is none/,
  ],
  [
    "Docker on Windows: the driver is Windows' own",
    "Error response from daemon: failed to create shim task: OCI runtime create failed: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown\nPS C:\\work> docker compose up --build",
    /Windows passes on through WSL 2[^]*NVIDIA driver in Windows[^]*wsl --update/,
    /on the host, with its user-space/,
  ],
  [
    'TCC under WSL',
    'Failed to initialize NVML: GPU access blocked by the operating system\nFailed to properly shut down NVML: GPU access blocked by the operating system\n\n|   0  NVIDIA L40S                  TCC   |   00000000:61:00.0 Off |                    0 |',
    /driver model TCC[^]*WDDM or MCDM/,
  ],
])

rows('hosts', [
  [
    'a GPU that did not wake up',
    "kernel: nvidia 0000:01:00.0: can't change power state from D3cold to D0 (config space inaccessible)\nkernel: NVRM: Xid (PCI:0000:01:00): 79, pid=7992, GPU has fallen off the bus.\nkernel: NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.",
    /could not wake it up from its sleep state[^]*NVreg_DynamicPowerManagement=0x00/,
  ],
  [
    'the same without an Xid',
    "kernel: nvidia 0000:01:00.0: can't change power state from D3cold to D0 (config space inaccessible)",
    /does not come back from its sleep state[^]*NVreg_DynamicPowerManagement=0x00/,
  ],
  [
    'a crash dump for which the driver asks',
    'kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=2337, GPU has fallen off the bus.\nkernel: NVRM: A GPU crash dump has been created. If possible, please run\n               NVRM: nvidia-bug-report.sh as root to collect this data before\n               NVRM: the NVIDIA kernel module is unloaded.',
    /Collect the crash dump[^]*nvidia-bug-report\.sh/,
  ],
  [
    'rows beside a pending repair',
    '    Remapped Rows\n        Correctable Error                 : 0\n        Uncorrectable Error               : 4\n        Pending                           : Yes\n        Remapping Failure Occurred        : No',
    /row remap pending: GPU reset required \(4 rows were remapped/,
    /not to be trusted/,
  ],
  [
    'a limit of temperature that is set low',
    'GPU 00000000:2D:00.0\n    Clocks Throttle Reasons\n        HW Thermal Slowdown           : Not Active\n        SW Thermal Slowdown               : Active\n    Temperature\n        GPU Current Temp                  : 56 C\n        GPU Slowdown Temp                 : 97 C\n        GPU Max Operating Temp            : 57 C',
    /a limit that is set unusually low, at 56 °C, with the limit at 57 °C/,
    /too hot/,
  ],
  [
    'a checkpoint that found no room',
    'safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })\n  File "/data/v/lib/python3.11/site-packages/transformers/trainer.py", line 3478, in _save_checkpoint',
    /A checkpoint could not be written because the file system/,
  ],
  [
    'NCCL that may not write to /dev/shm, said once',
    'node08:27106:27302 [0] include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied\nnode08:27106:27302 [0] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-b794-0-3-0 (size 4460544)\nRuntimeError: NCCL error in: /pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:290, unhandled system error',
    /permission denied[^]*mode 1777/,
    /NCCL_SOCKET_IFNAME|shared and locked memory/,
  ],
])
