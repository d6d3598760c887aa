// Extensions of another PyTorch; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'
import type { Severity } from '../../../../agent/model/severity.ts'

const one: readonly LogKind[] = ['missing_dependency']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts; severity?: Severity }[] = [
  {
    name: 'flash-attn',
    text: 'ImportError: /opt/venv/lib/python3.11/site-packages/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs',
    kinds: one,
    facts: { pattern: 'abi', module: 'flash_attn_2_cuda' },
  },
  {
    name: 'at::',
    text: 'ImportError: /usr/lib/python3/dist-packages/torch_scatter/_scatter_cuda.so: undefined symbol: _ZN2at4_ops5empty13memory_format4callE',
    kinds: one,
  },
  {
    name: 'a constant',
    text: 'OSError: /opt/conda/lib/python3.10/site-packages/torchaudio/lib/libtorchaudio.so: undefined symbol: _ZNK3c105Error4whatEv',
    kinds: one,
  },
  {
    name: 'quiet: a logger says that an optional library was left out',
    text: 'INFO:rows.loader:Could not load the fast path: /opt/rows/libfast.so: undefined symbol: rows_fast; the plain one is used\nstep 1 loss 0.4\nstep 2 loss 0.3',
    kinds: [],
  },
  {
    name: 'another library, by which the loader ends the program',
    text: 'python: symbol lookup error: /usr/lib/libfoo.so: undefined symbol: _ZN3Foo3barEv',
    kinds: one,
    facts: { module: 'libfoo.so' },
  },
  {
    name: 'a warning that says when it may be ignored',
    text: "UserWarning: Failed to load image Python extension: '/venv/torchvision/image.so: undefined symbol: _ZN3c106detail14torchCheckFailE' If you don't plan on using image functionality from `torchvision.io`, you can ignore this warning.",
    kinds: one,
    severity: 'warning',
  },
  {
    name: 'xFormers of another PyTorch',
    text: "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n    PyTorch 2.4.0+cu121 with CUDA 1201 (you have 2.6.0+cu124)",
    kinds: ['missing_dependency'],
    facts: { module: 'xformers' },
  },
  {
    name: "behind vLLM's head",
    text: "ERROR 03-11 11:20:31 [core.py:340] ImportError: cannot import name 'attn_fn' from 'ops_attn' (/opt/ops_attn/__init__.py)",
    kinds: ['missing_dependency'],
    facts: { module: 'ops_attn' },
  },
  { name: 'modules made for NumPy 1', text: `AttributeError: _ARRAY_API not found`, kinds: one },
  {
    name: 'a newer libstdc++',
    text: `ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version \`GLIBCXX_3.4.32' not found (required by /opt/py/site-packages/fast.so)`,
    kinds: one,
  },
  {
    name: 'no working Triton',
    text: `RuntimeError: Cannot find a working triton installation. Either the package is not installed or it is too old.`,
    kinds: one,
  },
  {
    name: 'a module of the cluster',
    text: 'Lmod has detected the following error: The following module(s) are unknown: "nccl/9.1"',
    kinds: ['missing_dependency'],
    facts: { module: 'nccl/9.1', pattern: 'modulefile' },
  },
  {
    name: 'poetry run',
    text: 'Creating virtualenv fit in /app/.venv\nCommand not found: fit-model',
    kinds: ['missing_dependency'],
    facts: { module: 'fit-model' },
  },
  { name: 'a build of Docker', text: '0.412 /bin/sh: 1: uvx: not found', kinds: ['missing_dependency'], facts: { module: 'uvx' } },
  {
    name: 'Lmod puts the name on the next line',
    text: 'Lmod has detected the following error: The following module(s) are unknown:\n"cudnn/9.9"\n\nPlease check the spelling or version number.',
    kinds: ['missing_dependency'],
    facts: { module: 'cudnn/9.9' },
  },
]
