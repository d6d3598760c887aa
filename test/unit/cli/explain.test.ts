// `warpwatch explain` as a script sees it: exit codes, JSON, plain text without colours, and what it says of unreadable input.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answerText } from '../../../agent/cli/explain/answer.ts'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { runCli } from './run-cli.ts'

const file = (text: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'warpwatch-explain-')), 'log')
  writeFileSync(path, text)
  return path
}
const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which 1.00 GiB is free.'

describe('explain', () => {
  test('a fault: what, why, what to change, exit 1, no colours in a pipe', async () => {
    const { code, stdout, stderr } = await runCli(['explain', file(`step 1\n${OOM}\n`)])
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toContain('Out of GPU memory on GPU 0')
    expect(stdout).toContain('line 2: torch.OutOfMemoryError')
    expect(stdout).toContain('What to change:')
    expect(stdout).not.toContain('\u001b')
  })
  test('nothing wrong: exit 0', async () => {
    const { code, stdout, stderr } = await runCli(['explain', file('step 1\nstep 2\n')])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^No fault found in this log\.\nLooked for \d+ kinds of faults: .*GPU memory.*\n\nWhat to try next:\n- /)
    expect(stdout).toContain('sudo dmesg -T | warpwatch explain')
    expect(stdout).not.toContain('\u001b')
  })
  test('--json gives the public form', async () => {
    const { code, stdout } = await runCli(['explain', '--json', file(OOM)])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      faults: [{ kind: 'cuda_oom', severity: 'critical', facts: { gpu_index: 0 }, evidence: [{ line: 1, text: OOM }] }],
    })
  })
  test('secrets of the log are in no form of the answer', async () => {
    const secret = 'abcdefgh12345678'
    const text = `huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/x?token=${secret}`
    const outputs = await Promise.all([
      runCli(['explain', file(text)]),
      runCli(['explain', '--json', file(text)]),
      runCli(['explain', '--jsonl', file(JSON.stringify({ id: 1, text }))]),
    ])
    for (const { code, stdout } of outputs) {
      expect([code, stdout.includes('token=[redacted]'), stdout.includes(secret)]).toEqual([1, true, false])
    }
  })
  test('--jsonl answers each log in the order of the input', async () => {
    const input = ['{"id":"b","text":"fine"}', '', JSON.stringify({ id: 7, text: OOM })].join('\n')
    const { code, stdout } = await runCli(['explain', '--jsonl', file(input)])
    expect(code).toBe(1)
    const answers = stdout.trim().split('\n')
    expect(answers).toHaveLength(2)
    expect(answers[0]).toBe('{"id":"b","faults":[]}')
    expect(JSON.parse(answers[1] ?? '')).toMatchObject({ id: 7, faults: [{ kind: 'cuda_oom' }] })
  })
  test.each([
    ['a file that is not there', ['explain', '/does/not/exist'], 'the log cannot be read: ENOENT'],
    ['a folder', ['explain', tmpdir()], 'the log cannot be read: EISDIR'],
    ['a line that is no JSON', ['explain', '--jsonl', file('not json')], 'line 1: must be {"id","text"} as JSON'],
    ['a line without text', ['explain', '--jsonl', file('{"id":1}')], 'line 1: must be {"id","text"}, not {"id":1}'],
  ])('%s: exit 2 and one line', async (_, args, said) => {
    const { code, stdout, stderr } = await runCli(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('the answer for people', () => {
  test('a log cannot send commands to the terminal', () => {
    const text = answerText(explainText(logScanner(), `\u001b]0;owned\u0007 ${OOM}`), false)
    expect(text).not.toMatch(/[\u001b\u0007]/)
  })
  test('is coloured where that is wanted', () => {
    expect(answerText(explainText(logScanner(), OOM), true)).toMatch(/^\u001b\[31;1mOut of GPU memory/)
  })
})
