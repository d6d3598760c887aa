// Ends of jobs of the kind shape_mismatch; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a layer',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/nets/unet.py", line 88, in forward\n    y = self.proj(x)\n  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward\n    return F.linear(input, self.weight, self.bias)\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (32x100 and 128x10)',
    kinds: ['shape_mismatch'],
    facts: { frame: 'unet.py:88' },
  },
  {
    name: 'NumPy',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nValueError: operands could not be broadcast together with shapes (3,4) (5,)',
    kinds: ['shape_mismatch'],
    facts: { exception: 'ValueError' },
  },
  {
    name: 'a batch',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nRuntimeError: stack expects each tensor to be equal size, but got [3, 20] at entry 0 and [3, 18] at entry 1',
    kinds: ['shape_mismatch'],
  },
  { name: 'quiet: shapes are printed', text: 'step 3 shapes (32, 100) and (100, 10) loss 0.4', kinds: [] },
  {
    name: 'Julia',
    text: 'ERROR: LoadError: DimensionMismatch: A has size (4,5), B has size (6,4)\nStacktrace:\n [1] mul!(C::Matrix, A::Matrix)\n   @ LinearAlgebra /opt/julia/share/julia/stdlib/v1.11/LinearAlgebra/src/matmul.jl:9\n [2] forward(x::Matrix)\n   @ Main ~/net/model.jl:31\n [3] top-level scope\n   @ ~/net/fit.jl:8',
    kinds: ['shape_mismatch'],
    facts: { exception: 'DimensionMismatch', frame: 'model.jl:31' },
  },
  {
    name: 'TensorFlow batches',
    text: 'Traceback (most recent call last):\n  File "/srv/job/fit.py", line 12, in <module>\n    model.fit(rows)\ntensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\nCannot batch tensors with different shapes in component 1. First element had shape [8,8] and element 2 had shape [8,9].',
    kinds: ['shape_mismatch'],
    facts: { exception: 'InvalidArgumentError', frame: 'fit.py:12' },
  },
  {
    name: "Julia's older form",
    text: 'ERROR: LoadError: DimensionMismatch("array could not be broadcast to match destination")\nStacktrace:\n [1] top-level scope\n   @ ~/tide/fit.jl:88\nin expression starting at /home/user/tide/fit.jl:88',
    kinds: ['shape_mismatch'],
    facts: { exception: 'DimensionMismatch', frame: 'fit.jl:88' },
  },
]
