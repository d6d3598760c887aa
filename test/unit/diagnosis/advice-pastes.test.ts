// More classes of messages as people paste them into threads: NVRTC and cuSOLVER, pods, Ray, downloads, Ollama, Xids. All texts are written for this test.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { answer } from './answer.ts'

const LIBS = '/opt/venv/lib/python3.11/site-packages'

test.each([
  [
    'bitsandbytes with a list of its libraries: none of them was looked for',
    `'NoneType' object has no attribute 'cadam32bit_grad_fp32'\n+++ CUDA PATHS +++\n${LIBS}/bitsandbytes/libbitsandbytes_cuda114.so\n${LIBS}/bitsandbytes/libbitsandbytes_cuda122.so`,
    /bitsandbytes cannot use the GPU/,
    /looked for CUDA/,
  ],
  [
    'bitsandbytes on Windows, whose message is another',
    "CUDA SETUP: Loading binary D:\\env\\Lib\\site-packages\\bitsandbytes\\libbitsandbytes_cpu.dll...\nfunction 'cadam32bit_grad_fp32' not found",
    /before 0\.43 have no library for Windows/,
    /libcudart/,
  ],
  [
    'the CPU library of bitsandbytes, which lacks a function',
    `${LIBS}/bitsandbytes/libbitsandbytes_cpu.so: undefined symbol: cadam32bit_grad_fp32`,
    /loaded its CPU library, which has no 8-bit and 4-bit functions/,
    /no compiled library/,
  ],
  [
    'a device plugin that refuses with its own words',
    '  Warning  UnexpectedAdmissionError  12s   kubelet  Allocate failed due to rpc error: code = Unknown desc = cannot map index 3 to a device, which is unexpected',
    /answered "cannot map index 3 to a device"[^]*nvidia-smi -L/,
    /exited or restarted/,
  ],
  [
    'heads that do not divide by the shards of TGI',
    'Traceback (most recent call last):\n  File "/srv/app/text_generation_server/models/heads.py", line 12, in __init__\n    raise ValueError(\nValueError: `num_heads` must be divisible by `num_shards` (got `num_heads`: 25 and `num_shards`: 4\n2024-02-10T08:00:00.000001Z ERROR text_generation_launcher: Shard 0 failed to start\nError: ShardCannotStart',
    /25 attention heads cannot be split over 4 GPUs[^]*--num-shard 1/,
    /Correct num_heads/,
  ],
  [
    "the host's memory as DeepSpeed counted it last",
    "[2024-02-10 08:00:00,101] [INFO] [utils.py:838:see_memory_usage] CPU Virtual Memory:  used = 31.20 GB, percent = 24.8%\n[2024-02-10 08:00:40,101] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python3', '-u', 'tune.py', '--deepspeed', 'zero2.json'] exits with return code = -9",
    /last counted 31\.20 GB of it \(24\.8 %\)[^]*a container has a lower limit/,
    /illegal/,
  ],
  [
    'the host engine of DCGM without NVML',
    'ERROR [1:7] Cannot load NVML; DCGM will proceed without managing GPUs. [/src/HostEngine.cpp:1201] [LoadNvml]',
    /NVML cannot be started[^]*was a GPU requested/,
    /undefined/,
  ],
  [
    'the plugin library of TensorRT-LLM',
    '| my_llm | 1 | UNAVAILABLE: Not found: unable to load shared library: libnvinfer_plugin_tensorrt_llm.so.10: cannot open shared object file: No such file |',
    /part of TensorRT-LLM, in a release for TensorRT 10/,
    /pip install 'tensorrt==/,
  ],
  [
    'a platform of Triton in place of a backend',
    "E0301 10:00:00.000001 1 model_lifecycle.cc:597] failed to load 'encoder' version 1: Invalid argument: unable to find 'libtriton_onnxruntime_onnx.so' for model 'encoder', searched: /models/encoder/1, /opt/tritonserver/backends/onnxruntime_onnx",
    /no backend onnxruntime_onnx for encoder[^]*or backend: "onnxruntime"[^]*encoder\/config\.pbtxt/,
    /undefined/,
  ],
  [
    'the driver in a machine without a card of NVIDIA',
    '[   12.345678] NVRM: No NVIDIA graphics adapter found!\n[   12.345700] NVRM: NVIDIA init module failed!',
    /there is none in this machine, another driver holds it/,
    /undefined/,
  ],
  [
    'two GPUs that the driver cannot start',
    '[ 90.000001] NVRM: GPU 0000:05:00.0: RmInitAdapter failed! (0x11:0x45:2525)\n[ 90.000002] NVRM: GPU 0000:05:00.0: rm_init_adapter failed, device minor number 0\n[ 94.000001] NVRM: GPU 0000:06:00.0: RmInitAdapter failed! (0x11:0x45:2525)',
    /Another GPU of this host fails alike[^]*it must suit all/,
    /reseat/,
  ],
  [
    'JAX without code for the GPU',
    "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: custom call 'xla.gpu.custom_call' failed: jaxlib/gpu/solver_kernels.cc:45: operation gpuGetLastError() failed: no kernel image is available for execution on the device",
    /jaxlib that holds code for this GPU[^]*'jax\[cuda12\]'/,
    /torch/,
  ],
  [
    'a model that JAX exported for the CPU alone',
    'Traceback (most recent call last):\n  File "/srv/run.py", line 8, in <module>\n    out = served(batch)\ntensorflow.python.framework.errors_impl.NotFoundError: Graph execution error:\n\nThe current platform CUDA is not among the platforms required by the module: [CPU]',
    /exported from JAX for the CPU alone[^]*CUDA_VISIBLE_DEVICES=-1/,
    /pdb/,
  ],
  [
    'JAX on the CPU',
    'No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)',
    /which devices JAX finds/,
    /one for the CPU never/,
  ],
  [
    'an extension of apex, whose build leaves it out without its options',
    `ImportError: ${LIBS}/fused_layer_norm_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: THPVariableClass`,
    /--build-option=--cuda_ext[^]*pip uninstall apex/,
    /cxx11abi/,
  ],
  [
    'an extension that a newer toolkit compiled',
    `ImportError: ${LIBS}/fused_layer_norm_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: __cudaPopCallConfiguration`,
    /compiled with a newer CUDA toolkit than the CUDA of this PyTorch/,
    /nvidia-cuda-runtime/,
  ],
  [
    'cuSOLVER of CUDA 12 before a program for CUDA 11',
    "I tensorflow/stream_executor/platform/default/dso_loader.cc:49] Successfully opened dynamic library libcudart.so.11.0\nW tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'libcusolver.so.11'; dlerror: libnvJitLink.so.12: cannot open shared object file: No such file or directory\nW tensorflow/core/common_runtime/gpu/gpu_device.cc:1689] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.",
    /libcusolver\.so\.11 that was found is that of CUDA 12/,
    /built for libnvJitLink/,
  ],
  [
    "NVRTC's helper of exactly one release",
    'RuntimeError: nvrtc: error: failed to open libnvrtc-builtins.so.11.1.\n  Make sure that libnvrtc-builtins.so.11.1 is installed correctly.\nnvrtc compilation failed:',
    /kernels cannot be compiled while the program runs[^]*libnvrtc-builtins-<HASH>\.so\.11\.1[^]*cuda-11\.1\/lib64/,
    /cannot use the GPU/,
  ],
  [
    "NVRTC's helper from a package of its own",
    'RuntimeError: nvrtc: error: failed to open libnvrtc-builtins.so.12.4.\nnvrtc compilation failed:',
    /'nvidia-cuda-nvrtc-cu12==12\.4\.\*'/,
    /cannot use the GPU/,
  ],
  [
    'NVRTC by the name that only development packages have',
    `  File "${LIBS}/torch/cuda/_utils.py", line 38, in _get_nvrtc_library\n    return ctypes.CDLL("libnvrtc.so")\nOSError: libnvrtc.so: cannot open shared object file: No such file or directory`,
    /Only development packages have the name without a number/,
    /must match/,
  ],
  [
    'a module that compiled and did not load',
    "Installing NVIDIA driver version 535.161.07.\nBuilding kernel modules\n  : [##############################] 100%\n\nERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when this kernel module was built against the wrong or improperly configured kernel sources, or if another driver, such as nouveau, is present.",
    /driver 535\.161\.07 could not be loaded[^]*compiled to the end[^]*mokutil --sb-state/,
    /Install the headers/,
  ],
  [
    "the operator's driver container that is restarted",
    'Warning  BackOff  29s (x94 over 3h)  kubelet  Back-off restarting failed container nvidia-driver-ctr in pod nvidia-driver-daemonset-x7k2p_gpus(8a0d8d4f-9f88-4c42-930d-508ab7653a98)',
    /driver pod does not start[^]*kubectl logs -n gpus nvidia-driver-daemonset-x7k2p -c nvidia-driver-ctr --previous/,
    /<NAMESPACE>/,
  ],
  [
    'vLLM that waits for GPUs of Ray',
    "INFO 01-02 03:04:05 [ray_utils.py:464] Waiting for creating a placement group of specs for 310 seconds. specs=[{'GPU': 1.0}, {'GPU': 1.0}]. Check `ray status` and `ray list nodes` to see if you have enough resources\nTotal Usage:\n 0.0/34.0 CPU\n 0.0/1.0 GPU",
    /waited 310 s for 2 GPUs of the Ray cluster\. Ray counts 1 in all, of which 0 are in use/,
    /pdb/,
  ],
  [
    'a rest of a GPU that Ray has given away',
    "ValueError: Current node has no GPU available. current_node_resource={'memory': 36000000000.0, 'GPU': 0.05}. vLLM engine cannot start without GPU.",
    /0\.05 is left[^]*num_gpus=0/,
    /driver is not visible/,
  ],
  [
    'a download that is not complete',
    'OSError: Consistency check failed: file should be of size 1000000000 but has size 250000000 (model-00002-of-00004.safetensors).\nWe are sorry for the inconvenience. Please retry with `force_download=True`.',
    /download of model-00002-of-00004\.safetensors is not complete[^]*25 % of the file came[^]*--force-download/,
    /issues of the server/,
  ],
  [
    'the model that a host without a way to the hub wants',
    "OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files and it looks like acme/tiny-model is not the path to a directory containing a file named config.json.",
    /hf download acme\/tiny-model/,
    /<REPOSITORY>/,
  ],
  [
    'a network that the program names in other words than its error',
    "!!! Exception during processing !!! We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files.\nTraceback (most recent call last):\n  File \"/usr/lib/python3.11/socket.py\", line 85, in create_connection\n    sock.connect(sa)\nOSError: [Errno 101] Network is unreachable",
    /getent hosts huggingface\.co[^]*HF_HUB_OFFLINE=1/,
    /<HOST>/,
  ],
  [
    'the cache of which one file is refused',
    "Could not cache non-existence of file. Will ignore error and continue. Error: [Errno 13] Permission denied: '/models/huggingface/hub/models--acme--tiny/.no_exist/0123/config.json'",
    /The model cache \/models\/huggingface\/hub cannot be written/,
    /no_exist/,
  ],
  [
    'Ollama on Windows, which no container holds',
    'time=2025-01-02T03:04:05.006+02:00 level=DEBUG source=gpu.go:529 msg="skipping PhysX cuda library path" path="C:\\\\Program Files (x86)\\\\NVIDIA Corporation\\\\PhysX\\\\nvcuda.dll"\ntime=2025-01-02T03:04:05.006+02:00 level=INFO source=gpu.go:602 msg="error looking up nvidia GPU memory" error="cuda driver library failed to get device context 801"',
    /Quit Ollama in the tray/,
    /docker/i,
  ],
  [
    "Ollama's runtime that finds no driver",
    'cudaSetDevice err: 35\ntime=2025-01-02T03:04:05.006Z level=DEBUG source=gpu.go:537 msg="Unable to load cudart library /usr/lib/ollama/libcudart.so.12: your nvidia driver is too old or missing.  If you have a CUDA GPU please upgrade to run ollama"',
    /runtime of CUDA 12 found no NVIDIA driver, or one that is too old/,
    /NixOS/,
  ],
  [
    'an old driver by the name of its library',
    'dlerr: /usr/lib64/libcuda.so.418.74: undefined symbol: cuCtxCreate_v3\ntime=2025-01-02T03:04:05.006Z level=DEBUG source=gpu.go:385 msg="Unable to load nvcuda" library=/usr/lib64/libcuda.so.418.74 error="symbol lookup for cuCtxCreate_v3 failed: /usr/lib64/libcuda.so.418.74: undefined symbol: cuCtxCreate_v3"',
    /driver \(418\.74\) is too old for Ollama/,
    /newer than the driver/,
  ],
  [
    'an archive that ComfyUI cannot read, quoted without the traceback',
    '!!! Exception during processing !!! PytorchStreamReader failed reading zip archive: failed finding central directory\nTraceback (most recent call last):\n  File "C:\\ComfyUI_windows_portable\\ComfyUI\\execution.py", line 327, in execute',
    /failed finding central directory"\)/,
    /cut while it was saved/,
  ],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})

test('an Xid of one GPU that older drivers print without a program is told once', () => {
  const line = (pid: number, at: string): string =>
    `[ 100.000001] NVRM: Xid (PCI:0000:18:00): 31, pid=${pid}, Ch 00000039, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ ${at}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE`
  const faults = explainText(logScanner(), [line(101, '0x7f75_7bd4f000'), line(202, '0x7f69_43d4f000'), line(303, '0x7f1b_fdd4f000')].join('\n'))
  expect(faults).toHaveLength(1)
  expect(faults[0]?.verdict).toContain('3 times on this GPU: processes 101, 202, 303')
})

test('an event of an NVSwitch that NVIDIA says can be ignored is no warning, and its registers are no second one', () => {
  const of = (rest: string): string => `[ 38.178720] nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, ${rest}`
  const faults = explainText(
    logScanner(),
    [of('Data {0x0000002b, 0x0000002b}'), of('Non-fatal, Link 44 Minion Link DLREQ interrupt'), of('Severity 0 Engine instance 44')].join('\n'),
  )
  expect(faults).toHaveLength(1)
  expect(faults[0]?.severity).toBe('info')
  expect(faults[0]?.verdict).toContain('link 44 that NVIDIA says can be ignored')
})

test('a cluster of Ray that grows is given time', () => {
  expect(
    explainText(
      logScanner(),
      "INFO [ray_utils.py:464] Waiting for creating a placement group of specs for 70 seconds. specs=[{'GPU': 1.0}]. Check `ray status`",
    ),
  ).toEqual([])
})

test('an exporter of a card for desktops goes on without the profiling metrics', () => {
  const lines = [
    'time=2025-03-01T10:00:00.000Z level=INFO msg="DCGM successfully initialized!"',
    'time=2025-03-01T10:00:01.000Z level=INFO msg="Not collecting DCP metrics: This request is serviced by a module of DCGM that is not currently loaded"',
  ]
  expect(explainText(logScanner(), lines.join('\n'))).toEqual([])
})
