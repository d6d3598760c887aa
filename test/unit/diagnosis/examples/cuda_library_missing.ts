// CUDA libraries that are not found or do not fit; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'
import type { Severity } from '../../../../agent/model/severity.ts'

const one: readonly LogKind[] = ['cuda_library_missing']

/** TensorFlow's sentence for any library that its loader cannot open. */
const dso = (library: string): string =>
  `2031-02-03 04:05:06.700001: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library '${library}'; dlerror: ${library}: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /srv/cuda/lib`

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts; severity?: Severity }[] = [
  {
    name: 'the loader',
    text: './server: error while loading shared libraries: libcudart.so.12: cannot open shared object file: No such file or directory',
    kinds: one,
    facts: { library: 'libcudart.so.12' },
  },
  {
    name: 'Python',
    text: 'ImportError: libcusparseLt.so.0: cannot open shared object file: No such file or directory',
    kinds: one,
    facts: { library: 'libcusparseLt.so.0' },
  },
  {
    name: 'TensorFlow',
    text: "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcufft.so.10'; dlerror: libcufft.so.10: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib",
    kinds: one,
    facts: { library: 'libcufft.so.10' },
  },
  {
    name: 'cuDNN',
    text: 'Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory',
    kinds: one,
  },
  {
    name: 'cuDNN 9',
    text: 'Unable to load any of {libcudnn_graph.so.9.5.0, libcudnn_graph.so.9.5, libcudnn_graph.so.9, libcudnn_graph.so}',
    kinds: one,
    facts: { library: 'libcudnn_graph.so.9.5.0' },
  },
  { name: 'ctranslate2', text: 'RuntimeError: Library libcublas.so.12 is not found or cannot be loaded', kinds: one, facts: { library: 'libcublas.so.12' } },
  {
    name: 'another version was loaded',
    text: 'ImportError: /usr/lib/python3/dist-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowRegister',
    kinds: one,
    facts: { library: 'libtorch_cuda.so' },
  },
  { name: 'the linker', text: '/usr/bin/ld: cannot find -lcudart: No such file or directory', kinds: one, facts: { library: 'cudart' } },
  {
    name: 'Windows',
    text: "FileNotFoundError: Could not find module 'C:\\app\\cudart64_12.dll' (or one of its dependencies).",
    kinds: one,
    facts: { library: 'cudart64_12.dll' },
  },
  { name: 'no toolkit', text: 'OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.', kinds: one },
  {
    name: 'another kind: a library that is not of CUDA',
    text: 'ImportError: libgomp.so.1: cannot open shared object file: No such file or directory',
    kinds: ['missing_dependency'],
  },
  {
    name: 'quiet: the optional network plugin of NCCL',
    text: 'node1:1:1 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.',
    kinds: [],
  },
  { name: 'quiet: a link that ldconfig dislikes', text: '/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link', kinds: [] },
  { name: 'ldd', text: '\tlibcudnn.so.9 => not found', kinds: one, facts: { library: 'libcudnn.so.9' } },
  {
    name: 'the run-time compiler lacks its parts',
    text: 'nvrtc: error: failed to open libnvrtc-builtins.so.12.4. Make sure that libnvrtc-builtins.so.12.4 is installed correctly.',
    kinds: one,
    facts: { library: 'libnvrtc-builtins.so.12.4' },
  },
  {
    name: "quiet: TensorRT and the profiler's library are extras of TensorFlow",
    text: `${dso('libnvinfer.so.7')}\n${dso('libnvinfer_plugin.so.7')}\n${dso('libcupti.so.11.4')}\nW tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Cannot dlopen some TensorRT libraries.\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:1600] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 30000 MB memory`,
    kinds: [],
  },
  {
    name: 'TensorFlow goes on without the GPU: the extras before it are no part of that',
    text: `${dso('libnvinfer.so.7')}\n${dso('libcudnn.so.8')}\nW tensorflow/core/common_runtime/gpu/gpu_device.cc:1900] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly.\nSkipping registering GPU devices...`,
    kinds: one,
    facts: { library: 'libcudnn.so.8' },
    severity: 'critical',
  },
  {
    name: 'TensorFlow pasted as one line: the extra hides no library that is needed',
    text: `${dso('libnvinfer.so.7')}; ${dso('libcudart.so.11.0')}`,
    kinds: one,
    facts: { library: 'libcudart.so.11.0' },
    severity: 'warning',
  },
  {
    name: 'a program that was built for TensorRT',
    text: 'Traceback (most recent call last):\n  File "/srv/serve.py", line 3, in <module>\n    import torch_tensorrt\nOSError: libnvinfer.so.8: cannot open shared object file: No such file or directory',
    kinds: one,
    facts: { library: 'libnvinfer.so.8' },
    severity: 'critical',
  },
  {
    name: 'ONNX Runtime was asked for TensorRT',
    text: '2031-02-03 04:05:06.7 [E:onnxruntime:Default, provider_bridge_ort.cc:1990 TryGetProviderInfo_TensorRT] Failed to load library libonnxruntime_providers_tensorrt.so with error: libnvinfer.so.10: cannot open shared object file: No such file or directory',
    kinds: one,
    facts: { library: 'libnvinfer.so.10' },
    severity: 'warning',
  },
  {
    name: 'quiet: a server that looks for extras',
    text: 'WARNING: libnvinfer.so.10: cannot open shared object file: No such file or directory, TensorRT disabled\nINFO: could not load library libcupti.so.12; profiling is not available',
    kinds: [],
  },
  {
    name: 'quiet: the notices of XLA, cuDNN, DeepSpeed and the CDI generator',
    text: [
      'E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9200] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered',
      "W external/xla/xla/service/gpu/nvptx_compiler.cc:760] Can't find ptxas binary. Falling back to the CUDA driver for PTX compilation; ptxas does not support CC 8.9",
      'W tensorflow/core/kernels/gpu_utils.cc:50] None of the algorithms provided by cuDNN heuristics worked; trying fallback algorithms.',
      'UserWarning: Plan failed with a cudnnException: CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: cudnnFinalizeDescriptor Failed cudnn_status: CUDNN_STATUS_NOT_SUPPORTED (Triggered internally at Conv_v8.cpp:919.)',
      '/usr/bin/ld: cannot find -lcufile: No such file or directory',
      'time="2031-02-03T04:05:06Z" level=warning msg="Could not locate libnvidia-nscq.so.535: pattern libnvidia-nscq.so.535 not found"',
    ].join('\n'),
    kinds: [],
  },
  {
    name: 'no PTX compiler',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: CUDA error: PTX JIT compiler library not found',
    kinds: ['cuda_library_missing'],
  },
  {
    name: 'the linker lacks the driver',
    text: '/usr/bin/ld: cannot find -lcuda: No such file or directory',
    kinds: ['cuda_library_missing'],
    facts: { library: 'cuda' },
  },
  {
    name: 'an older NCCL',
    text: `ImportError: /opt/py/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister`,
    kinds: one,
  },
  {
    name: 'an older nvJitLink',
    text: `ImportError: /opt/py/lib/python3.11/site-packages/nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12`,
    kinds: one,
  },
]
