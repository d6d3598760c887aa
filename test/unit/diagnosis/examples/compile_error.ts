// Kernels that do not fit a GPU; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['compile_error']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'shared memory',
    text: 'triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.',
    kinds: one,
    facts: { pattern: 'shared_memory', requested_bytes: 147456, limit_bytes: 101376 },
  },
  {
    name: 'registers',
    text: 'triton.runtime.errors.OutOfResources: out of resource: registers, Required: 69632, Hardware limit: 65536.',
    kinds: one,
    facts: { pattern: 'registers' },
  },
  { name: 'threads', text: 'out of resource: threads, Required: 2048, Hardware limit: 1024. Reducing `num_warps` may help.', kinds: one },
  { name: 'quiet: tuned', text: 'autotune: best config BLOCK_M=64, num_stages=2', kinds: [] },
  {
    name: 'a CUDA kernel',
    text: 'k.cu(5): error: identifier "foo" is undefined\n1 error detected in the compilation of "k.cu".\nninja: build stopped: subcommand failed.',
    kinds: ['compile_error'],
  },
  {
    name: 'ROCm: scratch memory',
    text: 'pid:812 tid:0x7f00 [UpdateScratch] scratch_size overflow!\n:0:rocdevice.cpp :4212: Callback: Queue 0x7f00 aborting with error :\n  HSA_STATUS_ERROR_INVALID_ARGUMENT ... kernel: softmax_bwd',
    kinds: one,
  },
  {
    name: 'a kernel with too many registers',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: CUDA error: too many resources requested for launch',
    kinds: ['compile_error'],
  },
  {
    name: 'TensorRT has no kernel',
    text: '[E] Error[10]: Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[/enc/Add...]}.)',
    kinds: ['compile_error'],
  },
  {
    name: 'headers of Python',
    text: `/tmp/x/main.c:5:10: fatal error: Python.h: No such file or directory
compilation terminated.`,
    kinds: one,
  },
  {
    name: 'no C compiler',
    text: `torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via CC environment variable.`,
    kinds: one,
  },
]
