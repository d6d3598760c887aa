// Ends in the shapes that users paste: simulators, builds, steps of Slurm, servers that load a model; and work that went on.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)

describe('GROMACS', () => {
  const box = (title: string, ...said: readonly string[]): readonly string[] => [
    '-------------------------------------------------------',
    'Program:     gmx mdrun, version 2031.2',
    'Source file: src/own/pairs.cpp (line 41)',
    '',
    title,
    ...said,
    '',
    'For more information and tips for troubleshooting, check the GROMACS pages.',
    '-------------------------------------------------------',
  ]
  test.each(['Assertion failed:', 'Internal error (possible bug):', 'Communication (parallel processing) problem:', 'Requested tolerance cannot be achieved:'])(
    '%s',
    (title) => {
      const [first] = faultsOf(...box(title, 'Condition: pairs < 90', 'Too many pairs in a cell'))
      expect(first?.verdict).toContain('Condition: pairs < 90')
    },
  )
})

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
