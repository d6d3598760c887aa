// Ends of jobs of the kind bus_error; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'the shell', text: 'epoch 3\nBus error (core dumped)', kinds: ['bus_error'], facts: { signal: 'SIGBUS' } },
  { name: 'with a pid', text: 'run.sh: line 8: 77123 Bus error               python main.py', kinds: ['bus_error'], facts: { pid: 77123 } },
  { name: 'an exit code', text: 'worker exited with exit code 135', kinds: ['bus_error'], facts: { exit_code: 135, signal: 'SIGBUS' } },
  { name: 'quiet: another bus', text: 'pci bus error counters: 0', kinds: [] },
  {
    name: 'UCX tells it',
    text: '[node7:3310 :0:3344] Caught signal 7 (Bus error: nonexistent physical address)',
    kinds: ['bus_error'],
    facts: { pid: 3310, signal: 'SIGBUS' },
  },
  {
    name: "a program's own word above mpiexec's box",
    text: 'Program received signal SIGBUS: Access to an undefined portion of a memory object.\n\nBacktrace for this error:\n#0  0x7F70\n==========================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 4242 RUNNING AT node-b\n=   EXIT CODE: 7\n=   CLEANING UP REMAINING PROCESSES\n==========================',
    kinds: ['bus_error'],
    facts: { signal: 'SIGBUS' },
  },
]
