// Ends as threads show them: of MPI, GROMACS, Julia, containers and services that quote a script, and in the words of the one who asks.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)

const TRACEBACK = ['Traceback (most recent call last):', '  File "/home/me/cells/fit.py", line 61, in fit', '    grid = cells["north"]', "KeyError: 'north'"]

describe("a worker of Dask's", () => {
  const killed = (signal: number): string => `31/02/03 04:05:06 - distributed.nanny - INFO - Worker process 8123 was killed by signal ${signal}`
  test('that its nanny starts again', () => {
    expect(kinds('reading the cells', killed(9), 'distributed.nanny - WARNING - Restarting worker')).toEqual([])
  })
  test('that died too often', () => {
    expect(
      kinds(
        killed(9),
        'distributed.nanny - WARNING - Restarting worker',
        'Traceback (most recent call last):',
        '  File "fit.py", line 8, in <module>',
        '    out.compute()',
        "distributed.scheduler.KilledWorker: ('fit-3', <WorkerState 'tcp://10.0.0.7:4000', status: closed>)",
      ),
    ).not.toEqual([])
  })
})

describe("Open MPI's notice of a signal", () => {
  test('without the number of the process', () => {
    const [first] = faultsOf('mpirun noticed that process rank 5 with PID 0 on node n07 exited on signal 9 (Killed).')
    expect(first).toMatchObject({ kind: 'job_killed', facts: { signal: 'SIGKILL', rank: 5 } })
    expect(first?.facts).not.toHaveProperty('pid')
  })
  test('of its later starter, in a sentence', () => {
    const [first] = faultsOf('It says that "prterun noticed that process rank 2 with PID 811 on node n07 exited on signal 11 (Segmentation fault)."')
    expect(first).toMatchObject({ kind: 'segfault', facts: { signal: 'SIGSEGV', rank: 2, pid: 811 } })
  })
  test('on two lines', () => {
    const [first] = faultsOf('mpiexec noticed that process rank 3 with PID 811 on node n07 exited on ', 'signal 6 (Aborted).')
    expect(first).toMatchObject({ kind: 'aborted', facts: { signal: 'SIGABRT', rank: 3, pid: 811 } })
  })
})

describe('what a post says of a crash', () => {
  test.each([
    ['With 8 cells I get "Segmentation fault (core dumped)" at once', 'segfault'],
    ['`Illegal instruction (core dumped)` when the cells are read.', 'aborted'],
    ['Loading the model gives Aborted (core dumped)', 'aborted'],
  ])('%s', (line, kind) => {
    expect(kinds(line)).toEqual([kind])
  })
  test.each([
    'If you see "Segmentation fault (core dumped)", lower the number of cells',
    'This release fixes the "Segmentation fault (core dumped)" of small grids',
    'This page explains the error "Segmentation fault (core dumped)" of small grids',
    '"Segmentation fault (core dumped)" means that a program used memory that is not its own',
    '**Aborted (core dumped)**: see the chapter on limits',
    'test_cells: got "Segmentation fault (core dumped)" as expected',
    'Prompt: what is the message "Segmentation fault (core dumped)" about',
    'What does "Segmentation fault (core dumped)" mean?',
    '    "title": "Segmentation fault (core dumped)",',
    '2031-02-03 04:05:06 INFO sample 7: I get "Segmentation fault (core dumped)"',
    'sample={text: "Segmentation fault (core dumped)"',
  ])('%s is none', (line) => {
    expect(kinds(line)).toEqual([])
  })
})

describe('GROMACS', () => {
  const head = ['Program:     gmx grompp, version 2031.2', 'Source file: src/gromacs/gmxpreprocess/topio.cpp (line 61)', '', 'Fatal error:']
  const foot = ['For more information and tips for troubleshooting, please check the GROMACS', 'website at http://www.gromacs.org/Documentation/Errors']
  test('cannot read its topology', () => {
    const [first] = faultsOf(...head, 'Syntax error - File cells.itp, line 3', 'Last line read:', "'[ atoms ]'", ...foot)
    expect(first?.kind).toBe('config_error')
  })
  test('does not read the format of its file', () => {
    const [first] = faultsOf(...head, 'reading tpx file (north.tpr) version 133 with version 127 program', ...foot)
    expect(first).toMatchObject({ kind: 'config_error', title: 'This GROMACS cannot read the .tpr file' })
  })
  test('stops at its warnings', () => {
    const [first] = faultsOf('Fatal error:', 'Too many warnings (3).', 'If you are sure all warnings are harmless, use the -maxwarn option.')
    expect(first).toMatchObject({ kind: 'config_error', title: 'grompp stopped at its warnings' })
  })
})

describe('Julia', () => {
  test('an error of a file without its stack', () => {
    const [first] = faultsOf(
      'reading the cells',
      'ERROR: LoadError: Scalar indexing is disallowed.',
      'Invocation of getindex resulted in scalar indexing of a GPU array.',
    )
    expect(first?.kind).toBe('python_exception')
  })
  test('of a task within a task', () => {
    const [first] = faultsOf(
      'ERROR: LoadError: TaskFailedException',
      '',
      '    nested task error: BoundsError: attempt to access 3-element Vector{Int64} at index [4]',
      '    Stacktrace:',
      '     [1] fit(x::Int64)',
      '       @ Main ~/cells/fit.jl:8',
    )
    expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'TaskFailedException' } })
  })
  test('a process that a signal ended', () => {
    const [first] = faultsOf(
      '[8123] signal (11.1): Segmentation fault',
      'in expression starting at /home/me/cells/augment.jl:95',
      'Allocations: 2905 (Pool: 2896; Big: 9); GC: 0',
      "ERROR: failed process: Process(`julia -g1 --eval 'fit()'`, ProcessSignaled(11)) [0]",
      '',
      'Stacktrace:',
      '  [1] pipeline_error',
      '    @ Base ./process.jl:565 [inlined]',
    )
    expect(first).toMatchObject({ kind: 'segfault', facts: { signal: 'SIGSEGV', pid: 8123 } })
  })
})

describe('a program in a container', () => {
  test.each([
    ['FATAL:   container creation failed: exec: "/opt/cells/fit-cli": stat /opt/cells/fit-cli: no such file or directory', 'missing_dependency'],
    ['Error for command "run": unknown shorthand flag: \'q\' in -q', 'config_error'],
  ])('%s', (line, kind) => {
    expect(kinds('INFO:    reading the image', line)).toEqual([kind])
  })
})

describe('what a service quotes of its script', () => {
  const wrapped = (...said: readonly string[]): readonly string[] => [
    'UnexpectedStatusException: Error for Training job north-8: Failed. Reason: AlgorithmError: ExecuteUserScriptError:',
    'ExitCode 1',
    ...said,
    'Command "/opt/conda/bin/python3 fit.py --cells 3"',
  ]
  test('on its line', () => {
    const [first] = faultsOf(...wrapped(`ErrorMessage "KeyError: 'north'`, '"'))
    expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'KeyError' } })
  })
  test('below it', () => {
    const [first] = faultsOf(...wrapped('ErrorMessage "', " ValueError: the table has no column 'north'", '"'))
    expect(first?.facts).toMatchObject({ exception: 'ValueError' })
  })
})

describe('a traceback as a page shows it', () => {
  const found = [{ kind: 'python_exception', facts: { exception: 'KeyError', frame: 'fit.py:61' } }]
  test('between the headings of an issue', () => {
    expect(faultsOf('#### Traceback', '```', ...TRACEBACK, '```', '#### Environment', 'Python 3.12')).toMatchObject(found)
  })
  test("a notebook's, glued to its head", () => {
    const [first] = faultsOf(
      '---------------------------------------------------------------------------KeyErrorTraceback (most recent call last)',
      '<ipython-input-3-1a2b3c> in <module>()',
      '      7 cells = load()',
      '----> 8 fit(cells["north"])',
      "KeyError: 'north'",
    )
    expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'KeyError' } })
  })
  test('only its last line, behind a blank', () => {
    expect(faultsOf('It stops with:', ' RuntimeError: the grid has no cells')[0]?.facts).toMatchObject({ exception: 'RuntimeError' })
  })
})

test('an exception within a sentence', () => {
  const [first] = faultsOf(
    'I get this all the time: RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!',
  )
  expect(first).toMatchObject({ kind: 'device_mismatch', facts: { exception: 'RuntimeError' } })
})

test('a module for another NumPy', () => {
  const [first] = faultsOf(...TRACEBACK.slice(0, 3), 'ValueError: numpy.ufunc has the wrong size, try recompiling. Expected 192, got 216')
  expect(first).toMatchObject({ kind: 'missing_dependency', title: 'A module was built for another NumPy at fit.py:61' })
})

test('a compiler of CUDA in the block of pip', () => {
  expect(kinds('      running build_ext', "      error: command '/usr/local/cuda/bin/nvcc' failed with exit code 2", '      [end of output]')).toEqual([
    'compile_error',
  ])
})

test('a check with file and line', () => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    '  File "fit.py", line 61, in fit',
    '    out.asnumpy()',
    'mxnet.base.MXNetError: [04:05:06] src/cells/grid.cc:218: Check failed: n > 0 (0 vs. 0) : no cells',
  )
  expect(first?.facts).toMatchObject({ exception: 'MXNetError' })
})

test('the line where a program in Fortran crashed', () => {
  const [first] = faultsOf(
    'Program received signal SIGSEGV: Segmentation fault - invalid memory reference.',
    '',
    'Backtrace for this error:',
    '#0  0x7f31 in ???',
    '#1  0x55d1 in fit_',
    '        at cells.f90:88',
  )
  expect(first?.facts).toMatchObject({ signal: 'SIGSEGV', frame: 'cells.f90:88' })
})

test('an exit code in bold', () => {
  expect(faultsOf('**Exit Code: 3**')[0]).toMatchObject({ kind: 'job_failed', facts: { exit_code: 3 } })
})

describe('a process of Nextflow without its output', () => {
  const missing = 'Missing output file(s) `north.png` expected by process `cells:fit (north)`'
  test('at the end', () => {
    const [first] = faultsOf("Error executing process > 'cells:fit (north)'", 'Caused by:', `  ${missing}`, '', 'Command exit status:', '  0')
    expect(first).toMatchObject({ kind: 'file_missing', title: 'A process did not write its output', facts: { path: 'north.png' } })
  })
  test('that is tried again', () => {
    expect(kinds(`[1a/2b3c4d] NOTE: ${missing} -- Execution is retried (1)`)).toEqual([])
  })
})

test('the last words of RELION', () => {
  expect(kinds('RELION version: 3.1.1-commit-1a2b3c', 'exiting with an error ...')).toEqual(['job_failed'])
})

test('a kernel that Kaldi was not compiled for', () => {
  expect(
    kinds(`ERROR (nnet3-train[5.5.1~1-1a2b]:AddVec():cu-vector.cc:88) cudaError_t 98 : "invalid device function" returned from 'cudaGetLastError()'`),
  ).toEqual(['cuda_version_mismatch'])
})
