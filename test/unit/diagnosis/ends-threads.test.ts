// Ends in the shapes that users paste: builds, steps of Slurm, servers that load a model; and work that went on.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)

describe('a build of pip', () => {
  const building = [
    'Collecting fastcells',
    "  Preparing metadata (setup.py): finished with status 'error'",
    '  error: subprocess-exited-with-error',
    '  × python setup.py egg_info did not run successfully.',
    '  │ exit code: 1',
    '  ╰─> [9 lines of output]',
    '      Traceback (most recent call last):',
    '        File "<string>", line 2, in <module>',
    '        File "/tmp/pip-install-x7k2m9qd/fastcells_0d1f/setup.py", line 61, in <module>',
    '          raise RuntimeError(f"{NAME} needs a compiler: nvcc was not found.")',
    '      RuntimeError: fastcells needs a compiler: nvcc was not found.',
    '      [end of output]',
  ]
  test('needs the program that it does not find', () => {
    expect(faultsOf(...building)[0]).toMatchObject({ kind: 'missing_dependency', facts: { module: 'nvcc' } })
  })
  test('has no line of the user', () => {
    expect(faultsOf(...building)[0]?.facts).not.toHaveProperty('frame')
  })
})

describe('a step of Slurm', () => {
  test('in which one task failed and Slurm killed the others', () => {
    const [first] = faultsOf(
      'srun: error: node7: task 3: Exited with exit code 9',
      'srun: launch/slurm: _step_signal: Terminating StepId=4711.0',
      'slurmstepd: error: *** STEP 4711.0 ON node6 CANCELLED AT 2031-02-03T04:05:06 ***',
      'srun: error: node6: tasks 0-2: Killed',
    )
    expect(first).toMatchObject({ kind: 'job_failed', facts: { exit_code: 9 } })
  })
  test('whose task was killed before any failed', () => {
    expect(kinds('srun: error: node6: task 2: Killed', 'srun: Terminating StepId=4711.0')).toEqual(['job_killed'])
  })
})

test('a server whose download ended by a signal', () => {
  const [first] = faultsOf(
    '2031-02-03T04:05:06.100000Z  INFO download: text_generation_launcher: Starting check and download process for own/net',
    'Error: DownloadError',
    '2031-02-03T04:05:16.100000Z ERROR download: text_generation_launcher: Download process was signaled to shutdown with signal 7:',
  )
  expect(first).toMatchObject({ kind: 'bus_error', facts: { signal: 'SIGBUS' } })
})

test('a crash of Julia while it compiles a package', () => {
  const [first] = faultsOf(
    '[812] signal (11.1): Segmentation fault',
    'in expression starting at /home/me/.julia/packages/Grids/aB3dE/src/Grids.jl:7',
    'cells at /opt/own/libgrids.so (unknown line)',
    'Allocations: 4200 (Pool: 4100; Big: 100); GC: 3',
    'ERROR: LoadError: Failed to precompile Grids [0a1b2c3d-0000-0000-0000-000000000000] to "/home/me/.julia/compiled/v1.11/Grids/jl_x1".',
    'Stacktrace:',
    '  [1] error(s::String)',
    '    @ Base ./error.jl:35',
  )
  expect(first?.kind).toBe('segfault')
})

describe('work after a failure', () => {
  const failed = ['Traceback (most recent call last):', '  File "/job/notes.py", line 9, in <module>', '    main()', 'RuntimeError: no page for notes']
  test('that a loop began goes on', () => {
    expect(kinds(...failed, ...[1, 2, 3, 4].map((epoch) => `epoch ${epoch}: loss ${3 - epoch / 4}, lr 0.01`))).toEqual([])
    expect(kinds(...failed, ...[100, 200, 300].map((iter) => `(epoch: 1, iters: ${iter}, time: 0.21) G_L1: 0.4 D_real: 0.3`))).toEqual([])
  })
  test('of other ranks shows nothing', () => {
    expect(kinds(...failed, ...[1, 2, 3, 4].map((rank) => `worker ${rank} at step 90 of samples`))).toHaveLength(1)
  })
})

test('the event log of Windows, and exceptions that Visual C++ does not name', () => {
  const event = ['Faulting application name: python.exe, version: 3.12.1', 'Faulting module name: nvgrid64.dll, version: 32.0', 'Exception code: 0xc0000005']
  expect(faultsOf(...event)[0]?.verdict).toContain('in nvgrid64.dll')
  expect(kinds(...event)).toEqual(['segfault'])
  expect(kinds('Exception code: 0xc0000409', 'Fault offset: 0x21')).toEqual(['aborted'])
})

test('the mail of a scheduler about a job that used too much memory', () => {
  expect(kinds('PBS Job Id: 4711.own', 'Aborted by PBS Server', 'Job exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted')).toEqual([
    'host_oom_kill',
  ])
})

test('a task that its workflow tries again', () => {
  expect(
    kinds(
      '[Task monitor] NOTE: Process `CUT (own)` terminated with an error exit status (137) -- Execution is retried (1)',
      '[Task submitter] Submitted process > CUT (own)',
    ),
  ).toEqual([])
})

describe("a notebook's cells with links", () => {
  const below = ['ValueError: 9 rows, but 8 labels']
  test('around their numbers', () => {
    const [first] = faultsOf(
      'ValueError                                Traceback (most recent call last)',
      'Cell In[3], [line 46](vscode-notebook-cell:?execution_count=3&line=46)',
      '     [45](vscode-notebook-cell:?execution_count=3&line=45) rows = read()',
      '---> [46](vscode-notebook-cell:?execution_count=3&line=46) fit(rows)',
      '',
      'File c:\\own\\Lib\\site-packages\\grids\\fit.py:20, in fit(rows)',
      '---> [20](file:///c:/own/Lib/site-packages/grids/fit.py:20) check(rows)',
      '',
      ...below,
    )
    expect(first?.facts).toMatchObject({ frame: '<ipython-input-3>:46' })
  })
  test('in a file of which the place is said', () => {
    const [first] = faultsOf(
      'ValueError                                Traceback (most recent call last)',
      '/home/me/own/fit.ipynb Cell 12 in <cell line: 1>()',
      "----> <a href='vscode-notebook-cell:/home/me/own/fit.ipynb#X14?line=0'>1</a> fit(rows)",
      '',
      '/home/me/own/fit.ipynb Cell 11 in fit(rows)',
      "      <a href='vscode-notebook-cell:/home/me/own/fit.ipynb#X13?line=6'>7</a> def fit(rows):",
      "----> <a href='vscode-notebook-cell:/home/me/own/fit.ipynb#X13?line=7'>8</a>     check(rows)",
      '',
      ...below,
    )
    expect(first?.facts).toMatchObject({ frame: 'fit.ipynb Cell 11:8' })
  })
})

describe('the last record of a program in Go', () => {
  test.each([
    ['{"level":"fatal","ts":"2031-02-03T04:05:06Z","msg":"cannot read /data/own.bin: no such file or directory"}', 'file_missing'],
    ['{"level":"fatal","ts":9.5,"logger":"setup","msg":"no scheduler","error":"dial tcp 10.0.0.4:6443: connect: connection refused"}', 'network_error'],
    ['time="2031-02-03T04:05:06Z" level=fatal msg="cannot read the grid" error="open /data/own.bin: no such file or directory"', 'file_missing'],
    ['2031-02-03T04:05:06Z FTL cannot read the grid error="open /data/own.bin: permission denied"', 'permission_denied'],
    ['FATA[0003] the workers did not come up', 'job_failed'],
  ])('%s', (line, kind) => {
    expect(kinds('{"level":"info","msg":"starting"}', line)).toEqual([kind])
  })
  test('with its stack below', () => {
    const [first] = faultsOf(
      '2031-02-03T04:05:06.000Z\tFATAL\tcmd/main.go:42\tcannot start the workers\t{"error": "no grid"}',
      'main.main',
      '\t/src/cmd/main.go:42',
      'runtime.main',
      '\t/usr/local/go/src/runtime/proc.go:250',
    )
    expect(first?.verdict).toContain('cannot start the workers: no grid')
  })
  test('of a lower level ends nothing', () => {
    expect(kinds('{"level":"error","msg":"cannot read /data/own.bin: no such file or directory"}', '{"level":"info","msg":"ready"}')).toEqual([])
  })
})

test('a panic in Go names a line of the program, not of its library', () => {
  const [first] = faultsOf(
    'panic: runtime error: invalid memory address or nil pointer dereference',
    '[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4d0ca6]',
    '',
    'goroutine 154 [running]:',
    'os/exec.(*Cmd).Wait(0x0)',
    '\t/usr/local/go/src/os/exec/exec.go:453 +0x26',
    'own.example/grid.(*Runner).run(0xc0)',
    '\t/build/grid/runner.go:159 +0x2f',
  )
  expect(first?.facts).toMatchObject({ frame: 'runner.go:159' })
})

test('a crash that Python shows: the innermost call, and the line of the own code below it', () => {
  const [first] = faultsOf(
    'Fatal Python error: Segmentation fault',
    '',
    'Current thread 0x00007fa8c84e1b80 (most recent call first):',
    '  File "/opt/py/lib/python3.12/site-packages/grids/cells.py", line 47 in draw_cells',
    '  File "/home/me/own/fit.py", line 9 in main',
  )
  expect(first?.verdict).toContain('in draw_cells(), below fit.py:9')
})

describe('processes of a launcher or a server', () => {
  test('that torchrun ended: one of them failed above', () => {
    expect(
      kinds(
        ...[7, 8].map(
          (pid) => `W0904 23:21:20.115924 900 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 90${pid} closing signal SIGTERM`,
        ),
      ),
    ).toEqual(['job_failed'])
  })
  const died = ['INFO:     Waiting for child process [4711]', 'INFO:     Child process [4711] died']
  test('that uvicorn replaces', () => {
    expect(faultsOf(...died)[0]).toMatchObject({ kind: 'worker_died', facts: { pid: 4711 } })
    expect(kinds(...died, 'INFO:     Started server process [4712]', 'INFO:     Application startup complete.')).toEqual([])
  })
})

test('a batch that does not fit and is left out is not made smaller', () => {
  const [first] = faultsOf('| WARNING: ran out of memory on GPU #2, skipping batch', '| WARNING: ran out of memory on GPU #1, skipping batch')
  expect(first?.verdict).toContain('left that batch out')
  expect(first?.remedies.map(({ text }) => text).join()).not.toContain('the size that fits')
})

test('of Spark the line of the own program', () => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    '  File "count.py", line 41, in <module>',
    '    rows.count()',
    '  File "/mnt/yarn/cache/container_1/pyspark.zip/pyspark/rdd.py", line 98, in count',
    '  File "/mnt/yarn/cache/container_1/py4j-0.10.9-src.zip/py4j/protocol.py", line 30, in get_return_value',
    'py4j.protocol.Py4JJavaError: An error occurred while calling o41.count.',
  )
  expect(first?.facts).toMatchObject({ frame: 'count.py:41' })
})
