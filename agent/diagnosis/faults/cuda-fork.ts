// A forked child used CUDA that its parent had started: PyTorch refuses it.
import { inForkedChild } from './parts/forked.ts'
import { ruleFamily, type Matched } from './parts/rules.ts'
import { setVariables } from './remedies/environment.ts'
import type { Piece } from './remedies/plan.ts'
import { INFERENCE } from '../situation/programs.ts'

/** Servers that fork their workers themselves. */
const SERVER = /\b(gunicorn|celery|uwsgi)\b/i

function remedies({ situation }: Matched): readonly Piece[] {
  const now = situation()
  const script = now.subject.script
  if (now.programs.has('vllm'))
    return [
      { text: 'Let vLLM start its workers with spawn.', command: setVariables(now, { VLLM_WORKER_MULTIPROC_METHOD: 'spawn' }) },
      { text: "Touch no CUDA before vLLM starts, and protect the start of the script with if __name__ == '__main__'." },
    ]
  const server = SERVER.exec(now.text)?.[1]?.toLowerCase()
  if (server === 'celery')
    return [
      {
        text: 'Let Celery run the tasks without a fork.',
        command: 'celery -A <APP> worker --pool=solo',
      },
      { text: 'Or load the model in worker_process_init, and touch no CUDA while the module is imported.' },
    ]
  if (server !== undefined)
    return [
      {
        text: `Load the model in each worker, after the server has forked it: ${server === 'gunicorn' ? 'Gunicorn without --preload (in a post_fork hook or at the first request)' : 'with lazy-apps = true'}; touch no CUDA while the application is imported. spawn does not help: the server itself forks.`,
      },
      { text: 'Each worker then holds a model of its own: start one for each GPU.' },
    ]
  if (INFERENCE.some((one) => now.programs.has(one)))
    return [
      {
        text: "Touch no CUDA before the server starts its workers (an import may do so), or let Python spawn them: multiprocessing.set_start_method('spawn').",
      },
    ]
  if (now.notebook)
    return [
      {
        text: 'Restart the kernel, and touch no CUDA before the processes are started (no .cuda(), no torch.cuda call, no model on the GPU in an earlier cell): a notebook can only fork.',
      },
      { text: 'For a DataLoader: move tensors to the GPU in the loop and not in the data set, or use num_workers=0.' },
      { text: 'Or move the code into a script, and start that.', command: 'accelerate launch <SCRIPT>' },
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
