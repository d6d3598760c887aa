// A program that speaks on after an error that it printed has caught it; one whose last words it is has not.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const kinds = (...lines: readonly string[]): readonly string[] => explainText(logScanner(), `${lines.join('\n')}\n`).map(({ kind }) => kind)
const CAUGHT = ['Traceback (most recent call last):', '  File "/job/tiles.py", line 8, in cut', '    read(tile)', 'ValueError: tile 4 is empty']
const UNCAUGHT = ['Traceback (most recent call last):', '  File "/job/tiles.py", line 8, in <module>', '    read(tile)', 'ValueError: tile 4 is empty']

describe('the program speaks on', () => {
  test.each([
    ['under the tag that it had before', '[cutter] opening the map', ...UNCAUGHT, '[cutter] leaving tile 4 out'],
    ['under headings', '### Question 7', ...UNCAUGHT, '### Answer 7'],
    ['of the next of its things', 'tile 3 is cut', ...UNCAUGHT, 'tile 5 is cut'],
    ['below a traceback that begins in a function', ...CAUGHT, '', 'Reading the older map', 'The older map has 80 tiles', 'Cutting', 'Drawing'],
    ['with a sum of what worked', 'ValueError: tile 4 is empty', '79 tiles cut, 1 failed'],
    ['with all that was to be done', 'OSError: the server is busy', 'waiting', 'drew 80 of 80 tiles'],
    ['with its score', ...UNCAUGHT, 'pass@1: 0.25'],
    [
      'since nobody waited for the task',
      'Task exception was never retrieved',
      "future: <Task finished name='Task-3' coro=<poll() done> exception=ValueError('tile 4 is empty')>",
      ...CAUGHT,
    ],
    [
      'after it was started again',
      'step 4 loss 0.9',
      'RuntimeError: NCCL communicator was aborted on rank 2.',
      '[tender] it ended with 1 (restart 1/3)',
      'step 5 loss 0.8',
    ],
    ['when it has quoted a log', '== log of yesterday ==', '  | what():  CUDA error: an illegal memory access was encountered', '== end ==', 'accuracy: 0.91'],
    ['when it was asked to stop and did so in good order', 'Received SIGTERM: storing the state', 'Stored. Exiting gracefully'],
    [
      'to the next who asks',
      'time=2031-02-03T04:05:06.000Z level=ERROR source=a.go:4 msg="no answer" error="llama runner process has terminated: exit status 2"',
      '[GIN] 2031/02/03 - 04:06:06 | 200 |  2.21s |       10.0.0.9 | POST     "/api/chat"',
    ],
  ])('%s', (_, ...lines) => {
    expect(kinds(...lines)).toEqual([])
  })
})

describe('the program ends', () => {
  test.each([
    ['with nothing after it', '[cutter] opening the map', ...UNCAUGHT],
    ['with words of another form', '[cutter] opening the map', ...UNCAUGHT, 'A map has 80 tiles.'],
    ['while it clears up', '[cutter] opening the map', ...UNCAUGHT, '[cutter] shutting down'],
    ['with the rest of its message', ...CAUGHT, 'The map has these tiles:', '1 2 3 5'],
    ['with a question of who pasted it', ...CAUGHT, '', 'The map is of 2030.', 'I cut it with version 3.', 'How do I get the tile back?'],
    ['in a thread that a launcher began', ...UNCAUGHT, '', 'Reading the older map', 'The older map has 80 tiles', 'Cutting'],
    ['beside ranks that still talk', 'node1:5:9 [3] NCCL INFO Channel 00', ...UNCAUGHT, 'node1:5:9 [3] NCCL INFO Channel 01'],
  ])('%s', (_, ...lines) => {
    expect(kinds(...lines)).toEqual(['python_exception'])
  })
})

test('a program that speaks on and then fails', () => {
  const lines = [...CAUGHT, '', 'Reading the older map', 'The older map has 80 tiles', 'srun: error: n1: task 0: Exited with exit code 1']
  expect(kinds(...lines)).toEqual(['python_exception'])
})

describe('ends in forms of other programs', () => {
  test.each([
    [
      'job_killed',
      'FatalError: `Termination signal` is detected by the operating system.',
      '  [SignalInfo: *** SIGTERM (@0x3e7) received by PID 42 (TID 0x7f) from PID 41 ***]',
    ],
    ['segfault', 'Program terminated with signal SIGSEGV, Segmentation fault.', '#0 0x00007f1d in malloc () from /lib/libc.so.6'],
    ['aborted', '*** Error in `./cut’: free(): invalid pointer: 0x00007fff ***'],
    ['aborted', '2031-02-03 04:05:06.123456: F external/own/client.h:80] Ending the process: another task died'],
    ['job_failed', 'INFO[0007] Pod: maps.cut-master-0 exited with code 3  job=maps.cut'],
    ['job_failed', '*** An error occurred in MPI_Init_thread', '[n1:71] Local abort before MPI_INIT completed completed successfully'],
    [
      'compile_error',
      'error: failed to run custom build command for `maps v0.1.0`',
      "  process didn't exit successfully: `/w/build-script-build` (exit status: 101)",
    ],
    ['python_exception', '[ Info: Cutting', 'ERROR: LoadError: ArgumentError: no such tile', 'Stacktrace:', ' [1] cut() at ./maps.jl:7'],
    [
      'python_exception',
      "Caused by op 'Cut', defined at:",
      '  File "cut.py", line 9, in cut',
      '    tile()',
      'AbortedError (see above for traceback): the tile is gone',
    ],
  ])('%s: %s', (kind, ...lines) => {
    expect(kinds(...lines)).toEqual([kind])
  })
})
