// What is before the text of a log line is recognised in every form that programs print.
import { expect, test } from 'vitest'
import { bareKernelText, beginsRecord, criHead, kernelLine, stripPrefix, withoutColours, writerOf } from '../../../agent/text/line-prefix.ts'

test.each([
  ['trainer-1  | [rank0]: torch.OutOfMemoryError', 'torch.OutOfMemoryError'],
  ['[pod/train-0/main] 2026-01-02T03:04:05.123456789Z stderr F RuntimeError', 'RuntimeError'],
  ['[default3]:RuntimeError', 'RuntimeError'],
  ['[3]:RuntimeError', 'RuntimeError'],
  ['(EngineCore_0 pid=72) ERROR 03-04 07:29:31 [core.py:700] RuntimeError', 'RuntimeError'],
  ['Jan  2 03:04:05 node7 kernel[1]: oom-kill', 'oom-kill'],
  ['[12345.678901] NVRM: Xid', 'NVRM: Xid'],
  ['E0304 07:29:31.123456    4242 reflector.go:138] failed', 'failed'],
  ['[W1120 10:17:00.123456789 TCPStore.cpp:125] broken pipe', 'broken pipe'],
  ['> > \u001b[31mRuntimeError\u001b[0m', 'RuntimeError'],
  ['[Errno 13]: Permission denied', '[Errno 13]: Permission denied'],
  ['RuntimeError: (stream 7)', 'RuntimeError: (stream 7)'],
])('%j says %j', (line, text) => expect(stripPrefix(line)).toBe(text))

test.each([
  ['[rank3]: text', '[rank3]: '],
  ['[3]:text', '[3]:'],
  ['(Worker pid=7) text', '(Worker pid=7) '],
  ['(Worker_TP1 rank=1 pid=7, ip=10.0.0.1) text', '(Worker_TP1 rank=1 pid=7, ip=10.0.0.1) '],
  ['trainer-1  | text', 'trainer-1  | '],
  ['trainer-1  |', 'trainer-1  |'],
  ['(most recent call last)', ''],
  ['a|b', ''],
])('the writer of %j is %j', (line, writer) => expect(writerOf(line)).toBe(writer))

test('kernel lines, of dmesg and of the journal', () => {
  expect(kernelLine('[   12.345678] NVRM: Xid')).toEqual({ at: 12, text: 'NVRM: Xid' })
  expect(kernelLine('[   12.345678] host kernel: NVRM: Xid')).toEqual({ at: 12, text: 'NVRM: Xid' })
  expect(kernelLine('NVRM: Xid')).toBeUndefined()
  expect(bareKernelText('# Jan 2 03:04:05 node7 kernel: [ 12.3] NVRM: Xid')).toBe('Xid')
})

test('the head of a CRI line', () => {
  const line = '2026-01-02T03:04:05.123456789+01:00 stderr P part'
  const head = criHead(line)
  expect(head).toEqual({ stamp: '2026-01-02T03:04:05.123456789+01:00', stream: 'stderr', partial: true, length: line.length - 4 })
  expect(criHead('2026-01-02 03:04:05 text')).toBeUndefined()
})

test('records of loggers, and what is none', () => {
  const records = ['2026-01-02 03:04:05', '[03:04:05]', 'E0304 07:', 'WARNING: x', '{"level":1}', 'ts=1', 'node7:12:34 [0] NCCL INFO']
  expect(records.filter((line) => !beginsRecord(line))).toEqual([])
  expect(['  File "a.py"', 'RuntimeError: x', 'and so on'].filter(beginsRecord)).toEqual([])
  expect(withoutColours('\u001b[1;31mred\u001b[0m')).toBe('red')
})
