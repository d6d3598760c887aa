// Tools and servers that print errors and go on, and what the ends of compilers, of pytest and of programs in Rust say.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const remediesOf = (...lines: readonly string[]): string => (faultsOf(...lines)[0]?.remedies ?? []).map(({ text }) => text).join('\n')

describe('no end', () => {
  test.each([
    [
      'a server that was stopped and runs again',
      '[Tue Feb 03 04:05:06 2031] [error] [client 10.0.0.4] File does not exist: /srv/www/icon.png',
      '[Tue Feb 03 05:00:00 2031] [notice] caught SIGTERM, shutting down',
      '[Tue Feb 03 05:00:01 2031] [notice] httpd/2.9 configured -- resuming normal operations',
      '[Tue Feb 03 06:05:06 2031] [error] [client 10.0.0.4] File does not exist: /srv/www/robots.txt',
    ],
    [
      'what a logger reports each time before the program tries again',
      ...[1, 2, 3].flatMap((attempt) => [
        `[ERROR] store - put ${attempt} failed, trying again`,
        'Traceback (most recent call last):',
        '  File "/job/put.py", line 9, in <module>',
        '    put()',
        'ConnectionResetError: [Errno 104] Connection reset by peer',
      ]),
      'result: ok',
      'parts: 4',
      'table of contents',
      'index kept',
      'that is all',
    ],
    [
      'a service of the host, in the log of its kernel',
      '[   26.892530] init: samplesd main process (768) ended with status 1'.replace('ended', 'terminated'),
      '[   30.1] eth0: link up',
    ],
    [
      'commands of services in a journal of many',
      ...['netwatch', 'disksd', 'accountsd', 'timesyncd', 'printersd', 'displayd'].map((unit, at) => `Feb 03 04:05:0${at} node7 ${unit}[${800 + at}]: ready`),
      "Feb 03 04:05:07 node7 systemd-udevd[468]: sda: Process '/usr/bin/own auto-import' failed with exit code 1.",
      'Feb 03 04:05:08 node7 netwatch[800]: /etc/netwatch/up.d/names: 12: statedir: not found',
      'Feb 03 04:05:09 node7 disksd[801]: state written',
    ],
    [
      'parts that a tool cannot read',
      ...['FAN1', 'FAN2', 'FAN3', 'VCORE', 'VBAT'].flatMap((part) => [`===== ${part} =====`, `Error: reading ${part} on this board is not supported.`, '']),
    ],
    [
      'what a service of the host caught and logged',
      'Feb 03 04:05:06 node7 netwatch[812]: ERROR:Unknown state of interface eno1: n/a',
      'Feb 03 04:05:06 node7 netwatch[812]: Traceback (most recent call last):',
      'Feb 03 04:05:06 node7 netwatch[812]:   File "/usr/bin/netwatch", line 98, in handle_all',
      'Feb 03 04:05:06 node7 netwatch[812]:     self.handle(name)',
      'Feb 03 04:05:06 node7 netwatch[812]: UnknownState: n/a',
      'Feb 03 04:05:06 node7 systemd[1]: Started Network watcher.',
      'Feb 03 04:05:06 node7 disksd[900]: Device: /dev/sda, state written',
      'Feb 03 04:05:06 node7 disksd[900]: Device: /dev/sdb, state written',
      'Feb 03 04:05:06 node7 disksd[900]: Device: /dev/sdc, state written',
      'Feb 03 04:05:07 node7 systemd[1]: Reached target Multi-User System.',
    ],
  ])('%s', (_, ...lines) => {
    expect(faultsOf(...lines)).toEqual([])
  })
  test('a service that ends with an uncaught exception is told', () => {
    const [first] = faultsOf(
      'Feb 03 04:05:06 node7 netwatch[812]: Traceback (most recent call last):',
      'Feb 03 04:05:06 node7 netwatch[812]:   File "/usr/bin/netwatch", line 120, in <module>',
      'Feb 03 04:05:06 node7 netwatch[812]:     main()',
      'Feb 03 04:05:06 node7 netwatch[812]: UnknownState: n/a',
      'Feb 03 04:05:06 node7 systemd[1]: netwatch.service: Main process exited, code=exited, status=1/FAILURE',
    )
    expect(first).toMatchObject({ kind: 'python_exception', facts: { exception: 'UnknownState' } })
  })
})

test('an exception whose message is the traceback of a worker', () => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    '  File "eval.py", line 24, in <module>',
    '    main()',
    '  File "eval.py", line 15, in main',
    '    for pair in loader:',
    'FileNotFoundError: Traceback (most recent call last):',
    '  File "/job/pairs.py", line 36, in __getitem__',
    '    return read(name)',
    "FileNotFoundError: [Errno 2] No such file or directory: '/sets/pairs/1.png'",
  )
  expect(first).toMatchObject({ kind: 'file_missing', facts: { frame: 'pairs.py:36', path: '/sets/pairs/1.png' } })
})
test('what a sanitizer reports, with the line of the program', () => {
  const [first] = faultsOf(
    '==4242==ERROR: AddressSanitizer: attempting double-free on 0x602000000010 in thread T0:',
    '    #0 0x7fd6f46b76a8 in __interceptor_free (/usr/lib/libasan.so.8+0xb76a8)',
    '    #1 0x563331221228 in main /srv/src/grid.c:41',
    '',
    'SUMMARY: AddressSanitizer: double-free in __interceptor_free',
    '==4242==ABORTING',
  )
  expect(first).toMatchObject({ kind: 'aborted', facts: { frame: 'grid.c:41' } })
})

describe('what an end says', () => {
  const failed = [
    '_______ test_grid _______',
    '',
    'tests/test_grid.py:20: ',
    '_ _ _ _ _ _ _',
    '/opt/py/lib/python3.12/site-packages/own/layers.py:31: in __init__',
    '>       raise TypeError(f"width must be int, got {type(width)}")',
    'E       TypeError: width must be int, got list',
    '',
    '/opt/py/lib/python3.12/site-packages/own/layers.py:94: TypeError',
    '===== 1 failed, 6 passed in 2.98s =====',
  ]
  test('of pytest the own call and the words of the exception', () => {
    expect(faultsOf(...failed)[0]).toMatchObject({
      title: 'TypeError: width must be int, got list at test_grid.py:20',
      facts: { exception: 'TypeError', frame: 'test_grid.py:20' },
    })
  })
  test('of a panic in Rust no signal', () => {
    const [first] = faultsOf("thread 'main' panicked at src/bin/sort.rs:41:9:", 'no bucket for key 7', 'note: run with `RUST_BACKTRACE=1`')
    expect(first).toMatchObject({ kind: 'aborted', title: 'The program panicked at sort.rs:41' })
    expect(first?.verdict).toBe('The program panicked at sort.rs:41, and ended: "no bucket for key 7".')
    expect(first?.facts).not.toHaveProperty('signal')
  })
  test('of a build in C nothing about torch', () => {
    const advice = remediesOf('grid.c:9:3: error: unknown type name ‘cell’', 'make: *** [Makefile:4: grid.o] Error 1')
    expect(advice).toContain('Correct what the first error of the compiler names')
    expect(advice).not.toMatch(/torch|triton/)
  })
  test('of a build the library of the system that it lacks', () => {
    expect(
      remediesOf(
        'error: failed to run custom build command for `own-sys v0.2.0`',
        '  The system library `libown` required by crate `own-sys` was not found.',
        'warning: build failed, waiting for other jobs to finish...',
      ),
    ).toContain('The system library libown is missing')
  })
  test('a path as it is written', () => {
    const [relative] = faultsOf('clips/one.mp4: No such file or directory')
    expect(relative).toMatchObject({ title: 'File not found: clips/one.mp4' })
    const windows = ['Traceback (most recent call last):', '  File "C:\\job\\fit.py", line 4, in <module>', '    read(name)']
    const lines = [...windows, String.raw`FileNotFoundError: [Errno 2] No such file or directory: 'D:\\sets\\birds\\list.txt'`]
    expect(faultsOf(...lines)[0]?.title).toBe(String.raw`File not found: D:\sets\birds\list.txt`)
    expect(remediesOf(...lines)).not.toContain('relative')
  })
})
