// Ends of jobs of the kind dtype_mismatch; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'scalar types',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/nets/unet.py", line 88, in forward\n    y = self.proj(x)\n  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward\n    return F.linear(input, self.weight, self.bias)\nRuntimeError: expected scalar type BFloat16 but found Float',
    kinds: ['dtype_mismatch'],
    facts: { expected: 'BFloat16', found: 'Float', frame: 'unet.py:88' },
  },
  {
    name: 'a layer',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/nets/unet.py", line 88, in forward\n    y = self.proj(x)\n  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward\n    return F.linear(input, self.weight, self.bias)\nRuntimeError: mat1 and mat2 must have the same dtype, but got Half and Float',
    kinds: ['dtype_mismatch'],
  },
  {
    name: 'an operation that is not there',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nRuntimeError: "cdist" not implemented for \'Half\'',
    kinds: ['dtype_mismatch'],
    facts: { found: 'Half' },
  },
  { name: 'quiet: a warning', text: 'UserWarning: casting float64 to float32\n  warnings.warn(text)', kinds: [] },
  {
    name: 'an Intel GPU without fp64',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: Native API failed. Native API returns: -996 invalid_kernel("uses-fp64-math")',
    kinds: ['dtype_mismatch'],
  },
  {
    name: 'FSDP',
    text: 'Traceback (most recent call last):\n  File "/srv/job/wrap.py", line 6, in build\n    net = FSDP(net)\nValueError: Must flatten tensors with uniform dtype but got torch.float16 and torch.float32',
    kinds: ['dtype_mismatch'],
    facts: { expected: 'float16', found: 'float32' },
  },
]
