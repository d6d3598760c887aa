// How simulators, solvers and tools of speech say why they ended: GROMACS, VASP, PETSc, Kaldi, R, compilers.
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

describe('Kaldi', () => {
  test('names the file that its program cannot open', () => {
    const [first] = faultsOf(
      'LOG (grid-init[5.9.1~1-aa0b1]:main():grid-init.cc:41) Read the grid',
      'ERROR (grid-init[5.9.1~1-aa0b1]:Input():grid-io.cc:77) Error opening input stream exp/grid/own.mat',
      '',
      '[ Stack-Trace: ]',
      '/srv/kaldi/src/lib/libkaldi-base.so(kaldi::MessageLogger::LogMessage() const+0x42) [0x7fa100000001]',
    )
    expect(first).toMatchObject({ kind: 'file_missing', facts: { path: 'exp/grid/own.mat' } })
  })
  test("a script's job failed", () => {
    expect(kinds('steps/grid.sh: training, iteration 0 of 6', 'run.pl: 2 / 8 failed, log is in exp/grid/log/fit.*.log')).toEqual(['job_failed'])
  })
})

test('VASP stops in a box, and says why above its last words', () => {
  const line = (text: string): string => `|     ${text.padEnd(72)}|`
  const [first] = faultsOf(
    ` ${'-'.repeat(77)}`,
    line('EEEEEEE  RRRRRR   RRRRRR   OOOOOOO  RRRRRR      ###     ###     ###'),
    line(''),
    line('GRID_OWN: the plan for the grid of waves'),
    line('could not be made'),
    line(''),
    line('  ---->  I REFUSE TO CONTINUE WITH THIS SICK JOB ... BYE!!! <----'),
    ` ${'-'.repeat(77)}`,
  )
  expect(first?.verdict).toContain('GRID_OWN: the plan for the grid of waves could not be made')
})

describe('PETSc', () => {
  const says = (text: string): string => `[0]PETSC ERROR: ${text}`
  test('names the signal that it caught', () => {
    const lines = [
      '-'.repeat(72),
      'Caught signal number 8 FPE: Floating Point Exception,probably divide by zero',
      `${'-'.repeat(20)} Error Message ${'-'.repeat(50)}`,
      'Signal received',
      'See https://own.example/faq.html for trouble shooting.',
    ]
    expect(faultsOf(...lines.map(says))[0]).toMatchObject({ kind: 'aborted', facts: { signal: 'SIGFPE' } })
  })
  test('says what it refuses', () => {
    const lines = [`${'-'.repeat(20)} Error Message ${'-'.repeat(50)}`, 'Argument out of range', 'Row too large: row 9 max 7']
    expect(faultsOf(...lines.map(says))[0]?.verdict).toContain('Argument out of range')
  })
})

test('R in other languages', () => {
  const [first] = faultsOf('Fehler in fit(grid, rows) : ValueError: 9 rows, but 8 labels')
  expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'ValueError' } })
})

test('a compiler that quotes a status reports no call that failed', () => {
  expect(
    kinds(
      'src/own/fft.h:94:8: error: ‘CUFFT_PARSE_ERROR’ undeclared (first use in this function); did you mean ‘CUFFT_INTERNAL_ERROR’?',
      '   94 |   case CUFFT_PARSE_ERROR:',
    ),
  ).toEqual(['compile_error'])
})

describe('Java', () => {
  const thrown = (...head: readonly string[]) =>
    faultsOf(
      ...head,
      '\tat own.Grid.fit(Grid.java:41)',
      'Caused by: java.lang.UnsatisfiedLinkError: no owngrid in java.library.path',
      '\tat java.lang.Runtime.loadLibrary0(Runtime.java:871)',
    )[0]
  test.each(['java.lang.ExceptionInInitializerError', 'java.lang.RuntimeException: java.lang.UnsatisfiedLinkError: no owngrid in java.library.path'])(
    '%s only passes its cause on',
    (head) => {
      expect(thrown(`Exception in thread "main" ${head}`)?.facts).toMatchObject({ exception: 'UnsatisfiedLinkError', frame: 'Grid.java:41' })
    },
  )
  test('what has words of its own keeps them', () => {
    expect(thrown('Exception in thread "main" own.GridException: cannot fit the grid')?.facts).toMatchObject({ exception: 'GridException' })
  })
})

describe('Spark', () => {
  const called = [
    'Traceback (most recent call last):',
    '  File "/home/me/count.py", line 41, in <module>',
    '    rows.count()',
    'py4j.protocol.Py4JJavaError: An error occurred while calling o41.count.',
  ]
  test('names the exception of the worker', () => {
    const [first] = faultsOf(
      ...called,
      ': org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times (executor 1): org.apache.spark.api.python.PythonException: Traceback (most recent call last):',
      '  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 600, in main',
      '    process()',
      '  File "/home/me/count.py", line 12, in <lambda>',
      '    return parse(row)',
      'ValueError: bad row 9',
      '',
      '\tat org.apache.spark.rdd.RDD.iterator(RDD.scala:330)',
    )
    expect(first?.facts).toMatchObject({ exception: 'ValueError', frame: 'count.py:12' })
  })
  test('or what Java threw', () => {
    expect(faultsOf(...called, ': java.lang.IllegalStateException: the grid is closed', '\tat own.Grid.fit(Grid.java:41)')[0]?.title).toContain(
      'IllegalStateException: the grid is closed',
    )
  })
})
