// A quantized model that is computed without the CUDA kernels made for it: it works, many times slower.
import { mayBeIgnored } from './parts/optional-libraries.ts'
import { ruleFamily } from './parts/rules.ts'
import { pipInstall } from './remedies/pip.ts'

export const slowKernels = ruleFamily({
  id: 'slow-kernels',
  kind: 'precision_fallback',
  literals: ['kernels for auto_gptq are not installed', 'CUDA extension not installed'],
  rules: [
    {
      // auto_gptq/modeling/_base.py; which PyTorch its wheels were built against: docs/INSTALLATION.md of AutoGPTQ.
      pattern: /CUDA kernels for auto_gptq are not installed|CUDA extension not installed/,
      severity: 'warning',
      title: 'GPTQ runs without its CUDA kernels',
      verdict: 'auto-gptq is installed without its compiled CUDA kernels, so quantized layers are computed by general code: many times slower.',
      remedies: ({ situation }) => [
        {
          text: 'Take the release whose wheel was built against your PyTorch (0.7.1: 2.2.1, 0.7.0: 2.2.0, 0.6.0: 2.1.1), or build it here: that needs a CUDA toolkit (nvcc) in the version of PyTorch.',
          command: pipInstall(situation(), 'auto-gptq', '--force-reinstall --no-cache-dir --no-deps --no-build-isolation'),
        },
        {
          text: 'Or use its successor GPTQModel, which Transformers takes for the same models.',
          command: pipInstall(situation(), 'gptqmodel', '--no-build-isolation'),
        },
        { text: 'See whether they are there then.', command: 'python -c "import torch, autogptq_cuda_64"' },
      ],
      facts: () => ({ library: 'auto-gptq' }),
      // A library that only imports it says so, too.
      unless: (seen) => mayBeIgnored(seen),
    },
  ],
})
