// Tracebacks as they are in real logs: whoever put something before, between or around their lines.
import { describe, expect, test } from 'vitest'
import { readLine } from '../../../agent/diagnosis/traceback/line.ts'
import { createTracebackReader } from '../../../agent/diagnosis/traceback/reader.ts'
import { telling, type Traceback } from '../../../agent/diagnosis/traceback/traceback.ts'
import { frameName, userFrame } from '../../../agent/diagnosis/traceback/user-frame.ts'

const LINES = [
  'Traceback (most recent call last):',
  '  File "/srv/fit/main.py", line 55, in <module>',
  '    run()',
  '    ^^^^^',
  '  File "/srv/fit/net.py", line 12, in forward',
  '    return self.out(x)',
  '  File "/opt/env/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1778, in _wrapped_call_impl',
  '    return self._call_impl(*args, **kwargs)',
  "acme.errors.PlanError: no plan for 'a'",
]
function read(text: string): readonly Traceback[] {
  const reader = createTracebackReader()
  text.split('\n').forEach((line, index) => reader.add(readLine(line, index + 1)))
  return reader.tracebacks()
}
const shown = (text: string): readonly (string | number | undefined)[] => {
  const [one] = read(text)
  const block = one === undefined ? undefined : telling(one.blocks)
  const frame = one === undefined ? undefined : userFrame(one.blocks, block)
  return [block?.raised?.name, frame === undefined ? undefined : frameName(frame), one?.rank]
}

describe('prefixes', () => {
  test.each([
    ['', undefined],
    ['[rank3]: ', 3],
    ['[rank3]:[rank3]: ', 3],
    ['[default2]:', 2],
    ['[1,4]<stderr>:', undefined],
    ['trainer-1  | ', undefined],
    ['(Worker pid=81, ip=10.0.0.2) ', undefined],
    ['2026-03-02T10:00:00.123456789Z stderr F ', undefined],
    ['2026-03-02T10:00:00.1Z ', undefined],
    ['(EngineCore_0 pid=81) ERROR 03-02 10:00:00 [core.py:400] ', undefined],
    ['\u001b[36m(Worker pid=81)\u001b[0m ', undefined],
    ['> ', undefined],
    ['│ ', undefined],
  ])('%j', (prefix, rank) => {
    expect(shown(LINES.map((line) => `${prefix}${line}`).join('\n'))).toEqual(['PlanError', 'net.py:12', rank])
  })
})

describe('forms', () => {
  test('behind a bar, without indents, with line ends of Windows', () => {
    expect(shown(` 40%|####      | 40/100 [00:10<00:15]${LINES.join('\n')}`)).toEqual(['PlanError', 'net.py:12', undefined])
    expect(shown(LINES.map((line) => line.trim()).join('\n'))).toEqual(['PlanError', 'net.py:12', undefined])
    expect(
      shown(
        'Traceback (most recent call last):\n  File "C:\\work\\fit.py", line 9, in <module>\n    go()\n  File "C:\\Python310\\lib\\random.py", line 3, in choice\n    x\nIndexError: empty',
      ),
    ).toEqual(['IndexError', 'fit.py:9', undefined])
  })
  test('the cause and what was raised from it', () => {
    const [one, ...others] = read(
      `${LINES.join('\n')}\n\nThe above exception was the direct cause of the following exception:\n\n${LINES.join('\n').replace('PlanError', 'RunError')}`,
    )
    expect(others).toEqual([])
    expect(one?.blocks.map(({ raised, link }) => [raised?.name, link])).toEqual([
      ['PlanError', undefined],
      ['RunError', 'cause'],
    ])
  })
  test('a wrapper and what it quotes', () => {
    expect(
      shown(
        'ray.exceptions.RayTaskError(ValueError): ray::work() (pid=7, ip=10.0.0.1)\n  File "/srv/fit/work.py", line 31, in work\n    x()\nValueError: no rows',
      ),
    ).toEqual(['ValueError', 'work.py:31', undefined])
    expect(
      shown(
        `Traceback (most recent call last):\n  File "/srv/fit/main.py", line 3, in <module>\n    for b in loader:\nKeyError: Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n  File "/srv/fit/data.py", line 40, in __getitem__\n    return rows[at]\nKeyError: 'x'`,
      ),
    ).toEqual(['KeyError', 'data.py:40', undefined])
  })
  test('groups, notebooks, boxes', () => {
    expect(
      shown(
        '  + Exception Group Traceback (most recent call last):\n  |   File "/srv/fit/a.py", line 12, in <module>\n  |     main()\n  | ExceptionGroup: errors (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "/srv/fit/a.py", line 5, in work\n    |     x()\n    | LookupError: no shard\n    +------------------------------------',
      ),
    ).toEqual(['LookupError', 'a.py:5', undefined])
    expect(
      shown(
        'KeyError                                  Traceback (most recent call last)\nFile ~/fit/prep.py:31, in clean(df)\n     30 def clean(df):\n---> 31     return df["x"]\n\nKeyError: \'x\'',
      ),
    ).toEqual(['KeyError', 'prep.py:31', undefined])
    expect(
      shown(
        'TypeError                                 Traceback (most recent call last)\n/content/fit.py in go(x)\n      1 def go(x):\n----> 2     return x + 1\n\nTypeError: no',
      ),
    ).toEqual(['TypeError', 'fit.py:2', undefined])
    expect(
      shown(
        '╭──────────── Traceback (most recent call last) ────────────╮\n│ /srv/fit/main.py:55 in <module>                           │\n│ ❱ 55 main()                                               │\n│ /srv/env/lib/python3.12/site-packages/torch/nn/modules/li │\n│ near.py:114 in forward                                    │\n╰───────────────────────────────────────────────────────────╯\nRuntimeError: no',
      ),
    ).toEqual(['RuntimeError', 'main.py:55', undefined])
  })
  test('the innermost frame first, of faulthandler and of debuggers', () => {
    const [fault] = read(
      'Fatal Python error: Segmentation fault\n\nThread 0x01 (most recent call first):\n  File "/usr/lib/python3.12/threading.py", line 3 in wait\n\nCurrent thread 0x02 (most recent call first):\n  File "/usr/lib/python3.12/ctypes/__init__.py", line 5 in call\n  File "/srv/fit/native.py", line 14 in run\n  File "/srv/fit/main.py", line 3 in <module>',
    )
    const frame = fault === undefined ? undefined : userFrame(fault.blocks, fault.blocks[0])
    expect([fault?.fatal, frame === undefined ? '' : frameName(frame)]).toEqual(['Segmentation fault', 'native.py:14'])
    expect(
      shown('no plan\n  File "/srv/fit/net.py", line 7, in forward\n    x()\n  File "/srv/fit/main.py", line 9, in <module>\n    run()\nValueError: no plan'),
    ).toEqual(['ValueError', 'net.py:7', undefined])
  })
  test('two ranks that write at the same time', () => {
    const both = LINES.flatMap((line) => [`[rank0]: ${line}`, `[rank1]: ${line.replace('12, in forward', '99, in forward')}`])
    expect(read(both.join('\n')).map(({ blocks, rank }) => [rank, userFrame(blocks, telling(blocks))?.line])).toEqual([
      [0, 12],
      [1, 99],
    ])
  })
  test('what Python ignores is marked', () => {
    expect(read(`Exception ignored in: <function A.__del__ at 0x1>\n${LINES.join('\n')}`).map(({ ignored }) => ignored)).toEqual([true])
    expect(read(LINES.join('\n').replace('in <module>', 'in __del__')).map(({ ignored }) => ignored)).toEqual([true])
  })
})
