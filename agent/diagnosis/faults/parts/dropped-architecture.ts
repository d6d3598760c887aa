// Builds without code for an older GPU, mostly since CUDA 13 dropped everything before compute capability 7.5 (Turing).
import { setVariables } from '../remedies/environment.ts'
import type { Piece } from '../remedies/plan.ts'
import type { Rule } from './rules.ts'

const rule = { severity: 'critical' } as const
const dotted = (digits = ''): string => `${digits.slice(0, -2)}.${digits.slice(-2, -1)}`
/** ggml lists the GPUs as it starts. */
const GPUS = /compute capability (\d{1,2})\.(\d)/g

/** https://github.com/ollama/ollama/issues/12332; ggml/src/ggml-cuda/common.cuh */
export const ggmlArchitecture: Rule = {
  ...rule,
  pattern: /ggml was not compiled with any CUDA arch <= (\d{3,4})/,
  title: 'This build of ggml lacks code for an older GPU architecture',
  verdict: ({ match, situation }) =>
    `The CUDA library of ${situation().programs.has('ollama') ? 'this Ollama' : 'this build'} has no code for compute capability ${dotted(match[1])} or older, which was asked for here. The driver and the GPU are not at fault.`,
  remedies: ({ match, situation }) => {
    const now = situation()
    const old = Number(match[1])
    if (now.programs.has('ollama'))
      return [
        {
          text: "Install Ollama's own package: it brings libraries of CUDA 12 for older GPUs, which those that distributions build with CUDA 13 lack.",
          command: 'curl -fsSL https://ollama.com/install.sh | sh',
        },
        { text: 'If both are there, let it take that of CUDA 12.', command: setVariables(now, { OLLAMA_LLM_LIBRARY: 'cuda_v12' }) },
      ]
    const wanted = new Set([...now.text.matchAll(GPUS)].map(([, major, minor]) => Number(`${major}${minor}`)))
    const architectures = [...new Set([old / 10, ...wanted])].toSorted((a, b) => a - b).join(';')
    const dropped: Piece = old < 750 && { text: 'CUDA 13 cannot build for it: compile with a toolkit of CUDA 12.' }
    return [
      {
        text: 'Build it again with that architecture, beside those of the other GPUs.',
        command: `cmake -B build -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${architectures}"`,
      },
      dropped,
    ]
  },
}

/** https://github.com/JuliaGPU/CUDA.jl/pull/3134 and issues/3079 */
export const juliaCuda: Rule = {
  ...rule,
  pattern: /\(compute capability (\d{1,2}\.\d)\) is not supported on CUDA (1\d)|[Cc]ompute capability (\d{1,2}\.\d)[.\d]{0,4} is not supported by CUDA (1\d)/,
  title: 'CUDA.jl chose a CUDA that does not support this GPU',
  verdict: ({ match }) =>
    `CUDA.jl took CUDA ${match[2] ?? match[4]} because the driver offers it, and that has no code for compute capability ${match[1] ?? match[3]}. The GPU works with CUDA 12.`,
  remedies: [
    { text: 'Update CUDA.jl: from 6.2 on it chooses the CUDA that fits the GPU.', command: 'julia --project -e \'using Pkg; Pkg.update("CUDA")\'' },
    { text: 'Or pin CUDA 12 in this project, then start Julia again.', command: 'julia --project -e \'using CUDA; CUDA.set_runtime_version!(v"12.9")\'' },
  ],
}
