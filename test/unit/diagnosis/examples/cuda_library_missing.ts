// CUDA libraries that are not found or do not fit; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['cuda_library_missing']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
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
  {
    name: 'an extension for another PyTorch',
    text: 'ImportError: /venv/lib/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE',
    kinds: one,
  },
  { name: 'the linker', text: '/usr/bin/ld: cannot find -lcudart: No such file or directory', kinds: one, facts: { library: 'cudart' } },
  {
    name: 'Windows',
    text: "FileNotFoundError: Could not find module 'C:\\app\\cudart64_12.dll' (or one of its dependencies).",
    kinds: one,
    facts: { library: 'cudart64_12.dll' },
  },
  { name: 'no toolkit', text: 'OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.', kinds: one },
  { name: 'quiet: a library that is not of CUDA', text: 'ImportError: libgomp.so.1: cannot open shared object file: No such file or directory', kinds: [] },
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
]
