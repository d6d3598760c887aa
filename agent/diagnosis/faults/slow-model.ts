// A model that works, many times slower than it could: quantized without the CUDA kernels made for that, or wholly or in part outside the GPU.
import { mayBeIgnored } from './parts/optional-libraries.ts'
import { ruleFamily } from './parts/rules.ts'
import { whoHolds } from './remedies/gpu.ts'
import { pipInstall } from './remedies/pip.ts'

export const slowModel = ruleFamily({
  id: 'slow-model',
  kind: 'precision_fallback',
  literals: [
    'kernels for auto_gptq are not installed',
    'CUDA extension not installed',
    'because they were offloaded to the',
    'Ollama will run in CPU-only mode',
  ],
  rules: [
    {
      // install.sh of Ollama: what it asks are lspci, lshw, and nvidia-smi under WSL.
      pattern: /No NVIDIA(?:\/AMD)? GPU detected\. Ollama will run in CPU-only mode/,
      severity: 'warning',
      title: 'Running on the CPU instead of the GPU',
      facts: () => ({ from: 'cuda', to: 'cpu' }),
      verdict: "Ollama's installer found no NVIDIA or AMD GPU on this machine, so Ollama works on the CPU: many times slower.",
      remedies: ({ situation }) => [
        situation().system === 'wsl'
          ? { text: 'See whether WSL shows the GPU; if not, update the driver in Windows, and WSL.', command: 'nvidia-smi' }
          : { text: 'See whether the machine has one, and whether its driver answers.', command: "lspci | grep -iE 'vga|3d|display'; nvidia-smi" },
        {
          text: 'When the driver answers, install Ollama again: the installer adds its GPU libraries then.',
          command: 'curl -fsSL https://ollama.com/install.sh | sh',
        },
      ],
    },
    {
      // accelerate, after device_map="auto" (big_modeling.py).
      pattern: /parameters are on the meta device(?: device)? because they were offloaded to the (cpu and disk|cpu|disk)\b/,
      severity: 'warning',
      title: 'A part of the model is outside the GPU',
      verdict: ({ match }) =>
        `The model does not fit the free memory of the GPUs, so accelerate keeps a part of it ${match[1] === 'cpu' ? 'in host memory' : match[1] === 'disk' ? 'on disk' : 'in host memory and on disk'}: each pass copies it, many times slower.`,
      remedies: ({ situation }) => [
        whoHolds(situation()),
        { text: 'Load a smaller model or a smaller quantization, or spread it over more GPUs (device_map="auto" with all of them visible).' },
        {
          text: 'If it should fit one GPU: see what was placed where (model.hf_device_map), and place all of it there (device_map={"": 0}); what is too large then fails at once instead of being slow.',
        },
      ],
      facts: () => ({ from: 'cuda', to: 'cpu' }),
    },
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
