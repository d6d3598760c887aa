// Ends as threads show them: in marks of Markdown, in tables of engines, of Spark, Go, tox, and of notebooks that a page has joined.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)

const TRACEBACK = ['Traceback (most recent call last):', '  File "/home/me/cells/fit.py", line 61, in fit', '    grid = cells["north"]', "KeyError: 'north'"]

describe('a traceback that a post sets as code', () => {
  const found = [{ kind: 'python_exception', facts: { exception: 'KeyError', frame: 'fit.py:61' } }]
  test('line by line', () => {
    expect(faultsOf('It stops here:', ...TRACEBACK.map((line) => `\`${line}\``))).toMatchObject(found)
  })
  test('a single line', () => {
    expect(kinds('It stops after some hours:', '`Program received signal SIGSEGV: Segmentation fault - invalid memory reference.`', 'Why?')).toEqual([
      'segfault',
    ])
  })
  test('as a whole', () => {
    const [first = '', ...rest] = TRACEBACK
    expect(faultsOf(`\`${first}`, ...rest.slice(0, -1), `${rest.at(-1) ?? ''}\``)).toMatchObject(found)
  })
})

test('what a post quotes', () => {
  expect(faultsOf('"srun: error: n07: task 0: Killed', 'srun: Force Terminated StepId=88.0"')[0]?.facts).toMatchObject({ signal: 'SIGKILL' })
})

test.each([
  ['I get the following error in the file of errors: "slurmstepd: error: execve(): /opt/cells/fit: No such file or directory"', 'missing_dependency'],
  ["and then it returns **KeyError: 'north'**", 'python_exception'],
])('%s', (line, kind) => {
  expect(kinds(line)).toEqual([kind])
})
test('what a program quotes is no word of a person', () => {
  expect(kinds('INFO following the plan: "KeyError: \'north\'" is counted', 'epoch 1: loss 2.1', 'epoch 2: loss 1.9')).toEqual([])
})

describe("Docker's table", () => {
  const row = (state: string): string => `0a1b2c3d4e5f   acme/fit   "python fit.py"   15 hours ago   ${state}             fit`
  test.each([
    ['Exited (139) 15 hours ago', 'segfault'],
    ['Exited (134) About an hour ago', 'aborted'],
    ['Exited (1) 2 minutes ago', 'job_failed'],
  ])('%s', (state, kind) => {
    expect(kinds(row(state))).toEqual([kind])
  })
  test.each(['Exited (1) 3 hours ago', 'Exited (0) 2 minutes ago', 'Exited (139) 5 days ago', 'Exited (255) 2 minutes ago', 'Up 2 hours'])(
    '%s is none',
    (state) => {
      expect(kinds(row(state))).toEqual([])
    },
  )
})

describe('an executor of Spark', () => {
  const lost = (why: string): string => `31/02/03 04:05:06 ERROR YarnScheduler: Lost executor 4 on node7: ${why}`
  const done = (task: number): string =>
    `31/02/03 04:05:0${task} INFO TaskSetManager: Finished task ${task}.0 in stage 2.0 (TID 9${task}) in 812 ms on node6 (executor 2) (${task}/40)`
  test('that died', () => {
    const [first] = faultsOf(done(1), lost('Container marked as failed. Exit status: 50.'))
    expect(first).toMatchObject({ kind: 'worker_died', facts: { exit_code: 50 } })
  })
  test('that a signal ended', () => {
    expect(faultsOf(done(1), lost('Command exited with code 134'))[0]).toMatchObject({ kind: 'aborted', facts: { exit_code: 134, signal: 'SIGABRT' } })
  })
  test('that its driver ended', () => {
    expect(kinds(done(1), lost('Executor killed by driver.'))).toEqual([])
  })
  test('without which the job went on', () => {
    expect(kinds(done(1), lost('Remote RPC client disassociated.'), done(8), done(9))).toEqual([])
  })
})

describe('a program that one in Go started', () => {
  test.each([
    ['2031/02/03 04:05:06 serve.go:435: signal: killed', 'job_killed'],
    ['serve: step fit: signal: segmentation fault (core dumped)', 'segfault'],
    ['level=ERROR msg="fit ended" error="signal: aborted (core dumped)"', 'aborted'],
  ])('%s', (line, kind) => {
    expect(kinds('loading the cells', line)).toEqual([kind])
  })
  test('is asked for by a signal', () => {
    expect(kinds('2031/02/03 04:05:06 serve.go:12: forwards each signal: killed ones are counted')).toEqual([])
  })
})

describe('the last word of a tool', () => {
  test.each([
    ['Process finished with exit code -1', 'job_failed', { exit_code: -1 }],
    ['Program terminated with signal 11, Segmentation fault.', 'segfault', { signal: 'SIGSEGV' }],
    ['[ble: exit 139]', 'segfault', { exit_code: 139 }],
    ['  py312-cells: FAIL code -6 (746.48=setup[6.13]+cmd[3.14,737.20] seconds)', 'aborted', { signal: 'SIGABRT' }],
    ['error while handling argument "--cells-kind": error: unknown value for --cells-kind: \'nort\'', 'config_error', {}],
    ['get_repo_commit: error: HTTPLIB failed: Could not establish connection', 'network_error', {}],
    ["No such file or directory: './conf/cells.yaml'", 'file_missing', { path: './conf/cells.yaml' }],
  ])('%s', (line, kind, facts) => {
    expect(faultsOf('cells 3.1', line)[0]).toMatchObject({ kind, facts })
  })
})

describe('what a shell ended with', () => {
  test('after SIGTERM', () => {
    expect(faultsOf('Running, PID is 811', 'Terminated', 'Exit: 143')[0]).toMatchObject({ kind: 'job_killed', facts: { signal: 'SIGTERM', exit_code: 143 } })
  })
  test('after a task that failed by itself', () => {
    const [first] = faultsOf(
      'srun: error: n07: task 0: Exited with exit code 3',
      'srun: Terminating job step 88.1',
      '+ exitcode=143',
      'job exited with code 143',
    )
    expect(first).toMatchObject({ kind: 'job_failed', facts: { exit_code: 3 } })
  })
})

describe('rows of sacct without the names of their columns', () => {
  const rows = (state: string, code: string): readonly string[] => [
    `8810       fit-north+      gpu   lab1          2 ${state}      ${code} `,
    `8810.batch      batch            lab1          2 ${state}      ${code} `,
    '8810.exte+     extern            lab1          2  COMPLETED      0:0 ',
  ]
  test.each([
    ['    FAILED', '3:0', 'job_failed'],
    ['   TIMEOUT', '0:0', 'time_limit'],
    ['OUT_OF_ME+', '0:125', 'host_oom_kill'],
  ])('%s', (state, code, kind) => {
    expect(kinds(...rows(state, code))).toEqual([kind])
  })
  test('of two jobs', () => {
    expect(kinds(...rows('    FAILED', '3:0'), '8811       fit-south+      gpu   lab1          2     FAILED      1:0 ')).toEqual([])
  })
})

test("a notebook's head whose blanks a page has closed up", () => {
  const [first] = faultsOf(
    'ValueError Traceback (most recent call last)',
    '<ipython-input-3-1a2b3c> in <module>()',
    '----> 1 net.fit(cells, epochs=9)',
    '',
    '/opt/venv/lib/python3.9/site-packages/nets/run.py in wrapper(*args)',
    '--> 977     raise e',
  )
  expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'ValueError' } })
})
test("of a notebook's traceback whose end is missing the head tells", () => {
  const [first] = faultsOf(
    'KeyError                                  Traceback (most recent call last)',
    '<ipython-input-3-1a2b3c> in <module>()',
    '----> 1 grid["north"]',
    '      2 grid["south"]',
  )
  expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'KeyError' } })
})
