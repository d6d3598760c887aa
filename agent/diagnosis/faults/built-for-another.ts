// Something was built for another GPU or another version than it meets: TensorRT engines, server binaries, kernels of ROCm's libraries, extensions.
import { ruleFamily } from './parts/rules.ts'

const rule = { severity: 'critical' } as const

export const builtForAnother = ruleFamily({
  id: 'built-for-another',
  kind: 'cuda_version_mismatch',
  literals: [
    'engine plan file is not compatible',
    'Version tag does not match',
    'engine plan file is generated on an incompatible device',
    'is not compatible with compile time compute cap',
    'TensileLibrary',
    'does not match the version torch was compiled with',
  ],
  rules: [
    {
      ...rule,
      pattern:
        /Version tag does not match|engine plan file is not compatible with this version of TensorRT(?:, expecting library version (\d[\d.]{1,20}) got (\d[\d.]{1,20}))?/,
      title: 'TensorRT engine of another version',
      verdict: ({ match }) =>
        match[2] === undefined || match[1] === undefined
          ? 'The engine was built with another TensorRT than the one that loads it.'
          : `The engine was built with TensorRT ${match[2]}, and TensorRT ${match[1]} loads it; an engine runs only with the version that built it.`,
      remedies: ({ match }) => [
        { text: `Build the engine again, with the TensorRT${match[1] === undefined ? '' : ` ${match[1]}`} of the server or image that loads it.` },
        match[2] !== undefined && { text: `Or serve it with an image that has TensorRT ${match[2]}.` },
      ],
    },
    {
      ...rule,
      pattern: /engine plan file is generated on an incompatible device(?:, expecting compute (\d{1,2}\.\d) got compute (\d{1,2}\.\d))?/,
      title: 'TensorRT engine of another GPU',
      verdict: ({ match }) =>
        match[1] === undefined
          ? 'The engine was built on a GPU of another generation than the one that loads it.'
          : `The engine was built for a GPU of compute capability ${match[2]}, and this one has ${match[1]}.`,
      remedies: ({ match }) => [
        { text: `Build the engine on a GPU of the kind that runs it${match[1] === undefined ? '' : ` (compute capability ${match[1]})`}.` },
      ],
    },
    {
      ...rule,
      pattern: /[Rr]untime compute cap (\d{2,3}) is not compatible with compile time compute cap (\d{2,3})/,
      title: 'Server built for another GPU',
      verdict: ({ match }) => `This build is for compute capability ${capability(match[2])}, and the GPU has ${capability(match[1])}.`,
      remedies: ({ match }) => [
        {
          text: `Use the image or build for compute capability ${capability(match[1])}.`,
        },
      ],
    },
    {
      ...rule,
      pattern: /(?:Cannot read|Illegal seek)[^\n]{0,160}TensileLibrary[^\n]{0,120}|TensileLibrary[^\n]{0,120}Illegal seek[^\n]{0,80}/,
      title: 'No kernel for this GPU in rocBLAS',
      verdict: ({ message }) => {
        const arch = /GPU arch ?: ?(gfx\w{3,5})/.exec(message)?.[1]
        return `rocBLAS holds no kernels for ${arch === undefined ? 'this GPU' : `this GPU (${arch})`}: this ROCm release was not built for it.`
      },
      remedies: [
        {
          text: 'See which architectures this rocBLAS has, and which the GPU is.',
          command: 'ls /opt/rocm/lib/rocblas/library | grep -o "gfx[0-9a-f]*" | sort -u; rocminfo | grep -i gfx',
        },
        {
          text: 'Install a ROCm release that supports the GPU. Many cards run with the code of a relative: HSA_OVERRIDE_GFX_VERSION (10.3.0 for RDNA 2, 11.0.0 for RDNA 3).',
        },
      ],
    },
    {
      ...rule,
      pattern: /Installed CUDA version (\d{1,2}\.\d) does not match the version torch was compiled with (\d{1,2}\.\d)/,
      title: 'CUDA toolkit and PyTorch do not match',
      verdict: ({ match }) =>
        `DeepSpeed compiles its extensions with the CUDA toolkit of this host (${match[1]}), and PyTorch was built with CUDA ${match[2]}.`,
      remedies: ({ match }) => [
        {
          text: `Install the CUDA toolkit ${match[2]} beside the old one, and point CUDA_HOME at it.`,
          command: `export CUDA_HOME=/usr/local/cuda-${match[2]}`,
        },
        { text: `Or install a PyTorch that was built with CUDA ${match[1]}.` },
      ],
    },
  ],
})
const capability = (digits: string | undefined): string => (digits === undefined ? 'another' : `${digits.slice(0, -1)}.${digits.slice(-1)}`)
