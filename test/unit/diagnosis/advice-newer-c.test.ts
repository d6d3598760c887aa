// Messages of trainers, servers and clusters of 2025 and 2026. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const TWO_D =
  '  File "/home/u/train.py", line 70, in forward\n    x = self.embed(tokens)\n  File "/v/lib/python3.11/site-packages/torch/nn/functional.py", line 2233, in embedding\n    return torch.embedding(weight, input)\nRuntimeError: \'weight\' must be 2-D'

test.each([
  [
    'a part of a model under FSDP',
    `accelerate launch --use_fsdp train.py\n${TWO_D}\nFullyShardedDataParallel(`,
    /split by FSDP[^]*summon_full_params/,
    /ZeRO|deepspeed/i,
  ],
  ['a part of a model under DeepSpeed', `deepspeed train.py --deepspeed z3.json\n${TWO_D}`, /split by ZeRO-3[^]*GatheredParameters/, /FSDP/],
  [
    "a model without Unsloth's engine",
    "  File \"/home/u/ft/grpo.py\", line 17, in <module>\n    trainer = GRPOTrainer(\nAttributeError: 'Gemma2ForCausalLM' object has no attribute 'vllm_engine'",
    /fast_inference=True[^]*use_vllm=False/,
    /print type/,
  ],
  [
    'a rank without the connection to vLLM',
    "[rank1]: AttributeError: 'VLLMGeneration' object has no attribute 'vllm_client'",
    /main process alone[^]*is_main_process/,
    /renamed between versions/,
  ],
  [
    'a token that the grammar does not allow',
    '[2026-02-03 18:48:34 TP7] Scheduler hit an exception: Traceback (most recent call last):\n  File "/sgl/sglang/srt/constrained/xgrammar_backend.py", line 101, in accept_token\n    raise ValueError(\nValueError: Tokens not accepted: 200006',
    /structured output[^]*--grammar-backend llguidance[^]*--reasoning-parser/,
    /one switch/,
  ],
  [
    'MXFP4 without its kernels',
    'ValueError: MXFP4 quantization requires triton >= 3.4.0 and kernels installed, we will default to dequantizing the model to bf16',
    /'triton>=3\.4\.0' kernels/,
    /pip show triton/,
  ],
  [
    'a device plugin without the libraries of the driver',
    'E0203 10:01:02.1 1 main.go:173] error starting plugins: error creating plugin manager: unable to create cdi spec file: failed to get CDI spec: failed to create discoverer for driver files: failed to get driver version: failed to locate libcuda.so: pattern libcuda.so.*.* not found',
    /ended: "failed to locate libcuda\.so: pattern[^]*runtimeClassName: nvidia/,
    /unable to create cdi/,
  ],
  [
    'a GPU that shares its memory: the rest may be caches',
    'NVIDIA GB10\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 119.69 GiB of which 1.11 GiB is free. Including non-PyTorch memory, this process has 71.20 GiB memory in use. Of the allocated memory 70.10 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated.',
    /drop_caches/,
    /GPU of its own/,
  ],
  [
    'a name that a newer ComfyUI has',
    '  File "C:\\ComfyUI\\custom_nodes\\ComfyUI-Acme\\nodes.py", line 13, in load\n    fmt = Wan22 if dim == 3072 else Wan21\nNameError: name \'Wan22\' is not defined',
    /Update ComfyUI-Acme[^]*another release of ComfyUI/,
    /pdb/,
  ],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})

test.each([
  ['the place first', 'CUDA error at solver.cu:88: out of memory'],
  ["NVIDIA's example of a macro", 'GPUassert: out of memory solver.cu 88'],
  ['the reason in quotes', "Cuda failure solver.cu:88: 'out of memory'"],
  ['a number behind the reason', 'CUDA error in solver.cu:88 : out of memory (2)'],
  ['on two lines', 'CUDA Runtime Error at: solver.cu:88\nout of memory cudaMalloc(&field, bytes)'],
  ['the code before the reason', 'Error: solver.cu:88, code: 2, reason: out of memory'],
  ['of HIP', "hip error: 'out of memory'(2) at solver.cpp:12"],
])('memory that a program in C++ lacks, %s', (_, text) => {
  const { kind, all } = answer(`$ ./solve --cells 4096\n${text}`)
  expect(kind).toBe('cuda_oom')
  expect(all).toMatch(/smaller problem or batch[^]*cudaFree/)
})

test('a cell that asks for a GPU where the runtime has none', () => {
  const { all } = answer('!nvidia-smi\n/bin/bash: line 1: nvidia-smi: command not found')
  expect(all).toMatch(/Change runtime type/)
  expect(all).not.toMatch(/dkms|modprobe|dmesg/)
})

test('Transformers asks for Accelerate beside bitsandbytes', () => {
  const { all } = answer(
    'ImportError: Using `bitsandbytes` 8-bit quantization requires Accelerate: `pip install accelerate` and the latest version of bitsandbytes',
  )
  expect(all).toContain('pip install --upgrade accelerate bitsandbytes')
})

test.each([
  ['JAX without cuBLAS', 'jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to initialize BLAS support', /Leave memory for the library beside JAX/],
  ['TensorFlow without an algorithm', 'tensorflow.python.framework.errors_impl.NotFoundError: No algorithm worked!', /TF_FORCE_GPU_ALLOW_GROWTH/],
])('a library that lacks memory to start: %s', (_, text, wanted) => {
  expect(answer(text)).toMatchObject({ kind: 'cublas_cudnn_error', all: expect.stringMatching(wanted) })
})
