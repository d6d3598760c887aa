// A process reached its limit of open files.
import { ruleFamily, type Matched } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

function remedies({ situation, message }: Matched): readonly Piece[] {
  const { programs, subject } = situation()
  const torch = programs.has('pytorch') || /ancdata|multiprocessing|DataLoader|<\/torch_|\/dev\/shm\/torch_/.test(`${message} ${situation().text}`)
  return [
    { text: 'Raise the limit of open files where the program starts (up to the hard limit).', command: 'ulimit -n 65536' },
    torch && {
      text: "Or let PyTorch share tensors by name, without a descriptor for each: torch.multiprocessing.set_sharing_strategy('file_system').",
    },
    (programs.has('docker') || programs.has('compose')) && {
      text: 'For a container, set the limit when it is created.',
      command: `docker run --ulimit nofile=65536:65536 ${subject.image ?? '<IMAGE>'}`,
    },
    programs.has('slurm') && { text: 'Slurm passes on the limits of the submitting shell: raise it there, or in the job script before srun.' },
    { text: 'See the limit and how many files the process holds.', command: 'ulimit -n; ls /proc/<PID>/fd | wc -l' },
  ]
}
const rule = { severity: 'critical', title: 'Too many open files', remedies } as const

export const fdLimit = ruleFamily({
  id: 'fd-limit',
  kind: 'fd_limit',
  literals: ['oo many open files', 'items of ancdata', 'unable to open shared memory object'],
  facts: ({ message }) => (/Errno 24|os error 24|EMFILE|oo many open files/.test(message) ? { errno: 24 } : {}),
  rules: [
    {
      ...rule,
      pattern: /received \d{1,3} items of ancdata/,
      facts: () => ({}),
      verdict: 'A process could not receive a shared tensor, because it has reached its limit of open files.',
    },
    {
      ...rule,
      // PyTorch before it added the system's reason.
      pattern: /unable to open shared memory object <\/torch_\w{1,60}> in read-write mode(?!:)/,
      facts: () => ({}),
      verdict: 'A process could not open a tensor that another one shared: mostly it has reached its limit of open files, else the other process has ended.',
    },
    {
      ...rule,
      pattern: /[Tt]oo many open files(?! in system)/,
      // inotify has a limit of its own, and the same words.
      unless: ({ message }) => /FS watcher|inotify/.test(message),
      verdict: 'The process has reached its limit of open files (sockets and shared tensors count too).',
    },
  ],
})
