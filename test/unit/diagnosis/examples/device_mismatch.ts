// Ends of jobs of the kind device_mismatch; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'an operation',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/nets/unet.py", line 88, in forward\n    y = self.proj(x)\n  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward\n    return F.linear(input, self.weight, self.bias)\nRuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!',
    kinds: ['device_mismatch'],
    facts: { frame: 'unet.py:88', exception: 'RuntimeError' },
  },
  {
    name: 'a module and its input',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/nets/unet.py", line 88, in forward\n    y = self.proj(x)\n  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward\n    return F.linear(input, self.weight, self.bias)\nRuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same',
    kinds: ['device_mismatch'],
    facts: { frame: 'unet.py:88' },
  },
  {
    name: 'to NumPy',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nTypeError: can\'t convert mps:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.',
    kinds: ['device_mismatch'],
    facts: { exception: 'TypeError' },
  },
  { name: 'quiet: a plan', text: '2026-03-02 10:00:00,000 INFO plan: layers 0-3 on cuda:0, layers 4-7 on cuda:1', kinds: [] },
]
