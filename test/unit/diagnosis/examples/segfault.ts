// Ends of jobs of the kind segfault; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'the shell',
    text: './run.sh: line 3:  4711 Segmentation fault      (core dumped) python main.py',
    kinds: ['segfault'],
    facts: { signal: 'SIGSEGV', pid: 4711 },
  },
  {
    name: 'faulthandler',
    text: 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f11 (most recent call first):\n  File "/usr/lib/python3.11/ctypes/__init__.py", line 5 in call\n  File "/srv/job/native.py", line 14 in run\n  File "/srv/job/main.py", line 3 in <module>',
    kinds: ['segfault'],
    facts: { signal: 'SIGSEGV', frame: 'native.py:14' },
  },
  {
    name: 'a rank of a launcher',
    text: 'Root Cause (first observed failure):\n[0]:\n  rank      : 2 (local_rank: 2)\n  exitcode  : -11 (pid: 901)\n  traceback : Signal 11 (SIGSEGV) received by PID 901',
    kinds: ['segfault'],
    facts: { rank: 2, exit_code: -11, pid: 901 },
  },
  { name: 'an IDE', text: 'Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)', kinds: ['segfault'], facts: { exit_code: 139 } },
  { name: 'quiet: a test of it', text: 'tests/test_crash.py::test_segfault_is_reported PASSED', kinds: [] },
  {
    name: "Abseil's handler, as in Ray",
    text: '(Trainer pid=812, ip=10.1.2.3) *** SIGSEGV received at time=1767000000 on cpu 3 ***\n(Trainer pid=812, ip=10.1.2.3) PC: @     0x7f00  (unknown)  arrow::Read()',
    kinds: ['segfault'],
    facts: { signal: 'SIGSEGV', pid: 812 },
  },
  { name: 'Julia', text: '[4242] signal (11.1): Segmentation fault\nin expression starting at /srv/job/run.jl:7', kinds: ['segfault'], facts: { pid: 4242 } },
  {
    name: 'kubectl describe',
    text: '    Last State:     Terminated\n      Reason:       Error\n      Exit Code:    139\n      Restart Count:  2',
    kinds: ['segfault'],
    facts: { exit_code: 139 },
  },
  {
    name: 'MPICH',
    text: '=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 1 PID 5152 RUNNING AT box-4\n=   KILLED BY SIGNAL: 11 (Segmentation fault)',
    kinds: ['segfault'],
    facts: { rank: 1, pid: 5152, signal: 'SIGSEGV' },
  },
  {
    name: 'Go: a pointer that is nil',
    text: 'panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x8 pc=0x4a11d2]\n\ngoroutine 1 [running]:\nexample.org/exporter/gpu.(*Card).Name(0x0)\n    /srv/src/exporter/gpu/card.go:41 +0x12\nmain.main()\n    /srv/src/exporter/main.go:9 +0x33',
    kinds: ['segfault'],
    facts: { signal: 'SIGSEGV', frame: 'card.go:41' },
  },
  {
    name: 'Julia: where it stood',
    text: '[812] signal (11.1): Segmentation fault\nin expression starting at /srv/job/fit.jl:23\ngc_mark_loop at /src/gc.c:2819',
    kinds: ['segfault'],
    facts: { pid: 812, frame: 'fit.jl:23' },
  },
  {
    name: 'Fortran: the first routine with a line',
    text: 'forrtl: severe (174): SIGSEGV, segmentation fault occurred\nImage              PC                Routine            Line        Source\nocean              00000000004D9ECD  Unknown               Unknown  Unknown\nocean              00000000004AB129  mix_mod_mp_mix_           118  mix_mod.f90\nocean              0000000000464699  MAIN__                    52  ocean.F90',
    kinds: ['segfault'],
    facts: { signal: 'SIGSEGV', frame: 'mix_mod.f90:118' },
  },
  {
    name: 'a container of a training service',
    text: 'algo-1-p3 exited with code 139\nUnexpectedStatusException: Error for Training job fit-07: Failed. Reason: AlgorithmError: Exit Code: 139',
    kinds: ['segfault'],
    facts: { exit_code: 139 },
  },
  {
    name: "in mpiexec's box",
    text: 'reading the mesh\n==========================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 4242 RUNNING AT node-b\n=   EXIT CODE: 139\n=   CLEANING UP REMAINING PROCESSES\n==========================',
    kinds: ['segfault'],
    facts: { exit_code: 139, pid: 4242, signal: 'SIGSEGV' },
  },
]
