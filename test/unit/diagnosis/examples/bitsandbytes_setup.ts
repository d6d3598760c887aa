// bitsandbytes without a binary for the GPU; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['bitsandbytes_setup']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'no binary, old form',
    text: 'CUDA SETUP: Required library version not found: libbitsandbytes_cuda118.so. Maybe you need to compile it from source?\nCUDA SETUP: Defaulting to libbitsandbytes_cpu.so...',
    kinds: one,
    facts: { library: 'libbitsandbytes_cuda118.so' },
  },
  {
    name: 'no binary, new form',
    text: 'bitsandbytes library load error: Configured CUDA binary not found at /venv/lib/python3.12/site-packages/bitsandbytes/libbitsandbytes_cuda129.so',
    kinds: one,
    facts: { library: 'libbitsandbytes_cuda129.so' },
  },
  {
    name: 'set-up failed',
    text: 'RuntimeError:\n        CUDA Setup failed despite GPU being available. Please run the following command to get more information:',
    kinds: one,
  },
  {
    name: 'built for the CPU',
    text: "UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers and GPU quantization are unavailable.\nAttributeError: 'NoneType' object has no attribute 'cquantize_blockwise_fp16_nf4'",
    kinds: one,
  },
  {
    name: 'too old for transformers',
    text: 'ImportError: Using `bitsandbytes` 4-bit quantization requires the latest version of bitsandbytes: `pip install -U bitsandbytes`',
    kinds: one,
  },
  {
    name: 'a symbol is missing',
    text: 'AttributeError: /venv/lib/bitsandbytes/libbitsandbytes_cpu.so: undefined symbol: cget_col_row_stats',
    kinds: one,
    facts: { library: 'libbitsandbytes_cpu.so' },
  },
  {
    name: 'quiet: it works',
    text: 'CUDA SETUP: CUDA runtime path found: /usr/local/cuda/lib64/libcudart.so\nCUDA SETUP: Highest compute capability among GPUs detected: 8.6\nCUDA SETUP: Loading binary /venv/bitsandbytes/libbitsandbytes_cuda121.so...',
    kinds: [],
  },
  { name: 'quiet: it is installed', text: 'Successfully installed bitsandbytes-0.46.0', kinds: [] },
  { name: 'not installed', text: "ModuleNotFoundError: No module named 'bitsandbytes'", kinds: one },
]
