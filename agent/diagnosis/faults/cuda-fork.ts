// A forked child used CUDA that its parent had started: PyTorch refuses it.
import { inForkedChild } from './parts/forked.ts'
import { ruleFamily, type Matched } from './parts/rules.ts'
import { setVariables } from './remedies/environment.ts'
import type { Piece } from './remedies/plan.ts'

function remedies({ situation }: Matched): readonly Piece[] {
  const now = situation()
  const script = now.subject.script
  if (now.programs.has('vllm'))
    return [
      { text: 'Let vLLM start its workers with spawn.', command: setVariables(now, { VLLM_WORKER_MULTIPROC_METHOD: 'spawn' }) },
      { text: "Touch no CUDA before vLLM starts, and protect the start of the script with if __name__ == '__main__'." },
    ]
  return [
    {
      text: `Start the children with spawn${script === undefined ? '' : ` in ${script}`}: torch.multiprocessing.set_start_method('spawn'), or multiprocessing_context='spawn' of the DataLoader.`,
    },
    { text: 'Or touch CUDA only in the children: no .cuda() and no torch.cuda call before they are started.' },
  ]
}

export const cudaFork = ruleFamily({
  id: 'cuda-fork',
  kind: 'cuda_fork',
  literals: ['re-initialize CUDA in forked subprocess', 'error: initialization error', 'create new processes if CUDA is already initialized'],
  rules: [
    {
      // The second is Lightning's own check, with what the notebook has to do about it.
      pattern: /Cannot re-initialize CUDA in forked subprocess|can't create new processes if CUDA is already initialized/,
      severity: 'critical',
      title: 'CUDA used after a fork',
      verdict: 'A forked child process used CUDA, which its parent had already started; CUDA works only in the process that started it.',
      remedies,
    },
    {
      // What CUDA itself says to a forked child, where the text shows that it is one.
      pattern: /(?:CUDA|HIP) error: initialization error/,
      severity: 'critical',
      title: 'CUDA used after a fork',
      verdict:
        'CUDA could not be initialized in a child process: it was forked after its parent had used CUDA, which works only in the process that started it.',
      remedies,
      unless: (seen) => !inForkedChild(seen),
    },
  ],
})
